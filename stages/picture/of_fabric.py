"""One fabric as a page shows it: what lies there, which programs, and what a run of them did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl
import numpy as np

from lairmake.stages.fabric.grid import read_grid, read_roles
from lairmake.stages.fabric.layout import Layout
from lairmake.stages.fabric.usage import CYCLES, Link, find_busiest
from lairmake.stages.picture.figures import (
    Bins,
    Quantity,
    Recorded,
    Usage,
    bins_of,
    quantities_of_layout,
    quantities_of_run,
)
from lairmake.stages.picture.gridded import GridOnPage, count_colours, describe_grid
from lairmake.stages.picture.packing import Ints
from lairmake.stages.picture.tasked import ProgramOnPage


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricOnPage:
    """A fabric, and what ran on it: of a run that is not known there is nothing.

    `cycles` has those of the PEs of each role by what they went into, `bins` the states of all over
    time; `busiest` is the link with most wavelets, None where nothing moved; `recorded` is None of
    a run that was not.
    """

    grid: GridOnPage
    quantities: tuple[Quantity, ...]
    programs: tuple[ProgramOnPage, ...]
    cycles: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    bins: Bins | None = None
    busiest: Link | None = None
    recorded: Recorded | None = None


def describe_fabric(
    layout: Layout, programs: tuple[ProgramOnPage, ...], usage: Usage | None = None,
    recorded: Recorded | None = None, to_local: isl.UnionMap | None = None,
) -> FabricOnPage:
    """Return what a page shows of a fabric, of what its run used, and of what was recorded of it.

    `to_local` is { [PE[x, y] -> T[e]] -> T_local[l] }, of which part of a tensor each PE holds.
    """
    shown, grid = describe_grid(layout, to_local), read_grid(layout.grid)
    roles = read_roles(layout.roles, grid).reshape(grid.height, grid.width)
    quantities = quantities_of_layout(shown, roles, count_colours(layout, grid))
    if usage is None:
        return FabricOnPage(grid=shown, programs=programs, quantities=quantities)
    return FabricOnPage(
        grid=shown, programs=programs, quantities=quantities + quantities_of_run(usage),
        cycles=add_up(usage, tuple(layout.roles), roles), bins=bins_of(usage),
        busiest=find_busiest(usage.links, grid), recorded=recorded,
    )


def add_up(usage: Usage, names: Sequence[str], roles: Ints) -> dict[str, dict[str, int]]:
    """Return the cycles of the PEs of each role, by what they went into.

    `roles` is the number of each PE's role, [height][width], -1 for none.
    """
    sums = {
        cause: np.bincount(roles.ravel() + 1, usage.quantities[cause].ravel(), len(names) + 1)
        for cause in CYCLES if cause in usage.quantities
    }
    return {
        name: {cause: int(each[at]) for cause, each in sums.items()}
        for at, name in enumerate(names, 1)
    }
