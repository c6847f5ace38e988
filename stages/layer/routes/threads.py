"""The threads of a PE: those that fill FIFOs all the time, and those that are left for streams.

Source   profiles, threads and fifo
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

SHARE = 4
"""Of so many threads, one may fill a FIFO."""


def count_fifos(profile: Profile, sparse: int) -> int:
    """Return how many of the sparse streams that arrive may have a FIFO that takes a thread."""
    return min(sparse, profile.threads // SHARE) if profile.fifo > 0 else 0


def count_free_threads(profile: Profile, sparse: int) -> int:
    """Return how many instructions of streams may be under way where sparse streams arrive."""
    return profile.threads - count_fifos(profile, sparse)
