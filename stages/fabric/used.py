"""What a results.json says of the use of PEs and links; apart from those who run programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link over which the router of a PE hears a side: what came, and how long that waited."""

    pe: tuple[int, int]
    side: str
    wavelets: int
    stalls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Of all PEs with a program: the share of their cycles in which lanes compute, cycles by cause.

    `until` is the cycle in which the last one came to rest. `path` has the cycles of the critical
    path, from cycle 0 to the last output, by what they went into; None where it was not recorded.
    """

    utilisation: float
    until: int
    cycles: Mapping[str, int]
    busiest_link: Link | None
    path: Mapping[str, int] | None
