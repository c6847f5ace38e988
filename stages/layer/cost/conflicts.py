"""How long vector instructions are expected to wait for banks of memory, by their strides.

Where tensors will lie is not known yet. They are moved a few bytes so that reads meet seldom
(`spread_over_banks`): the fewest meetings of two tensors are expected, and where operands start in
a bank that depends on a loop or on the PE, the mean.

Source   stages/fabric/rate.c, which charges what happens
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from math import gcd, prod

import islpy as isl

from stages.layer.texts.decisions import Decision, Given, Local, Operand, Step
from stages.layer.vector.rate import find_rate
from stages.machine.meetings import count_meetings
from stages.machine.profile import Profile
from stages.machine.types import BYTES

Shapes = Mapping[str, tuple[int, ...]]

WORD = 2
"""Successive words of so many bytes lie in successive banks."""

ALIGNED = 2
"""Tensors begin at a multiple of so many words, or anywhere if they lie so anyway."""


def find_waiting(decision: Decision, shapes: Shapes, profile: Profile) -> float:
    """Return the cycles for each instance of a task in which its instructions wait for banks."""
    if not profile.read_banks:
        return 0.0
    return sum(
        float(_most_meetings(step, sizes, shapes, profile.read_banks))
        / _rate(step, sizes, profile)
        for step, sizes in _list_vectors(decision)
    )


def _list_vectors(decision: Decision) -> Iterator[tuple[Step, list[int]]]:
    """Yield the vector instructions of a task, with the largest sizes of each."""
    extents = [each if isinstance(each, int) else each[1] for each in decision.extents or ()]
    steps, operands = decision.steps, decision.operands
    if decision.operation is not None:
        steps = (Step(operation=decision.operation, over=decision.over, operands=operands),)
    for step in steps:
        if step.by != "loops":
            yield step, extents if step.over is None else [extents[k] for k in step.over]


def _rate(step: Step, sizes: list[int], profile: Profile) -> int:
    operands = [(o.type, _strides(o) or (0,) * len(sizes)) for o in step.operands]
    return find_rate(profile, step.operation, operands, [size == 1 for size in sizes])


def _most_meetings(step: Step, sizes: list[int], shapes: Shapes, banks: int) -> Fraction:
    """Return the share of the points at which two operands are read from one bank."""
    read = step.operands if step.operation == "MAC" else step.operands[1:]
    moving = [o for o in read if isinstance(o, Local | Given) and any(o.strides)]
    pairs = combinations(moving, 2)
    return max((_meetings(p, q, sizes, shapes, banks) for p, q in pairs), default=Fraction(0))


def _meetings(
    p: Local | Given, q: Local | Given, sizes: list[int], shapes: Shapes, banks: int
) -> Fraction:
    steps = [(a - b) % banks for a, b in zip(_words(p), _words(q), strict=True)]
    points = max(1, prod(sizes))
    meets = [Fraction(count_meetings(steps, sizes, k, banks), points) for k in range(banks)]
    same = _tensor(p) == _tensor(q)
    if same and _base(p) == _base(q):
        return meets[0]
    starts = [_start(operand, shapes, banks) for operand in (p, q)]
    if starts[0] is None or starts[1] is None:
        return sum(meets, Fraction(0)) / banks
    apart = (starts[0] - starts[1]) % banks
    return meets[apart] if same else min(meets[apart % ALIGNED :: ALIGNED])


def _tensor(operand: Local | Given) -> str | int:
    return operand.local if isinstance(operand, Local) else operand.part


def _base(operand: Local | Given) -> tuple[int | str, ...]:
    return operand.base if isinstance(operand, Local) else ()


def _strides(operand: Operand) -> tuple[int, ...]:
    return operand.strides if isinstance(operand, Local | Given) else ()


def _words(operand: Local | Given) -> list[int]:
    return [stride * BYTES[operand.type] // WORD for stride in operand.strides]


def _start(operand: Local | Given, shapes: Shapes, banks: int) -> int | None:
    """Return at which word of its tensor an operand starts, modulo the banks; None if it varies."""
    if isinstance(operand, Given):
        return 0
    shape, word, found = shapes[operand.local], BYTES[operand.type] // WORD, 0
    for k, index in enumerate(operand.base):
        step = prod(shape[k + 1 :]) * word
        if isinstance(index, int):
            found += index * step
        elif step % banks and not _is_multiple(index, banks // gcd(step, banks)):
            return None
    return found % banks


def _is_multiple(index: str, of: int) -> bool:
    """Say whether an index, a function of constants, is a multiple of a number everywhere."""
    values = isl.Set.from_pw_aff(isl.PwAff(index).floor())
    return bool(values.is_subset(isl.Set(f"{{ [value] : value mod {of} = 0 }}")))
