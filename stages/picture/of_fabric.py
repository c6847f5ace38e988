"""One fabric as a page shows it: what lies there, which programs, and what a run of them did."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from stages.fabric.grid import read_grid, read_roles
from stages.fabric.layout_yaml import Layout
from stages.picture.figures import (
    Bins,
    Event,
    Quantity,
    Recorded,
    Segment,
    Usage,
    bins_of,
    quantities_of_layout,
    quantities_of_run,
)
from stages.picture.gridded import GridOnPage, count_colours, describe_grid
from stages.picture.tasked import ProgramOnPage


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricOnPage:
    """A fabric, and what ran on it: of a run that is not known there is nothing.

    `bins` has the states of all PEs over time, `path` the critical path, its last part first, and
    `events` what some PEs did.
    """

    grid: GridOnPage
    quantities: tuple[Quantity, ...]
    programs: tuple[ProgramOnPage, ...]
    bins: Bins | None = None
    path: tuple[Segment, ...] = ()
    events: tuple[Event, ...] = ()


def describe_fabric(
    layout: Layout, programs: tuple[ProgramOnPage, ...], usage: Usage | None = None,
    recorded: Recorded | None = None, to_local: isl.UnionMap | None = None,
) -> FabricOnPage:
    """Return what a page shows of a fabric, of what its run used, and of what was recorded of it.

    `to_local` is { [PE[x, y] -> T[e]] -> T_local[l] }, of which part of a tensor each PE holds.
    """
    shown, grid = describe_grid(layout, to_local), read_grid(layout.grid)
    roles = read_roles(layout.roles, grid).reshape(grid.height, grid.width)
    found = recorded or Recorded()
    return FabricOnPage(
        grid=shown, programs=programs,
        quantities=quantities_of_layout(shown, roles, count_colours(layout, grid))
        + (quantities_of_run(usage) if usage else ()),
        bins=bins_of(usage) if usage else None, path=tuple(found.path), events=tuple(found.events),
    )
