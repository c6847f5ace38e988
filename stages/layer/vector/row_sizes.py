"""Rows whose size differs from one to the next, configured before each call, within loops.

The loops are over some dimensions of the instances, which are a box in the others for each value
of these. Where all instances of a PE are a box, they may also be a single row.

Paper    V Sec. 5, goes without this
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from math import inf, prod

import islpy as isl

from lairmake.stages.layer.vector.candidate import Candidate
from lairmake.stages.layer.vector.lattice import dense
from lairmake.stages.layer.vector.nested import find_loops, split_off
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.box import exact_bounds, find_fixed_size, find_full
from lairmake.stages.poly.functions import (
    bind_domain,
    find_index_constants,
    greatest_value,
    simplify,
)
from lairmake.stages.poly.integers import linear_map
from lairmake.stages.poly.lattices import bases

IN, SET = isl.dim_type.in_, isl.dim_type.set
WHY_ROW_SIZES = (
    "within loops, the instances are boxes of several sizes, configured before each call"
)
MOST_TRIED = 8
"""So many choices of loops are tried, those of the fewest rows first."""
MOST_MORE = 4
"""Loops of so many times the fewest rows are not thought of."""
MOST_BASES = 2
"""In so many bases besides that of the unit vectors, those of the smallest boxes."""


def by_row_sizes(situation: Situation) -> Iterator[Candidate]:
    """Yield the rows for some choices of loops, none if no sizes differ."""
    if situation.exact.is_box:
        return
    fewest = inf
    for plain, outer, rows in islice(_list_loops(situation), MOST_TRIED):
        if rows > MOST_MORE * fewest:
            continue
        elements = situation.elements.apply(plain.reverse())
        found = _whole(situation, plain, elements, outer)
        if found is None:
            change = split_off(elements.space, outer).apply_range(plain)
            found = _candidate(situation, change, find_loops(elements, outer))
        if found is not None:
            fewest = min(fewest, rows)
            yield found


def _list_loops(situation: Situation) -> Iterator[tuple[isl.Map, tuple[int, ...], int]]:
    """Yield a basis { [k] -> [i] }, the dimensions of it for loops, and how many rows there are.

    At most so many; the fewest first. Sums are added in the order of the instances.
    """
    plain = dense(situation)
    elements = situation.elements.apply(plain.reverse())
    width = elements.dim(SET)
    for basis in _list_bases(elements, situation.known):
        changed = basis.reverse().apply_range(plain)
        sizes = _find_extents(elements.apply(basis), situation.known)
        several = [o for loops in range(1, width) for o in combinations(range(width), loops)]
        rows = {outer: prod(sizes[k] for k in outer) for outer in several}
        for outer in sorted(several, key=lambda outer: rows[outer]):
            if _keeps_sums(situation, changed, outer):
                yield changed, outer, rows[outer]


def _find_extents(elements: isl.Set, known: isl.Set) -> list[int]:
    """Return the largest size along each dimension."""
    here = elements.intersect_params(known)
    spreads = (here.dim_max(k).sub(here.dim_min(k)).floor() for k in range(here.dim(SET)))
    return [int(greatest_value(spread).to_python()) + 1 for spread in spreads]


def _list_bases(elements: isl.Set, known: isl.Set) -> Iterator[isl.Map]:
    """Yield { [i] -> [U i] }: the unit vectors, then others, each in both directions."""
    width = elements.dim(SET)
    yield isl.Map.identity(elements.get_space().map_from_set())
    for basis in islice(bases(elements, known), MOST_BASES):
        yield basis
        for turned in range(width):
            rows = [_unit(k, width) for k in range(width)]
            rows[turned][turned] = -1
            yield basis.apply_range(linear_map(rows, width))


def _keeps_sums(situation: Situation, plain: isl.Map, outer: Sequence[int]) -> bool:
    """Return whether each element of the target gets its sum in the order of the instances.

    They run in the order of the outer dimensions, then of the others, of { [k] -> [i] }.
    """
    assert situation.target is not None, "a statement writes its target"
    to = situation.accesses[situation.target].intersect_domain(situation.elements)
    before = to.apply_range(to.reverse()).intersect(isl.Map.lex_lt(to.get_space().domain()))
    inner = [k for k in range(plain.dim(IN)) if k not in outer]
    order = linear_map([_unit(k, plain.dim(IN)) for k in (*outer, *inner)], plain.dim(IN))
    order = plain.reverse().apply_range(order)
    run = before.apply_domain(order).apply_range(order)
    return bool(run.intersect(isl.Map.lex_ge(run.get_space().domain())).is_empty())


def _unit(position: int, width: int) -> list[int]:
    return [int(k == position) for k in range(width)]


def _whole(
    situation: Situation, plain: isl.Map, elements: isl.Set, outer: Sequence[int]
) -> Candidate | None:
    """Return rows of all dimensions, a single one where all instances of a PE are a box.

    None if that is nowhere so, or there are too many dimensions.
    """
    full = find_full(elements, exact_bounds(elements, situation.known))
    if full.is_empty() or elements.dim(SET) > situation.profile.dimensions:
        return None
    whole = elements.intersect_params(full)
    run = _in_loops(elements.subtract(whole), outer)
    run = run.union(isl.Map.from_domain_and_range(_in_loops(whole, outer).domain().lexmin(), whole))
    names = [f"outer{n}" for n in range(len(outer))]
    box = bind_domain(run.coalesce(), names)
    change = isl.Map.identity(box.get_space().map_from_set()).intersect_domain(box)
    around = run.domain()
    for position, name in enumerate(names):
        around = around.set_dim_name(SET, position, name)
    found = _candidate(situation, change.apply_range(plain), around.coalesce())
    if found is None:
        return None
    starts = {k: isl.PwAff(f"[outer{n}] -> {{ [(outer{n})] }}") for n, k in enumerate(outer)}
    origin = tuple(starts.get(k, each) for k, each in enumerate(found.origin))
    return replace(found, origin=origin)


def _in_loops(elements: isl.Set, outer: Sequence[int]) -> isl.Map:
    """Return { [o] -> [k] }, the elements for each value of the outer dimensions."""
    pairs = isl.Map.identity(elements.get_space().map_from_set()).intersect_range(elements)
    inner = [k for k in range(elements.dim(SET)) if k not in outer]
    for position in reversed(inner):
        pairs = pairs.project_out(IN, position, 1)
    return pairs


def _candidate(situation: Situation, change: isl.Map, outer: isl.Set) -> Candidate | None:
    """Return the rows of a change [p, outer] -> { [k] -> [i] }, if they are boxes that differ."""
    box = situation.elements.apply(change.reverse()).coalesce()
    exact = exact_bounds(box, situation.known)
    if not exact.is_box or find_fixed_size(exact, find_index_constants(box)) is not None:
        return None
    return Candidate(
        way="nested",
        why=WHY_ROW_SIZES,
        sizes=exact.size,
        origin=tuple(simplify(least, exact.domain) for least in exact.minimum),
        box=box,
        change=change,
        outer=outer,
        each_call=True,
    )
