"""Adaptation of a layer to its borders: adapters that spread or collect."""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import Span, UserError, working_on
from lairmake.stages.layer.routes.feedback import (
    FeedbackWay,
    add_feedback,
    choose_way,
    find_astray,
    order_arrival,
    order_departure,
)
from lairmake.stages.layer.routes.halos import find_moves
from lairmake.stages.layer.routes.lines import (
    MOST_PARTS,
    find_lane_order,
    must_turn,
    name_part,
    split,
)
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.mapping.ports import read_ports
from lairmake.stages.poly.box import box_hull, offset_set
from lairmake.stages.poly.canonical import find_example, find_set, from_domain, list_maps, list_sets
from lairmake.stages.poly.functions import bind_domain
from lairmake.stages.poly.sides import (
    SIDES,
    Rectangle,
    behind_ports,
    on_side,
    relocate,
    taken_by,
    turn,
)
from lairmake.stages.skewing.elements import Lair, find_computed_elements, find_needed_elements

# --- Demand of PEs, and free borders --------------------------------------------------------------
#
# PEs of a target need and compute elements; borders without instances are free.
#
# Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2

IN = isl.dim_type.in_
Direction = typing.Literal["arrives", "leaves"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterDemand:
    """A placed layer, and { tensor[e] -> PE[x, y] } that need and compute elements.

    `lair` are the objects of lair.isl, in which what is fed back has a name of its own; `feedback`
    is { T_feedback[e] -> T[e] }. `moves` are { T[e] -> [PE -> PE'] } of what neighbours exchange.
    """

    mapping: LayerMapping
    lair: Lair
    placement: isl.UnionMap
    target: Rectangle
    needed: isl.UnionMap
    computed: isl.UnionMap
    moves: isl.UnionMap
    feedback: isl.UnionMap


def find_demand(
    mapping: LayerMapping, given: Lair, placement: isl.UnionMap, target: Rectangle
) -> AdapterDemand:
    """Return what the PEs of a target need and compute.

    Raises UserError where layer.yaml asks for a halo that is none.
    """
    moves = find_moves(mapping, given, placement)
    lair = add_feedback(given, placement, [each.get_tuple_name(IN) for each in list_maps(moves)])
    computed = find_computed_elements(lair, placement)
    feedback = lair.feedback
    return AdapterDemand(
        mapping=mapping,
        lair=lair,
        placement=placement,
        target=target,
        needed=find_needed_elements(lair, placement),
        computed=computed.union(feedback.apply_range(computed)),
        moves=moves,
        feedback=feedback,
    )


def find_needed(tensor: str, demand: AdapterDemand) -> isl.Map:
    """Return { tensor[e] -> PE[x, y] } of the PEs that read an element."""
    used = from_domain(demand.needed, tensor)
    if used.is_empty():
        return isl.Map(f"{{ {tensor}[] -> PE[x, y] : false }}")
    return isl.Map.from_union_map(used)


def find_computed(tensor: str, demand: AdapterDemand) -> isl.Map:
    """Return { tensor[e] -> PE[x, y] } of the PEs that compute an element, all or in part."""
    return isl.Map.from_union_map(from_domain(demand.computed, tensor))


def find_border(side: str, demand: AdapterDemand) -> isl.Set:
    """Return { PE[x, y] } of the row or column of the target on a side."""
    return isl.Set("{ [lane, 0] }").apply(turn(side, demand.target).reverse())


def is_in_the_way(side: str, demand: AdapterDemand) -> bool:
    """Say whether instances run where the adapters of a side must stand."""
    border = isl.UnionSet.from_set(find_border(side, demand))
    return not demand.placement.range().is_disjoint(border)


def find_parts(
    source: isl.Map, missing: isl.Map, side: str, demand: AdapterDemand
) -> list[isl.Map] | None:
    """Return { t[e] -> port } of each stream in which adapters hear { t[e] -> PE }.

    None if these are too many.
    """
    return split(source.range_factor_domain(), missing, turn(side, demand.target))


def find_span(tensor: str, key: Direction, demand: AdapterDemand) -> Span:
    """Return the place where layer.yaml says where a tensor arrives, or leaves."""
    given = demand.mapping.tensors[tensor]
    text = given.arrives if key == "arrives" else given.leaves
    assert text is not None, f"layer.yaml says where {tensor} {key}"
    return text.place


def describe_border(side: str) -> str:
    """Return `north row`, as messages call the border of a side."""
    return f"{SIDES[side].word} {'row' if side in 'NS' else 'column'}"


def find_delivered(order: isl.Map, side: str, target: Rectangle) -> isl.Map:
    """Return { tensor[e] -> PE } of all PEs on the row or column of a port of a side."""
    return behind_ports(order, side, target).range_factor_domain()


def peel(target: Rectangle, sides: Collection[str]) -> Rectangle:
    """Return the rectangle without its border on the given sides."""
    return Rectangle(
        left=target.left + ("W" in sides),
        top=target.top + ("N" in sides),
        right=target.right - ("E" in sides),
        bottom=target.bottom - ("S" in sides),
    )

# --- Borders peeled off for adapters --------------------------------------------------------------
#
# All data flows along rows or along columns then.
#
# Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2, eqs. (5) (6) (10)

@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptation:
    """One layer's arrivals and departures, { tensor[e] -> [port -> index] }, and their adapters.

    `spread` is, by tensor and side, what adapters there must spread, { tensor[e] -> PE }, and
    `collected` the sides on which they collect what leaves. `ways` are those of what is fed back;
    `kept` are the outputs that stay in memory.
    """

    demand: AdapterDemand
    sources: Mapping[str, isl.Map]
    departures: Mapping[str, isl.Map]
    spread: Mapping[str, Mapping[str, isl.Map]]
    collected: Mapping[str, Sequence[str]]
    ways: Mapping[str, FeedbackWay]
    kept: tuple[str, ...]


def choose_adaptation(demand: AdapterDemand) -> Adaptation:
    """Read the ports and decide which sides are peeled off. Raises UserError.

    A tensor that is fed back departs and arrives like others.
    """
    written, lair = _names(demand.lair.writes.range()), demand.lair
    read = [tensor for tensor in _names(lair.tensors) if tensor not in written]
    sources, departures = _ports("arrives", read, demand), _ports("leaves", written, demand)
    internal = _names(lair.internal)
    ways = {back: _way(back, demand) for back in _fed_back(demand)}
    needed = {back: find_needed(back, demand) for back in ways}
    by_border = {back: way for back, way in ways.items() if not way.straight}
    target = demand.target
    return Adaptation(
        demand=demand,
        sources=sources | {b: order_arrival(needed[b], way, target) for b, way in ways.items()},
        departures=departures
        | {b: order_departure(needed[b], way, target) for b, way in ways.items()},
        spread={t: _spread_from(t, source, demand) for t, source in sources.items()}
        | {b: {ways[b].comes: needed[b]} if b in by_border else {} for b in ways},
        collected={t: _collected_on(t, ports, demand) for t, ports in departures.items()}
        | {b: [ways[b].leaves] if b in by_border else [] for b in ways},
        ways=ways,
        kept=tuple(t for t in written if t not in departures and t not in internal),
    )


def find_peeled_sides(adaptation: Adaptation) -> set[str]:
    """Return the sides on which adapters need a border."""
    turning = (*adaptation.spread.values(), *adaptation.collected.values())
    return {side for sides in turning for side in sides}


def _names(elements: isl.UnionSet) -> list[str]:
    return [each.get_tuple_name() for each in list_sets(elements)]


def _fed_back(demand: AdapterDemand) -> Iterator[str]:
    """Yield the names with which tensors come back."""
    for each in list_maps(demand.feedback):
        yield each.get_tuple_name(isl.dim_type.in_)


def _ports(
    direction: Direction, tensors: Sequence[str], demand: AdapterDemand
) -> dict[str, isl.Map]:
    found = {}
    for tensor in tensors:
        elements = typing.cast(isl.Set, find_set(demand.lair.tensors, tensor))
        ports = read_ports(demand.mapping, tensor, direction, elements, demand.target)
        if ports is not None:
            found[tensor] = ports
    return found


def _way(back: str, demand: AdapterDemand) -> FeedbackWay:
    """Choose the way of a tensor that is fed back."""
    computed, needed = find_computed(back, demand), find_needed(back, demand)
    computed = computed.intersect_domain(needed.domain())
    return choose_way(computed, needed, demand.target, lambda side: not is_in_the_way(side, demand))


def _spread_from(tensor: str, source: isl.Map, demand: AdapterDemand) -> dict[str, isl.Map]:
    """Return, by side, what its border must spread: { tensor[e] -> PE }, none where all flows.

    Of the sides of an element that must be spread, one where no instance is in the way spreads
    it; a side that spreads brings nothing straight, so that what it brought is looked at again.
    """
    here = {side: on_side(source, side, demand.target) for side in SIDES}
    sides = [side for side in SIDES if not here[side].is_empty()]
    sides.sort(key=lambda side: is_in_the_way(side, demand))
    spread: dict[str, isl.Map] = {}
    needed = find_needed(tensor, demand)
    if needed.is_empty():
        return spread
    needed = needed.intersect_domain(source.domain())
    missing = _not_delivered(needed, source, sides, demand.target)
    while not missing.is_empty():
        side = _side_of(missing, here, [s for s in sides if s not in spread])
        spread[side] = missing
        straight = [s for s in sides if s not in spread]
        missing = _not_delivered(needed, source, straight, demand.target)
        for chosen in spread:
            spread[chosen] = missing.intersect_domain(here[chosen].domain())
            missing = missing.subtract(spread[chosen])
    return spread


def _side_of(missing: isl.Map, here: Mapping[str, isl.Map], sides: Sequence[str]) -> str:
    """Return the first side at which all missing elements arrive, else some of them."""
    wanted = missing.domain()
    for side in sides:
        if wanted.is_subset(here[side].domain()):
            return side
    return next(s for s in sides if not wanted.is_disjoint(here[s].domain()))


def _not_delivered(
    needed: isl.Map, source: isl.Map, sides: Sequence[str], target: Rectangle
) -> isl.Map:
    """Return what flows to no PE that needs it from the given sides: { tensor[e] -> PE }."""
    for side in sides:
        needed = needed.subtract(find_delivered(source, side, target))
    return needed


def _collected_on(tensor: str, ports: isl.Map, demand: AdapterDemand) -> list[str]:
    """Return the sides on which adapters must collect what leaves there."""
    computed, target = find_computed(tensor, demand), demand.target
    here = {side: on_side(ports, side, target) for side in SIDES}
    return [side for side in SIDES if must_turn(computed, here[side], side, target)]


def find_streams(tensor: str, side: str, adaptation: Adaptation) -> list[isl.Map]:
    """Return { t[e] -> port } of each stream in which adapters on a side hear a tensor.

    Raises UserError if these are too many.
    """
    demand, source = adaptation.demand, adaptation.sources[tensor]
    here = on_side(source, side, demand.target)
    parts = find_parts(here, adaptation.spread[tensor][side], side, demand)
    if parts is None:
        raise UserError(
            f"{tensor} arrives at PEs of the {SIDES[side].word} that feed the same "
            f"{'columns' if side in 'NS' else 'rows'}, and needs more than {MOST_PARTS} "
            "streams",
            find_span(tensor, "arrives", demand),
            "let it arrive at one PE, or at the PEs that need it",
        )
    return parts

# --- Arrivals and departures of computing PEs -----------------------------------------------------
#
# The borders are peeled off.
#
# Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2, eqs. (5) (6) (10)

Objects = dict[str, isl.UnionSet | isl.UnionMap | isl.Set]


def describe_adapted(adaptation: Adaptation) -> Objects:
    """Return the objects of adapted.isl, in coordinates that start at the computing PEs."""
    demand = adaptation.demand
    core = peel(demand.target, find_peeled_sides(adaptation))
    move = isl.Map(f"{{ PE[x, y] -> PE[x - ({core.left}), y - ({core.top})] }}")
    arriving, leaving = adaptation.sources, adaptation.departures
    arrivals = _each("arrival", arriving, lambda t: _arrival(t, core, adaptation))
    departures = _each("departure", leaving, lambda t: _departure(t, core, adaptation))
    found: Objects = {
        "target": core.as_set().apply(move),
        "grid": demand.target.as_set().apply(move),
        "placement": demand.placement.apply_range(isl.UnionMap.from_map(move)),
        "sources": _moved(adaptation.sources, move),
        "arrivals": _moved(arrivals, move),
        "departures": _moved(departures, move),
    }
    for name, part in _named_parts(adaptation):
        found[name] = isl.UnionMap.from_map(part.apply_range(move))
    if not demand.moves.is_empty():
        found["moves"] = demand.moves.apply_range(isl.UnionMap.from_map(move.product(move)))
    if adaptation.ways:
        found |= {"reads": demand.lair.accesses, "feedback": demand.lair.feedback}
        found |= {} if demand.lair.views.is_empty() else {"views": demand.lair.views}
        found |= {} if demand.lair.carried.is_empty() else {"carried": demand.lair.carried}
    collected = {t: _collected(t, adaptation) for t, s in adaptation.collected.items() if s}
    return found | ({"collected": _moved(collected, move)} if collected else {})


def _each(
    kind: str, tensors: Iterable[str], order: Callable[[str], isl.Map]
) -> dict[str, isl.Map]:
    """Return the order of each tensor; errors say of which one."""
    found = {}
    for tensor in tensors:
        with working_on(f"{kind} {tensor}"):
            found[tensor] = order(tensor)
    return found


def _arrival(tensor: str, core: Rectangle, adaptation: Adaptation) -> isl.Map:
    """Return how a tensor reaches the computing PEs, as eq. (5), re-indexed where spread."""
    source, spread = adaptation.sources[tensor], adaptation.spread[tensor]
    target = adaptation.demand.target
    arrival = _onto(core, source, [s for s in SIDES if s not in spread], target)
    for side, missing in spread.items():
        here = on_side(source, side, target)
        for part in find_streams(tensor, side, adaptation):
            lanes = missing.intersect_domain(part.domain())
            lanes = lanes.apply_range(turn(side, target))
            lanes = lanes.project_out(isl.dim_type.out, 1, 1)
            order = taken_by(here, part).range_factor_range()
            arrival = arrival.union(reindex(lanes, order, turn(side, core)))
    return arrival


def _departure(tensor: str, core: Rectangle, adaptation: Adaptation) -> isl.Map:
    """Return how a tensor leaves the computing PEs: straight, or towards adapters."""
    order, sides = adaptation.departures[tensor], adaptation.collected[tensor]
    target = adaptation.demand.target
    departure = _onto(core, order, [s for s in SIDES if s not in sides], target)
    for side in sides:
        ports = on_side(order, side, target)
        computed = find_computed(tensor, adaptation.demand).intersect_domain(ports.domain())
        departure = departure.union(find_lane_order(computed, ports, side, target, core))
    return departure.coalesce()


def _collected(tensor: str, adaptation: Adaptation) -> isl.Map:
    """Return how a tensor leaves the adapters that collect it."""
    order, target = adaptation.departures[tensor], adaptation.demand.target
    found = isl.Map.empty(order.get_space())
    for side in adaptation.collected[tensor]:
        found = found.union(on_side(order, side, target))
    return found


def _onto(core: Rectangle, order: isl.Map, sides: Iterable[str], target: Rectangle) -> isl.Map:
    """Return the order at some sides, every port moved from the target's side to the core's."""
    moved = isl.Map.empty(order.get_space())
    for side in sides:
        step = turn(side, target).apply_range(turn(side, core).reverse())
        moved = moved.union(relocate(on_side(order, side, target), step))
    return moved.coalesce()


def _named_parts(adaptation: Adaptation) -> Iterator[tuple[str, isl.Map]]:
    """Yield the parts of tensors that come in several streams, or from chosen ports."""
    for tensor, spread in adaptation.spread.items():
        source = adaptation.sources[tensor]
        for side in spread:
            parts = find_streams(tensor, side, adaptation)
            ports = on_side(source, side, adaptation.demand.target).range_factor_domain()
            if len(parts) > 1 or not parts[0].is_equal(ports):
                for number, part in enumerate(parts):
                    yield name_part(tensor, side, number), part


def reindex(lanes: isl.Map, order: isl.Map, turned: isl.Map) -> isl.Map:
    """Return { t[e] -> [PE -> index[o, i - offset(lane)]] } for t[e] needed on a lane.

    The offset is that of the fixed-size box hull of the inner indices that the lane needs.
    """
    needed = lanes.reverse().apply_range(order)
    inner = order.dim(isl.dim_type.out) - 1
    values = bind_domain(needed.project_out(isl.dim_type.out, 0, inner), ["PE_X"])
    hull = box_hull(values.reset_tuple_id(), None, quasi_affine=True)
    assert hull is not None, "the indices of a lane are bounded"
    offset = offset_set(hull).unbind_params_insert_domain(isl.MultiId("[PE_X] -> { [PE_X] }"))
    outer = "".join(f"o{k}, " for k in range(inner))
    pair = f"[[lane] -> index[{outer}i]]"
    swap = isl.Map(f"{{ {pair} -> [index[{outer}i] -> [lane]] }}")
    keep = isl.Map.identity(order.range().get_space().map_from_set())
    shift = isl.Map(f"{{ [index[{outer}i] -> [offset]] -> index[{outer}i - offset] }}")
    index = swap.apply_range(keep.product(offset)).apply_range(shift)
    port = isl.Map(f"{{ {pair} -> [lane, -1] }}").apply_range(turned.reverse())
    return lanes.range_product(order).apply_range(port.range_product(index))


def _moved(orders: Mapping[str, isl.Map], move: isl.Map) -> isl.UnionMap:
    """Return the union of the orders with every PE moved."""
    union = isl.UnionMap("{ }")
    for order in orders.values():
        union = union.union(isl.UnionMap.from_map(relocate(order, move)))
    return union

# --- Errors where adapters or sums have no room ---------------------------------------------------
#
# Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2

def check_room(adaptation: Adaptation) -> None:
    """Raise UserError where adapters have no room, or sums stay on several PEs."""
    demand, ways = adaptation.demand, adaptation.ways
    for back in ways:
        _check_return(back, adaptation)
    for tensor, spread in adaptation.spread.items():
        for side in spread if tensor not in ways else ():
            span = find_span(tensor, "arrives", demand)
            _check_border(f"spread {tensor}", side, span, demand)
            find_streams(tensor, side, adaptation)
    for tensor, sides in adaptation.collected.items():
        for side in sides if tensor not in ways else ():
            straight = f", or let {tensor} leave straight from the PEs that sum it"
            span = find_span(tensor, "leaves", demand)
            _check_border(f"collect {tensor}", side, span, demand, straight)
    for tensor in adaptation.kept:
        _check_whole(tensor, demand)


def _check_border(
    task: str, side: str, span: Span, demand: AdapterDemand, otherwise: str = ""
) -> None:
    """Raise UserError if instances run where adapters must stand to spread or collect."""
    border = isl.UnionSet.from_set(find_border(side, demand))
    used = demand.placement.intersect_range(border)
    if not used.is_empty():
        line = describe_border(side)
        raise UserError(
            f"adapters must {task} on the {line} of the target, "
            f"where {find_example(used.domain())} runs",
            span,
            f"make the target one {line.split()[1]} larger and keep the placement off its "
            f"{line}{otherwise}",
        )


def _check_return(back: str, adaptation: Adaptation) -> None:
    """Raise UserError if instances run where adapters must stand to bring a tensor back."""
    way, demand = adaptation.ways[back], adaptation.demand
    sides = dict.fromkeys(() if way.straight else (way.leaves, way.comes))
    lines = [describe_border(s) for s in sides if is_in_the_way(s, demand)]
    if lines:
        raise _refused_return(back, lines, demand)


def _refused_return(back: str, lines: list[str], demand: AdapterDemand) -> UserError:
    """Return the error that says which element is computed on another PE than it is needed."""
    feedback = from_domain(demand.feedback, back)
    needed = isl.UnionMap.from_map(find_needed(back, demand))
    computed = isl.UnionMap.from_map(find_computed(back, demand))
    one = isl.Map.from_union_map(find_astray(computed, needed).apply_domain(feedback))
    one = one.wrap().lexmin().unwrap()
    element, both = one.domain(), one.range().unwrap()
    other, here = both.domain(), both.range()
    tensor = element.get_tuple_name()
    places = find_computed(tensor, demand).intersect_domain(element)
    partly = not places.intersect_range(here).is_empty()
    where = f"{find_example(here)} and {find_example(other)}" if partly else find_example(other)
    return UserError(
        f"{find_example(element)} is computed on {where}, "
        f"but {find_example(here)} needs {'all of ' if partly else ''}it",
        demand.mapping.span("placement"),
        f"place what computes an element of {tensor}, all of it, on the PE that reads it; or "
        f"make the target larger and keep the placement off its {' and '.join(lines)}, for the "
        f"adapters that bring {tensor} there",
    )


def _check_whole(tensor: str, demand: AdapterDemand) -> None:
    """Raise UserError if an output that stays in memory is spread over several PEs."""
    computed = find_computed(tensor, demand)
    if computed.is_single_valued():
        return
    twice = computed.lexmin().subtract(computed.lexmax()).domain()
    element = isl.Set.from_point(twice.sample_point())
    here = computed.intersect_domain(element)
    raise UserError(
        f"{find_example(element)} is summed on {find_example(here.lexmin().range())} "
        f"and {find_example(here.lexmax().range())}, and stays in their memory",
        _key(tensor, demand),
        f"say where {tensor} leaves, or place each of its elements on one PE",
    )


def _key(tensor: str, demand: AdapterDemand) -> Span:
    """Return the place of what layer.yaml says of a tensor, or of all tensors."""
    mapping = demand.mapping
    path = ("tensors", tensor) if tensor in mapping.tensors else ("tensors",)
    return mapping.key_span(*path)
