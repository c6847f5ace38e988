"""How one stream leaves along rows or columns: summed on its way, or gathered.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.layer.routes.threads import count_free_threads
from lairmake.stages.layer.texts.isl_files import Adapted, Routing
from lairmake.stages.layer.texts.task_graph import Departure, Graph, InTurn, Leaving
from lairmake.stages.movement.gather import Gather, find_gather
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.functions import greatest_value
from lairmake.stages.poly.sides import at_places, behind_ports, turn

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile


def name_leaving(stream: Leaving) -> str:
    """Return the name in adapted.isl of what a departure or a collection sends."""
    return stream.feedback or stream.tensor


def find_leaving(adapted: Adapted, stream: Leaving, chain: isl.Set | isl.UnionSet) -> isl.Map:
    """Return { t[e] -> [PE -> index] } of all that leaves on the row or column of a chain's PE."""
    order = isl.Map.from_union_map(from_domain(adapted.departures, name_leaving(stream)))
    order = order.set_tuple_name(isl.dim_type.in_, stream.tensor)
    core = adapted.target
    pes = isl.Set.from_union_set(chain) if isinstance(chain, isl.UnionSet) else chain
    return at_places(behind_ports(order, stream.side, core), pes)


def find_summed_elements(
    tensor: str, departures: typing.Mapping[str, Departure], adapted: Adapted, routes: Routing
) -> isl.UnionMap:
    """Return { t[e] -> PE } of the elements of a tensor that PEs sum on their way out."""
    found = isl.UnionMap("{ }")
    for name, departure in departures.items():
        if departure.tensor == tensor and departure.in_turn is None:
            order = find_leaving(adapted, departure, routes.pes(name, "chain"))
            found = found.union(isl.UnionMap.from_map(order.range_factor_domain()))
    return found


def find_gathering(order: isl.Map, sums: isl.Map, side: str, adapted: Adapted) -> InTurn | None:
    """Return how PEs gather a departure; None if they sum it.

    `order` is what leaves at the PEs of its chain, `sums` { t[e] -> PE } those that compute it.
    Where every lane has one PE only, there is nothing to gather.
    """
    chain = order.range().unwrap().domain()
    turned = turn(side, adapted.grid)
    deeper = isl.Map("{ [lane, depth] -> [lane, d] : depth < d }")
    lanes = chain.apply(turned)
    if lanes.apply(deeper).is_disjoint(lanes):
        return None
    found = find_gather(order, sums, turned, chain)
    return None if found is None else describe_gathering(found)


def describe_gathering(found: Gather) -> InTurn:
    """Return what tasks.yaml says of a gather."""
    return InTurn(
        first=tuple(map(str, found.first)),
        rows=tuple(map(str, found.rows)),
        before=str(found.before),
        own=str(found.own),
        after=str(found.after),
    )


def count_instructions(in_turn: InTurn | None) -> int:
    """Return how many instructions send a departure at once: those of a gather forward others."""
    if in_turn is None:
        return 1
    parts = (isl.PwAff(part).floor() for part in (in_turn.before, in_turn.after))
    return 1 + sum(bool(greatest_value(part).is_pos()) for part in parts)


def count_most_rows(graph: Graph, profile: Profile) -> int:
    """Return how many rows may be under way: with too many instructions no task starts."""
    streams = sum(not a.sparse for a in graph.arrivals.values())
    gathers = [d for d in graph.departures.values() if d.by == "gather"]
    streams += len(graph.departures) - len(gathers)
    threads = count_free_threads(profile, sum(a.sparse for a in graph.arrivals.values()))
    free = (threads - 1 - streams) // len(gathers)
    in_turn = [d.in_turn for d in graph.departures.values() if d.in_turn]
    return max(1, free // max(map(count_instructions, in_turn)))
