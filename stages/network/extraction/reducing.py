"""Reductions over dimensions, and what is made of them: softmax, normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lairmake.stages.network.extraction.draft import Array, Draft, Read, Shape, count, label
from lairmake.stages.network.extraction.pointwise import Operand, apply, of_channels, write_number


def reduce(
    draft: Draft, wish: str, x: str, axes: Sequence[int], operator: str, value: str = "{0}",
    keep: bool = True, where: str = "true",
) -> str:
    """Add what `operator` reduces `value` to, of the elements of x along `axes`.

    With `keep` these remain, of size 1. Only elements count for which `where` holds, of iterators
    for the other dimensions and `axes` behind them. Return its name.
    """
    sizes = draft.shapes[x]
    kept = [k for k in range(len(sizes)) if k not in axes]
    shape = tuple(
        1 if k in axes else size for k, size in enumerate(sizes) if keep or k not in axes
    )
    order = [*kept, *axes]
    place = {k: f"d{n}" for n, k in enumerate(order)}
    reads = label([Read(volume=x, at=[place[k] for k in range(len(sizes))])])
    writes = ["0" if k in axes else place[k] for k in range(len(sizes)) if keep or k not in axes]
    return draft.compute(
        wish, shape, reads, value.format(x), loops=tuple(sizes[k] for k in order),
        writes=writes, operator=operator, where=where,
    )


def mean(draft: Draft, wish: str, x: str, axes: Sequence[int], keep: bool = True) -> str:
    """Add the mean of x along `axes`. Return its name."""
    total = reduce(draft, f"{wish}_sum", x, axes, "+=", keep=keep)
    return apply(draft, wish, "{0} / {1}", [total, _count(draft.shapes[x], axes)])


def softmax(draft: Draft, wish: str, x: str, axes: Sequence[int], log: bool = False) -> str:
    """Add exp(x) over its sum along `axes`, or the logarithm of that. Return its name.

    The largest element is taken off before, so that none overflows.
    """
    largest = reduce(draft, f"{wish}_max", x, axes, "max=")
    if log:
        moved = apply(draft, f"{wish}_moved", "{0} - {1}", [x, largest])
        total = reduce(draft, f"{wish}_sum", moved, axes, "+=", "exp({0})")
        return apply(draft, wish, "{0} - log({1})", [moved, total])
    power = apply(draft, f"{wish}_exp", "exp({0} - {1})", [x, largest])
    total = reduce(draft, f"{wish}_sum", power, axes, "+=")
    return apply(draft, wish, "{0} / {1}", [power, total])


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """What is normalised, its mean if that was taken off, and the deviation it was divided by."""

    result: str
    mean: str | None
    deviation: str


def normalise(
    draft: Draft, wish: str, x: str, axes: Sequence[int], epsilon: float, *, centred: bool = True
) -> Normal:
    """Add x over the root of its mean square along `axes`, from its mean if `centred`."""
    middle, average = x, None
    if centred:
        average = mean(draft, f"{wish}_mean", x, axes)
        middle = apply(draft, f"{wish}_centred", "{0} - {1}", [x, average])
    squares = reduce(draft, f"{wish}_squares", middle, axes, "+=", "{0} * {0}")
    root = f"sqrt({{0}} / {{1}} + {write_number(epsilon)})"
    number = _count(draft.shapes[x], axes)
    deviation = apply(draft, f"{wish}_deviation", root, [squares, number])
    result = apply(draft, wish, "{0} / {1}", [middle, deviation])
    return Normal(result=result, mean=average, deviation=deviation)


def scale_batches(
    draft: Draft, wish: str, x: str, statistics: Sequence[str | Array], small: float,
    at: str = "d1",
) -> str:
    """Add x, normalised by scale, offset, mean and variance of each channel. Return its name.

    If all are known they become a factor and an offset. `at` is the iterator of the channel.
    """
    known = [each.astype(np.float64) for each in statistics if not isinstance(each, str)]
    if len(known) < len(statistics):
        volumes = [
            of_channels(each if isinstance(each, str) else draft.weigh(f"{wish}_{k}", each), at)
            for k, each in enumerate(statistics)
        ]
        text = f"({{0}} - {{3}}) / sqrt({{4}} + {small!r}) * {{1}} + {{2}}"
        return apply(draft, wish, text, [x, *volumes])
    by, to, mean, variance = known
    factor = by / np.sqrt(variance + small)
    parts = {"factor": factor, "offset": to - mean * factor}
    reads = [
        of_channels(draft.weigh(f"{wish}_{name}", values), at) for name, values in parts.items()
    ]
    return apply(draft, wish, "{0} * {1} + {2}", [x, *reads])


def scale(draft: Draft, wish: str, x: str, factor: Operand, offset: Operand | None) -> str:
    """Add x times a factor, plus an offset if there is one. Return its name."""
    if offset is None:
        return apply(draft, wish, "{0} * {1}", [x, factor])
    return apply(draft, wish, "{0} * {1} + {2}", [x, factor, offset])


def _count(shape: Shape, axes: Sequence[int]) -> float:
    return float(count([shape[k] for k in axes]))
