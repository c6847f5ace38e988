"""How long elements of a stream are used, in chunks: the reuse distance in the order of arrival."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import islpy as isl

from lairmake.stages.poly.extremes import find_greatest
from lairmake.stages.poly.naming import letters

OUT = isl.dim_type.out


def number_chunks(counts: Sequence[int]) -> isl.Map:
    """Return { chunk[p] -> [n] }, the place of each chunk among all, in lexicographic order."""
    names = letters(len(counts))
    terms = [f"{prod(counts[k + 1 :])}*{name}" for k, name in enumerate(names)]
    return isl.Map(f"{{ chunk[{', '.join(names)}] -> [{' + '.join(terms)}] }}")


def number_order(order: isl.Map, counts: Sequence[int]) -> isl.Map:
    """Return { x -> [PE -> [n]] } of { x -> [PE -> chunk[p]] }."""
    pes = isl.Map.identity(order.range().unwrap().domain().get_space().map_from_set())
    return order.apply_range(pes.product(number_chunks(counts)))


def find_reuse(steps: isl.Map, needed: isl.Map, counts: Sequence[int]) -> int:
    """Return how many steps after its own one an element of a chunk is used, at most.

    That is max { number(p) - number(q) }: `steps` is { S[i] -> [PE -> chunk[p]] }, the chunk after
    which an instance runs, `needed` { S[i] -> [PE -> chunk[q]] }, those of which it uses elements.
    """
    pairs = number_order(needed, counts).reverse().apply_range(number_order(steps, counts))
    return _find_most(pairs, 1)


def find_reach(steps: isl.Map, places: isl.Map, counts: Sequence[int], rows: int) -> int:
    """Return how many rows before its first one a chunk's step uses elements of, at most.

    That is max { rows number(p) - r }: `steps` is { S[i] -> [PE -> chunk[p]] }, the chunk after
    which an instance runs, `places` { S[i] -> [PE -> place[r, k]] }, the rows that it uses.
    """
    inner = "".join(f", {name}" for name in letters(places.range().unwrap().dim(OUT) - 1))
    row = isl.Map(f"{{ [PE[x, y] -> place[r{inner}]] -> [PE[x, y] -> [r]] }}")
    used = places.apply_range(row)
    return _find_most(used.reverse().apply_range(number_order(steps, counts)), rows)


def _find_most(pairs: isl.Map, factor: int) -> int:
    """Return the greatest factor p - q of { [PE -> [q]] -> [PE -> [p]] }, 0 at least."""
    same = isl.Map("{ [PE[x, y] -> [q]] -> [PE[x, y] -> [p]] }").intersect(pairs).wrap()
    distance = isl.Map(f"{{ [[PE[x, y] -> [q]] -> [PE[a, b] -> [p]]] -> [{factor}p - q] }}")
    greatest = find_greatest(same.apply(distance), 0)
    return max(0, int(greatest.to_python())) if greatest.is_int() else 0
