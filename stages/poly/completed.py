"""What of an order may leave while a statement still runs: positions whose elements are complete.

A statement runs in steps, { S[i] -> [PE -> step[k]] }, in lexicographic order of k. A position may
leave after a step if nothing later adds to its element, nor to those of the positions before it.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.bind import bind_range
from lairmake.stages.poly.extremes import find_least
from lairmake.stages.poly.least import least
from lairmake.stages.poly.order import at_pe, at_places

SET, OUT = isl.dim_type.set, isl.dim_type.out


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """What leaves a PE early: [PE_X, PE_Y] -> { index[i] -> t[e] } and { index[i] -> step[k] }.

    `after` is the step after which an index leaves; those that it does not have leave at the end.
    """

    at: isl.Map
    after: isl.Map

    def sent(self, names: Sequence[str]) -> isl.Set:
        """Return [PE_X, PE_Y, names] -> { index[i] } of what leaves after a step."""
        return bind_range(self.after, names)

    @property
    def rest(self) -> isl.Set:
        """Return [PE_X, PE_Y] -> { index[i] } of what leaves when all steps have run."""
        return self.at.domain().subtract(self.after.domain())


def find_completed(order: isl.Map, last: isl.Map, stops: isl.Set, pes: isl.Set) -> Completed:
    """Return what leaves early of an order { t[e] -> [PE -> index[i]] }, after steps in `stops`.

    `last` is { t[e] -> [PE -> step[k]] }, the last step that adds to an element. It leaves after
    the first stop from there on, or the first one of all if a PE adds nothing to it. Only `pes`
    run the steps.
    """
    at, here = at_pe(order), at_pe(at_places(order, pes))
    early = at.apply_range(at_pe(last.apply_range(_within_pe(last, _next_stop(stops)))).reverse())
    others = here.domain().subtract(here.intersect_range(at_pe(last).range()).domain())
    passing = isl.Map.from_domain_and_range(others, stops.lexmin())
    after = early.intersect_domain(here.domain()).union(passing).coalesce()
    return Completed(at=at, after=after)


def is_in_order(completed: Completed) -> bool:
    """Say whether each index leaves after those before it."""
    later = isl.Map.lex_lt(completed.at.domain().get_space())
    steps = completed.after.reverse().apply_range(later).apply_range(completed.after)
    if not steps.is_subset(isl.Map.lex_le(completed.after.range().get_space())):
        return False
    return completed.rest.apply(later).is_disjoint(completed.after.domain())


def list_stops(last: isl.Map, box: Sequence[Sequence[int]]) -> Iterator[isl.Set]:
    """Yield { step[k] }, steps in a box [least, greatest] each, with the last step and without it.

    They are every n-th value of a dimension, from the first one in { t[e] -> [PE -> step[k]] } on,
    the inner ones at their end.
    """
    steps = last.range_factor_range().range()
    end = isl.Set.universe(steps.get_space())
    for k, (_, high) in enumerate(box):
        end = end.fix_val(SET, k, high)
    for depth, (_, high) in enumerate(box):
        first = find_least(steps, depth).to_python()
        for chunk in _halves(high - first + 1):
            found = _stops(steps.get_space(), box, depth, isl.Set(
                f"{{ [k] : {first} <= k <= {high} and (k - {first} + 1) mod {chunk} = 0 }}"
            ))
            yield from (s for s in (found.subtract(end), found) if not s.is_empty())


def _halves(size: int) -> Iterator[int]:
    """Yield size / 2, size / 4, ..., 1, rounded up."""
    while size > 1:
        size = -(-size // 2)
        yield size


def _stops(space: isl.Space, box: Sequence[Sequence[int]], depth: int, some: isl.Set) -> isl.Set:
    """Return the steps of a box with `some` values at a depth, and the last ones inside."""
    found = isl.Set.universe(space)
    for k, (low, high) in enumerate(box):
        found = found.lower_bound_val(SET, k, high if k > depth else low)
        found = found.upper_bound_val(SET, k, high)
    at = isl.Map.identity(space.map_from_set()).project_out(OUT, depth + 1, len(box) - depth - 1)
    at = at.project_out(OUT, 0, depth).reset_tuple_id(OUT)
    return found.intersect(some.apply(at.reverse()))


def _next_stop(stops: isl.Set) -> isl.Map:
    """Return { step[k] -> step[s] }, the first stop that is not before a step."""
    return least(isl.Map.lex_le(stops.get_space()).intersect_range(stops))


def _within_pe(like: isl.Map, change: isl.Map) -> isl.Map:
    """Return { [PE -> step] -> [PE -> change(step)] }, with the PEs of { t[e] -> [PE -> step] }."""
    pes = like.range().unwrap().domain().get_space()
    return isl.Map.identity(pes.map_from_set()).product(change)
