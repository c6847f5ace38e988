"""The tensors, arrivals and tasks of a layer, as tasks.yaml lists them.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import islpy as isl

from lairmake.stages.lair.layer import CarriedTensor, Statement, Tensor, find_writer
from lairmake.stages.lair.statements import is_written_once
from lairmake.stages.lair.views import find_views
from lairmake.stages.layer.routes.exchanges import name_task
from lairmake.stages.layer.routes.lines import (
    find_forwarded,
    find_summed_elements,
    list_collecting_tasks,
)
from lairmake.stages.layer.streams import cutting
from lairmake.stages.layer.streams.beginnings import begin, begins_itself
from lairmake.stages.layer.streams.plan import StreamPlan, find_written, is_reacting, reacts
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.task_graph import (
    AnyTask,
    Arrival,
    Chunks,
    Departure,
    Hear,
    Initialise,
    Kept,
    KeptTensor,
    Outgoing,
    Pack,
    ReceiveHalo,
    ReceiveTask,
    Relay,
    SendHalo,
    SendTask,
    Spread,
    StoreTask,
    Window,
    make_compute,
    make_halo,
    make_operate,
    make_react,
    name_halo,
)
from lairmake.stages.machine.types import is_integer
from lairmake.stages.poly.canonical import from_domain, to_range
from lairmake.stages.poly.text import spell_object
from lairmake.stages.skewing.elements import find_computed_elements, find_running

NEUTRAL = {"=": "0", "+=": "0", "*=": "1", "max=": "-inf", "min=": "inf"}
Named = tuple[str, AnyTask]


def describe_tensors(plan: StreamPlan) -> dict[str, KeptTensor]:
    """Return the tensors of a layer, by name."""
    layer = plan.streams.placed.layer
    found = {name: _tensor(name, plan) for name in layer.tensors}
    for names in plan.swaps:
        host = names[-2]
        for number, name in enumerate(names):
            stored_in = None if name == host else host
            found[name] = replace(found[name], stored_in=stored_in, buffer=number)
    for name, cut in plan.cuts.items():
        if _window(cut) is not None:
            tensor = plan.streams.arrivals[name].tensor
            found[name_halo(tensor, layer)] = replace(found[tensor], stored_in=tensor)
    for view, tensor in find_views(layer).items():
        host = found[tensor].stored_in or tensor
        found[view] = replace(found[tensor], initial=None, stored_in=host, view=True, ring=None)
    return found


def _tensor(name: str, plan: StreamPlan) -> KeptTensor:
    layer = plan.streams.placed.layer
    tensor, defined = layer.tensors[name], name in find_written(plan.streams)
    return KeptTensor(
        type=tensor.type,
        shape=tuple(tensor.shape),
        kept=_kept(name, plan),
        initial=_initial(name, plan) if defined else None,
        stored_in=plan.in_place.get(name) if defined else None,
    )


def _kept(name: str, plan: StreamPlan) -> Kept:
    layer, streams = plan.streams.placed.layer, plan.streams
    tensor = layer.tensors[name]
    if name in {departure.tensor for departure in _sent(plan)}:
        return "never"
    if name in find_written(streams):
        return "result" if tensor in layer.outputs else "internal"
    if name not in {arrival.tensor for arrival in streams.arrivals.values()}:
        return "resident" if tensor in layer.inputs else "delayed"
    if any(streams.arrivals[each].tensor == name for each in plan.operated):
        return "never"
    stored = any(not reacts(statement, name, streams) for statement in _readers(name, plan))
    stored |= any(carry.source == name for carry in layer.carries)
    return "stored" if stored else "never"


def _initial(tensor: str, plan: StreamPlan) -> str:
    """Return what a tensor is before anything is added to it.

    What is assigned keeps the sign of a zero: -0 + -0 is -0 and -0 + 0 is 0 (IEEE 754, 6.3).
    """
    layer = plan.streams.placed.layer
    writer = find_writer(layer, tensor)
    is_signed = writer.op == "=" and not is_integer(layer.tensors[tensor].type)
    return "-0" if is_signed and not is_reacting(writer, plan.streams) else NEUTRAL[writer.op]


def _readers(tensor: str, plan: StreamPlan) -> list[Statement]:
    statements = plan.streams.placed.layer.statements
    return [s for s in statements if any(access.tensor == tensor for access in s.reads)]


def add_results(plan: StreamPlan) -> dict[str, Departure]:
    """Return the departures, with the statements whose results leave as they are computed."""
    by = {each.departure: each.statement for each in plan.operated.values()}
    departures = plan.streams.departures.items()
    return {name: replace(each, result_of=by.get(name)) for name, each in departures}


def _sent(plan: StreamPlan) -> list[Departure]:
    """Return the departures that are results as they are computed."""
    return [each for each in add_results(plan).values() if each.result_of is not None]


def add_chunks(plan: StreamPlan) -> dict[str, Arrival]:
    """Return the arrivals, each with its chunks, or with why it is not cut."""
    return {
        name: replace(
            arrival, chunks=_chunks(plan.cuts.get(name)), whole=_whole(name, plan),
            held=plan.held.get(name), operand_of=_operand_of(name, plan),
        )
        for name, arrival in plan.streams.arrivals.items()
    }


def _operand_of(name: str, plan: StreamPlan) -> str | None:
    return plan.operated[name].statement if name in plan.operated else None


def _whole(name: str, plan: StreamPlan) -> str | None:
    return None if name in plan.cuts else plan.whole.get(name)


def _chunks(found: cutting.CutChunks | None) -> Chunks | None:
    if found is None:
        return None
    cut = found.cut
    return Chunks(
        of=spell_object(cut.of),
        counts=tuple(cut.counts),
        size=cut.size,
        rest=None if cut.rest == cut.size else cut.rest,
        ring=None if found.is_whole else found.ring,
        window=_window(found),
        why=f"some {found.cycles} cycles, {found.whole} as a whole",
    )


def _window(found: cutting.CutChunks) -> Window | None:
    if found.halo is None or found.is_whole:
        return None
    return Window(places=spell_object(found.cut.places), rows=found.cut.rows, halo=found.halo)


def list_tasks(plan: StreamPlan) -> Iterator[Named]:
    """Yield the tasks in the order in which a PE runs them."""
    layer, streams = plan.streams.placed.layer, plan.streams
    for tensor in (*layer.outputs, *layer.internals):
        if _starts(tensor, plan):
            value, begun = _initial(tensor.name, plan), _find_beginning(tensor, plan)
            if begun is None or _has_others(begun, plan):
                but = None if begun is None else begun.name
                yield f"init_{tensor.name}", Initialise(tensor=tensor.name, value=value, but=but)
    for name, arrival in streams.arrivals.items():
        yield from _arrival_tasks(name, arrival, plan)
    operated = {each.statement for each in plan.operated.values()}
    for statement in layer.statements:
        if not is_reacting(statement, streams) and statement.name not in operated:
            yield from _computing(statement, plan)
    yield from _departure_tasks(plan)
    for carry in layer.carries:
        if not from_domain(streams.placed.needed, carry.tensor).is_empty():
            yield from _carry(carry, plan)
    for name, move in streams.moves.items():
        for side in (side for each in move.rounds for side in each):
            yield name_task("send", name, side), SendHalo(move=name, to=side)
            yield name_task("receive", name, side), ReceiveHalo(move=name, to=side)


def _computing(statement: Statement, plan: StreamPlan) -> Iterator[Named]:
    """Yield the tasks that run a statement on memory."""
    layer, name = plan.streams.placed.layer, f"compute_{statement.name}"
    if _find_beginning(layer.tensors[statement.target.tensor], plan) is None:
        yield name, make_compute(statement, *_steps(statement, plan))
        return
    once, type_ = is_written_once(statement), layer.tensors[statement.target.tensor].type
    first = make_compute(begin(statement, type_, once=once), (), ())
    if once:
        yield name, first
        return
    yield f"begin_{statement.name}", replace(first, taps="first")
    yield name, replace(make_compute(statement, (), ()), taps="others")


def _find_beginning(tensor: Tensor, plan: StreamPlan) -> Statement | None:
    """Return the statement that gives a sum its first values itself, at once, if one does."""
    writer = find_writer(plan.streams.placed.layer, tensor.name)
    begins = _starts(tensor, plan) and not _steps(writer, plan)[0] and begins_itself(writer, plan)
    return writer if begins else None


def _has_others(statement: Statement, plan: StreamPlan) -> bool:
    """Say whether a PE has elements of a target that no instance computes."""
    placed, target = plan.streams.placed, statement.target.tensor
    made = find_computed_elements(placed.lair, find_running(placed.lair, placed.adapted.placement))
    return not from_domain(placed.computed, target).is_subset(made)


def _steps(statement: Statement, plan: StreamPlan) -> tuple[list[str], list[str]]:
    """Return by which arrivals a statement runs in steps, and after which statements each step."""
    triggers = plan.triggers
    by = [name for name in triggers.arrivals[statement.name] if name in plan.cuts]
    return by, list(triggers.follows.get(statement.name, ())) if by else []


def _starts(tensor: Tensor, plan: StreamPlan) -> bool:
    """Say whether a tensor gets a value before statements give it theirs.

    Not one that others hold, nor one of which each element on a PE is defined there at once.
    """
    placed, streams = plan.streams.placed, plan.streams
    writer = find_writer(placed.layer, tensor.name)
    at_once = writer.op == "=" and not is_reacting(writer, streams)
    routes = streams.routed.said
    summed = find_summed_elements(tensor.name, streams.departures, placed.adapted, routes)
    if tensor.name in {departure.tensor for departure in _sent(plan)}:
        return False
    at_once = at_once and summed.is_subset(placed.computed)
    return not at_once and tensor.name not in plan.in_place


def _arrival_tasks(name: str, arrival: Arrival, plan: StreamPlan) -> Iterator[Named]:
    if arrival.spread and arrival.sparse:
        yield f"relay_{name}", Relay(arrival=name)
    elif arrival.spread:
        yield f"hear_{name}", Hear(arrival=name)
        yield f"spread_{name}", Spread(arrival=name)
    if _kept(arrival.tensor, plan) == "stored" and arrival.sparse:
        yield f"init_{arrival.tensor}", Initialise(tensor=arrival.tensor, value="0")
        yield f"store_{name}", StoreTask(arrival=name)
    elif _kept(arrival.tensor, plan) == "stored":
        if arrival.otherwise is not None:
            around = Initialise(tensor=arrival.tensor, value=arrival.otherwise)
            yield f"init_{arrival.tensor}", around
        yield f"receive_{name}", ReceiveTask(arrival=name)
    if name in plan.operated:
        by = plan.operated[name]
        statement = next(
            s for s in plan.streams.placed.layer.statements if s.name == by.statement
        )
        yield f"operate_{statement.name}", make_operate(statement, name, by.departure)
    if name in plan.cuts and plan.cuts[name].cut.rest < plan.cuts[name].cut.size:
        yield f"rest_{name}", ReceiveTask(arrival=name, rest=True)
    if name in plan.cuts and _window(plan.cuts[name]):
        yield f"halo_{name}", make_halo(plan.streams.placed.layer, name, arrival.tensor)
    found = _reacting(name, arrival.tensor, plan)
    for statement in found:
        task = f"on_{name}" if len(found) == 1 else f"on_{name}_{statement.name}"
        yield task, make_react(statement, name)


def _reacting(name: str, tensor: str, plan: StreamPlan) -> list[Statement]:
    """Return the statements that run on elements of an arrival."""
    taken = plan.streams.routed.said.relation(name, "taken")
    return [
        statement
        for statement in _readers(tensor, plan)
        if reacts(statement, tensor, plan.streams)
        and not _read_by(statement, tensor, plan).is_disjoint(taken)
    ]


def _read_by(statement: Statement, tensor: str, plan: StreamPlan) -> isl.Map:
    """Return { tensor[e] -> PE } of the PEs on which a statement reads an element."""
    placed = plan.streams.placed
    reads = from_domain(placed.lair.reads, statement.name)
    running = find_running(placed.lair, placed.adapted.placement)
    needed = to_range(reads, tensor).reverse().apply_range(running)
    return isl.Map.from_union_map(needed)


def _departure_tasks(plan: StreamPlan) -> Iterator[Named]:
    """Yield the tasks of adapters that take what leaves, and all that send."""
    departures, collections = plan.streams.departures, plan.streams.collections
    for name, departure in departures.items():
        if departure.collected and name not in find_forwarded(collections):
            initial = _initial(departure.tensor, plan)
            yield from list_collecting_tasks(name, departure, initial)
    summed = {name: each for name, each in collections.items() if each.in_turn is None}
    leaving: dict[str, Outgoing] = {**departures, **summed}
    sent = {each.departure for each in plan.operated.values()}
    for name, stream in leaving.items():
        if name in sent:
            continue
        yield f"send_{name}", SendTask(departure=name)
        if stream.sequences is not None:
            yield f"pack_{name}", Pack(departure=name)


def _carry(carry: CarriedTensor, plan: StreamPlan) -> Iterator[Named]:
    """Yield the task that makes one tensor of another one, unless they share their memory."""
    swapped = any((carry.tensor, carry.source) in pairwise(names) for names in plan.swaps)
    if plan.in_place.get(carry.source) != carry.tensor and not swapped:
        rank = len(plan.streams.placed.layer.tensors[carry.tensor].shape)
        yield f"carry_{carry.tensor}", task_graph.Carry(
            iterators=tuple(f"i{k}" for k in range(rank)),
            target=carry.tensor,
            op="=",
            expression=carry.source,
        )
