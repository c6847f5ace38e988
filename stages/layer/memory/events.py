"""Events of a PE in an invocation, and their order.

An event has the name of a function of the PE's program:

    restart     the start of an invocation
    arrived_A   all of arrival A is here
    step_S      the first step of statement S, if it runs in steps
    finish_S    statement S has all that it needs, and runs; what has steps has run
    begin_D     departure D begins, if it waits for others; else it does when its statement has run
    heard_A     an adapter has all of arrival A, and sends it on
    gathered_D  an adapter has the sums of its lane of departure D, and sends them on
    sent_D      a PE's part of departure D, collection D or spread arrival D has left
    complete    the end of the invocation: all streams of the PE are complete

Instructions of streams are under way from one event to another one; all else runs within a function
at once. Nothing of the next invocation happens before the end of this one.

Paper    V Sec. 3, 4.2
"""

from __future__ import annotations

import graphlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import COMPLETE, RESTART
from lairmake.stages.layer.texts.task_graph import Departure, ForKind, TaskGraph

Edge = tuple[str, str]
Span = tuple[str, str]
"""The events with which something begins and ends."""


@dataclass(frozen=True, slots=True)
class EventOrder:
    """For each event those that come later, on every PE on which both happen."""

    later: Mapping[str, frozenset[str]]

    def ends_before(self, first: Collection[str], second: Collection[str]) -> bool:
        """Say whether { e -> f : e in first and f in second } is part of the order."""
        return all(self.later[event].issuperset(second) for event in first)


def make_order(edges: Iterable[Edge], everywhere: Collection[str]) -> EventOrder:
    """Return the transitive closure of { e -> f }, f after e on the PEs that have both.

    A way from one event to another says nothing of PEs that lack an event in between: it leads
    through those only that happen `everywhere`.
    """
    following: dict[str, set[str]] = {}
    for first, second in edges:
        following.setdefault(first, set()).add(second)
        following.setdefault(second, set())
    later: dict[str, frozenset[str]] = {}
    for event in graphlib.TopologicalSorter(following).static_order():
        further = (later[each] for each in following[event] if each in everywhere)
        later[event] = frozenset(following[event]).union(*further)
    return EventOrder(later)


def order_computing(
    graph: TaskGraph, reads: Mapping[str, Collection[str]], taken: Collection[str]
) -> EventOrder:
    """Return the order of the events of computing PEs.

    `reads` are the tensors that each statement reads, `taken` the arrivals that all PEs take.
    """
    edges = [(RESTART, COMPLETE)]
    for statement, tensors in reads.items():
        edges += _around_statement(graph, statement, tensors)
    for name in graph.arrivals:
        start, arrived = _begin_taking(graph, name), f"arrived_{name}"
        edges += [(RESTART, arrived), (start, arrived), (arrived, COMPLETE)]
    for name, departure in graph.departures.items():
        edges += _around_departure(graph, name, departure)
    partly = {f"sent_{name}" for name in graph.departures}
    partly |= {f"arrived_{name}" for name in graph.arrivals if name not in taken}
    return make_order(edges, {event for edge in edges for event in edge} - partly)


def _around_statement(graph: TaskGraph, statement: str, reads: Collection[str]) -> Iterator[Edge]:
    """Yield what comes before a statement and its steps.

    A step waits for all of the arrivals that it does not run by, and of the statements that it does
    not follow step by step.
    """
    finish, step, task = f"finish_{statement}", f"step_{statement}", _computing(graph, statement)
    yield from ((RESTART, finish), (finish, COMPLETE))
    before = [f"finish_{other}" for other in graph.waits.get(statement, ())]
    before += [f"arrived_{n}" for n, a in graph.arrivals.items() if a.tensor in reads]
    yield from ((event, finish) for event in before)
    if task is not None and task.chunks:
        gradual = {f"arrived_{n}" for n in task.chunks} | {f"finish_{n}" for n in task.follows}
        yield from ((RESTART, step), (step, finish))
        yield from ((event, step) for event in before if event not in gradual)


def _computing(graph: TaskGraph, statement: str) -> task_graph.Compute | None:
    tasks = (t for t in graph.tasks.values() if isinstance(t, task_graph.Compute))
    return next((t for t in tasks if t.statement == statement), None)


def _around_departure(graph: TaskGraph, name: str, departure: Departure) -> Iterator[Edge]:
    """Yield what comes before a departure, and after its beginning."""
    begin, sent = _begin_sending(graph, name), f"sent_{name}"
    yield from ((begin, sent), (RESTART, sent), (sent, COMPLETE))
    if departure.waits:
        yield from ((RESTART, begin), (begin, COMPLETE))
        yield (_finish(graph, departure.tensor), begin)
    for other in departure.waits:
        if other in graph.departures:
            yield (f"sent_{other}", begin)
        back = graph.departures[other].feedback if other in graph.departures else other
        if back is not None:
            yield (f"arrived_{back}", begin)


def _finish(graph: TaskGraph, tensor: str) -> str:
    """Return when the statement runs that writes a tensor, and all of it is there."""
    tasks = (t for t in graph.tasks.values() if isinstance(t, task_graph.Running))
    return f"finish_{next(t.statement for t in tasks if t.target == tensor)}"


def _begin_sending(graph: TaskGraph, name: str) -> str:
    """Return when a PE begins with its part of a departure."""
    departure = graph.departures[name]
    return f"begin_{name}" if departure.waits else _finish(graph, departure.tensor)


def _begin_taking(graph: TaskGraph, name: str) -> str:
    """Return when a PE begins to take an arrival: what is fed back, when it sends its own part."""
    away = _find_away(graph, name)
    return RESTART if away is None else _begin_sending(graph, away)


def _find_away(graph: TaskGraph, arrival: str) -> str | None:
    """Return the departure that comes back as an arrival; None if it comes from a port."""
    found = (name for name, each in graph.departures.items() if each.feedback == arrival)
    return next(found, None)


def order_adapting(graph: TaskGraph, side: str) -> EventOrder:
    """Return the order of the events of the adapters on a side."""
    edges, everywhere = [(RESTART, COMPLETE)], {RESTART, COMPLETE}
    streams = _adapted(graph, side)
    for name, parts in streams.items():
        begin = _begin_adapting(graph, name)
        everywhere.add(begin)
        edges += [(RESTART, begin), (begin, COMPLETE)] if begin != RESTART else []
        for between, sent in parts:
            ways = [(begin, between), (begin, sent), (RESTART, between), (RESTART, sent)]
            edges += [*ways, (between, sent), (between, COMPLETE), (sent, COMPLETE)]
        before = graph.departures[name].waits if begin != RESTART else ()
        edges += [(sent, begin) for other in before for _, sent in streams.get(other, ())]
    return make_order(edges, everywhere)


def _adapted(graph: TaskGraph, side: str) -> dict[str, list[Edge]]:
    """Return, by departure, or by arrival from a port, the streams that adapters on a side take.

    Of each stream, when all of it is there, and when it has left.
    """
    found: dict[str, list[Edge]] = {}
    for name, collection in graph.collections.items():
        if collection.side == side:
            ends = (f"gathered_{collection.departure}", f"sent_{name}")
            found.setdefault(collection.departure, []).append(ends)
    for name, arrival in graph.arrivals.items():
        if arrival.spread and arrival.side == side:
            ends = (f"heard_{name}", f"sent_{name}")
            found.setdefault(_find_away(graph, name) or name, []).append(ends)
    return found


def _begin_adapting(graph: TaskGraph, name: str) -> str:
    """Return when adapters begin to take a departure, or an arrival."""
    waits = name in graph.departures and graph.departures[name].waits
    return f"begin_{name}" if waits else RESTART


def _initialise(graph: TaskGraph, task: task_graph.Initialise) -> Span:
    if task.before is None:
        return RESTART, RESTART
    return f"step_{task.before}", f"finish_{task.before}"


def _react(
    graph: TaskGraph, task: task_graph.React | task_graph.StoreTask | task_graph.Relay
) -> Span:
    return RESTART, f"arrived_{task.arrival}"


def _receive(graph: TaskGraph, task: task_graph.ReceiveTask) -> Span:
    return _begin_taking(graph, task.arrival), f"arrived_{task.arrival}"


def _operate(graph: TaskGraph, task: task_graph.Operate) -> Span:
    return RESTART, f"arrived_{task.arrival}"


def _compute(graph: TaskGraph, task: task_graph.Compute) -> Span:
    finish = f"finish_{task.statement}"
    return f"step_{task.statement}" if task.chunks else finish, finish


def _carry(graph: TaskGraph, task: task_graph.Carry) -> Span:
    return COMPLETE, COMPLETE


def _exchange(graph: TaskGraph, task: task_graph.SendHalo | task_graph.ReceiveHalo) -> Span:
    return COMPLETE, COMPLETE


def _halo(graph: TaskGraph, task: task_graph.Halo) -> Span:
    return _begin_taking(graph, task.arrival), f"arrived_{task.arrival}"


def _send(graph: TaskGraph, task: task_graph.SendTask | task_graph.Pack) -> Span:
    name = task.departure
    if name in graph.collections:
        return f"gathered_{graph.collections[name].departure}", f"sent_{name}"
    return _begin_sending(graph, name), f"sent_{name}"


def _send_early(graph: TaskGraph, task: task_graph.EarlySend) -> Span:
    return RESTART, f"sent_{task.departure}"


def _hear(graph: TaskGraph, task: task_graph.Hear) -> Span:
    begin = _begin_adapting(graph, _find_away(graph, task.arrival) or task.arrival)
    return begin, f"heard_{task.arrival}"


def _spread(graph: TaskGraph, task: task_graph.Spread) -> Span:
    return f"heard_{task.arrival}", f"sent_{task.arrival}"


def _clear(graph: TaskGraph, task: task_graph.Clear) -> Span:
    begin = _begin_adapting(graph, task.departure)
    return begin, begin


def _gather(graph: TaskGraph, task: task_graph.Collect) -> Span:
    return _begin_adapting(graph, task.departure), f"gathered_{task.departure}"


SPANS: ForKind[TaskGraph, Span] = ForKind(
    initialise=_initialise,
    react=_react,
    store=_react,
    receive=_receive,
    operate=_operate,
    compute=_compute,
    carry=_carry,
    halo=_halo,
    send=_send,
    early_send=_send_early,
    send_halo=_exchange,
    receive_halo=_exchange,
    pack=_send,
    relay=_react,
    hear=_hear,
    spread=_spread,
    clear=_clear,
    gather=_gather,
)
"""The events between which a task uses memory, by its kind: in loops, or in a stream's instruction.
"""
