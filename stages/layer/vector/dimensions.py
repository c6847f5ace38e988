"""The order of the dimensions of a vector instruction: that of the most elements a cycle.

What is added up in one element is added in the order of the instances all the same. Where columns
of a local tensor are read slowly, its rows may be longer, or it may have more of them.

Paper    V Sec. 5, has the order of the instances
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import prod

import islpy as isl

from lairmake.stages.layer.texts.task_graph import Fills, Runs
from lairmake.stages.layer.vector.candidate import Candidate
from lairmake.stages.layer.vector.memory import Memory, extend
from lairmake.stages.layer.vector.operands import InMemory, Operand, find_steps_over
from lairmake.stages.layer.vector.rate import find_limit, find_rate
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.layer.vector.steps import Step
from lairmake.stages.poly.box import Shape
from lairmake.stages.poly.functions import find_same

SHARE = 16
"""What is larger for a task takes no more than this part of the memory of a PE."""


def list_arrangements(
    situation: Situation, candidate: Candidate, steps: Sequence[Step]
) -> list[tuple[Candidate, tuple[Step, ...]]]:
    """Return steps, the vector instructions among them in the order of the highest rate.

    Of several orders the first, which is that of the box. What streams keeps its order. If larger
    local tensors allow more, there is a second candidate, with room for them.
    """
    whole = extend(situation.files.local, candidate.touched)
    if not isinstance(situation.task, Runs | Fills):
        return [(candidate, tuple(steps))]
    listed, fewest = _ordered(situation, candidate, steps, whole)
    found = [(candidate, listed)]
    for along in [] if candidate.shapes else range(len(candidate.sizes)):
        room = _find_room(situation, steps, whole, along)
        tried = replace(candidate, touched=(*candidate.touched, *room))
        memory = extend(situation.files.local, tried.touched)
        ordered, cycles = _ordered(situation, tried, steps, memory)
        if cycles < fewest and _is_spare(situation, whole, memory):
            fewest, found[1:] = cycles, [(tried, ordered)]
    return found


def _find_room(
    situation: Situation, steps: Sequence[Step], memory: Memory, along: int
) -> Iterator[isl.Set]:
    """Yield { T_local[l] }, the last element of each local tensor that is larger, so that steps run
    fast which go over a dimension first."""
    vectors = [step for step in steps if not step.looped]
    for name in _list_tables(vectors):
        shape = memory.shapes[name]
        found = min(
            _enlarge(shape, len(situation.profile.stride_limits)),
            key=lambda tried: (_wait(situation, vectors, memory, name, tried, along), prod(tried)),
        )
        if found != shape:
            ends = zip(found, memory.shifts[name], strict=True)
            last = ", ".join(str(size - 1 + shift) for size, shift in ends)
            yield isl.Set(f"{{ {name}[{last}] }}")


def _enlarge(shape: Shape, most: int) -> Iterator[Shape]:
    """Yield a shape, and those with more in one dimension, of fewer than `most`: the last first."""
    yield shape
    for k in reversed(range(1, len(shape))):
        for more in range(1, most):
            yield (*shape[:k], shape[k] + more, *shape[k + 1 :])


def _wait(
    situation: Situation, steps: Sequence[Step], memory: Memory, name: str, shape: Shape, along: int
) -> Fraction:
    """Return the cycles of an element where only strides of a tensor of this shape limit steps."""
    tried = replace(memory, shapes={**memory.shapes, name: shape})
    strides = (
        find_steps_over(operand, tried, (along,))[0]
        for step in steps for operand in step.operands
        if isinstance(operand, InMemory) and operand.local == name
    )
    limits = (find_limit(situation.profile, stride) for stride in strides)
    return sum((Fraction(1, limit) for limit in limits if limit), Fraction(0))


def _is_spare(situation: Situation, before: Memory, larger: Memory) -> bool:
    """Return whether larger tensors take little of what a PE has: half of its memory stays free."""
    most = situation.profile.memory
    bytes_, more = (each.bytes(situation.local_type) for each in (before, larger))
    return SHARE * (more - bytes_) <= most and 2 * (more + situation.files.code) <= most


def _ordered(
    situation: Situation, candidate: Candidate, steps: Sequence[Step], memory: Memory
) -> tuple[tuple[Step, ...], Fraction]:
    """Return steps in their best orders, and the cycles of one point in all of them."""
    single = [is_single(size) for size in candidate.sizes]

    def rate(step: Step) -> int:
        return find_step_rate(situation, step, memory, single)

    found = tuple(s if s.looped else max(_orders(s, memory), key=rate) for s in steps)
    return found, sum((Fraction(1, rate(s)) for s in found if not s.looped), Fraction(0))


def _list_tables(steps: Sequence[Step]) -> list[str]:
    """Return the local tensors of several dimensions that steps read or write."""
    operands = [operand for step in steps for operand in step.operands]
    tables = [o.local for o in operands if isinstance(o, InMemory) and len(o.coefficients) > 1]
    return list(dict.fromkeys(tables))


def find_step_rate(
    situation: Situation, step: Step, memory: Memory, single: Sequence[bool]
) -> int:
    """Return the elements a cycle of a step; `single` says which dimensions have one element."""
    operands = [(o.type, find_steps_over(o, memory, step.along)) for o in step.operands]
    alone = [single[k] for k in step.along]
    return find_rate(situation.profile, step.operation, operands, alone)


def is_single(size: isl.PwAff) -> bool:
    """Return whether a size is 1 everywhere."""
    return find_same(size) == 1


def _orders(step: Step, memory: Memory) -> Iterator[Step]:
    """Yield a step in all orders of its dimensions that give the same values."""
    yield step
    if _reads_elsewhere(step):
        return
    still = find_steps_over(step.operands[0], memory, step.along)
    kept = [k for k, stride in zip(step.along, still, strict=True) if stride == 0]
    for along in permutations(step.along):
        if [k for k in along if k in kept] == kept:
            yield replace(step, along=along)


def _reads_elsewhere(step: Step) -> bool:
    """Return whether a step reads other elements of the tensor that it writes."""
    to, *sources = step.operands
    return isinstance(to, InMemory) and any(_is_other(to, source) for source in sources)


def _is_other(to: InMemory, source: Operand) -> bool:
    return isinstance(source, InMemory) and source.local == to.local and source != to
