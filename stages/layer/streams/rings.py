"""The rings of tasks.yaml: in which chunk each element of a tensor that rolls arrives.

Paper    V Sec. 4.3
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from stages.layer.routes.arriving import find_arriving
from stages.layer.texts.adapted_text import Adapted
from stages.layer.texts.graph import Graph
from stages.layer.texts.routes_text import Routing
from stages.poly.cuts import cut_order
from stages.poly.order import at_places
from stages.poly.reuse import number_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """{ T[e] -> [PE -> [n]] }, the chunk of each element, and how many chunks are in memory."""

    numbers: isl.Map
    depth: int


def find_rings(graph: Graph, adapted: Adapted, routes: Routing) -> dict[str, Ring]:
    """Return the rings, by tensor."""
    found: dict[str, Ring] = {}
    for name, arrival in graph.arrivals.items():
        if arrival.chunks is None or arrival.chunks.ring is None:
            continue
        flow = find_arriving(adapted, arrival.tensor, arrival.side, arrival.part)
        passing = at_places(flow.everywhere, routes.pes(name, "taken"))
        cut = cut_order(passing, isl.Map(arrival.chunks.of))
        numbers = number_order(cut, arrival.chunks.counts)
        if arrival.tensor in found:
            numbers = numbers.union(found[arrival.tensor].numbers)
        found[arrival.tensor] = Ring(numbers=numbers.coalesce(), depth=arrival.chunks.ring)
    return found
