"""Which departures come one after the other, so that few streams wait at once on a PE.

While all its threads are taken a PE starts no task, and other PEs may wait for just that task: to
send their part of a sum, to take what comes back, to let lanes pass in turn, to spread what
arrives. So what may wait for other PEs must leave room for one more: a stream that is summed
on its way, or collected, and what comes back of one. The rest waits for ports only.

If all of that leaves room, departures are sent as they are there. Else they are dealt out, in the
order of their statements, to as many chains as there is room for; of a chain one departure begins
on a PE when all that the PE does for those before it is done: its part is sent, and what it takes
of them is back. On adapters nothing begins before either: they neither collect nor hear it.

Nothing comes to a stop by that. The statements have an order in which each comes after those that
define what it reads, at this PE or another, and those that read what lay where it writes; chains
keep it. Of all that is not done take what is first: of the earliest invocation, then in that order.
All that comes before it is done on all PEs, so each of them has begun with it as soon as its
statement has run. Nothing holds that up: tasks run everywhere, as no queue is full of what waits;
so all that arrives from ports is taken. Its streams flow, and it will be done.

If one departure alone leaves no room, and nothing is fed back, there is one chain, and each begins
on a PE when the PE has also taken, or spread, all that arrives there. Then all that comes from
ports is taken before anything waits for other PEs, and what is first needs no tasks but its own.

Source   design, The machine: an instruction with a fabric operand is queued; profiles, threads
"""

from __future__ import annotations

import graphlib
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.layer import Layer, find_writer
from lairmake.stages.layer.routes.leaving import count_instructions
from lairmake.stages.layer.routes.threads import count_free_threads
from lairmake.stages.machine.scarcity import note_grade, note_shortage
from lairmake.stages.poly.sides import SIDES

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.routes.placed import Streams
    from lairmake.stages.layer.texts.task_graph import Departure

Waits = Mapping[str, Sequence[str]]
Chains = Sequence[Sequence[str]]
COMPUTING = "a computing PE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How departures wait: `most` streams at once on a computing PE, at most.

    `waits` gives the departures, and the arrivals, that must be done on a PE before one begins.
    """

    most: int
    waits: Mapping[str, list[str]]


def choose_waiting(streams: Streams, waits: Waits) -> Waiting:
    """Return how departures wait; none comes after others if all have room.

    `waits` are the statements for which one waits on its PE. Raises UserError if what waits for one
    departure alone leaves no room, and something is fed back.
    """
    names = _in_order(streams, waits)
    places = _places(streams, names)
    free = _threads(streams) - 1
    apart = [[name] for name in names]
    together = {place: apart for place in places} | {COMPUTING: _data_chains(streams, names)}
    if all(_most(costs, together[place]) <= free for place, costs in places.items()):
        return Waiting(most=_most(places[COMPUTING], together[COMPUTING]), waits={})
    note_shortage("threads")
    for number in range(len(names) - 1, 0, -1):
        chains = [names[first::number] for first in range(number)]
        if all(_most(costs, chains) <= free for costs in places.values()):
            found = {name: before for chain in chains for name, before in _after(streams, chain)}
            return Waiting(most=_most(places[COMPUTING], chains), waits=found)
    if streams.placed.fed_back:
        raise _refusal(streams, places)
    return Waiting(most=_most(places[COMPUTING], [names]), waits=_after_arrivals(streams, names))


def _refusal(streams: Streams, places: Mapping[str, Mapping[str, int]]) -> UserError:
    """Return the error that says where one departure alone leaves no room."""
    place, name, most = max(
        ((place, name, most) for place, costs in places.items() for name, most in costs.items()),
        key=lambda found: found[2],
    )
    profile, free = streams.placed.profile, _threads(streams)
    grade = note_grade(profile, "threads")
    fifos = f", {profile.threads - free} of them for FIFOs" if free < profile.threads else ""
    return UserError(
        f"on {place} {most} streams of {streams.departures[name].tensor} wait for other PEs at "
        f"once, {profile.name} has {profile.threads} threads{grade}{fifos}: "
        "no task starts while all are taken",
        streams.placed.mapping.span("placement"),
        "place statements on the PEs that compute what they read, build the graph in parts, or "
        "take a machine with more threads",
    )


def _threads(streams: Streams) -> int:
    sparse = sum(arrival.sparse for arrival in streams.arrivals.values())
    return count_free_threads(streams.placed.profile, sparse)


def _in_order(streams: Streams, waits: Waits) -> list[str]:
    """Return the departures that may wait for other PEs, in an order of their statements."""
    layer = streams.placed.layer
    before = {s.name: set(waits.get(s.name, ())) for s in layer.statements}
    for statement in layer.statements:
        back = [a.tensor for a in statement.reads if a.tensor in streams.placed.fed_back]
        read = (streams.placed.fed_back[tensor] for tensor in back)
        before[statement.name] |= {find_writer(layer, tensor).name for tensor in read}
    order = list(graphlib.TopologicalSorter(before).static_order())

    def place(name: str) -> int:
        return order.index(find_writer(layer, streams.departures[name].tensor).name)

    return sorted((n for n in streams.departures if _may_wait(n, streams)), key=place)


def _may_wait(name: str, streams: Streams) -> bool:
    """Say whether a PE sends what comes from others, too, or what comes back or is collected."""
    departure, chain = streams.departures[name], streams.routed.said.pes(name, "chain")
    alone = chain.is_subset(streams.routed.said.pes(name, "first"))
    return departure.feedback is not None or departure.collected or not alone


def _places(streams: Streams, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return, by kind of place, how many streams of each departure wait there at once."""
    places = {COMPUTING: {name: _computing(streams.departures[name]) for name in names}}
    for side, described in SIDES.items():
        costs = {name: _adapting(streams, name, side) for name in names}
        places[f"an adapter of the {described.word}"] = costs
    return places


def _most(costs: Mapping[str, int], chains: Chains) -> int:
    """Return how many streams wait at once, of each chain those of one departure."""
    return sum(max(costs[name] for name in chain) for chain in chains)


def _computing(departure: Departure) -> int:
    """Return how many streams wait on a PE: what it sends, and what comes back.

    It must take that meanwhile: the last PE of a row sends back what it has while it takes more.
    """
    return (departure.feedback is not None) + count_instructions(departure.in_turn)


def _adapting(streams: Streams, name: str, side: str) -> int:
    """Return how many streams wait on an adapter: sums of its lane or others, and what it spreads.

    It sends what it spreads when it has heard all of it.
    """
    back = streams.arrivals.get(streams.departures[name].feedback or "")
    along = [c for c in streams.collections.values() if c.departure == name]
    passed = sum(count_instructions(c.in_turn) - 1 for c in along if c.side == side)
    spread = back is not None and back.spread and back.side == side
    return passed + sum(collection.side == side for collection in along) + spread


def _data_chains(streams: Streams, names: Sequence[str]) -> list[list[str]]:
    """Return departures in chains: one is back on the PEs concerned before the next is sent."""
    chains: list[list[str]] = []
    for name in names:
        chain = next((c for c in chains if _ends_before(c[-1], name, streams)), None)
        if chain is None:
            chains.append([name])
        else:
            chain.append(name)
    return chains


def _ends_before(first: str, second: str, streams: Streams) -> bool:
    """Say whether one departure is back, on every PE concerned, before a second one is sent.

    It is if what the second one sends is made of it, and all PEs that the latter passes, and those
    that take it when it comes back, take the first one.
    """
    back = streams.departures[first].feedback
    if back is None:
        return False
    made = streams.departures[second].tensor in _made_of(back, streams.placed.layer)
    return made and bool(_computing_pes(streams, second).is_subset(_takers(streams, back)))


def _made_of(tensor: str, layer: Layer) -> set[str]:
    """Return the tensors that statements make of a tensor, at first or second hand, on one PE.

    A statement comes after those that define what it reads.
    """
    made = {tensor}
    for statement in layer.statements:
        if any(access.tensor in made for access in statement.reads):
            made.add(statement.target.tensor)
    return made


def _after(streams: Streams, chain: Sequence[str]) -> typing.Iterator[tuple[str, list[str]]]:
    """Yield, for the departures of a chain, those for which one waits on some PE.

    Not one that others, for which it waits, wait for wherever it would.
    """
    parts = {name: _concerned(streams, name) for name in chain}
    for place, name in enumerate(chain):
        left, before = parts[name], []
        for other in reversed(chain[:place]):
            if not left.is_disjoint(parts[other]):
                before.append(other)
                left = left.subtract(parts[other])
        if before:
            yield name, before


def _after_arrivals(streams: Streams, names: Sequence[str]) -> dict[str, list[str]]:
    """Return, by departure, what must be done on a PE before it: others, and what arrives there."""
    others = dict(_after(streams, names))
    found = {
        name: [a for a in streams.arrivals if _is_apart(a, name, streams)] + others.get(name, [])
        for name in names
    }
    return {name: before for name, before in found.items() if before}


def _is_apart(arrival: str, name: str, streams: Streams) -> bool:
    """Say whether a PE has a part in both, and the departure's is not made of what arrives.

    An adapter spreads the one and collects the other, or a PE takes the one for other statements.
    """
    described, tensor = streams.arrivals[arrival], streams.departures[name].tensor
    computing, concerned = _computing_pes(streams, name), _concerned(streams, name)
    adapters = described.spread and not concerned.is_disjoint(
        streams.routed.said.pes(arrival, "adapters")
    )
    writer = find_writer(streams.placed.layer, tensor)
    read = any(a.tensor == described.tensor for a in writer.reads)
    return bool(adapters or not (read or computing.is_disjoint(_takers(streams, arrival))))


def _concerned(streams: Streams, name: str) -> isl.Set:
    """Return the PEs that have some part in a departure: computing ones, and adapters."""
    pes, back = _computing_pes(streams, name), streams.departures[name].feedback
    routes = streams.routed.said
    for along, collection in streams.collections.items():
        if collection.departure == name:
            pes = pes.union(routes.pes(along, "chain"))
    for each in (name, back):
        if each is not None and routes.has(each, "adapters"):
            pes = pes.union(routes.pes(each, "adapters"))
    return pes


def _computing_pes(streams: Streams, name: str) -> isl.Set:
    """Return the computing PEs that send some of a departure, or take some of what comes back."""
    chain, back = streams.routed.said.pes(name, "chain"), streams.departures[name].feedback
    return chain if back is None else chain.union(_takers(streams, back))


def _takers(streams: Streams, arrival: str) -> isl.Set:
    return streams.routed.said.relation(arrival, "taken").range()
