"""Routes by which each PE of a lane gets a sequence of its own, where routers do not copy.

Lanes and depths are as in flow.py. A router that its PE takes from has two positions: first it
hands over what comes, then it lets it pass. The sequence comes once for each of them, the nearest
one first; what follows it turns the router that handed it over to its second position, and what
follows the last one turns them all back.

Source   design, The machine
"""

from __future__ import annotations

import islpy as isl

from stages.poly.flow import Routes, routes_of
from stages.poly.side import SIDES


def copy_routes(takers: isl.Set, side: str, turned: isl.Map) -> tuple[Routes, Routes]:
    """Return the two positions of the routes inwards from a side to { [lane, depth] }.

    Those that none takes from behind have the same route in both, and so have those between.
    """
    before = isl.Map("{ [lane, depth] -> [lane, d] : 0 <= d < depth }")
    passing, far = takers.apply(before), SIDES[side].far
    return (
        routes_of(turned, (takers, side, "ramp"), (passing.subtract(takers), side, far)),
        routes_of(turned, (takers.subtract(passing), side, "ramp"), (passing, side, far)),
    )
