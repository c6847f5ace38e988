"""Slices of volumes as affine functions of tile indices.

Source   F Alg. 2, MatchSlice: offsets and strides are affine
         functions of the tile indices, found dimension by dimension; Def. 4.9 (slice)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.iscc import Told, tell

IN, OUT = isl.dim_type.in_, isl.dim_type.out
DIV = isl.dim_type.div
MOST_REMEMBERED = 1024
"""How many slices are remembered, as parts of a network are alike but for names."""


class NoSliceError(Exception):
    """Elements that are no slice with an affine offset and a fixed size: `map` gives them."""

    def __init__(self, found: isl.Map) -> None:
        super().__init__(str(found))
        self.map = found


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """{ [q] -> v[offset(q) + stride l] : 0 <= l < size }; one entry per dimension."""

    volume: str
    offset: isl.MultiAff
    stride: tuple[int, ...]
    size: tuple[int, ...]

    def at(self) -> isl.Map:
        """Return { [[q] -> [l]] -> v[offset(q) + stride l] } for 0 <= l < size."""
        found = _at(tell(self.offset), self.stride, self.size)
        return found.set_tuple_name(OUT, self.volume) if self.volume else found


@functools.lru_cache(MOST_REMEMBERED)
def _at(offset: Told, stride: tuple[int, ...], size: tuple[int, ...]) -> isl.Map:
    """Return { [[q] -> [l]] -> [offset(q) + stride l] } for 0 <= l < size."""
    names = [f"l{k}" for k in range(len(size))]
    bounds = [f"0 <= {n} < {size}" for n, size in zip(names, size, strict=True)]
    moved = [f"{s}*{n}" for n, s in zip(names, stride, strict=True)]
    places = ", ".join(f"o{k} + {step}" for k, step in enumerate(moved))
    outs = ", ".join(f"o{k}" for k in range(len(names)))
    step = isl.Map(
        f"{{ [[{outs}] -> [{', '.join(names)}]] -> [{places}] : {' and '.join(bounds) or 'true'} }}"
    )
    local = isl.Map.identity(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, len(names), len(names)))
    first: isl.MultiAff = offset.it
    return first.as_map().product(local).apply_range(step)


def match_slice(found: isl.Map, is_hull: bool = False) -> Slice:
    """Return the slice that { [q] -> v[e] } is, or with `is_hull` the least one that holds it.

    Raises NoSliceError where there is none: an offset is not affine, or a size not the same for
    every q.
    """
    name = found.get_tuple_name(OUT) if found.has_tuple_name(OUT) else None
    unnamed = found.reset_tuple_id(OUT) if found.has_tuple_id(OUT) else found
    try:
        offset, stride, size = _match(tell(unnamed))
    except NoSliceError:
        raise NoSliceError(found.coalesce()) from None
    result = Slice(volume=name or "", offset=offset, size=size, stride=stride)
    if not is_hull and not cover(result, found.domain()).is_equal(found):
        raise NoSliceError(found.coalesce())
    return result


@functools.lru_cache(MOST_REMEMBERED)
def _match(found: Told) -> tuple[isl.MultiAff, tuple[int, ...], tuple[int, ...]]:
    """Return offset, strides and sizes of the least slice that holds { [q] -> [e] }."""
    plain = found.it.coalesce()
    offset = isl.MultiAff.zero(plain.space)
    size, stride = [], []
    for dim in range(plain.dim(OUT)):
        least, step, count = _along(plain, dim)
        offset = offset.set_aff(dim, least)
        size.append(count)
        stride.append(step)
    return offset, tuple(stride), tuple(size)


def cover(slice_: Slice, tiles: isl.Set) -> isl.Map:
    """Return { [q] -> v[e] } for the elements of a slice."""
    return slice_.at().domain_factor_domain().intersect_domain(tiles).coalesce()


def _along(found: isl.Map, dim: int) -> tuple[isl.Aff, int, int]:
    """Return offset, stride and size along a dimension. Raises NoSliceError."""
    least, most = affine(found.dim_min(dim), found), affine(found.dim_max(dim), found)
    extent = most.sub(least)
    if not extent.is_cst():
        raise NoSliceError(found)
    length = extent.get_constant_val().to_python()
    stride = found.get_range_stride_info(dim).get_stride().to_python() if length else 1
    return least, stride, length // stride + 1


def affine(bound: isl.PwAff, found: isl.Map) -> isl.Aff:
    """Return a function as an affine one. Raises NoSliceError for `found` where it is none."""
    pieces = bound.gist(bound.domain()).coalesce().get_pieces()
    if len(pieces) != 1 or pieces[0][1].dim(DIV):
        raise NoSliceError(found)
    return pieces[0][1]
