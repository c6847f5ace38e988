"""Routes by which each PE of a row gets a sequence of its own, where routers do not copy.

Lanes and depths are as in flow.py. Routers have positions, no ring, and control wavelets turn them.
The sequence comes once for each PE, the nearest one first; what follows it advances the router that
handed it over, so that it lets others pass from then on, in its last position. What follows the
last one resets all routers on its way.

Source   design, The machine
"""

from __future__ import annotations

import itertools

import islpy as isl

from lairmake.stages.movement.flow import Routes, make_routes
from lairmake.stages.poly.sides import SIDES


def replica_routes(
    takers: isl.Set, side: str, turned: isl.Map, *, spread: bool = False
) -> tuple[Routes, Routes]:
    """Return the two positions of the routes inwards to { [lane, depth] }.

    They come from the side or, if `spread`, from the ramp of the adapter at depth 0. Those that
    none takes from behind have the same route in both, and so have those between.
    """
    before = isl.Map("{ [lane, depth] -> [lane, d] : 0 <= d < depth }")
    passing, far = takers.apply(before), SIDES[side].far
    adapters = passing.intersect(isl.Set(f"{{ [lane, 0] : {int(spread)} = 1 }}"))
    between = passing.subtract(takers).subtract(adapters)
    return (
        make_routes(
            turned, (takers, side, "ramp"), (between, side, far), (adapters, "ramp", far)
        ),
        make_routes(
            turned,
            (takers.subtract(passing), side, "ramp"),
            (passing.subtract(adapters), side, far),
            (adapters, "ramp", far),
        ),
    )


def border_replicas(feeds: isl.Map, side: str, turned: isl.Map) -> tuple[Routes, ...]:
    """Return the three positions of the routes from ports to { [lane of a port] -> [lane] }.

    First comes the sequence of the adapter at the port, then those to the right of it, then those
    to the left. A port's router pops the command that it obeys: it advances after the last of each
    of these, and is reset after all; those beyond it obey the next command, and are reset after the
    last of the right ones, and of the left ones.
    """
    along = [_along(feeds, side, turned, turning) for turning in (False, True)]
    ports = _ports(feeds, side)
    return tuple(
        make_routes(
            turned, *((at, side, ways[min(k, len(ways) - 1)]) for ways, at in ports)
        ).union(along[min(k, 1)])
        for k in range(3)
    )


def _ports(feeds: isl.Map, side: str) -> list[tuple[tuple[str, ...], isl.Set]]:
    """Return the routers of ports by the ways that their sequences go in turn."""
    names = SIDES[side]
    going = {
        to: _at(feeds, f"m = p and {which}")
        for to, which in (("ramp", "l = p"), (names.right, "l > p"), (names.left, "l < p"))
    }
    found = []
    for ways in itertools.chain.from_iterable(itertools.combinations(going, n) for n in (1, 2, 3)):
        ports = _at(feeds, "m = p")
        for to, there in going.items():
            ports = ports.intersect(there) if to in ways else ports.subtract(there)
        found.append((ways, ports))
    return found


def _along(feeds: isl.Map, side: str, turned: isl.Map, turning: bool) -> Routes:
    """Return the routes beyond the ports: before, or after, routers have handed over theirs."""
    names, result = SIDES[side], isl.UnionMap("{ }")
    for source, to, taken, passed in (
        (names.left, names.right, "p < l = m", "p < m < l"),
        (names.right, names.left, "m = l < p", "l < m < p"),
    ):
        takes, passes = _at(feeds, taken), _at(feeds, passed)
        if turning:
            takes = takes.subtract(passes)
        else:
            passes = passes.subtract(takes)
        result = result.union(make_routes(turned, (takes, source, "ramp"), (passes, source, to)))
    return result


def _at(feeds: isl.Map, condition: str) -> isl.Set:
    """Return { [m, 0] : (p, l) in feeds and condition }."""
    return feeds.wrap().apply(isl.Map(f"{{ [[p] -> [l]] -> [m, 0] : {condition} }}"))
