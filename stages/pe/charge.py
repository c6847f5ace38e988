"""What a block is expected to be charged, from how often loops run it.

Every block of an isl loop nest is written for loops, of which it is known with which values of the
loops around them instances are reached; the block runs once for each prefix of such values. The
body of a loop that asks for each value whether there is an instance runs once for each value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.machine.profile import Profile
from lairmake.stages.pe.block import Block
from lairmake.stages.pe.statement_nodes import Else, For, If
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.expression import (
    Branch,
    Instance,
    Loop,
    Name,
    Nest,
    Number,
    Operation,
    Series,
    Value,
    compare,
    list_iterations,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is around a block: how many loops, and their iterators but for those of one value.

    `conditions` are what they and guards ask for; None if these are not known.
    """

    depth: int = 0
    iterators: tuple[str, ...] = ()
    conditions: tuple[Value, ...] | None = ()


OUTSIDE, ONE = Around(), Number(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCharge:
    """Cycles of the blocks of a task, for all symbolic constants of `here`."""

    profile: Profile
    here: isl.Set

    def of(self, block: Block, times: int, around: Around = OUTSIDE) -> int:
        """Return the cycles of a block, and those in it, that runs so many times."""
        own = (
            block.loop * self.profile.loop
            + block.scalar * self.profile.scalar
            + block.address * self.profile.address
        )
        inner = [each for each in block.statements if isinstance(each, Block)]
        return times * own + sum(self.within(each, times, around) for each in inner)

    def within(self, inner: Block, times: int, around: Around = OUTSIDE) -> int:
        """Return the cycles of a block in one that runs so many times."""
        if inner.loops is None:
            return self.of(inner, times, around)
        deeper = _enter(inner, inner.loops, around)
        return self.of(inner, self._count(inner, inner.loops, deeper), deeper)

    def _count(self, block: Block, nest: Nest, around: Around) -> int:
        """Return how often a block of a nest runs: the body of a loop, whatever a guard in it says.
        """
        guarded = isinstance(block.head, For) and _is_guarded(nest)
        if guarded and around.conditions is not None:
            constants = self.here.get_var_names_not_none(isl.dim_type.param)
            found = list_iterations(around.iterators, around.conditions, constants)
            if found is not None:
                return count(found.intersect_params(self.here))
        return self.times(nest, around.depth)

    def times(self, nest: Nest, depth: int) -> int:
        """Return how often a place with `depth` loops around it is reached by instances.

        Those of another nest count, too: their iterators are symbolic constants of this one.
        """
        reached: isl.Set | None = None
        for elements in _times(nest):
            loops = elements.dim(isl.dim_type.set)
            own = min(depth, loops)
            prefix = elements.project_out(isl.dim_type.set, own, loops - own)
            reached = prefix if reached is None else reached.union(prefix)
        return 0 if reached is None else count(reached.intersect_params(self.here))


def _enter(block: Block, nest: Nest, around: Around) -> Around:
    """Return what is around the statements of a block of a nest."""
    conditions = around.conditions
    match block.head:
        case For(Name(name), start, condition, step) if isinstance(nest, Loop):
            begun = compare(Name(name), ">=", start)
            apart = Operation("-", (Name(name), start))
            even = compare(Operation("%", (apart, step)), "==", 0)
            if conditions is not None:
                conditions = (*conditions, begun, condition, *([] if step == ONE else [even]))
            return Around(
                depth=nest.depth, iterators=(*around.iterators, name), conditions=conditions
            )
        case If(condition):
            conditions = None if conditions is None else (*conditions, condition)
        case Else():
            conditions = None
    return replace(around, conditions=conditions)


def _is_guarded(nest: Nest) -> bool:
    """Say whether some of a nest runs under a condition."""
    match nest:
        case Loop():
            return _is_guarded(nest.body)
        case Series():
            return any(map(_is_guarded, nest.children))
        case _:
            return isinstance(nest, Branch)


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
