"""Where the roles of the virtual machine lie: W x (H + 3) PEs for a field of W x H workers.

The first row is the northernmost one: the upper half of the field, a reduction strip, the control
row, a strip, the lower half. In the control row the merge PE lies left of the middle, the executive
right of it; the response PEs follow on both sides.

Paper    E Sec. 4, Fig. 2 to 4
"""

from __future__ import annotations

from dataclasses import dataclass

BETWEEN = 3
"""Rows between both halves of the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """The rectangle of a field of `width` x `height` workers with `responses` a side."""

    width: int
    height: int
    responses: int

    @property
    def upper(self) -> int:
        """The rows of workers in the upper half; also the row of the upper strip."""
        return self.height // 2

    @property
    def control(self) -> int:
        """The control row."""
        return self.upper + 1

    @property
    def lower_strip(self) -> int:
        """The row of the lower strip; those after it are the lower half of the field."""
        return self.upper + 2

    @property
    def rows(self) -> int:
        """All rows."""
        return self.height + BETWEEN

    @property
    def merge(self) -> int:
        """The column of the merge PE, and of the inner PEs to the left."""
        return self.width // 2 - 1

    @property
    def executive(self) -> int:
        """The column of the executive, and of the inner PEs to the right."""
        return self.width // 2
