"""What a run on the simulated fabric gave: tensors, cycles, and what its PEs and links did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.counts import Count
from lairmake.stages.fabric.expected import Ports
from lairmake.stages.fabric.grid import Grid
from lairmake.stages.fabric.probed import Probed
from lairmake.stages.fabric.recorded import Recorded

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricRun:
    """What a run gave.

    `outputs` has an array per invocation of each tensor that leaves, and one array, from after the
    last invocation, of each resident tensor. `cycles` is the cycle of the last output wavelet, or
    of the last invocation's end where nothing leaves; `completed` has that of each invocation's
    last output wavelet; `main_cycles` the longest `main` before
    cycle 0; `usage` [PE] what the cycles of each went into: `struct usage` of engine.h, `activity`
    [PE], `links` [PE][side] and `bins` [1] what `struct activity`, `link` and `bins` say there;
    `until` is the cycle in which the last PE came to rest. `role` [PE] is the number of each PE's,
    -1 for none. `injected` and `delivered` count wavelets, `hops` links that they took, `stalls`
    cycles in which the head of a router's queue waited. `counters` lists the counters of each role
    by number, `points` [PE of the role][counter] those of each PE; `memory` is the role's bytes per
    PE; `probes` has
    by colour what was asked for.
    """

    outputs: Mapping[str, Sequence[Array]]
    cycles: int
    completed: Sequence[int]
    main_cycles: int
    usage: Array
    activity: Array
    links: Array
    bins: Array
    until: int
    grid: Grid
    role: NDArray[np.int32]
    injected: int
    delivered: int
    hops: int
    stalls: int
    tasks: int
    counters: Mapping[str, Sequence[Count]]
    points: Mapping[str, NDArray[np.int64]]
    memory: Mapping[str, int]
    leaving: Ports
    probes: Mapping[str, tuple[Probed, ...]]
    colours: tuple[str, ...]
    recorded: Recorded | None
