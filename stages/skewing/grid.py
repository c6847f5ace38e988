"""Grids of PEs, and which of their points are near each other.

Paper    M Sec. VI.A
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import islpy as isl


def grid(sizes: Sequence[int]) -> isl.Set:
    """Return { PE[i] : 0 <= i < sizes }."""
    pes = names("i", len(sizes))
    bounds = " and ".join(f"0 <= {n} < {size}" for n, size in zip(pes, sizes, strict=True))
    return isl.Set(f"{{ PE[{write_list(pes)}] : {bounds} }}")


def near(width: int, distance: int) -> isl.Map:
    """Return { PE[i] -> PE[i + d] : 0 < |d|^2 <= distance }, for a distance of 1 or 2."""
    pes = names("i", width)
    steps = itertools.product((-1, 0, 1), repeat=width)
    moves = [step for step in steps if 0 < sum(map(abs, step)) <= distance]
    targets = [write_list([f"{n} + {d}" for n, d in zip(pes, step, strict=True)]) for step in moves]
    return isl.Map(f"{{ {'; '.join(f'PE[{write_list(pes)}] -> PE[{each}]' for each in targets)} }}")


def edges(sizes: Sequence[int]) -> isl.Map:
    """Return { PE[i] -> PE[i'] } between the two ends of each dimension of a torus, M (8)."""
    pes, found = names("i", len(sizes)), []
    for k, size in enumerate(sizes):
        first = [*pes[:k], "0", *pes[k + 1 :]]
        last = [*pes[:k], str(size - 1), *pes[k + 1 :]]
        found += [f"PE[{write_list(first)}] -> PE[{write_list(last)}]"]
        found += [f"PE[{write_list(last)}] -> PE[{write_list(first)}]"]
    return isl.Map(f"{{ {'; '.join(found)} }}")


def within(linked: isl.Map, embedding: isl.Map) -> isl.Map:
    """Return { a -> b : (embedding(a) -> embedding(b)) in linked }."""
    return embedding.apply_range(linked).apply_range(embedding.reverse())


def along(linked: isl.Map, dimensions: Sequence[int] | None) -> isl.Map:
    """Return the part of a relation that changes only the given dimensions; None: all of it."""
    if dimensions is None:
        return linked
    for k in range(linked.dim(isl.dim_type.in_)):
        if k not in dimensions:
            linked = linked.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return linked


def names(letter: str, number: int) -> list[str]:
    """Return names of dimensions, `i0, i1`."""
    return [f"{letter}{k}" for k in range(number)]


def write_list(texts: Iterable[str]) -> str:
    """Return texts as isl lists them."""
    return ", ".join(texts)
