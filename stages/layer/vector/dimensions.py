"""The order of the dimensions of a vector instruction: that of the most elements a cycle.

What is added up in one element is added in the order of the instances all the same.

Paper    V Sec. 5, has the order of the instances
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import islpy as isl

from stages.layer.texts.kinds import Fills, Runs
from stages.layer.vector.candidate import Candidate
from stages.layer.vector.memory import Memory
from stages.layer.vector.operands import InMemory, Operand, find_steps_over
from stages.layer.vector.rate import find_rate
from stages.layer.vector.situation import Situation
from stages.layer.vector.steps import Step


def order_steps(
    situation: Situation, candidate: Candidate, steps: Sequence[Step], memory: Memory
) -> tuple[Step, ...]:
    """Return steps, the vector instructions among them in the order of the highest rate.

    Of several orders the first, which is that of the box. What streams keeps its order.
    """
    if not isinstance(situation.task, Runs | Fills):
        return tuple(steps)
    single = [is_single(size) for size in candidate.sizes]

    def rate(step: Step) -> int:
        return find_step_rate(situation, step, memory, single)

    return tuple(
        step if step.looped else max(_orders(step, memory), key=rate) for step in steps
    )


def find_step_rate(
    situation: Situation, step: Step, memory: Memory, single: Sequence[bool]
) -> int:
    """Return the elements a cycle of a step; `single` says which dimensions have one element."""
    operands = [(o.type, find_steps_over(o, memory, step.along)) for o in step.operands]
    alone = [single[k] for k in step.along]
    return find_rate(situation.profile, step.operation, operands, alone)


def is_single(size: isl.PwAff) -> bool:
    """Return whether a size is 1 everywhere."""
    return bool(size.is_cst()) and bool(size.max_val().is_one())


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
