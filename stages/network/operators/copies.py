"""Copies of elements to other places, or to other shapes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from lairmake.stages.network.operators.draft import (
    FITTING,
    Array,
    NetworkDraft,
    NoVolumeError,
    PaddedPiece,
    Shape,
    iterators,
)

MOST_PIECES = 64
"""Largest number of pieces of a copy; more pieces are a table, and no slice."""


class TooManyPiecesError(NoVolumeError):
    """A copy with too many pieces to read."""

    def __init__(self, pieces: str) -> None:
        super().__init__(f"it cannot be read: {pieces}, more than {MOST_PIECES}", FITTING)


def transpose(draft: NetworkDraft, wish: str, x: str, order: Sequence[int]) -> str:
    """Add a volume whose dimension k is `order[k]` of another. Return its name."""
    shape = tuple(draft.shapes[x][k] for k in order)
    at = [f"d{list(order).index(k)}" for k in range(len(shape))]
    return draft.copy(wish, shape, [PaddedPiece(volume=x, at=at)])


def reshape(draft: NetworkDraft, wish: str, x: str, shape: Shape) -> str:
    """Add a volume with the elements of another, row by row, in a new shape. Return its name."""
    at = ["0"] * len(draft.shapes[x])
    for source, target in _groups(draft.shapes[x], shape):
        for k, index in _reshaped(draft.shapes[x], source, shape, target):
            at[k] = index
    return draft.copy(wish, shape, [PaddedPiece(volume=x, at=at)])


def _groups(source: Shape, target: Shape) -> Iterator[tuple[list[int], list[int]]]:
    """Yield groups of dimensions that become each other: the smallest of equal counts."""
    a = [k for k, size in enumerate(source) if size != 1]
    b = [k for k, size in enumerate(target) if size != 1]
    while a and b:
        left, right = [a.pop(0)], [b.pop(0)]
        sizes = [source[left[0]], target[right[0]]]
        while sizes[0] != sizes[1]:
            side = sizes[0] > sizes[1]
            k = (a, b)[side].pop(0)
            (left, right)[side].append(k)
            sizes[side] *= (source, target)[side][k]
        yield left, right


def _reshaped(
    source: Shape, left: Sequence[int], target: Shape, right: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Yield the index of each dimension of a source group, by the indices of the target."""
    step = 1
    terms: list[str] = []
    for k in reversed(right):
        terms.insert(0, f"{step}*d{k}" if step > 1 else f"d{k}")
        step *= target[k]
    place, inner = " + ".join(terms), 1
    for n, k in reversed(list(enumerate(left))):
        index = place if inner == 1 else f"floor(({place})/{inner})"
        yield k, index if n == 0 else f"({index}) mod {source[k]}"
        inner *= source[k]


def pad(
    draft: NetworkDraft, wish: str, x: str, shape: Shape, low: Sequence[int], value: float
) -> str:
    """Add a volume of a given shape, with another volume from `low` on, and `value` around it.

    Elements before 0, or beyond the shape, are left out. Return its name.
    """
    sizes = draft.shapes[x]
    at = [_shifted(f"d{k}", -start) for k, start in enumerate(low)]
    inside = " and ".join(
        f"{start} <= d{k} < {start + size}"
        for k, (start, size) in enumerate(zip(low, sizes, strict=True))
        if start > 0 or start + size < shape[k]
    )
    pieces = [PaddedPiece(volume=x, at=at, where=inside or "true")]
    if inside:
        around = draft.number(value)
        pieces.append(PaddedPiece(volume=around, at=[], where=f"not ({inside})"))
    return draft.copy(wish, shape, pieces)


def mirror(
    draft: NetworkDraft, wish: str, x: str, shape: Shape, low: Sequence[int], mode: str
) -> str:
    """Add a volume that continues another one beyond its ends: `reflect`, `edge` or `wrap`.

    Return its name. Raises TooManyPiecesError.
    """
    pieces = [
        list(_beyond(f"d{k}", start, size, length, mode))
        for k, (start, size, length) in enumerate(
            zip(low, draft.shapes[x], shape, strict=True)
        )
    ]
    return _product(draft, wish, x, shape, pieces)


def _beyond(
    name: str, low: int, size: int, length: int, mode: str
) -> Iterator[tuple[str, str]]:
    """Yield the source index of a dimension's indices, and the condition for these indices."""
    turn = {"reflect": 2 * size - 2, "wrap": size, "edge": 0}[mode]
    own = _shifted(name, -low)
    if mode == "wrap" or (mode == "reflect" and size == 1):
        yield f"({own}) mod {size}", "true"
        return
    if low > 0:
        before = "0" if mode == "edge" else f"{low} - {name}"
        yield before, f"{name} < {low}"
    yield own, f"{max(low, 0)} <= {name} < {low + size}"
    if low + size < length:
        after = str(size - 1) if mode == "edge" else f"{turn + low} - {name}"
        yield after, f"{name} >= {low + size}"


def _product(
    draft: NetworkDraft,
    wish: str,
    x: str,
    shape: Shape,
    pieces: Sequence[Sequence[tuple[str, str]]],
) -> str:
    """Add a copy whose pieces are all combinations of the pieces of each dimension."""
    total = np.prod([len(each) for each in pieces], dtype=float)
    if total > MOST_PIECES:
        raise TooManyPiecesError(f"it has {total:.0f} pieces")
    return draft.copy(wish, shape, [
        PaddedPiece(
            volume=x, at=[at for at, _ in chosen],
            where=" and ".join(f"({where})" for _, where in chosen) or "true",
        )
        for chosen in itertools.product(*pieces)
    ])


def cut(
    draft: NetworkDraft,
    wish: str,
    x: str,
    starts: Sequence[int],
    steps: Sequence[int],
    shape: Shape,
) -> str:
    """Add a slice: from `starts` in `steps`, which may be negative. Return its name."""
    at = [
        _shifted(f"{step}*d{k}" if step != 1 else f"d{k}", start)
        for k, (start, step) in enumerate(zip(starts, steps, strict=True))
    ]
    return draft.copy(wish, shape, [PaddedPiece(volume=x, at=at)])


def concatenate(draft: NetworkDraft, wish: str, volumes: Sequence[str], axis: int) -> str:
    """Add volumes one after another along a dimension. Return its name."""
    pieces, start = [], 0
    for volume in volumes:
        size = draft.shapes[volume][axis]
        at = iterators(draft.shapes[volume])
        at[axis] = _shifted(at[axis], -start)
        where = f"{start} <= d{axis} < {start + size}"
        pieces.append(PaddedPiece(volume=volume, at=at, where=where))
        start += size
    first = draft.shapes[volumes[0]]
    return draft.copy(wish, (*first[:axis], start, *first[axis + 1 :]), pieces)


def expand(draft: NetworkDraft, wish: str, x: str, shape: Shape) -> str:
    """Add a volume broadcast to a shape. Return its name."""
    sizes = draft.shapes[x]
    first = len(shape) - len(sizes)
    at = ["0" if size == 1 else f"d{first + k}" for k, size in enumerate(sizes)]
    return draft.copy(wish, shape, [PaddedPiece(volume=x, at=at)])


def repeat(draft: NetworkDraft, wish: str, x: str, times: Sequence[int]) -> str:
    """Add a volume repeated several times along each dimension. Return its name."""
    sizes = draft.shapes[x]
    shape = tuple(size * n for size, n in zip(sizes, times, strict=True))
    at = [
        f"d{k}" if n == 1 else f"d{k} mod {size}"
        for k, (size, n) in enumerate(zip(sizes, times, strict=True))
    ]
    return draft.copy(wish, shape, [PaddedPiece(volume=x, at=at)])


def take(draft: NetworkDraft, wish: str, x: str, indices: Array, axis: int) -> str:
    """Add the elements of a dimension at known indices. Return its name.

    Raises TooManyPiecesError for indices that are not few arithmetic sequences.
    """
    sizes, rank = draft.shapes[x], indices.ndim
    shape = (*sizes[:axis], *indices.shape, *sizes[axis + 1 :])
    before = [f"d{k}" for k in range(axis)]
    after = [f"d{k + rank}" for k in range(axis, len(sizes) - 1)]
    runs = list(_runs(np.where(indices < 0, indices + sizes[axis], indices), axis))
    if len(runs) > MOST_PIECES:
        raise TooManyPiecesError(f"{len(runs)} sequences of indices")
    return draft.copy(wish, shape, [
        PaddedPiece(volume=x, at=[*before, index, *after], where=where) for index, where in runs
    ])


def _runs(indices: Array, first: int) -> Iterator[tuple[str, str]]:
    """Yield arithmetic sequences of indices along the last dimension, with their conditions."""
    if indices.ndim == 0:
        yield str(int(indices)), "true"
        return
    last = first + indices.ndim - 1
    for row in np.ndindex(indices.shape[:-1]):
        here = [f"d{first + k} = {i}" for k, i in enumerate(row)]
        for start, values in _sequences([int(each) for each in indices[row]]):
            step = values[1] - values[0] if len(values) > 1 else 0
            index = f"{values[0]} + {step}*(d{last} - {start})"
            end = start + len(values)
            yield index, " and ".join([*here, f"{start} <= d{last} < {end}"])


def _sequences(row: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the longest arithmetic sequences from the left, each with its place."""
    start = 0
    while start < len(row):
        end = start + 1
        while end < len(row) and (
            end == start + 1 or row[end] - row[end - 1] == row[start + 1] - row[start]
        ):
            end += 1
        yield start, row[start:end]
        start = end


def _shifted(index: str, by: int) -> str:
    return index if by == 0 else f"{index} + {by}" if by > 0 else f"{index} - {-by}"
