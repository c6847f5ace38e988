"""Dimensions taken apart into rows: element number m a + c of a dimension becomes [a, c].

Paper    V Sec. 5, condition 4, goes without this

An access through i//m and i mod m is not linear in i, but in the number a of a row of m elements
and the place c in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

IN, SET, DIV = isl.dim_type.in_, isl.dim_type.set, isl.dim_type.div


def find_periods(access: isl.Map) -> list[list[int]]:
    """Return, for each dimension i of { [i] -> T[e] }, the m of divisions by m that it is in."""
    found: list[set[int]] = [set() for _ in range(access.dim(IN))]
    for basic in access.wrap().flatten().compute_divs().get_basic_sets():
        local = basic.get_local_space()
        for number in range(basic.dim(DIV)):
            division = local.get_div(number)
            for position, periods in enumerate(found):
                if division.involves_dims(IN, position, 1):
                    periods.add(int(division.get_denominator_val().to_python()))
    return [sorted(periods) for periods in found]


def split(least: Sequence[isl.PwAff], periods: Sequence[int | None]) -> isl.Map:
    """Return [p] -> { [a, c, ...] -> [i] : i = least(p) + m a + c and 0 <= c < m }.

    Dimensions without a period m stay as they are. The map is injective for each p.
    """
    rows, starts = [], []
    for first, period in zip(least, periods, strict=True):
        rows.append(
            "{ [i] -> [i] }" if period is None
            else f"{{ [a, c] -> [{period}a + c] : 0 <= c < {period} }}"
        )
        starts.append(first.scale_val(isl.Val(0)) if period is None else first)
    change, origin = isl.Map("{ [] -> [] }"), isl.Set("{ [] }")
    for row, start in zip(rows, starts, strict=True):
        change = change.flat_product(isl.Map(row))
        origin = origin.flat_product(isl.Set.from_pw_aff(start))
    shift = isl.Map.from_domain_and_range(change.domain(), origin)
    return change.align_params(shift.space).sum(shift)
