"""How small the rectangle of a part may be on which it is expected to keep to a limit of cycles.

Source   design, Placement by search
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from lairmake.stages.network.fitting.expecting import Expected

Size = tuple[int, int]
"""The columns and rows of a rectangle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A rectangle, and what a part is expected to take on it; None if no placement is found.

    `weighed` has this of all sizes that were looked at for it, in their order.
    """

    size: Size
    found: Expected | None
    weighed: Mapping[Size, Expected | None] = field(default_factory=dict)


def find_smallest(
    largest: Size, rows: int, limit: int, expect: Callable[[Size], Expected | None]
) -> Sized:
    """Return the rectangle with the fewest PEs of those that keep to a limit of cycles.

    It has as many rows as the largest, half of them, and so on, as long as fewer PEs are enough,
    but no fewer than `rows`; and the fewest columns then. Where the largest does
    not keep to the limit it is that.
    """
    weighed: dict[Size, Expected | None] = {}
    best: Size | None = None
    for height in list_halves(largest[1], rows):
        most = largest[0] if best is None else min(largest[0], (prod(best) - 1) // height)
        narrow = _narrow((most, height), limit, expect, weighed)
        if narrow is None:
            break
        best = narrow
    size = best or largest
    return Sized(size=size, found=weighed[size], weighed=weighed)


def list_halves(most: int, least: int) -> Iterator[int]:
    """Yield a number, half of it, rounded up, and so on; at last `least`, if that is less."""
    while most > least:
        yield most
        most = max(least, -(-most // 2))
    yield most


def describe_size(sized: Sized, limit: int | None) -> dict[str, Any]:
    """Return what fitted.yaml says of a rectangle, and of those that it is the smallest of."""
    size = {"size": list(sized.size)}
    if limit is None:
        return size
    weighed = {f"{w} x {h}": tell_cycles(found) for (w, h), found in sized.weighed.items()}
    why = f"no other that takes {limit} cycles at most has fewer PEs"
    return {**size, "why": why, "weighed": weighed}


def tell_cycles(found: Expected | None) -> int | str:
    """Return the cycles that are expected, or what there is not."""
    if found is None:
        return "no placement"
    return f"lacks {found.lacking} bytes" if found.lacking else found.cycles


def _narrow(
    widest: Size, limit: int, expect: Callable[[Size], Expected | None],
    weighed: dict[Size, Expected | None],
) -> Size | None:
    """Return the rectangle with the fewest columns that keep to a limit; None if all do not.

    Noted in `weighed`. The columns that are looked at are those that keep to it if cycles go down
    as columns go up, and once these are too few, those in the middle of what is left.
    """
    columns, rows = widest
    few, enough, middle = 0, 0, columns
    while few < middle and enough != few + 1:
        found = weighed[middle, rows] = expect((middle, rows))
        if found is None or found.lacking or found.cycles > limit:
            few = middle
            middle = (few + enough) // 2
        else:
            enough = middle
            middle = min(enough - 1, max(few + 1, -(-found.columns * found.cycles // limit)))
    return (enough, rows) if enough else None
