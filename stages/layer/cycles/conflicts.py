"""How long vector instructions wait for banks of memory, by strides and by where tensors lie.

Where operands start in a bank that depends on a loop or on the PE, the mean is expected, of those
banks in which elements of their types begin.

Source   stages/fabric/rate.c, which charges what happens
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd, prod

from lairmake.stages.layer.texts.yaml_files import (
    Decision,
    Given,
    Local,
    OperandDecision,
    StepDecision,
)
from lairmake.stages.layer.vector.instruction import find_rate
from lairmake.stages.layer.vector.operands import find_word
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import BYTES
from lairmake.stages.machine.vector_rate import WORD, count_meetings


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """The shapes of local tensors, and the addresses of these and of the parts of tasks, by name.
    """

    shapes: Mapping[str, tuple[int, ...]]
    addresses: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """A vector instruction of a task, with the largest sizes that it runs over."""

    task: str
    step: StepDecision
    sizes: tuple[int, ...]


def find_waiting(task: str, decision: Decision, arrays: Arrays, profile: Profile) -> float:
    """Return the cycles for each instance of a task in which its instructions wait for banks."""
    if not profile.read_banks:
        return 0.0
    return sum(
        float(_most_meetings(each, arrays, profile.read_banks)) / _rate(each, profile)
        for each in _list_vectors(task, decision)
    )


def _list_vectors(task: str, decision: Decision) -> Iterator[Instruction]:
    """Yield the vector instructions of a task."""
    extents = [each if isinstance(each, int) else each[1] for each in decision.extents or ()]
    steps, operands = decision.steps, decision.operands
    if decision.operation is not None:
        steps = (StepDecision(operation=decision.operation, over=decision.over, operands=operands),)
    for step in steps:
        if step.by != "loops":
            over = range(len(extents)) if step.over is None else step.over
            yield Instruction(task=task, step=step, sizes=tuple(extents[k] for k in over))


def _rate(each: Instruction, profile: Profile) -> int:
    none = (0,) * len(each.sizes)
    operands = [(o.type, _strides(o) or none) for o in each.step.operands]
    single = [size == 1 for size in each.sizes]
    return max(1, find_rate(profile, each.step.operation, operands, single))


def _most_meetings(each: Instruction, arrays: Arrays, banks: int) -> Fraction:
    """Return the share of the points at which two operands are read from one bank."""
    read = each.step.operands if each.step.operation == "MAC" else each.step.operands[1:]
    moving = [o for o in read if isinstance(o, Local | Given) and any(o.strides)]
    pairs = combinations(moving, 2)
    return max((_meetings(p, q, each, arrays, banks) for p, q in pairs), default=Fraction(0))


def _meetings(
    p: Local | Given, q: Local | Given, each: Instruction, arrays: Arrays, banks: int
) -> Fraction:
    steps = [(a - b) % banks for a, b in zip(_words(p), _words(q), strict=True)]
    points = max(1, prod(each.sizes))
    meets = [Fraction(count_meetings(steps, each.sizes, k, banks), points) for k in range(banks)]
    if _array(p, each.task) == _array(q, each.task) and _base(p) == _base(q):
        return meets[0]
    starts = [_start(operand, each.task, arrays, banks) for operand in (p, q)]
    if starts[0] is None or starts[1] is None:
        may = meets[:: gcd(banks, *(BYTES[operand.type] // WORD for operand in (p, q)))]
        return sum(may, Fraction(0)) / len(may)
    return meets[(starts[0] - starts[1]) % banks]


def _array(operand: Local | Given, task: str) -> str:
    return operand.local if isinstance(operand, Local) else f"{task}_part{operand.part}"


def _base(operand: Local | Given) -> tuple[int | str, ...]:
    return operand.base if isinstance(operand, Local) else ()


def _strides(operand: OperandDecision) -> tuple[int, ...]:
    return operand.strides if isinstance(operand, Local | Given) else ()


def _words(operand: Local | Given) -> list[int]:
    return [stride * BYTES[operand.type] // WORD for stride in operand.strides]


def _start(operand: Local | Given, task: str, arrays: Arrays, banks: int) -> int | None:
    """Return in which bank an operand starts; None if that varies, or nobody knows."""
    name = _array(operand, task)
    if name not in arrays.addresses:
        return None
    shape, word = arrays.shapes.get(name, ()), BYTES[operand.type] // WORD
    within = find_word(_base(operand), shape, word, banks)
    return None if within is None else (arrays.addresses[name] // WORD + within) % banks
