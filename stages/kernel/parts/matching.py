"""Slices of volumes as affine functions of tile indices.

Source   F Alg. 2, MatchSlice: offsets and strides are affine
         functions of the tile indices, found dimension by dimension; Def. 4.9 (slice)
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

IN, OUT = isl.dim_type.in_, isl.dim_type.out
DIV = isl.dim_type.div


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
        names = [f"l{k}" for k in range(len(self.size))]
        bounds = [f"0 <= {n} < {size}" for n, size in zip(names, self.size, strict=True)]
        moved = [f"{s}*{n}" for n, s in zip(names, self.stride, strict=True)]
        places = ", ".join(f"o{k} + {step}" for k, step in enumerate(moved))
        outs = ", ".join(f"o{k}" for k in range(len(names)))
        step = isl.Map(
            f"{{ [[{outs}] -> [{', '.join(names)}]] -> {self.volume}[{places}] :"
            f" {' and '.join(bounds) or 'true'} }}"
        )
        local = isl.Map.identity(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, len(names), len(names)))
        return self.offset.as_map().product(local).apply_range(step)


def match_slice(found: isl.Map, is_hull: bool = False) -> Slice:
    """Return the slice that { [q] -> v[e] } is, or with `is_hull` the least one that holds it.

    Raises NoSliceError where there is none: an offset is not affine, or a size not the same for
    every q.
    """
    plain = found.coalesce()
    unnamed = plain.reset_tuple_id(OUT) if plain.has_tuple_id(OUT) else plain
    offset = isl.MultiAff.zero(unnamed.space)
    size, stride = [], []
    for dim in range(plain.dim(OUT)):
        least, step, count = _along(plain, dim)
        offset = offset.set_aff(dim, least)
        size.append(count)
        stride.append(step)
    result = Slice(
        volume=plain.get_tuple_name(OUT) or "", offset=offset, size=tuple(size),
        stride=tuple(stride),
    )
    if not is_hull and not cover(result, plain.domain()).is_equal(plain):
        raise NoSliceError(plain)
    return result


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
