"""Broadcast and reduction along rows and columns; colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import islpy as isl

from lairmake.stages.poly.canonical import find_example
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, find_function
from lairmake.stages.poly.sides import SIDES

# --- Routes along the lanes of a grid -------------------------------------------------------------
#
# The grid is turned so that the side of a stream is on top.
# A router is [lane, depth]; depth 0 is the border, -1 the external PEs. Routes are relations
# { [PE[x, y] -> side it comes from[]] -> side it goes to[] }.
#
# Paper    V Sec. 4.2

Routes: TypeAlias = isl.UnionMap
"""{ [PE[x, y] -> from[]] -> to[] } with from and to in N, E, S, W, ramp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A reduction towards a side: two colours, by the parity of the depth of the sender."""

    even: Routes
    odd: Routes
    members: isl.Set
    starts: isl.Set
    ends: isl.Set


def column_routes(takers: isl.Set, side: str, turned: isl.Map, *, spread: bool) -> Routes:
    """Return the routes of a stream that flows inwards along its lane.

    It enters at depth 0, from the side or, where it was spread, from the adapter's ramp:
    { [l, d] -> ramp : [l, d] takes it } and { [l, d] -> far : [l, d'] takes it, d' > d }.
    """
    depth = isl.Set("{ [lane, depth] : depth >= 0 }")
    before = isl.Map("{ [lane, depth] -> [lane, d] : d < depth }")
    passing = takers.apply(before).intersect(depth)
    border = isl.Set("{ [lane, 0] }")
    far = SIDES[side].far
    if not spread:
        return make_routes(turned, (takers, side, "ramp"), (passing, side, far))
    inside = passing.subtract(border)
    adapters = passing.intersect(border)
    return make_routes(turned, (takers, side, "ramp"), (inside, side, far), (adapters, "ramp", far))


def spread_routes(feeds: isl.Map, side: str, turned: isl.Map, source: str = "") -> Routes:
    """Return the routes along the border for { [lane of a port] -> [lane of an adapter] }.

    A router at lane m hears port p from the left if p < m <= l for an adapter l, and forwards it
    to the right if p <= m < l; likewise to the left. At the lane of the port it comes from the side
    or from another `source`.
    """
    at, takes = feeds.domain(), feeds.range()
    names = SIDES[side]
    to_right = _lanes(feeds, "p <= m < l")
    to_left = _lanes(feeds, "l < m <= p")
    heard = {
        source or side: at,
        names.left: _lanes(feeds, "p < m <= l"),
        names.right: _lanes(feeds, "l <= m < p"),
    }
    goes = {"ramp": takes, names.right: to_right, names.left: to_left}
    border = isl.Map("{ [lane] -> [lane, 0] }")
    pairs = [
        (here.intersect(there).apply(border), origin, to)
        for origin, here in heard.items()
        for to, there in goes.items()
        if origin != to or origin == "ramp"
    ]
    return make_routes(turned, *pairs)


def chain_routes(
    summing: isl.Set,
    side: str,
    turned: isl.Map,
    first: int,
    *,
    collect: bool = False,
    feeds_back: bool = False,
) -> Chain:
    """Return the routes of sums that flow outwards along their lane, from the deepest PE on.

    Every PE from depth `first` to the deepest one that sums takes part. A PE at an even depth sends
    on the even colour and listens to the odd one. Borders above `first` only forward sums, or
    their adapters collect them. If the stream `feeds_back`, PEs at depth `first` send on another
    colour.
    """
    outwards = isl.Map(f"{{ [lane, depth] -> [lane, d] : {first} <= d <= depth }}")
    members = summing.apply(outwards)
    starts = _deepest(members)
    way = (SIDES[side].far, "ramp" if collect else side)
    ends = members.intersect(isl.Set(f"{{ [lane, {first}] }}"))
    senders = members.subtract(ends) if feeds_back else members
    above = ends.intersect(senders).apply(
        isl.Map(f"{{ [lane, depth] -> [lane, d] : 0 <= d < {first} }}")
    )
    heard = members.subtract(starts)
    colours = [_chain_colour(senders, heard, side, turned, parity) for parity in (0, 1)]
    colours[first % 2] = colours[first % 2].union(make_routes(turned, (above, *way)))
    back = turned.reverse()
    return Chain(
        even=colours[0],
        odd=colours[1],
        members=members.apply(back),
        starts=starts.apply(back),
        ends=ends.apply(back),
    )


def feedback_routes(takers: isl.Set, side: str, turned: isl.Map, first: int) -> Routes:
    """Return the routes of a stream that PEs at depth `first` send inwards along their lanes.

    From their ramp to that of those who take it, themselves included.
    """
    depth = isl.Set(f"{{ [lane, depth] : depth >= {first} }}")
    passing = takers.apply(isl.Map("{ [lane, depth] -> [lane, d] : d < depth }")).intersect(depth)
    ends = isl.Set(f"{{ [lane, {first}] }}")
    far = SIDES[side].far
    return make_routes(
        turned,
        (takers.subtract(ends), side, "ramp"),
        (passing.subtract(ends), side, far),
        (takers.intersect(ends), "ramp", "ramp"),
        (passing.intersect(ends), "ramp", far),
    )


def _chain_colour(
    senders: isl.Set, heard: isl.Set, side: str, turned: isl.Map, parity: int
) -> Routes:
    sends = isl.Set(f"{{ [lane, depth] : depth mod 2 = {parity} }}")
    listens = isl.Set(f"{{ [lane, depth] : depth mod 2 = {1 - parity} }}")
    return make_routes(
        turned,
        (senders.intersect(sends), "ramp", side),
        (heard.intersect(listens), SIDES[side].far, "ramp"),
    )


def parity(turned: isl.Map) -> str:
    """Return [PE_X, PE_Y] -> { [depth mod 2] } as text."""
    depth = turned.project_out(isl.dim_type.out, 0, 1)
    parity = bind_domain(depth.apply_range(isl.Map("{ [d] -> [d mod 2] }")), PE_NAMES)
    return str(find_function(parity).get_pw_aff(0))


def _deepest(members: isl.Set) -> isl.Set:
    """Return the PE of greatest depth on each lane."""
    deeper = isl.Map("{ [lane, depth] -> [lane, d] : d < depth }")
    return members.subtract(members.apply(deeper))


def _lanes(feeds: isl.Map, condition: str) -> isl.Set:
    """Return { [m] : (p, l) in feeds and condition }."""
    return feeds.wrap().apply(isl.Map(f"{{ [[p] -> [l]] -> [m] : {condition} }}"))


def make_routes(turned: isl.Map, *triples: tuple[isl.Set, str, str]) -> Routes:
    """Return the union of { [PE -> from[]] -> to[] } for ([lane, depth] set, from, to)."""
    back = turned.reverse()
    return route_at(*((pes.apply(back).coalesce(), source, to) for pes, source, to in triples))


def route_at(*triples: tuple[isl.Set, str, str]) -> Routes:
    """Return the union of { [PE -> from[]] -> to[] } for ({ PE }, from, to)."""
    result = isl.UnionMap("{ }")
    for pes, source, to in triples:
        if not pes.is_empty():
            way = isl.Map(f"{{ PE[x, y] -> [PE[x, y] -> {source}[]] }}").intersect_domain(pes)
            here = way.range()
            whole = isl.Map.from_domain_and_range(here, isl.Set(f"{{ {to}[] }}"))
            result = result.union(isl.UnionMap.from_map(whole))
    return result

# --- Colours shared by streams --------------------------------------------------------------------
#
# Two streams that pass no router together may share a colour.
#
# Source   the greedy colouring of graphs, vertices of greatest degree first: Welsh and Powell, 1967

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
    """Return a PE whose router many streams pass, and the names of these streams."""
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

# --- Colour of a machine --------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class RouterColour:
    """A colour, by its number."""

    number: Annotated[int, "that of the machine"]
    routes: Annotated[str | None, "{ [PE[x, y] -> from side[]] -> to side[] }"] = None
    positions: Annotated[
        tuple[str, ...] | None, "its routes, which routers take in turn"
    ] = None
    counts: Annotated[str | None, "how many of them a router has, or all"] = None
    ring: Annotated[str | None, "1 where the first position follows the last, or all"] = None
    pop: Annotated[
        str | None,
        "when a router pops the command that it obeys: 0 never, 1 always, 2 if it advances, 3 if"
        " it advances or does nothing",
    ] = None
    filter: Annotated[
        str | None, "the least and the greatest index that a router hands to its PE"
    ] = None
