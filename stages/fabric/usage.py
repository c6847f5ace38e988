"""Usage of a machine: cycles, wavelets and stalls by cause."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.engine import ACTIVE
from lairmake.stages.fabric.grid import SIDES, Grid
from lairmake.stages.fabric.outcome import sum_path
from lairmake.stages.machine.scalar_code import SCALAR_KINDS

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun

# --- Usage in a results.json ----------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class LinkUsage:
    """A link over which the router of a PE hears a side: what came, and how long that waited."""

    pe: tuple[int, int]
    side: str
    wavelets: int
    stalls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageTotals:
    """Of all PEs with a program: the share of their cycles in which lanes compute, cycles by cause.

    `until` is the cycle in which the last one came to rest. `path` has the cycles of the critical
    path, from cycle 0 to the last output, by what they went into; None where it was not recorded.
    """

    utilisation: float
    until: int
    cycles: Mapping[str, int]
    busiest_link: LinkUsage | None
    path: Mapping[str, int] | None

# --- Usage of PEs and links in a run --------------------------------------------------------------
#
# Ensures  no work in Python per PE; of each PE with a program the cycles of all kinds add up to
#          `until`.

Ints = NDArray[np.signedinteger[Any]]
WORKING = ("computing", "memory", "starting", "scalars", "moving")
"""Kinds of cycles of a PE that is active."""
WAITS = ("no_input", "no_space", "datapath", "under_way", "blocked", "full_queue")
"""Reasons for which a PE waits."""
CYCLES = (*WORKING, *WAITS, "idle")
OTHERS = ("rounding", "received", "sent", "first", "last")


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineUsage:
    """What a run of `until` cycles used, to the last PE that came to rest.

    `pes` has arrays [row][column], rows from `north` and columns from `west` on: cycles by CYCLES,
    those of `computing` with lanes left empty as `rounding`; wavelets that PEs `received` and
    `sent`; the cycles of the `first` activity of each, and after the `last`, -1 for none. `links`
    has [side][row][column], in the order of SIDES, of the link on which the router hears that
    side: wavelets, and the cycles in which the first of a queue at its end waited. `bins` are
    [state][bin], PE-cycles in each of ACTIVE, in bins of `width` cycles; `hops` is
    by bin.
    """

    west: int
    north: int
    until: int
    pes: Mapping[str, Ints]
    links: Mapping[str, Ints]
    width: int
    bins: Ints
    hops: Ints


def find_usage(run: FabricRun) -> MachineUsage:
    """Return what a run used."""
    charged, activity, grid = run.usage, run.activity, run.grid
    states = {name: activity["cycles"][:, n] for n, name in enumerate(ACTIVE)}
    states["idle"] = run.until - np.sum(list(states.values()), axis=0)
    scalars = sum(charged[kind] for kind in SCALAR_KINDS)
    known = charged["lanes"] + charged["memory"] + scalars + charged["streams"]
    by_pe = {
        "computing": charged["lanes"], "memory": charged["memory"],
        "starting": states["busy"] - known, "scalars": scalars, "datapath": charged["streams"],
        **{name: states[name] for name in ("moving", *WAITS, "idle") if name in states},
        "rounding": charged["rounding"], "received": activity["received"],
        "sent": run.links["wavelets"][:, SIDES.index("ramp")],
        "first": activity["first"], "last": activity["last"],
    }
    count = -(-run.until // int(run.bins["width"][0]))
    return MachineUsage(
        west=grid.west, north=grid.north, until=run.until,
        pes={name: _on(grid, by_pe[name]) for name in (*CYCLES, *OTHERS)},
        links={
            f"link_{name}": _on(grid, run.links[name].T) for name in ("wavelets", "stalls")
        },
        width=int(run.bins["width"][0]),
        bins=run.bins["cycles"][0, 1:, :count], hops=run.bins["hops"][0, :count],
    )


def _on(grid: Grid, values: Ints) -> Ints:
    """Return values [..., PE] by row and column."""
    return values.astype(np.int32).reshape(*values.shape[:-1], grid.height, grid.width)


def sum_up(run: FabricRun) -> UsageTotals:
    """Return what all PEs with a program used."""
    usage = find_usage(run)
    has_program = _on(run.grid, (run.role >= 0).astype(np.int32)) > 0
    cycles = {name: int(usage.pes[name][has_program].sum(dtype=np.int64)) for name in CYCLES}
    whole = max(1, int(has_program.sum()) * usage.until)
    return UsageTotals(
        utilisation=round(cycles["computing"] / whole, 4), until=usage.until, cycles=cycles,
        busiest_link=find_busiest(usage.links, run.grid),
        path=sum_path(run.recorded) if run.recorded else None,
    )


def find_busiest(links: Mapping[str, Ints], grid: Grid) -> LinkUsage | None:
    """Return the link between routers, or from a port, with most wavelets; of several, the first.

    `links` are those of a MachineUsage. The first is that in the order of PEs, then of sides; None
    if nothing moved.
    """
    wavelets, stalls = (
        np.moveaxis(links[f"link_{name}"][: SIDES.index("ramp")], 0, -1)
        for name in ("wavelets", "stalls")
    )
    if not wavelets.any():
        return None
    row, column, side = np.unravel_index(wavelets.argmax(), wavelets.shape)
    return LinkUsage(
        pe=(grid.west + int(column), grid.north + int(row)), side=SIDES[side],
        wavelets=int(wavelets[row, column, side]), stalls=int(stalls[row, column, side]),
    )


def write_usage(usage: MachineUsage) -> bytes:
    """Return the content of usage.npz, which NumPy reads; the same usage gives the same bytes."""
    arrays: dict[str, Any] = {
        "origin": np.array([usage.west, usage.north], np.int32), "until": np.int64(usage.until),
        **usage.pes, **usage.links,
        "bin_width": np.int64(usage.width), "bins": usage.bins, "bin_hops": usage.hops,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asanyarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy")  # made now, it would have the time of day
            archive.writestr(entry, content.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=1)
    return buffer.getvalue()
