"""Departures of tensors, and the order in which they wait for each other."""

from __future__ import annotations

import graphlib
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from lairmake.stages.diagnose import UserError, working_on
from lairmake.stages.lair.layer import Layer, find_writer
from lairmake.stages.layer.routes.feedback import name_away
from lairmake.stages.layer.routes.lines import (
    count_instructions,
    describe_chain,
    describe_collection,
    find_gathering,
    find_in_turn,
    find_leaving,
    name_along,
    name_leaving,
    separate_ports,
)
from lairmake.stages.layer.routes.placement import (
    PlacedLayer,
    Routed,
    Streams,
    colour_routes,
    find_adapters,
    find_depth,
    find_feedback_depth,
    is_sparse,
    join,
)
from lairmake.stages.layer.routes.resources import count_free_threads
from lairmake.stages.layer.texts.isl_files import named
from lairmake.stages.layer.texts.task_graph import (
    By,
    Departure,
    InTurn,
    Sequences,
    Side,
    SumCollection,
)
from lairmake.stages.machine.scarcity import note_grade, note_shortage
from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.movement.border import BorderChain, border_chain, find_feeding
from lairmake.stages.movement.flow import Chain, chain_routes, parity
from lairmake.stages.poly.canonical import from_domain, map_from
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import SIDES, find_outer_box, on_side, relocate, turn
from lairmake.stages.skewing.lags import choose_lags
from lairmake.stages.skewing.skew_yaml import why_broadcast
from lairmake.stages.skewing.spaces import coordinates
from lairmake.stages.skewing.statements import Scheduled, groups_in
from lairmake.stages.skewing.timed import Factors, Timed, later
from lairmake.stages.skewing.topology import ALONG, Topology

# --- Departures of a tensor, and collections ------------------------------------------------------
#
# Paper    V Sec. 4.2

COMBINE: dict[str, By] = {"=": "add", "+=": "add", "*=": "mul", "max=": "max", "min=": "min"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartureSums:
    """What is about to leave on a side: `tensor` by the name that it comes back with, if it does.

    `places` are { tensor[e] -> PE } that compute it, `ports` { tensor[e] -> [port -> index] } of
    what adapters collect there, None if they collect nothing.
    """

    name: str
    tensor: str
    side: str
    places: isl.Map
    ports: isl.Map | None
    feedback: str | None


def add_departures(tensor: str, streams: Streams) -> Streams:
    """Return the streams with those in which a tensor leaves, one a side."""
    for sums in _sums(tensor, streams.placed):
        with working_on(f"departure {sums.name}"):
            streams = _with_departure(sums, streams)
    return streams


def _sums(tensor: str, placed: PlacedLayer) -> Iterator[DepartureSums]:
    relation, feedback = map_from(placed.adapted.departures, tensor), placed.fed_back.get(tensor)
    if relation is None:
        return
    made = from_domain(placed.computed, feedback or tensor)
    computed = isl.Map.from_union_map(made).set_tuple_name(isl.dim_type.in_, tensor)
    base = name_away(tensor) if feedback else tensor
    sides = [s for s in SIDES if not on_side(relation, s, placed.core).is_empty()]
    for side in sides:
        places = computed.intersect_domain(on_side(relation, side, placed.core).domain())
        yield DepartureSums(
            name=base if len(sides) == 1 else f"{base}_{SIDES[side].word}",
            tensor=tensor,
            side=side,
            places=places,
            ports=_collected(tensor, side, placed),
            feedback=feedback,
        )


def _collected(tensor: str, side: str, placed: PlacedLayer) -> isl.Map | None:
    """Return { t[e] -> [port -> index] } of what adapters on a side collect, if anything."""
    order = map_from(placed.adapted.collected, tensor)
    here = None if order is None else on_side(order, side, placed.grid)
    return None if here is None or here.is_empty() else here


def _with_departure(sums: DepartureSums, streams: Streams) -> Streams:
    """Return the streams with a departure, and the collections of it."""
    placed = streams.placed
    members = sums.places.range().apply(turn(sums.side, placed.grid))
    alone = members.project_out(isl.dim_type.set, 1, 1).is_singleton()
    collect = sums.ports is not None and not (sums.feedback and alone)
    chain = _chain(sums, members, collect, placed)
    summed = _departure(sums, collect, placed)
    departure = _gathered(summed, sums, chain, placed)
    found = _collections(sums, summed, placed) if collect else {}
    objects = {named(sums.name, "chain"): chain.members, named(sums.name, "first"): chain.starts}
    parts = [
        colour_routes(named(sums.name, "even"), chain.even),
        colour_routes(named(sums.name, "odd"), chain.odd),
        Routed(objects=objects),
        *(routed for _, routed in found.values()),
    ]
    if collect:
        adapters = find_adapters(sums.places.range(), turn(sums.side, placed.grid))
        parts.insert(3, Routed(objects={named(sums.name, "adapters"): adapters}))
    elif sums.feedback or departure.sequences:
        parts.append(Routed(objects={named(sums.name, "last"): chain.ends}))
    return replace(
        streams,
        departures={**streams.departures, sums.name: departure},
        collections={**streams.collections, **{name: each for name, (each, _) in found.items()}},
        routed=join((streams.routed, *parts)),
    )


def _chain(sums: DepartureSums, members: isl.Set, collect: bool, placed: PlacedLayer) -> Chain:
    """Return the routes from PE to PE towards a side, or back."""
    side, feeds_back = sums.side, sums.feedback is not None and not collect
    straight = feeds_back and sums.ports is None
    first = find_feedback_depth(sums.tensor, side, placed) if straight else find_depth(side, placed)
    turned = turn(side, placed.grid)
    return chain_routes(members, side, turned, first, collect=collect, feeds_back=feeds_back)


def _departure(sums: DepartureSums, collect: bool, placed: PlacedLayer) -> Departure:
    """Return what tasks.yaml says of a departure that PEs sum."""
    tensor, feedback, side = sums.tensor, sums.feedback, sums.side
    written, feeds_back = feedback or tensor, feedback is not None and not collect
    sparse = is_sparse(tensor, placed) and not (collect or feeds_back)
    return Departure(
        tensor=written,
        side=typing.cast(Side, side),
        colours=(named(sums.name, "even"), named(sums.name, "odd")),
        by=COMBINE[find_writer(placed.layer, written).op],
        parity=parity(turn(side, placed.grid)),
        feedback=tensor if feedback else None,
        collected=collect,
        out=(tensor if sums.ports is None else f"{tensor}_source") if feeds_back else None,
        sequences=_sequences(placed.adapted.departures, tensor) if sparse else None,
    )


def _gathered(
    departure: Departure, sums: DepartureSums, chain: Chain, placed: PlacedLayer
) -> Departure:
    """Return a departure as PEs gather it, where they need not sum it."""
    if departure.sequences is not None:
        return departure
    order = find_leaving(placed.adapted, departure, chain.members)
    computed = sums.places.set_tuple_name(isl.dim_type.in_, departure.tensor)
    found = find_gathering(order, computed, sums.side, placed.adapted)
    return departure if found is None else replace(departure, by="gather", in_turn=found)


def _sequences(orders: isl.UnionMap, tensor: str) -> Sequences:
    """Return the outer indices of a sparse tensor in one of { t[e] -> [PE -> index] }."""
    order = map_from(orders, tensor)
    assert order is not None, "the tensor leaves"
    return describe_sequences(order)


def describe_sequences(order: isl.Map) -> Sequences:
    """Return the outer indices of { t[e] -> [PE -> index] } of a sparse tensor."""
    return Sequences(sparse=True, outer=tuple((low, high) for low, high in find_outer_box(order)))


def _collections(
    sums: DepartureSums, departure: Departure, placed: PlacedLayer
) -> dict[str, tuple[SumCollection, Routed]]:
    """Return the ways of a departure's sums from adapter to adapter to its ports, or back."""
    assert sums.ports is not None, "adapters collect the departure"
    side, tensor = sums.side, name_leaving(departure)
    turned = turn(side, placed.grid)
    sequences = describe_sequences(sums.ports) if is_sparse(tensor, placed) else None
    met = find_feeding(sums.ports.range_factor_domain(), sums.places, turned)
    parts = separate_ports(tensor, met, placed.profile, placed.mapping)
    found = {}
    for along, part in name_along(sums.name, parts):
        chain = border_chain(part, side, turned)
        alone = sequences is None and len(parts) == 1
        rows = _in_turn(tensor, side, sums.ports, chain, placed) if alone else None
        described = describe_collection(sums.name, departure, along, turned, sequences, rows)
        found[along] = described, _routed(along, chain, tensor in placed.fed_back)
    return found


def _routed(along: str, chain: BorderChain, feedback: bool) -> Routed:
    """Return the routes of a collection, on its way to a port if it does not return."""
    parts = [
        colour_routes(named(along, "even"), chain.even),
        colour_routes(named(along, "odd"), chain.odd),
    ]
    if not feedback:
        parts.append(colour_routes(named(along, "out"), chain.out))
    return join((*parts, Routed(objects=describe_chain(along, chain))))


def _in_turn(
    tensor: str, side: str, ports: isl.Map, chain: BorderChain, placed: PlacedLayer
) -> InTurn | None:
    """Return how adapters forward in turn what their rows or columns send, if they can.

    With room in their queue of instructions for a stream that they spread, and for a task.
    """
    lanes = map_from(placed.adapted.departures, tensor)
    assert lanes is not None, "the tensor leaves"
    adapters = on_side(lanes, side, placed.core).range_factor_domain()
    found = find_in_turn(relocate(ports, chain.reach), adapters, chain)
    sparse = sum(t.sparse and bool(t.arrives) for t in placed.mapping.tensors.values())
    fits = found and count_instructions(found) + 2 <= count_free_threads(placed.profile, sparse)
    return found if fits else None

# --- Departures one after the other ---------------------------------------------------------------
#
# Few streams wait at once on a PE then. While all its threads are taken a PE starts no task, and
# other PEs may wait for just that task: to send their part of a sum, to take what comes back, to
# let lanes pass in turn, to spread what arrives. So the streams that may wait for other PEs must
# leave room for one more: streams that are summed on their way, or collected, and what comes back
# of one. The rest waits for ports only.
#
# If all of these streams leave room, departures are sent as they are there. Else they are dealt
# out, in the order of their statements, to as many chains as there is room for. Of a chain one
# departure begins on a PE when all that the PE does for those before it is done: its part is sent,
# and what it takes of them is back. On adapters nothing begins before either: they neither collect
# nor hear it.
#
# Nothing comes to a stop by that. The statements have an order in which each comes after those that
# define what it reads, at this PE or another, and those that read what lay where it writes; chains
# keep it. Of all that is not done take what is first: of the earliest invocation, then in that
# order. All that comes before it is done on all PEs, so each of them has begun with it as soon as
# its statement has run. Nothing holds that up: tasks run everywhere, as no queue is full of what
# waits; so all that arrives from ports is taken. Its streams flow, and it will be done.
#
# If one departure alone leaves no room, and nothing is fed back, there is one chain, and each
# begins on a PE when the PE has also taken, or spread, all that arrives there. Then all that comes
# from ports is taken before anything waits for other PEs, and what is first needs no tasks but its
# own.
#
# Source   design, The machine: an instruction with a fabric operand is queued; profiles, threads

Waits = Mapping[str, Sequence[str]]
Chains = Sequence[Sequence[str]]
COMPUTING = "a computing PE"


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartureOrder:
    """The order of departures: `most` streams wait at once on a computing PE, at most.

    `waits` gives the departures, and the arrivals, that must be done on a PE before one begins.
    """

    most: int
    waits: Mapping[str, list[str]]


def choose_waiting(streams: Streams, waits: Waits) -> DepartureOrder:
    """Return the order of departures; none comes after others if all have room.

    `waits` are the statements for which one waits on its PE. Raises UserError if the streams that
    wait for one departure alone leave no room, and something is fed back.
    """
    names = _in_order(streams, waits)
    places = _places(streams, names)
    free = _threads(streams) - 1
    apart = [[name] for name in names]
    together = {place: apart for place in places} | {COMPUTING: _data_chains(streams, names)}
    if all(_most(costs, together[place]) <= free for place, costs in places.items()):
        return DepartureOrder(most=_most(places[COMPUTING], together[COMPUTING]), waits={})
    note_shortage("threads")
    for number in range(len(names) - 1, 0, -1):
        chains = [names[first::number] for first in range(number)]
        if all(_most(costs, chains) <= free for costs in places.values()):
            found = {name: before for chain in chains for name, before in _after(streams, chain)}
            return DepartureOrder(most=_most(places[COMPUTING], chains), waits=found)
    if streams.placed.fed_back:
        raise _refusal(streams, places)
    return DepartureOrder(
        most=_most(places[COMPUTING], [names]), waits=_after_arrivals(streams, names)
    )


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
    # All of these PEs, not some of them: one that takes nothing back of the first does not wait for
    # it, and streams of both would wait for other PEs there at once.
    return made and bool(_computing_pes(streams, second).is_subset(_takers(streams, back)))


def _made_of(tensor: str, layer: Layer) -> set[str]:
    """Return the tensors that statements make of a tensor, at first or second hand, on one PE.

    A statement comes after those that define what it reads.
    """
    made = {tensor}
    # One pass is enough: lair/binding.py sorts the nodes of a graph so that each comes after what
    # defines its inputs, and lair/checks.py lets a statement read only what one before it defines.
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
        # Backwards, and without the PEs that are found: a PE waits for the last departure before
        # this one that has a part there, and that one waited there for those before it. Forwards it
        # would wait for the first alone, and begin beside those between.
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

# --- Order in which PEs forward a stream ----------------------------------------------------------
#
# It is that of the schedule in which they lag behind each other:
#
#     forwarding: {x: {order: {ff: "[t0 + y, t1 + x]"}}}
#
# A line of PEs is in the order of the skewed schedule of a statement if each PE uses an element
# first after all PEs before it that use it. That is checked for all elements and PEs at once.
# `order` has the times of skewed.isl, t those before PEs lag; `otherwise` says why a line has no
# such order. It is right all the same: no PE of a line writes what it forwards, so that no
# dependence, M (3), leads along it, and a PE uses nothing before it has come.
#
# Paper    M Sec. III

BEYOND = {"E": ("x < u", "y = v"), "W": ("u < x", "y = v"), "S": ("y < v", "x = u"),
          "N": ("v < y", "x = u")}
"""For each side to which PEs forward: PE[u, v] lies farther than PE[x, y], and is on its lane."""

MOST_FOR_CHECK = 20_000_000
"""Operations that isl may spend on the check of a line: some seconds."""

APART = "no PE uses what another one uses"
LONG = "isl needs long to tell"
AGAINST = "PEs lag the other way"
OTHER = "PEs use it in another order"


@dataclass(frozen=True, slots=True, kw_only=True)
class DepartureTimes:
    """By statement, the times in whose order PEs use what they forward; or why there are none."""

    order: Mapping[str, str]
    otherwise: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skewed:
    """A statement whose PEs lag: by `lag`, and by `wanted` if only broadcasts mattered."""

    statement: Timed = field(repr=False)
    wanted: Factors
    lag: Factors


class Ordering:
    """The skewed schedule of a layer, for the lines along which its PEs forward."""

    def __init__(self, scheduled: Scheduled, placement: isl.UnionMap) -> None:
        """Let the PEs of a mesh lag; `placement` is that of the PEs in which lines are."""
        mapping = scheduled.mapping
        sizes = parse_target(mapping.target)
        network = Topology(kind="mesh", sizes=sizes, spatial=ALONG[mapping.skew])
        self.space, groups = groups_in(scheduled, network)
        self.placement, self.names = placement, [c.name for c in coordinates(network)]
        self.skewed: dict[str, Skewed] = {}
        for group in groups:
            choice = choose_lags(self.space, group)
            for each in group.statements:
                wanted, lag = choice.wanted[each.name], choice.taken[each.name]
                self.skewed[each.name] = Skewed(statement=each, wanted=wanted, lag=lag)

    def of(self, tensor: str, taken: isl.Map, side: str, *, lanes: bool) -> DepartureTimes:
        """Return the order in which PEs { tensor[e] -> PE } forward it to a side, by statement.

        Along their `lanes`, or else from lane to lane.
        """
        farther, same = BEYOND[side]
        condition = f"{farther} and {same}" if lanes else farther
        beyond = isl.Map(f"{{ PE[x, y] -> PE[u, v] : {condition} }}")
        order, otherwise = {}, {}
        for name in self._readers(tensor):
            why = self._why(name, tensor, taken, beyond, side)
            if why is None:
                order[name] = _times(self.skewed[name].lag, self.names)
            else:
                otherwise[name] = why
        return DepartureTimes(order=order, otherwise=otherwise)

    def _readers(self, tensor: str) -> Sequence[str]:
        return [n for n, reads in self.space.reads.items() if _of(reads, tensor) is not None]

    def _why(
        self, name: str, tensor: str, taken: isl.Map, beyond: isl.Map, side: str
    ) -> str | None:
        """Return why the PEs that use a tensor do so in another order; None if they do not."""
        try:
            with limit_operations(MOST_FOR_CHECK):
                before, ordered = self._check(name, tensor, taken, beyond)
        except TooManyOperations:
            return LONG
        if not before:
            return APART
        return None if ordered else self._against(self.skewed[name], tensor, side)

    def _check(
        self, name: str, tensor: str, taken: isl.Map, beyond: isl.Map
    ) -> tuple[bool, bool]:
        """Say whether PEs use what others before them use, and if so always first after them."""
        first = self._first(name, tensor).intersect_domain(taken.wrap())
        same = isl.Map.identity(taken.domain().get_space().map_from_set())
        times = same.product(beyond).apply_domain(first).apply_range(first)
        return not times.is_empty(), times.is_subset(isl.Map.lex_lt(first.range().get_space()))

    def _first(self, name: str, tensor: str) -> isl.Map:
        """Return { [tensor[e] -> PE] -> [t] }, the first time at which a PE uses an element."""
        each, access = self.skewed[name], _of(self.space.reads[name], tensor)
        assert access is not None, "the statement reads the tensor"
        points = each.statement.points.set_tuple_name(isl.dim_type.out, name)
        times = points.apply_range(later(each.statement, each.lag))
        place = isl.Map.from_union_map(from_domain(self.placement, name))
        used = access.reverse().apply_range(place.range_product(times))
        return used.uncurry().lexmin()

    def _against(self, each: Skewed, tensor: str, side: str) -> str:
        reference = next(r for r in each.statement.references if r.tensor == tensor)
        why = why_broadcast(each.statement, reference, each.wanted, each.lag)
        axis, way = ("EW".find(side), 0) if side in "EW" else ("SN".find(side), 1)
        towards = [row[way] * (1 - 2 * axis) for row in each.lag]
        return why or (AGAINST if min(towards, default=0) < 0 else OTHER)


def _of(accesses: Sequence[isl.Map], tensor: str) -> isl.Map | None:
    """Return that of the accesses { S[i] -> T[e] } which is to a tensor, if there is one."""
    return next((a for a in accesses if a.get_tuple_name(isl.dim_type.out) == tensor), None)


def _times(lag: Factors, names: Sequence[str]) -> str:
    """Return the times t + F p as text."""
    rows = []
    for k, row in enumerate(lag):
        terms = [f" {'+' if f > 0 else '-'} {n}" for f, n in zip(row, names, strict=True) if f]
        rows.append(f"t{k}{''.join(terms)}")
    return f"[{', '.join(rows)}]"
