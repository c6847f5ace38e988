"""What the counters of programs say after a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """One counter of a role: calls and points of all its PEs."""

    calls: int
    points: int


def add_up(counts: NDArray[np.int64]) -> list[Count]:
    """Return the counters of a role from those of its PEs, [PE][counter][calls, points]."""
    return [Count(calls=int(calls), points=int(points)) for calls, points in counts.sum(axis=0)]
