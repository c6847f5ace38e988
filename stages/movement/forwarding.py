"""Routes of wavelets that PEs forward to each other, where routers do not copy.

A line of PEs forwards what enters at its one end. It is a line of sums, of flow.py or border.py,
run backwards: a PE at an even place listens to the even colour and sends on the odd one.

Source   design, The machine; M Sec. I
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.movement.border import border_chain
from lairmake.stages.movement.flow import Routes, chain_routes, make_routes
from lairmake.stages.poly.canonical import list_maps


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Routes by the parity of the listener, and { PE } that take part.

    All PEs of the line are `members`. Those that are `nearest` to the end at which it enters, if
    any, listen to `entry` instead; else it enters on the colour of the parity `enters`.
    `forwarding` ones send on what comes; of these, those `between` take nothing.
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


def inward_line(takers: isl.Set, side: str, turned: isl.Map, first: int, *, spread: bool) -> Line:
    """Return the line of each lane: from depth `first` to its deepest taker, { [lane, depth] }.

    It enters from the side or, where it was spread, from the ramp of the adapter at depth 0.
    """
    chain = chain_routes(takers, side, turned, first, collect=spread)
    taken = takers.apply(turned.reverse())
    return Line(
        even=backwards(chain.even),
        odd=backwards(chain.odd),
        entry=isl.UnionMap("{ }"),
        members=chain.members,
        nearest=taken.subtract(taken),
        forwarding=chain.members.subtract(chain.starts),
        between=chain.members.subtract(taken),
        enters=first % 2,
    )


def feedback_line(takers: isl.Set, side: str, turned: isl.Map, first: int) -> Line:
    """Return the line of each lane whose PE at depth `first` sends the stream, to itself first."""
    chain = chain_routes(takers, side, turned, first, feeds_back=True)
    ends = chain.ends.apply(turned)
    return Line(
        even=backwards(chain.even),
        odd=backwards(chain.odd),
        entry=make_routes(turned, (ends, "ramp", "ramp")),
        members=chain.members,
        nearest=chain.ends,
        forwarding=chain.members.subtract(chain.starts),
        between=chain.members.subtract(takers.apply(turned.reverse())),
    )


def border_line(feeds: isl.Map, side: str, turned: isl.Map, source: str = "") -> Line:
    """Return the line of each port's adapters, { [lane of the port] -> [lane] }.

    It enters at one end of these lanes, wherever the port is. At the lane of the port it comes from
    the side or from another `source`.
    """
    chain = border_chain(feeds, side, turned, source)
    members = chain.reach.range()
    adapters = feeds.range().apply(isl.Map("{ [lane] -> [lane, 0] }")).apply(turned.reverse())
    return Line(
        even=backwards(chain.even),
        odd=backwards(chain.odd),
        entry=backwards(chain.out),
        members=members,
        nearest=chain.ends,
        forwarding=members.subtract(chain.starts),
        between=members.subtract(adapters),
    )


def port_line(feeds: isl.Map, side: str, turned: isl.Map) -> Line:
    """Return the line of each port's adapters, with two colours where it needs no third one.

    That is if the places of those nearest to the ports have one parity, and no other PE of the line
    is on the way to them.
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
