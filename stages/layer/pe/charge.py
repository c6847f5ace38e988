"""What a block is expected to be charged, from how often loops run it.

Every block of an isl loop nest is written for loops, of which it is known with which values of the
loops around them instances are reached; the block runs once for each prefix of such values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl

from stages.layer.pe.block import Block
from stages.machine.profile import Profile
from stages.poly.ast import Branch, Instance, Loop, Nest, Series
from stages.poly.number import count


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """Cycles of the blocks of a task, for all symbolic constants of `here`."""

    profile: Profile
    here: isl.Set

    def of(self, block: Block, times: int, depth: int = 0) -> int:
        """Return the cycles of a block, and those in it, that runs so many times.

        `depth` is how many loops there are around it.
        """
        own = (
            block.loop * self.profile.loop
            + block.scalar * self.profile.scalar
            + block.address * self.profile.address
        )
        inner = [each for each in block.statements if isinstance(each, Block)]
        return times * own + sum(self.within(each, times, depth) for each in inner)

    def within(self, inner: Block, times: int, depth: int = 0) -> int:
        """Return the cycles of a block in one that runs so many times."""
        if inner.loops is None:
            return self.of(inner, times, depth)
        deeper = _depth(inner, depth)
        return self.of(inner, self.times(inner.loops, deeper), deeper)

    def times(self, nest: Nest, depth: int) -> int:
        """Return how often a place with `depth` loops around it is reached.

        Those of another nest count, too: their iterators are symbolic constants of this one.
        """
        reached: isl.Set | None = None
        for elements in _times(nest):
            loops = elements.dim(isl.dim_type.set)
            own = min(depth, loops)
            prefix = elements.project_out(isl.dim_type.set, own, loops - own)
            reached = prefix if reached is None else reached.union(prefix)
        return 0 if reached is None else count(reached.intersect_params(self.here))


def _depth(block: Block, around: int) -> int:
    """Return how many loops there are around a block: around a loop's body one more."""
    return block.loops.depth if block.loop and isinstance(block.loops, Loop) else around


def _times(nest: Nest) -> Iterator[isl.Set]:
    """Yield the values of loops with which each place of a nest is reached."""
    match nest:
        case Instance():
            if nest.times is not None:
                yield nest.times
        case Loop():
            yield from _times(nest.body)
        case Branch():
            yield from _times(nest.then)
            if nest.otherwise is not None:
                yield from _times(nest.otherwise)
        case Series():
            for child in nest.children:
                yield from _times(child)
