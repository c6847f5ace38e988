"""Probes: when the first and the last wavelet of a colour passed the router of a PE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.grid import Grid, coordinates, members
from lairmake.stages.fabric.library import PROBE
from lairmake.stages.fabric.probed import Probed


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """Which PEs are probed for a colour: the record of each in `of`, [colour][PE], -1 for none.

    Without probes both arrays are empty.
    """

    of: NDArray[np.int32]
    records: NDArray[Any]
    names: tuple[str, ...]


def place_probes(asked: Mapping[str, isl.Set], names: Sequence[str], grid: Grid) -> Probes:
    """Return the probes that are asked for, `{ PE[x, y] : ... }` by the name of a colour.

    Raises ValueError if there is no such colour.
    """
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise ValueError(f"a probe is of the colour {unknown[0]}; known are {', '.join(names)}")
    of = np.full((len(names) if asked else 0, grid.size), -1, dtype=np.int32)
    count = 0
    for name, pes in asked.items():
        here = np.flatnonzero(members(pes, grid).reshape(-1))
        of[names.index(name), here] = np.arange(count, count + here.size)
        count += here.size
    records = np.zeros(count, PROBE)
    records["first"] = records["last"] = -1
    return Probes(of=of, records=records, names=tuple(names))


def read_probes(probes: Probes, grid: Grid) -> dict[str, tuple[Probed, ...]]:
    """Return what was noted, by colour and in the order of the PEs."""
    return {
        name: tuple(_read(probes, row, int(node), grid) for node in np.flatnonzero(row >= 0))
        for name, row in zip(probes.names, probes.of, strict=False) if (row >= 0).any()
    }


def _read(probes: Probes, row: NDArray[np.int32], node: int, grid: Grid) -> Probed:
    first, last, count = (int(probes.records[row[node]][name]) for name in PROBE.names or ())
    x, y = coordinates(np.array(node), grid)
    return Probed(
        pe=(int(x), int(y)), wavelets=count,
        first=first if count else None, last=last if count else None,
    )
