"""Colours for streams: two that pass no router together may share one.

Source   the greedy colouring of graphs, vertices of greatest degree first: Welsh and Powell, 1967
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from lairmake.stages.movement.flow import Routes
from lairmake.stages.poly.canonical import find_example

Routers = Mapping[str, isl.UnionSet]
"""The routers { PE[x, y] } that each stream passes."""


def find_routers(routes: Routes) -> isl.UnionSet:
    """Return { PE[x, y] } of { [PE[x, y] -> from[]] -> to[] }."""
    return routes.domain().unwrap().domain()


def share(routers: Routers) -> list[list[str]]:
    """Return the streams of each colour; streams of one colour have no router in common.

    Colours, and the streams of each, come in the order given.
    """
    names = list(routers)
    meets = {
        a: [b for b in names if b != a and not routers[a].is_disjoint(routers[b])] for a in names
    }
    groups: list[list[str]] = []
    for name in sorted(names, key=lambda n: -len(meets[n])):
        free = next((g for g in groups if not set(g) & set(meets[name])), None)
        if free is None:
            groups.append([name])
        else:
            free.append(name)
    return sorted((sorted(g, key=names.index) for g in groups), key=lambda g: names.index(g[0]))


def find_busiest_router(routers: Routers) -> tuple[str, list[str]]:
    """Return a PE whose router many streams pass, and these: from each stream, others in turn."""
    found: list[tuple[str, list[str]]] = []
    for start in routers:
        here = routers[start]
        for other in routers.values():
            both = here.intersect(other)
            here = here if both.is_empty() else both
        place = here.lexmin()
        meeting = [name for name, pes in routers.items() if not pes.is_disjoint(place)]
        found.append((find_example(place), meeting))
    return max(found, key=lambda each: len(each[1]))
