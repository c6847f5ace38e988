"""Routes along a border and round its corners: sums, and streams that PEs forward."""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.movement.flow import Routes, chain_routes, make_routes, spread_routes
from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.functions import greatest, least
from lairmake.stages.poly.sides import SIDES, Rectangle, turn

# --- Sums along a border --------------------------------------------------------------------------
#
# Lanes and depths are as in flow.py. A port is at lane p, the adapters whose sums it gets have
# lanes l: { [p] -> [l] }. Sums flow from the least of these lanes to the greatest, then on to the
# port.
#
# Paper    V Sec. 4.2

BORDER = "{ [lane] -> [lane, 0] }"


@dataclass(frozen=True, slots=True, kw_only=True)
class BorderChain:
    """A reduction along a border: a colour for each parity of the sender, and one to the port.

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
    """Return feeds in parts by the port's lane mod k, for the least k that keeps stretches apart.

    The stretch of a port has the lanes that feed it, its own, and those between. No part is empty.
    None if there would be more than `most` parts, or if no k below 2 most^2 keeps stretches apart.
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
    """Return the routes of sums along a border. Assumes stretches of ports, with these, are apart.

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

# --- Lines of PEs that forward wavelets -----------------------------------------------------------
#
# Routers do not copy here. A line of PEs forwards what enters at its one end. It is a line of sums,
# of flow.py or border.py, run backwards: a PE at an even place listens to the even colour and sends
# on the odd one.
#
# Source   design, The machine; M Sec. I

@dataclass(frozen=True, slots=True, kw_only=True)
class BorderLine:
    """Routes by the parity of the listener, and { PE } that take part.

    `members` are all PEs of the line, which a stream enters at one end. The PEs `nearest` to that
    end, if any, listen to `entry`; else the stream enters on the colour of the parity `enters`.
    PEs that are `forwarding` send on what comes; of these, those `between` take nothing.
    """

    even: Routes
    odd: Routes
    entry: Routes
    members: isl.Set
    nearest: isl.Set
    forwarding: isl.Set
    between: isl.Set
    enters: int | None = None

    def way(self) -> str:
        """Return the side to which its PEs send; some do."""
        routes = self.even.union(self.odd)
        return next(
            r.get_tuple_name(isl.dim_type.out)
            for r in list_maps(routes)
            if r.domain().unwrap().get_tuple_name(isl.dim_type.out) == "ramp"
        )


def inward_line(
    takers: isl.Set, side: str, turned: isl.Map, first: int, *, spread: bool
) -> BorderLine:
    """Return the line of each lane: from depth `first` to its deepest taker, { [lane, depth] }.

    Where it was spread, it enters from the ramp of the adapter at depth 0, else from the side.
    """
    chain = chain_routes(takers, side, turned, first, collect=spread)
    taken = takers.apply(turned.reverse())
    return BorderLine(
        even=backwards(chain.even),
        odd=backwards(chain.odd),
        entry=isl.UnionMap("{ }"),
        members=chain.members,
        nearest=taken.subtract(taken),
        forwarding=chain.members.subtract(chain.starts),
        between=chain.members.subtract(taken),
        enters=first % 2,
    )


def feedback_line(takers: isl.Set, side: str, turned: isl.Map, first: int) -> BorderLine:
    """Return the line of each lane whose PE at depth `first` sends the stream, to itself first."""
    chain = chain_routes(takers, side, turned, first, feeds_back=True)
    ends = chain.ends.apply(turned)
    return BorderLine(
        even=backwards(chain.even),
        odd=backwards(chain.odd),
        entry=make_routes(turned, (ends, "ramp", "ramp")),
        members=chain.members,
        nearest=chain.ends,
        forwarding=chain.members.subtract(chain.starts),
        between=chain.members.subtract(takers.apply(turned.reverse())),
    )


def border_line(feeds: isl.Map, side: str, turned: isl.Map, source: str = "") -> BorderLine:
    """Return the line of each port's adapters, { [lane of the port] -> [lane] }.

    The stream enters at one end of these lanes, wherever the port is. At the lane of the port it
    comes from the side or from another `source`.
    """
    chain = border_chain(feeds, side, turned, source)
    members = chain.reach.range()
    adapters = feeds.range().apply(isl.Map("{ [lane] -> [lane, 0] }")).apply(turned.reverse())
    return BorderLine(
        even=backwards(chain.even),
        odd=backwards(chain.odd),
        entry=backwards(chain.out),
        members=members,
        nearest=chain.ends,
        forwarding=members.subtract(chain.starts),
        between=members.subtract(adapters),
    )


def port_line(feeds: isl.Map, side: str, turned: isl.Map) -> BorderLine:
    """Return the line of each port's adapters, with two colours where it needs no third one.

    Two suffice if the places of the adapters nearest to the ports have one parity, and no other PE
    of the line is on the way to them.
    """
    line = border_line(feeds, side, turned)
    on_the_way = isl.Set.from_union_set(line.entry.domain().unwrap().domain())
    lanes = line.nearest.apply(turned)
    parities = [
        k for k in (0, 1) if lanes.is_subset(isl.Set(f"{{ [lane, depth] : lane mod 2 = {k} }}"))
    ]
    if not parities or not on_the_way.is_disjoint(line.members.subtract(line.nearest)):
        return line
    return replace(
        line,
        even=line.even if parities[0] else line.even.union(line.entry),
        odd=line.odd.union(line.entry) if parities[0] else line.odd,
        entry=isl.UnionMap("{ }"),
        nearest=lanes.subtract(lanes).apply(turned.reverse()),
        enters=parities[0],
    )


def backwards(routes: Routes) -> Routes:
    """Return { [PE -> to] -> from } of { [PE -> from] -> to }."""
    return routes.curry().range_reverse().uncurry()

# --- Routes around a corner -----------------------------------------------------------------------
#
# Adapters on another border spread what a border has collected, or a lane sends.
#
# Lanes and depths are as in flow.py.
#
# Paper    V Sec. 4.2

def corner_routes(
    sender: isl.Set, takers: isl.Set, leaves: str, comes: str, grid: Rectangle
) -> Routes:
    """Return the routes from the one { PE } that sends towards a side to { PE } on another border.

    From its ramp, out to the border if it is no adapter, and along this: to both ends of it if the
    sides are the same, else to the corner, and from there along the other border.
    """
    feeds, source, before = _way(sender, takers, leaves, comes, grid)
    return spread_routes(feeds, comes, turn(comes, grid), source).union(before)


def corner_line(
    sender: isl.Set, takers: isl.Set, leaves: str, comes: str, grid: Rectangle
) -> BorderLine:
    """Return the line of the takers, which forward what the one adapter sends on the same way."""
    feeds, source, before = _way(sender, takers, leaves, comes, grid)
    line = border_line(feeds, comes, turn(comes, grid), source)
    return replace(line, entry=line.entry.union(before))


def _way(
    sender: isl.Set, takers: isl.Set, leaves: str, comes: str, grid: Rectangle
) -> tuple[isl.Map, str, Routes]:
    """Return { [lane] -> [lane of a taker] } on the border on which a stream comes, and its way.

    From which side it enters that border, and the routes before.
    """
    here, there = turn(leaves, grid), turn(comes, grid)
    lanes = takers.apply(there).project_out(isl.dim_type.set, 1, 1)
    origin, border, outwards = _out(sender, leaves, here)
    if leaves == comes:
        port = border.project_out(isl.dim_type.set, 1, 1)
        return isl.Map.from_domain_and_range(port, lanes), origin, outwards
    towards = "<" if comes == SIDES[leaves].right else ">"
    corner = isl.Set("{ [lane, 0] }").apply(there.reverse()).apply(here)
    corner = corner.intersect(isl.Set("{ [lane, 0] }"))
    before = corner.apply(isl.Map(f"{{ [c, 0] -> [lane, 0] : lane {towards} c }}"))
    after = border.apply(isl.Map(f"{{ [s, 0] -> [lane, 0] : s {towards} lane }}"))
    far = SIDES[comes].far
    port = corner.apply(here.reverse()).apply(there).project_out(isl.dim_type.set, 1, 1)
    routes = make_routes(
        here, (border, origin, comes), (before.intersect(after), far, comes)
    )
    return isl.Map.from_domain_and_range(port, lanes), far, routes.union(outwards)


def _out(sender: isl.Set, leaves: str, here: isl.Map) -> tuple[str, isl.Set, Routes]:
    """Return from where the router on the border hears what { PE } sends, [lane, 0], and its way.

    On the border itself the ramp; farther in, routes lead from there to it.
    """
    places, far = sender.apply(here), SIDES[leaves].far
    border = places.apply(isl.Map("{ [lane, depth] -> [lane, 0] }"))
    inside = places.subtract(border)
    between = inside.apply(isl.Map("{ [lane, depth] -> [lane, d] : 0 < d < depth }"))
    way = make_routes(here, (inside, "ramp", leaves), (between, far, leaves))
    return ("ramp" if inside.is_empty() else far), border, way
