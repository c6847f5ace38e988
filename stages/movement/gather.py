"""Gather, and scatter where routers do not copy."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.movement.flow import Routes, make_routes
from lairmake.stages.poly.box import exact_bounds
from lairmake.stages.poly.compression import compress
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, bind_set, simplify
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import SIDES, taken_by

OUT = isl.dim_type.out

# --- Gathers along a line of PEs ------------------------------------------------------------------
#
# PEs of a line fill a stream in turn, each with elements that only it has. A PE sends rows of the
# port's order, one for each value of its outer indices: elements of PEs farther in pass, then come
# its own, then others pass. The number of each depends on the PE alone.
#
# Paper    V Sec. 4.2

MOST_OPERATIONS = 1_000_000
"""Operations that isl may spend on finding a gather: a second. Few need a tenth of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherRoutes:
    """The rows that a PE sends, and what they are made of: functions of PE_X and PE_Y.

    `first` and `rows` are the least values of the outer indices, and how many there are;
    `before`, `own` and `after` the elements of a row, in this order.
    """

    first: tuple[isl.PwAff, ...]
    rows: tuple[isl.PwAff, ...]
    before: isl.PwAff
    own: isl.PwAff
    after: isl.PwAff


def _is_gathered(computed: isl.Map, turned: isl.Map) -> bool:
    """Say whether no two PEs of a lane compute an element of { t[e] -> PE }."""
    places = computed.apply_range(turned)
    twice = places.reverse().apply_range(places)
    return twice.is_disjoint(isl.Map("{ [lane, depth] -> [lane, d] : d != depth }"))


def find_gather(
    order: isl.Map, computed: isl.Map, turned: isl.Map, chain: isl.Set
) -> GatherRoutes | None:
    """Return how the PEs of a chain fill an order { t[e] -> [PE -> index] } in turn.

    With the least number of outer indices for which it can be done; None if there is none, or if
    isl needs long to tell: PEs can always add elements up instead.
    """
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        if _is_gathered(computed, turned):
            return _with_fewest_rows(order, computed, turned, chain)
    return None


def _with_fewest_rows(
    order: isl.Map, computed: isl.Map, turned: isl.Map, chain: isl.Set
) -> GatherRoutes | None:
    """Return the gather with the least number of outer indices, if there is one."""
    outwards = isl.Map("{ [lane, depth] -> [lane, d] : d < depth }")
    nearer = turned.apply_range(outwards).apply_range(turned.reverse())
    own = taken_by(order, computed).range().unwrap()
    passing = taken_by(order, computed.apply_range(nearer)).range().unwrap()
    for outer in range(own.dim(OUT)):
        found = _with_rows(own, passing.intersect_domain(chain), outer, chain)
        if found is not None:
            return found
    return None


def _with_rows(own: isl.Map, passing: isl.Map, outer: int, chain: isl.Set) -> GatherRoutes | None:
    """Return the gather by rows of { PE -> index } with as many outer indices, if there is one."""
    later = _later(own, outer)
    before = passing.intersect(own.apply_range(later.reverse()))
    if not before.is_disjoint(own.apply_range(later)):
        return None
    parts = (before, own, passing.subtract(before))
    indices = _outer(own.union(passing), outer)
    if not all(_has_equal_rows(part, indices, outer) for part in parts):
        return None
    box = exact_bounds(bind_domain(indices, PE_NAMES), bind_set(chain, PE_NAMES))
    first = tuple(simplify(least, box.domain) for least in box.minimum)
    counts = [_count(_inner(part, outer), chain) for part in parts]
    known = [count for count in counts if count is not None]
    if not box.is_box or len(known) < len(counts):
        return None
    return GatherRoutes(first=first, rows=box.size, before=known[0], own=known[1], after=known[2])


def _later(like: isl.Map, outer: int) -> isl.Map:
    """Return { index[o, i] -> index[o, i'] : i before i' }, in the space of an order's index."""
    later = isl.Map.lex_lt(like.range().get_space())
    for k in range(outer):
        later = later.equate(isl.dim_type.in_, k, OUT, k)
    return later


def _outer(relation: isl.Map, outer: int) -> isl.Map:
    """Return { PE -> [o] } of { PE -> index[o, i] }."""
    inner = relation.dim(OUT) - outer
    return relation.project_out(OUT, outer, inner).reset_tuple_id(OUT)


def _inner(relation: isl.Map, outer: int) -> isl.Map:
    """Return { PE -> [i] } of { PE -> index[o, i] }."""
    return relation.project_out(OUT, 0, outer).reset_tuple_id(OUT)


def _has_equal_rows(part: isl.Map, indices: isl.Map, outer: int) -> bool:
    """Say whether all outer indices of a PE have the same inner ones; without any they do."""
    if outer == 0:
        return True
    rows = indices.flat_range_product(_inner(part, outer))
    return bool(rows.is_subset(part.reset_tuple_id(OUT)))


def _count(elements: isl.Map, chain: isl.Set) -> isl.PwAff | None:
    """Return how many elements { PE -> [i] } a PE of the chain has; None if they are no box.

    Nor may more than one size of the box depend on the PE.
    """
    known = bind_set(chain, PE_NAMES)
    if elements.is_empty():
        return isl.PwAff("[PE_X, PE_Y] -> { [0] }")
    compressed = compress(bind_domain(elements, PE_NAMES).intersect_params(known)).set
    bounds = exact_bounds(compressed, known)
    count = isl.PwAff("[PE_X, PE_Y] -> { [1] }")
    for size in bounds.size:
        if not (size.is_cst() or count.is_cst()):
            return None
        count = count.mul(size)
    return _or_zero(count, bounds.domain, known) if bounds.is_box else None


def _or_zero(count: isl.PwAff, domain: isl.Set, known: isl.Set) -> isl.PwAff:
    """Return a function that is `count` on the domain, and 0 on the rest of what is known."""
    count, rest = simplify(count, domain), known.subtract(domain)
    zero = isl.PwAff("[PE_X, PE_Y] -> { [0] }")
    if rest.is_subset(count.eq_set(zero)):
        return count
    whole = count.intersect_params(domain).union_add(zero.intersect_params(rest))
    return simplify(whole, known)

# --- Routes that hand each PE its own sequence ----------------------------------------------------
#
# Lanes and depths are as in flow.py. Routers do not copy here. They have positions, no ring, and
# control wavelets turn them. The sequence comes once for each PE, the nearest one first. What
# follows a sequence advances the router that handed it over: from then on the router lets others
# pass, in its last position. What follows the last sequence resets all routers on its way.
#
# Source   design, The machine

def replica_routes(
    takers: isl.Set, side: str, turned: isl.Map, *, spread: bool = False
) -> tuple[Routes, Routes]:
    """Return the two positions of the routes inwards to { [lane, depth] }.

    Routes come from the side or, if `spread`, from the ramp of the adapter at depth 0. Takers that
    have no taker behind them have the same route in both, and so have routers between takers.
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
    to the left. The port's router pops the command that it obeys: it advances after the last of
    each of these, and is reset after all. Routers beyond it obey the next command: they are reset
    after the last of the right ones, and after the last of the left ones.
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
