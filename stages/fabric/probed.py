"""What a probe says; apart from those who run programs, for those who read results."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The cycles in which a PE's router sent on the first and the last wavelet, and how many.

    Control wavelets count, too; without any, `first` and `last` are None.
    """

    pe: tuple[int, int]
    first: int | None
    last: int | None
    wavelets: int
