"""The host's link: what it takes to copy what a run begins with onto the machine, and results back.

No cycles of a run have it: there the data is at the ports, or in memory, from cycle 0 on.

Source   github.com/Wang-oss-tech/csl-experiments, a product of matrices on 4 x 4 PEs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

RATED = 1000
"""The cycles to which `host_into` and `host_out` give the words that are copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Calls that copy one way, a tensor each, their words, one an element, and their cycles."""

    calls: int
    words: int
    cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLink:
    """What goes over the host's link: into the machine before and between calls, and out of it."""

    into: Copies
    out: Copies


def price_copies(profile: Profile, into: Sequence[int], out: Sequence[int]) -> HostLink | None:
    """Return what copying takes, of as many elements in each call; None where nobody knows."""
    if not profile.host_into or not profile.host_out:
        return None
    return HostLink(
        into=_price(into, profile.host_into, profile.host_call),
        out=_price(out, profile.host_out, profile.host_call),
    )


def _price(words: Sequence[int], rate: int, call: int) -> Copies:
    cycles = len(words) * call + -(-sum(words) * RATED // rate)
    return Copies(calls=len(words), words=sum(words), cycles=cycles)
