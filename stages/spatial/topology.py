"""Which PEs are neighbours, on the networks that connect them.

Paper    Meister, Trading off Latency for Memory Bandwidth, Sec. III.J and VI, eqs. (8), (13)
Differs  the distance is that of Euclid, squared: so two PEs of a hexagonal or octagonal network
         are neighbours up to 2, and those of a mesh up to 1. With |x| + |y| an octagonal network
         would have twelve neighbours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import islpy as isl

Kind = Literal["mesh", "torus", "hexagonal", "octagonal"]

ALONG: dict[bool | str, tuple[int, ...]] = {True: (0, 1), False: (), "x": (0,), "y": (1,)}
"""The dimensions of the grid along which layer.yaml wants PEs to pass elements on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A network of PEs: from 0 to below `sizes` in each dimension of the grid.

    Only along the dimensions `spatial` are there links (Sec. III.J); None: along all. The
    coordinates of a hexagonal network are the last two of Kung and Leiserson's three.
    """

    kind: Kind
    sizes: tuple[int, ...]
    spatial: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Hexagonal and octagonal networks have two dimensions."""
        assert self.kind in ("mesh", "torus") or len(self.sizes) == 2


def neighbours(topology: Topology) -> isl.Map:
    """Return { PE[x, y] -> PE[x', y'] } of neighbours; symmetric, and no PE is its own."""
    width = len(topology.sizes)
    grid = _grid(topology.sizes)
    near = {
        "mesh": lambda: _near(width, 1),
        "torus": lambda: _near(width, 1).union(_edges(topology.sizes)),
        "octagonal": lambda: _near(width, 2),
        "hexagonal": lambda: _within(_near(3, 2), hexagonal_plane()),
    }[topology.kind]()
    linked = _along(near, topology.spatial).intersect_domain(grid).intersect_range(grid)
    return linked.subtract(isl.Map.identity(near.space))


def hexagonal_plane() -> isl.Map:
    """Return { PE[x, y] -> PE[x + y, x, y] }, the points of a grid with Pl0 - Pl1 - Pl2 = 0."""
    return isl.Map("{ PE[x, y] -> PE[x + y, x, y] }")


def flattening(inner: Sequence[int], fine: Iterable[int]) -> isl.Map:
    """Return { PE[outer, inner] -> PE[S outer + inner] } in the dimensions `fine`, eq. (13).

    Of the other dimensions both coordinates stay. `inner` is the size S of each dimension.
    """
    outside, inside = _names("o", len(inner)), _names("i", len(inner))
    flat = [f"{size} {o} + {i}" for o, i, size in zip(outside, inside, inner, strict=True)]
    chosen = set(fine)
    kept = [o for k, o in enumerate(outside) if k not in chosen]
    rest = [flat[k] if k in chosen else i for k, i in enumerate(inside)]
    return isl.Map(f"{{ PE[{_list(outside + inside)}] -> PE[{_list(kept + rest)}] }}")


def hierarchical(
    outer: Sequence[int], inner: Sequence[int], fine: Iterable[int] = ()
) -> isl.Map:
    """Return { PE[outer, inner] -> PE[outer', inner'] } of neighbours on two levels of meshes.

    Along a dimension in `fine`, inner PEs are linked across the edges of outer ones, as if all of
    them were one mesh (Sec. VI.B.1). Along the others data go in chunks from an outer PE to its
    neighbours, so each of its inner PEs is as near as the other (Sec. VI.B.2).
    """
    width, chosen = len(outer), frozenset(fine)
    space = isl.Set.universe(_grid([*outer, *inner]).space)
    result = isl.Map.empty(space.space.map_from_set())
    flat = flattening(inner, range(width))
    for k in range(width):
        within = _along(_near(2 * width, 1), (width + k,))
        crossing = _chunks(width, k)
        if k in chosen:
            within = _within(_along(_near(width, 1), (k,)), flat)
            crossing = isl.Map.empty(space.space.map_from_set())
        result = result.union(within).union(crossing)
    grid = _grid([*outer, *inner])
    return result.intersect_domain(grid).intersect_range(grid)


def _chunks(width: int, k: int) -> isl.Map:
    """Return { PE[o, i] -> PE[o', i'] : o' is next to o along k }, for any i and i'."""
    outer = _along(_near(width, 1), (k,)).reset_tuple_id(isl.dim_type.in_)
    outer = outer.reset_tuple_id(isl.dim_type.out)
    inside = isl.Set(f"{{ [{_list(_names('i', width))}] }}")
    product = outer.flat_product(isl.Map.from_domain_and_range(inside, inside))
    return product.set_tuple_name(isl.dim_type.in_, "PE").set_tuple_name(isl.dim_type.out, "PE")


def _near(width: int, distance: int) -> isl.Map:
    """Return { PE[i] -> PE[i + d] : 0 < |d|^2 <= distance }, for a distance of 1 or 2."""
    names = _names("i", width)
    steps = itertools.product((-1, 0, 1), repeat=width)
    moves = [step for step in steps if 0 < sum(map(abs, step)) <= distance]
    targets = [_list([f"{n} + {d}" for n, d in zip(names, step, strict=True)]) for step in moves]
    return isl.Map(f"{{ {'; '.join(f'PE[{_list(names)}] -> PE[{each}]' for each in targets)} }}")


def _edges(sizes: Sequence[int]) -> isl.Map:
    """Return { PE[i] -> PE[i'] } between the two ends of each dimension of a torus, eq. (8)."""
    names, found = _names("i", len(sizes)), []
    for k, size in enumerate(sizes):
        first = [*names[:k], "0", *names[k + 1 :]]
        last = [*names[:k], str(size - 1), *names[k + 1 :]]
        found += [f"PE[{_list(first)}] -> PE[{_list(last)}]"]
        found += [f"PE[{_list(last)}] -> PE[{_list(first)}]"]
    return isl.Map(f"{{ {'; '.join(found)} }}")


def _within(near: isl.Map, embedding: isl.Map) -> isl.Map:
    """Return { a -> b : (embedding(a) -> embedding(b)) in near }."""
    return embedding.apply_range(near).apply_range(embedding.reverse())


def _along(near: isl.Map, dimensions: Sequence[int] | None) -> isl.Map:
    """Return the part of a relation that changes only the given dimensions; None: all of it."""
    if dimensions is None:
        return near
    for k in range(near.dim(isl.dim_type.in_)):
        if k not in dimensions:
            near = near.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return near


def _grid(sizes: Sequence[int]) -> isl.Set:
    names = _names("i", len(sizes))
    bounds = " and ".join(f"0 <= {n} < {size}" for n, size in zip(names, sizes, strict=True))
    return isl.Set(f"{{ PE[{_list(names)}] : {bounds} }}")


def _names(letter: str, number: int) -> list[str]:
    return [f"{letter}{k}" for k in range(number)]


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
