"""A grid without most of the rows and columns that repeat: what is looked at stays small.

Where each row is as the one two before it, an even number of rows in the middle is left out. What a
router and its neighbours are is then there once more, with other numbers; so is each fault of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import Bools, Ints
from lairmake.stages.fabric.grid import Grid

Array = NDArray[Any]
PERIOD, KEPT = 2, 3
"""After how many rows they repeat, and how many are kept where that begins, and where it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinned:
    """The PEs that are kept of a grid: those of some rows and columns.

    `grid` is the rectangle that they make, from PE[0, 0]. Of rows and of columns that repeat, those
    that are alike have one number in `alike`, by PE that is kept.
    """

    whole: Grid
    grid: Grid
    rows: Ints
    columns: Ints
    alike: Ints

    def find_place(self, number: int) -> tuple[int, int]:
        """Return x and y of a PE that is kept, by its number in `grid`."""
        row, column = divmod(int(number), self.grid.width)
        return self.whole.west + int(self.columns[column]), self.whole.north + int(self.rows[row])

    def take(self, values: Array) -> Array:
        """Return of values [...][PE] those of PEs that are kept."""
        lines = values.reshape(*values.shape[:-1], self.whole.height, self.whole.width)
        kept = lines[..., self.rows, :][..., self.columns]
        return kept.reshape(*values.shape[:-1], self.grid.size)


def thin(grid: Grid, values: Sequence[Array]) -> Thinned:
    """Return the PEs that are kept: rows and columns are alike where all `values` [...][PE] are."""
    lines = [each.reshape(-1, grid.height, grid.width) for each in values]
    rows, row_numbers = _keep(grid.height, [_compare(each) for each in lines])
    lines = [each[:, rows].transpose(0, 2, 1) for each in lines]
    columns, column_numbers = _keep(grid.width, [_compare(each) for each in lines])
    alike = row_numbers[:, None] * len(columns) + column_numbers
    kept = Grid(west=0, north=0, width=len(columns), height=len(rows))
    return Thinned(whole=grid, grid=kept, rows=rows, columns=columns, alike=alike.reshape(-1))


def _compare(lines: Array) -> Bools:
    """Return whether line k of [...][line][...] is as line k + PERIOD."""
    result = np.ones(max(0, lines.shape[1] - PERIOD), dtype=np.bool_)
    for each in lines:
        result &= (each[:-PERIOD] == each[PERIOD:]).all(axis=1)
    return result


def _keep(count: int, same: Sequence[Bools]) -> tuple[Ints, Ints]:
    """Return which of `count` lines are kept, and of each the number of those that it is like."""
    kept, like = np.ones(count, dtype=np.bool_), np.arange(count)
    repeated = np.logical_and.reduce(same)
    changes = np.flatnonzero(np.diff(np.concatenate(([False], repeated, [False]))))
    for first, end in changes.reshape(-1, 2):
        lines = slice(first, end + PERIOD)
        left_out = (end + PERIOD - first - 2 * KEPT) // PERIOD * PERIOD
        if left_out > 0:
            kept[first + KEPT : first + KEPT + left_out] = False
            like[lines] = first + np.arange(end + PERIOD - first) % PERIOD
    numbers = np.unique(like[kept], return_inverse=True)[1]
    return np.flatnonzero(kept), numbers
