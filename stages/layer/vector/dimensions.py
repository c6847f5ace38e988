"""The order of the dimensions of a vector instruction: that of the most elements a cycle.

What is added up in one element is added in the order of the instances all the same. Where columns
of a local tensor are read slowly, its rows may be longer.

Paper    V Sec. 5, has the order of the instances
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import islpy as isl

from stages.layer.texts.kinds import Fills, Runs
from stages.layer.vector.candidate import Candidate
from stages.layer.vector.memory import Memory, extend
from stages.layer.vector.operands import InMemory, Operand, find_steps_over
from stages.layer.vector.rate import find_rate
from stages.layer.vector.situation import Situation
from stages.layer.vector.steps import Step
from stages.poly.same import find_same

SHARE = 16
"""The longer rows of a task take no more than this part of the memory of a PE."""


def list_arrangements(
    situation: Situation, candidate: Candidate, steps: Sequence[Step]
) -> list[tuple[Candidate, tuple[Step, ...]]]:
    """Return steps, the vector instructions among them in the order of the highest rate.

    Of several orders the first, which is that of the box. What streams keeps its order. If longer
    rows of a tensor allow more, there is a second candidate, with room for them.
    """
    whole = extend(situation.files.local, candidate.touched)
    if not isinstance(situation.task, Runs | Fills):
        return [(candidate, tuple(steps))]
    listed, fewest = _ordered(situation, candidate, steps, whole)
    longer, found = candidate, [(candidate, listed)]
    for name in [] if candidate.shapes else _tables(steps):
        for more in range(1, len(situation.profile.stride_limits)):
            room = _longer(name, whole, more)
            tried = replace(longer, touched=(*longer.touched, room))
            memory = extend(situation.files.local, tried.touched)
            ordered, cycles = _ordered(situation, tried, steps, memory)
            if cycles < fewest and _is_spare(situation, whole, memory):
                fewest, found[1:] = cycles, [(tried, ordered)]
        longer = found[-1][0]
    return found


def _is_spare(situation: Situation, before: Memory, longer: Memory) -> bool:
    """Return whether longer rows take little of what a PE has: half of its memory stays free."""
    most = situation.profile.memory
    bytes_, more = (each.bytes(situation.local_type) for each in (before, longer))
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


def _tables(steps: Sequence[Step]) -> list[str]:
    """Return the local tensors of several dimensions that steps read or write."""
    operands = [operand for step in steps if not step.looped for operand in step.operands]
    tables = [o.local for o in operands if isinstance(o, InMemory) and len(o.coefficients) > 1]
    return list(dict.fromkeys(tables))


def _longer(name: str, memory: Memory, more: int) -> isl.Set:
    """Return { T_local[l] }, the last element of a local tensor with longer rows."""
    shape, shifts = memory.shapes[name], memory.shifts[name]
    last = [size - 1 + shift for size, shift in zip(shape, shifts, strict=True)]
    return isl.Set(f"{{ {name}[{', '.join(map(str, [*last[:-1], last[-1] + more]))}] }}")


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
