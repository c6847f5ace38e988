"""Routes along a border: sums of all its adapters flow towards a port.

Lanes and depths are as in flow.py. A port is at lane p, the adapters whose sums it gets have lanes
l: { [p] -> [l] }. Sums flow from the least of these lanes to the greatest, then on to the port.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.movement.flow import Routes, make_routes
from lairmake.stages.poly.functions import greatest, least
from lairmake.stages.poly.sides import SIDES

BORDER = "{ [lane] -> [lane, 0] }"


@dataclass(frozen=True, slots=True, kw_only=True)
class BorderChain:
    """A reduction along a border: a colour each by the parity of the sender, one to the port.

    `reach` is { port PE -> adapter PE }; `starts` and `ends` are the first and the last adapters,
    and `line` is { PE -> [depth from the border, depth from its end towards which sums flow] }.
    """

    even: Routes
    odd: Routes
    out: Routes
    reach: isl.Map
    starts: isl.Set
    ends: isl.Set
    line: isl.Map


def stretches(feeds: isl.Map) -> isl.Map:
    """Return { [p] -> [m] : l <= m <= l' } for lanes l and l' that feed p."""
    above = feeds.apply_range(isl.Map("{ [l] -> [m] : m >= l }"))
    return above.intersect(feeds.apply_range(isl.Map("{ [l] -> [m] : m <= l }"))).coalesce()


def with_ports(feeds: isl.Map) -> isl.Map:
    """Return { [p] -> [l] } with each port's own lane among those that feed it."""
    return feeds.union(isl.Map("{ [p] -> [p] }").intersect_domain(feeds.domain()))


def find_classes(feeds: isl.Map, most: int) -> list[isl.Map] | None:
    """Return feeds by the port's lane mod k, for the least k for which stretches are apart.

    Stretches are those of lanes that feed a port and of its own; no part is empty. None if there
    would be more than `most` parts, as far as k below 2 most^2 tells.
    """
    reach = stretches(with_ports(feeds))
    if _is_fed_more(reach.reverse(), most):
        return None
    for k in range(1, 2 * most**2):
        residues = [isl.Set(f"{{ [p] : p mod {k} = {rest} }}") for rest in range(k)]
        if all(reach.intersect_domain(r).reverse().is_single_valued() for r in residues):
            parts = [part for r in residues if not (part := feeds.intersect_domain(r)).is_empty()]
            return parts if len(parts) <= most else None
    return None


def _is_fed_more(ports: isl.Map, most: int) -> bool:
    """Say whether { [lane] -> [p] } gives some lane more than `most` ports."""
    for _ in range(most):
        ports = ports.subtract(least(ports))
    return not ports.is_empty()


def border_chain(feeds: isl.Map, side: str, turned: isl.Map, way: str = "") -> BorderChain:
    """Return the routes of sums along a border; the stretches of ports, with these, are apart.

    If every port is at the least of its lanes or before, sums flow the other way. At the lane of
    the port they go to the side, or another `way`.
    """
    left, right = SIDES[side].left, SIDES[side].right
    if least(feeds).wrap().is_subset(isl.Set("{ [[p] -> [l]] : p <= l }")):
        back = isl.Map("{ [l] -> [-l] }")
        feeds = feeds.apply_domain(back).apply_range(back)
        turned = turned.apply_range(isl.Map("{ [l, d] -> [-l, d] }"))
        left, right = right, left
    reach, starts, ends = stretches(feeds), least(feeds).range(), greatest(feeds)
    chain = [_links(reach.range(), starts, ends.range(), parity) for parity in (0, 1)]
    even, odd = (
        make_routes(turned, (sends, "ramp", right), (hears, left, "ramp")) for sends, hears in chain
    )
    place = isl.Map(BORDER).apply_range(turned.reverse())
    return BorderChain(
        even=even,
        odd=odd,
        out=_way_out(ends, way or side, left, right, turned),
        reach=beside(reach, turned),
        starts=starts.apply(place),
        ends=ends.range().apply(place),
        line=turned.apply_range(isl.Map("{ [lane, depth] -> [depth, -lane] }")),
    )


def _links(
    members: isl.Set, starts: isl.Set, ends: isl.Set, parity: int
) -> tuple[isl.Set, isl.Set]:
    """Return the routers that send and that hear on the colour of a parity."""
    border = isl.Map(BORDER)
    sends = isl.Set(f"{{ [lane] : lane mod 2 = {parity} }}")
    hears = isl.Set(f"{{ [lane] : lane mod 2 = {1 - parity} }}")
    return (
        members.subtract(ends).intersect(sends).apply(border),
        members.subtract(starts).intersect(hears).apply(border),
    )


def _way_out(ends: isl.Map, side: str, left: str, right: str, turned: isl.Map) -> Routes:
    """Return the routes of { [p] -> [e] }: from the ramp of the last adapter e to its port p."""
    def at(condition: str) -> isl.Set:
        lanes = ends.wrap().apply(isl.Map(f"{{ [[p] -> [e]] -> [m] : {condition} }}"))
        return lanes.apply(isl.Map(BORDER))

    return make_routes(
        turned,
        (at("m = e = p"), "ramp", side),
        (at("m = e < p"), "ramp", right),
        (at("m = e > p"), "ramp", left),
        (at("e < m < p"), left, right),
        (at("p < m < e"), right, left),
        (at("e < m = p"), left, side),
        (at("e > m = p"), right, side),
    )


def beside(feeds: isl.Map, turned: isl.Map) -> isl.Map:
    """Return { port PE -> PE of the border } of { [lane of a port] -> [lane] }."""
    port = isl.Map("{ [lane] -> [lane, -1] }").apply_range(turned.reverse())
    return feeds.apply_domain(port).apply_range(isl.Map(BORDER).apply_range(turned.reverse()))


def find_feeding(ports: isl.Map, places: isl.Map, turned: isl.Map) -> isl.Map:
    """Return { [lane of a port] -> [lane] } of { t[e] -> port } and { t[e] -> PE }."""
    port = ports.apply_range(turned).project_out(isl.dim_type.out, 1, 1)
    lane = places.apply_range(turned).project_out(isl.dim_type.out, 1, 1)
    return port.reverse().apply_range(lane)
