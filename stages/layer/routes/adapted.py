"""What the computing PEs see of a layer's arrivals and departures, once borders are peeled off.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2, eqs. (5) (6) (10)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.layer.routes.adaptation import Adaptation, find_peeled_sides, find_streams
from lairmake.stages.layer.routes.arriving import name_part
from lairmake.stages.layer.routes.collection import find_lane_order
from lairmake.stages.layer.routes.demand import find_computed, peel
from lairmake.stages.poly.box import box_hull, offset_set
from lairmake.stages.poly.functions import bind_domain
from lairmake.stages.poly.sides import SIDES, Rectangle, on_side, relocate, taken_by, turn

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
    if adaptation.ways:
        found |= {"reads": demand.lair.reads, "feedback": demand.lair.feedback}
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
