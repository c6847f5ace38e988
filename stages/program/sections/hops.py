"""Hops: what a PE takes from the neighbour on one side, for an operand of a node.

An operand that lies further than one PE away, or on a diagonal, comes in several hops, each from
PE to PE, through memory that workers keep for what lands there.

Paper    E Sec. 4.3 and 6.1.4: neighbours and participation
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Box: TypeAlias = tuple[int, int, int, int]
"""PEs of the field: least and greatest column, least and greatest row, all of them included."""

RING = ("west", "east", "north", "south")
"""The sides from which PEs take, in the order in which their routers turn."""

STEPS = {"west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)}
"""From a PE to its neighbour on a side: columns to the east, rows to the south."""

CENTER = "center"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """Hop number `number` of source `source` of a node: `takers` take from their `side`."""

    node: int
    source: int
    number: int
    side: str
    takers: Box

    @property
    def senders(self) -> Box:
        """The PEs that send."""
        (x, y), (left, right, top, bottom) = STEPS[self.side], self.takers
        return left + x, right + x, top + y, bottom + y
