"""Variable compression: the same instances in fewer dimensions.

Paper    V Sec. 2 and 5.2, (18), (22), (28), (33)
Source   Meister, Stating and Manipulating Periodicity in the Polytope Model, 2004

The equality constraints shared by all disjuncts, existentials taken as set variables, read

    A (x, e) = b(p)            A U = H, H lower triangular, U unimodular (left Hermite form)

so (x, e) = U (y1, y2), where H y1 = b(p) fixes y1 and y2 is free.  The rows of U that belong to x
give the compression { [y2] -> S[x] }, affine in y2; it is quasi-affine in the symbolic constants
where a pivot of H is not 1 or -1: y1 then is a floor, exact wherever the set is not empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.bind import PARAM
from lairmake.stages.poly.integers import (
    Matrix,
    find_independent_columns,
    find_pivot_rows,
    hermite,
    hull_equalities,
)
from lairmake.stages.poly.lattices import along_lattice

SET = isl.dim_type.set


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """A compression `{ [i0, ...] -> S[...] }`, and the compressed set.

    `map` restricted to `set` is a bijection to the original set, for all symbolic constants.
    The tuple of `set` has no name.
    """

    map: isl.Map
    set: isl.Set


def compress(elements: isl.Set) -> Compressed:
    """Return the variable compression of a set, and the compressed set.

    Ensures that the compression, restricted to the compressed set, is injective and reaches
    exactly `elements`.  An empty set is compressed to an empty one.
    """
    function = _function(elements)
    compressed = elements.preimage_multi_aff(function).detect_equalities().coalesce()
    relation = isl.Map.from_multi_aff(function)
    return Compressed(map=relation, set=compressed)


def drop_hidden_equalities(compressed: Compressed) -> Compressed:
    """Return a compression without the equalities that hold, but are not written in all disjuncts.

    A dimension then is a piecewise function of the symbolic constants, as i_1 in V Ex. 5.7.
    """
    change = along_lattice(compressed.set)
    if change is None or change.dim(isl.dim_type.in_) == compressed.set.dim(SET):
        return compressed
    relation = change.apply_range(compressed.map)
    return Compressed(map=relation, set=compressed.set.apply(change.reverse()).coalesce())


def keeps_order(compression: isl.Map, elements: isl.Set) -> bool:
    """Say whether `i << j` implies `compression(i) << compression(j)` for all i, j of the set."""
    here = compression.intersect_domain(elements)
    before = isl.Map.lex_lt(elements.space).intersect_domain(elements).intersect_range(elements)
    images = here.reverse().apply_range(before).apply_range(here)
    return images.is_subset(isl.Map.lex_lt(here.range().space))


def _function(elements: isl.Set) -> isl.MultiAff:
    """Return `{ [y2] -> S[x] }` with (x, e) = U (y1, y2)."""
    dimensions = elements.dim(SET)
    equalities, width = hull_equalities(elements)
    echelon, unimodular = hermite([row[:width] for row in equalities], width)
    rank = len(find_pivot_rows(echelon))
    free = find_independent_columns([row[rank:] for row in unimodular[:dimensions]], width - rank)
    domain = elements.space.params().add_unnamed_tuple_ui(len(free[0]) if free else 0)
    right = [_parametric(domain, [-entry for entry in row[width:]]) for row in equalities]
    fixed = _substitute(echelon, right)
    rows = [
        _row(domain, zip(row[:rank], fixed, strict=True), columns)
        for row, columns in zip(unimodular, free, strict=False)
    ]
    space = domain.map_from_domain_and_range(elements.space)
    return isl.MultiAff.from_aff_list(space, _listed(rows))


def _parametric(domain: isl.Space, entries: list[int]) -> isl.Aff:
    """Return the sum of the symbolic constants times the entries, the last one by itself."""
    result = isl.Aff.zero_on_domain_space(domain).set_constant_val(entries[-1])
    for position, entry in enumerate(entries[:-1]):
        result = result.set_coefficient_val(PARAM, position, entry)
    return result


def _substitute(echelon: Matrix, right: list[isl.Aff]) -> list[isl.Aff]:
    """Return y1 with H y1 = right, rounded down; rows without pivot do not bind any variable."""
    found: list[isl.Aff] = []
    for row in find_pivot_rows(echelon):
        rest = right[row]
        for entry, value in zip(echelon[row], found, strict=False):
            rest = rest.sub(value.scale_val(entry))
        pivot = echelon[row][len(found)]
        found.append(rest if pivot == 1 else rest.scale_down_val(pivot).floor())
    return found


def _row(
    domain: isl.Space, fixed: Iterable[tuple[int, isl.Aff]], columns: list[int]
) -> isl.Aff:
    """Return one dimension of the original set: its part in y1 and its part in y2."""
    result = isl.Aff.zero_on_domain_space(domain)
    for entry, value in fixed:
        result = result.add(value.scale_val(entry))
    for position, entry in enumerate(columns):
        result = result.add_coefficient_val(isl.dim_type.in_, position, entry)
    return result


def _listed(rows: list[isl.Aff]) -> isl.AffList:
    result = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(rows))
    for row in rows:
        result = result.add(row)
    return result
