"""How small the rectangle of a part may be on which it is expected to keep to a limit of cycles.

Source   design, Placement by search
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from stages.network.fitting.expecting import Expected

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
    but no fewer than `rows`; and the fewest columns then: between too few and enough what is left
    is halved, again and again. Where none keeps to the limit it is that which takes least.
    """
    weighed: dict[Size, Expected | None] = {}

    def is_enough(size: Size) -> bool:
        if size not in weighed:
            weighed[size] = expect(size)
        found = weighed[size]
        return found is not None and not found.lacking and found.cycles <= limit

    best: Size | None = None
    for height in list_halves(largest[1], rows):
        most = largest[0] if best is None else min(largest[0], (prod(best) - 1) // height)
        narrow = _narrow((most, height), is_enough)
        if narrow is None:
            break
        best = narrow
    size = best or min(weighed, key=lambda each: _order(weighed[each]))
    return Sized(size=size, found=weighed[size], weighed=weighed)


def list_halves(most: int, least: int) -> Iterator[int]:
    """Yield a number, half of it, rounded up, and so on; at last `least`, if that is less."""
    while most > least:
        yield most
        most = max(least, -(-most // 2))
    yield most


def describe_size(sized: Sized, limit: int | None) -> dict[str, Any]:
    """Return what fitted.yaml says of the smallest rectangle, and of those that it is one of."""
    weighed = {f"{w} x {h}": tell_cycles(found) for (w, h), found in sized.weighed.items()}
    why = f"no other that takes {limit} cycles at most has fewer PEs"
    return {"size": list(sized.size), "why": why, "weighed": weighed}


def tell_cycles(found: Expected | None) -> int | str:
    """Return the cycles that are expected, or what there is not."""
    if found is None:
        return "no placement"
    return f"lacks {found.lacking} bytes" if found.lacking else found.cycles


def _narrow(widest: Size, is_enough: Callable[[Size], bool]) -> Size | None:
    """Return the rectangle with the fewest columns that are enough; None if all are not."""
    columns, rows = widest
    if columns < 1 or not is_enough(widest):
        return None
    few = 0
    while columns - few > 1:
        middle = (few + columns) // 2
        if is_enough((middle, rows)):
            columns = middle
        else:
            few = middle
    return columns, rows


def _order(found: Expected | None) -> tuple[bool, int, int]:
    """Return what comes first: what has a place, and room in memory, then by cycles."""
    return (True, 0, 0) if found is None else (False, found.lacking, found.cycles)
