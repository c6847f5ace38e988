"""Plan of a layer's streams: memory, turns and chunks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.lair.expressions import is_zero_at
from lairmake.stages.lair.layer import Statement, find_writer
from lairmake.stages.layer.routes.departures import choose_waiting
from lairmake.stages.layer.routes.feedback import InPlace, find_in_place, list_waits
from lairmake.stages.layer.routes.placement import PlacedLayer, Streams, is_sparse
from lairmake.stages.layer.routes.resources import count_functions
from lairmake.stages.layer.streams.buffers import Swaps, count_more, find_swaps
from lairmake.stages.layer.streams.chunks import Flows, Triggers, find_triggers
from lairmake.stages.layer.streams.cutting import CutChunks, Cutter, count_most_together
from lairmake.stages.layer.streams.operands import Operated, find_operated
from lairmake.stages.layer.streams.rings import Windows, find_obstacle, find_rings, find_rows
from lairmake.stages.layer.texts.task_graph import Held
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.chunks import roll, roll_rows
from lairmake.stages.poly.compression import fit
from lairmake.stages.poly.functions import PE_NAMES, bind_range

if TYPE_CHECKING:
    from lairmake.stages.layer.texts.task_graph import TaskGraph

# --- Memory that tensors take, before allocation --------------------------------------------------
#
# Paper    V Sec. 4.3

FUNCTIONS = 4
"""Functions of a program for each tensor, stream and statement, roughly."""
FEWEST = 2
"""The fewest functions of a program."""


def count_bytes(
    streams: Streams, cuts: Mapping[str, CutChunks], unkept: Collection[str]
) -> int:
    """Return how many bytes a computing PE needs, roughly: what it keeps, and its code.

    It keeps nothing of tensors that are `unkept`.
    """
    kept = (name for name in streams.placed.layer.tensors if name not in unkept)
    sizes = (_count_tensor(name, streams, cuts) for name in kept)
    return sum(sizes) + _count_code(streams, FUNCTIONS)


def fits_only_whole(
    streams: Streams, cuts: Mapping[str, CutChunks], parts: Mapping[str, Fraction],
    unkept: Collection[str],
) -> bool:
    """Say whether a PE has too little memory with chunks, and enough, roughly, without.

    Then of all tensors that are computed there, and stay there, two are needed at a time.
    `parts` says which part of others is there with chunks; nothing is of those `unkept`.
    """
    layer = streams.placed.layer
    kept = [name for name in layer.tensors if name not in unkept]
    room = streams.placed.profile.memory - _count_code(streams, FEWEST)
    gradual = sum(_count_tensor(t, streams, cuts) * parts.get(t, 1) for t in kept)
    sizes = {name: _count_tensor(name, streams, {}) for name in kept}
    passing = sorted(sizes.pop(tensor.name) for tensor in layer.internals)
    return gradual > room >= sum(sizes.values()) + sum(passing[-2:])


def has_room(graph: TaskGraph, streams: Streams, flows: Flows) -> bool:
    """Say whether a PE has room for what tasks.yaml says that it keeps, all at a time.

    It has where the code of its functions fits, and its local tensors, if no two share memory.
    """
    rings, rows = find_rings(graph, flows), find_rows(graph, flows)
    boxes = {name: roll(ring.numbers, ring.depth, name)[0] for name, ring in rings.items()}
    boxes |= {name: roll_rows(each, name)[0] for name, each in rows.items()}
    profile = streams.placed.profile
    need = profile.code_base + count_functions(graph) * profile.code_task
    for name, tensor in graph.tensors.items():
        if name in boxes:
            need += BYTES[tensor.type] * prod(find_shape(boxes[name]))
        elif tensor.kept != "never" and tensor.stored_in is None:
            need += _count_tensor(name, streams, {})
    for names in graph.swaps.values():
        guests = (name for name in names if graph.tensors[name].stored_in is not None)
        need += sum(_count_tensor(name, streams, {}) for name in guests)
        need += count_more(names, streams.placed)
    return need <= profile.memory


def _count_tensor(name: str, streams: Streams, cuts: Mapping[str, CutChunks]) -> int:
    type_ = streams.placed.layer.tensors[name].type
    return BYTES[type_] * _count_elements(name, streams, cuts)


def _count_code(streams: Streams, functions: int) -> int:
    layer, profile = streams.placed.layer, streams.placed.profile
    parts = len(layer.statements) + len(streams.arrivals) + len(streams.departures)
    return profile.code_base + functions * parts * profile.code_task


def _count_elements(name: str, streams: Streams, cuts: Mapping[str, CutChunks]) -> int:
    """Return a bound on the elements of a tensor that a PE keeps; of a ring, those of its chunks.
    """
    rings = [
        cut.in_ring
        for arrival, cut in cuts.items()
        if not cut.is_whole and streams.arrivals[arrival].tensor == name
    ]
    if rings:
        return max(rings)
    if any(a.sparse and a.tensor == name for a in streams.arrivals.values()):
        return 0
    known = streams.placed.kept
    if name not in known:
        known[name] = _count_kept(name, streams.placed)
    return known[name]


def _count_kept(name: str, placed: PlacedLayer) -> int:
    """Return a bound on the elements of a tensor that a PE computes or needs."""
    written = {statement.target.tensor for statement in placed.layer.statements}
    kept = from_domain(placed.computed if name in written else placed.needed, name)
    if kept.is_empty():
        return 0
    here = bind_range(isl.Map.from_union_map(kept), PE_NAMES)
    size, _ = fit(here, f"{name}_local")
    return min(bound_points(here), prod(size))

# --- Decisions before tasks are listed ------------------------------------------------------------
#
# They are on memory, turn-taking and chunks.
#
# Paper    V Sec. 4.2

NO_ROOM = "there is no room for all that is computed by chunks of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """The streams of a layer, and how its PEs work on them.

    `in_place` are the tensors that lie in the memory of others, `waits` the statements for which
    one waits on its PE. `cuts` are the chunks of arrivals, `whole` says why others are not cut, and
    `held` why all of some is in memory, which has hardly room for that. `operated` are arrivals
    that are operands of instructions, and in no memory. `cycles` are expected of statements that go
    by streams. Tensors of `swaps` take turns with buffers.
    """

    streams: Streams
    in_place: InPlace
    waits: Mapping[str, Sequence[str]]
    flows: Flows
    triggers: Triggers
    cuts: Mapping[str, CutChunks]
    whole: Mapping[str, str]
    cycles: int
    held: Mapping[str, Held]
    operated: Mapping[str, Operated] = field(default_factory=dict)
    swaps: Swaps = ()


def plan_streams(streams: Streams, windows: Windows = "long") -> StreamPlan:
    """Return how PEs work on the streams of a layer; departures may wait for others then.

    `windows` are what they are where arrivals roll.
    """
    placed = streams.placed
    apart = {departure.tensor for departure in streams.departures.values()}
    writers = {t: find_writer(placed.layer, t) for t in find_written(streams)}
    reacting = {t for t, writer in writers.items() if is_reacting(writer, streams)}
    apart |= reacting
    in_place = find_in_place(placed.layer, placed.needed, placed.computed, apart)
    waits = dict(list_waits(placed.layer, in_place))
    waiting = choose_waiting(streams, waits)
    departures = {
        name: replace(departure, waits=tuple(waiting.waits.get(name, ())))
        for name, departure in streams.departures.items()
    }
    streams = replace(streams, departures=departures)
    plan = _cut(streams, in_place, waits, waiting.most, windows)
    apart = {*in_place, *in_place.values(), *reacting, *find_unkept(plan)}
    swaps = find_swaps(streams, apart)
    more = sum(count_more(names, placed) for names in swaps)
    return plan if count_needed(plan) + more > placed.profile.memory else replace(
        plan, swaps=swaps)


def _cut(
    streams: Streams, in_place: InPlace, waits: Mapping[str, Sequence[str]], waiting: int,
    windows: Windows,
) -> StreamPlan:
    """Return the plan with what arrives in chunks; `waiting` streams may wait for other PEs.

    If what PEs keep has hardly room, arrivals roll, as far as they can.
    """
    chains = {name: streams.routed.said.pes(name, "chain") for name in streams.departures}
    most = max(count_most_together(chains), waiting)
    drafts, profile = _drafts(streams, in_place, waits), streams.placed.profile
    plans = (_plan(draft, most, windows, rolling=False) for draft in drafts)
    best = min(plans, key=lambda plan: plan.cycles)
    others = [each for draft in drafts for each in _taking_as_it_comes(draft)]
    for plan in (_plan(each, most, windows, rolling=False) for each in others):
        if _takes_less(plan, best):
            best, drafts = plan, others
    if count_needed(best) <= profile.memory:
        return best
    rolled = min(
        (_plan(draft, most, windows, rolling=True) for draft in drafts),
        key=lambda p: (count_needed(p) > profile.memory, p.cycles),
    )
    rolling = {name for name, cut in rolled.cuts.items() if cut.ring is not None}
    held = {
        name: _explain(name, rolled) for name in rolled.triggers.boxes
        if name not in rolling and name not in rolled.operated
    }
    return replace(rolled if rolling else best, held=held)


def _takes_less(plan: StreamPlan, other: StreamPlan) -> bool:
    """Say whether a plan, which has operands, takes fewer cycles; or saves memory."""
    if other.operated:
        return plan.cycles < other.cycles
    room = plan.streams.placed.profile.memory
    return plan.cycles <= other.cycles or count_needed(other) > room


def find_unkept(plan: StreamPlan) -> set[str]:
    """Return the tensors that no memory has: operands of instructions on streams."""
    streams = plan.streams
    found = {streams.arrivals[name].tensor for name in plan.operated}
    sent = (by.departure for by in plan.operated.values() if by.departure is not None)
    return found | {streams.departures[name].tensor for name in sent}


def count_needed(plan: StreamPlan) -> int:
    """Return how many bytes a computing PE needs, roughly."""
    return count_bytes(plan.streams, plan.cuts, find_unkept(plan))


def leave_whole(plan: StreamPlan) -> StreamPlan:
    """Return a plan in which no arrival is cut, so that results need memory one after the other."""
    return replace(plan, cuts={}, whole={**plan.whole, **dict.fromkeys(plan.cuts, NO_ROOM)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """What a plan is made from: its streams, and what statements go by."""

    streams: Streams
    in_place: InPlace
    waits: Mapping[str, Sequence[str]]
    flows: Flows
    triggers: Triggers
    operated: Mapping[str, Operated] = field(default_factory=dict)


def _drafts(
    streams: Streams, in_place: InPlace, waits: Mapping[str, Sequence[str]]
) -> list[_Draft]:
    """Return what statements may go by: the longest streams alone, or all that go in step."""
    placed = streams.placed
    flows = Flows(
        arrivals=streams.arrivals, lair=placed.lair, adapted=placed.adapted,
        routes=streams.routed.said,
    )
    names = [s.name for s in placed.layer.statements if not is_reacting(s, streams)]
    found: list[_Draft] = []
    for in_step in (False, True):
        triggers = find_triggers(placed.layer, names, waits, in_place, flows, in_step=in_step)
        if all(triggers.arrivals != draft.triggers.arrivals for draft in found):
            own = replace(flows, follows=triggers.follows, known={})
            found.append(_Draft(
                streams=streams, in_place=in_place, waits=waits, flows=own, triggers=triggers
            ))
    return found


def _taking_as_it_comes(draft: _Draft) -> list[_Draft]:
    """Return a draft with arrivals as operands, if there are any: no other statement needs them."""
    operated = find_operated(draft.streams, draft.flows, draft.waits, draft.in_place)
    none: dict[str, Sequence[str]] = {each.statement: () for each in operated.values()}
    triggers = replace(draft.triggers, arrivals={**draft.triggers.arrivals, **none})
    return [replace(draft, triggers=triggers, operated=operated)] if operated else []


def _plan(draft: _Draft, most: int, windows: Windows, *, rolling: bool) -> StreamPlan:
    """Return a plan; `most` streams may wait for others. With `rolling` arrivals roll if they can.
    """
    streams, placed = draft.streams, draft.streams.placed
    cutter = Cutter(
        placed.layer, placed.profile, draft.flows, draft.triggers, streams.departures, most,
        rolling=rolling, windows=windows,
    )
    cuts, operated = cutter.cut(), draft.operated
    return StreamPlan(
        streams=streams, in_place=draft.in_place, waits=draft.waits, flows=draft.flows,
        triggers=draft.triggers, cuts=cuts, held={}, operated=operated,
        whole={name: why for name, why in cutter.whole.items() if name not in operated},
        cycles=cutter.cycles + sum(each.cycles for each in operated.values()),
    )


def _explain(name: str, plan: StreamPlan) -> Held:
    """Return why all of an arrival is in memory."""
    layer, arrivals = plan.streams.placed.layer, plan.streams.arrivals
    with_it = [by for by in plan.triggers.arrivals.values() if name in by] or [(name,)]
    group = {other for by in with_it for other in by}
    obstacle = find_obstacle(group, layer, plan.triggers, arrivals)
    return obstacle or Held(why=plan.whole.get(name, "its chunks are few"))


def find_written(streams: Streams) -> list[str]:
    """Return the tensors that statements write."""
    return [statement.target.tensor for statement in streams.placed.layer.statements]


def is_reacting(statement: Statement, streams: Streams) -> bool:
    """Say whether a statement runs element by element, as they arrive."""
    return any(reacts(statement, tensor, streams) for tensor in _arriving(statement, streams))


def reacts(statement: Statement, tensor: str, streams: Streams) -> bool:
    """Say whether a statement may run element by element: a zero of the tensor adds nothing."""
    defined = find_written(streams)
    return (
        is_sparse(tensor, streams.placed)
        and _arriving(statement, streams) == [tensor]
        and not any(access.tensor in defined for access in statement.reads)
        and statement.op in ("+=", "=")
        and is_zero_at(statement.expr, tensor)
    )


def _arriving(statement: Statement, streams: Streams) -> list[str]:
    arriving = {arrival.tensor for arrival in streams.arrivals.values()}
    return [access.tensor for access in statement.reads if access.tensor in arriving]
