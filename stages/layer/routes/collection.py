"""Departures that must turn: sums that leave at a port off the row or column that computes them.

They flow along their rows or columns to a border peeled off the target, and from adapter to
adapter along it to the port.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.routes.leaving import describe_gathering, name_leaving
from lairmake.stages.layer.texts.isl_files import named
from lairmake.stages.layer.texts.task_graph import (
    AnyTask,
    Clear,
    Collect,
    Departure,
    InTurn,
    Sequences,
    SumCollection,
)
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.movement.border import BorderChain, find_classes
from lairmake.stages.movement.flow import parity
from lairmake.stages.movement.gather import find_gather
from lairmake.stages.poly.functions import find_greatest, find_least, least
from lairmake.stages.poly.sides import Rectangle, turn

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.layer_yaml import LayerMapping


def same_lane(side: str, target: Rectangle) -> isl.Map:
    """Return { PE -> port } of any two places on one row or column, seen from a side."""
    lane = turn(side, target).project_out(isl.dim_type.out, 1, 1)
    return lane.apply_range(lane.reverse())


def must_turn(computed: isl.Map, ports: isl.Map, side: str, target: Rectangle) -> bool:
    """Say whether a port on a side is off the row or column of { t[e] -> PE } of some element."""
    pairs = computed.range_product(ports.range_factor_domain())
    return not pairs.range().is_subset(same_lane(side, target).wrap())


def find_lane_order(
    computed: isl.Map, ports: isl.Map, side: str, target: Rectangle, core: Rectangle
) -> isl.Map:
    """Return { t[e] -> [PE[adapter] -> index[i]] } of the elements computed on each lane.

    They keep the order in which they leave: port after port if there are several, and at the first
    of them if an element leaves at several.
    """
    lanes = _lane_of(computed, side, target)
    port = _lane_of(ports.range_factor_domain(), side, target)
    first = least(port.range_product(ports.range_factor_range()))
    index = first.apply_range(_port_after_port(first, port))
    adapter = isl.Map("{ [lane] -> [lane, -1] }").apply_range(turn(side, core).reverse())
    return lanes.apply_range(adapter).range_product(index).coalesce()


def _port_after_port(first: isl.Map, port: isl.Map) -> isl.Map:
    """Return { [[p] -> index[i, ...]] -> index[i + step * p, ...] }, injective on all ports."""
    index = first.range_factor_range().range()
    step = 0
    if not port.range().is_singleton():
        step = (find_greatest(index, 0).to_python() - find_least(index, 0).to_python()) + 1
    names = [f"i{k}" for k in range(index.dim(isl.dim_type.set))]
    moved = [f"i0 + {step} * p", *names[1:]]
    return isl.Map(f"{{ [[p] -> index[{', '.join(names)}]] -> index[{', '.join(moved)}] }}")


def _lane_of(places: isl.Map, side: str, target: Rectangle) -> isl.Map:
    """Return { t[e] -> [lane] } of { t[e] -> PE }."""
    return places.apply_range(turn(side, target)).project_out(isl.dim_type.out, 1, 1)


def separate_ports(
    tensor: str, feeds: isl.Map, profile: Profile, mapping: LayerMapping
) -> list[isl.Map]:
    """Return { [lane of a port] -> [lane of an adapter] } by streams, each with colours of its own.

    Raises UserError if these are too many.
    """
    most = max(1, profile.colours // 3)
    parts = find_classes(feeds, most)
    if parts is None:
        text = mapping.tensors[tensor].leaves
        raise UserError(
            f"{tensor} leaves at ports that get sums from the same rows or columns, and need more "
            f"than {most} streams of 3 colours; {profile.name} has {profile.colours} colours"
            f"{note_grade(profile, 'colours')}",
            text.place if text else None,
            "let it leave at fewer ports, or on the row or column of the PEs that compute it",
        )
    return parts


def describe_chain(name: str, chain: BorderChain) -> dict[str, isl.Set | isl.Map]:
    """Return what routes.isl says of the adapters that sum a collection."""
    return {
        named(name, "chain"): chain.reach.range(),
        named(name, "reach"): chain.reach,
        named(name, "first"): chain.starts,
        named(name, "last"): chain.ends,
    }


def describe_collection(
    departure: str,
    described: Departure,
    along: str,
    turned: isl.Map,
    sequences: Sequences | None,
    in_turn: InTurn | None,
) -> SumCollection:
    """Return what tasks.yaml says of a collection of a departure, which is on its way `along`."""
    feedback = described.feedback
    return SumCollection(
        tensor=described.tensor,
        side=described.side,
        colours=(named(along, "even"), named(along, "odd")),
        by=described.by if in_turn is None else "gather",
        parity=parity(turned.apply_range(isl.Map("{ [lane, depth] -> [depth, lane] }"))),
        feedback=feedback,
        departure=departure,
        out=named(along, "out") if feedback is None else f"{feedback}_source",
        sequences=sequences,
        in_turn=in_turn,
    )


def find_in_turn(order: isl.Map, lanes: isl.Map, chain: BorderChain) -> InTurn | None:
    """Return how the adapters of a collection forward elements in turn.

    None if they must add them up. `order` is { t[e] -> [PE -> index] } of all that a port gets,
    at its adapters, `lanes` { t[e] -> PE } the adapters of the rows or columns that sum it.
    """
    found = find_gather(order, lanes, chain.line, chain.reach.range())
    return None if found is None or found.rows else describe_gathering(found)


def find_forwarded(collections: typing.Mapping[str, SumCollection]) -> set[str]:
    """Return the departures that adapters forward in turn, and add nothing to."""
    return {each.departure for each in collections.values() if each.in_turn is not None}


def name_along(departure: str, parts: list[isl.Map]) -> list[tuple[str, isl.Map]]:
    """Return the names of collections with what feeds their ports."""
    if len(parts) == 1:
        return [(f"{departure}_along", parts[0])]
    return [(f"{departure}_along{number}", part) for number, part in enumerate(parts)]


def list_collecting_tasks(
    name: str, departure: Departure, initial: str
) -> typing.Iterator[tuple[str, AnyTask]]:
    """Yield the tasks of adapters that take the sums of a departure, all of them `initial`."""
    collected = f"{name_leaving(departure)}_collected"
    yield f"clear_{name}", Clear(departure=name, tensor=collected, value=initial)
    yield f"gather_{name}", Collect(departure=name)
