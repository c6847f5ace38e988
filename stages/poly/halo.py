"""A ring with a halo: local memory in which windows reach over chunks as if these were all there.

The chunks of a ring lie one after the other, by rows of elements, and before them a copy of the
last rows of the ring:

    halo | chunk 0 | chunk 1 | ... | chunk depth - 1

When chunk n is taken, row r lies at r + halo - rows depth floor(n/depth), where a chunk has so many
rows. So the rows that its step uses, which begin up to `halo` ones before its own, lie one after
the other, and an access to them is as linear as it would be to the whole tensor. Once the last
chunk of the ring is there, its last rows are copied to the front, where the next one finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from lairmake.stages.poly.bind import name_indices
from lairmake.stages.poly.box_hull import box
from lairmake.stages.poly.extents import find_extents
from lairmake.stages.poly.function import find_function_in
from lairmake.stages.poly.naming import letters


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """{ T[e] -> [PE -> place[r, k]] }, the row of each element, counted through all chunks.

    A chunk has so many `rows`, and `counts` are how many chunks there are in each dimension;
    `depth` of them are in memory. A step reaches `halo` rows before its chunk.
    """

    places: isl.Map
    rows: int
    counts: tuple[int, ...]
    depth: int
    halo: int


def roll_rows(rows: Rows, name: str) -> tuple[isl.Set, isl.Map]:
    """Return { name[l] : 0 <= l < size } and where elements lie when a chunk is taken.

    That is [index...] -> { [PE -> T[e]] -> name[l] } for all that memory, whether there are such
    elements or not: so what reaches beyond the first one, or the last one, has a place.
    """
    size = (rows.halo + rows.rows * rows.depth, *_count_inner(rows.places))
    reaching = replace(rows, places=_extend(rows.places))
    return box(name, size), _lay(reaching, name, size, later=0)


def repeat_rows(rows: Rows, tensor: str, name: str) -> isl.Map:
    """Return [index...] -> { [PE -> tensor[e]] -> name[l] }, where rows of the halo are copied to.

    That is where the elements lie when the next chunk is taken, if that begins the ring again.
    """
    number, last = _number(rows.counts), prod(rows.counts) - 1
    turns = f"({number} + 1) mod {rows.depth} = 0 and {number} < {last}"
    listed = ", ".join(name_indices(len(rows.counts)))
    turning = isl.Set(f"[{listed}] -> {{ : {turns} }}")
    again = replace(rows, places=rows.places.set_tuple_name(isl.dim_type.in_, tensor))
    size = (rows.halo, *_count_inner(rows.places))
    return _lay(again, name, size, later=1).intersect_params(turning)


def _extend(places: isl.Map) -> isl.Map:
    """Return places of further elements by the same function, if it has one piece."""
    function = find_function_in(places.reverse().curry().range_reverse().uncurry())
    simple = function.gist(function.domain()).coalesce()
    if not simple.isa_multi_aff():
        return places
    pes = places.range().unwrap().domain()
    further = isl.Map.from_multi_aff(simple.as_multi_aff())
    further = further.curry().intersect_domain(pes).uncurry()
    return further.curry().range_reverse().uncurry().reverse()


def _lay(rows: Rows, name: str, size: Sequence[int], *, later: int) -> isl.Map:
    """Return where elements lie in a box, so many rounds of the ring `later`."""
    names = name_indices(len(rows.counts))
    inner = "".join(f", {k}" for k in _inner(rows.places))
    whole = rows.rows * rows.depth
    at = f"r + {rows.halo - later * whole} - {whole}*(floor(({_number(rows.counts)})/{rows.depth}))"
    bounds = [f"0 <= {n} < {c}" for n, c in zip(names, rows.counts, strict=True)]
    lay = isl.Map(
        f"[{', '.join(names)}] -> {{ place[r{inner}] -> {name}[{at}{inner}] : "
        f"{' and '.join(bounds)} }}"
    ).intersect_range(box(name, size))
    placed = rows.places.reverse().curry().range_reverse().uncurry()
    return placed.apply_range(lay)


def _number(counts: Sequence[int]) -> str:
    """Return the number of a chunk among all of them, of its symbolic constants."""
    terms = (f"{prod(counts[k + 1 :])}*{n}" for k, n in enumerate(name_indices(len(counts))))
    return " + ".join(terms)


def _count_inner(places: isl.Map) -> tuple[int, ...]:
    """Return the sizes of a row."""
    extents = find_extents(places.range().unwrap().range())
    assert extents is not None, "what arrives has an end"
    return tuple(high + 1 for _, high in extents[1:])


def _inner(places: isl.Map) -> list[str]:
    names = letters(places.range().unwrap().dim(isl.dim_type.out) - 1)
    return [f"{name}'" for name in names]
