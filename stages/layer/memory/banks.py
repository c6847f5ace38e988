"""Arrays a few bytes further on, so that two reads of an instruction meet in no bank.

Where operands start in a bank that depends on the PE or on a loop, nothing is known of them.

Source   CSL language guide, appendix: SIMD mode; stages/fabric/rate.c charges what remains
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from lairmake.stages.layer.codegen.instruction import Given, InField, Step, find_steps
from lairmake.stages.layer.memory.kept import Array
from lairmake.stages.layer.texts import yaml_files
from lairmake.stages.layer.texts.yaml_files import Decision
from lairmake.stages.layer.vector.operands import find_word
from lairmake.stages.machine.types import BYTES
from lairmake.stages.machine.vector_rate import WORD, count_meetings
from lairmake.stages.pe.names import Names, Naming

ALIGNED = 2
"""Operands should begin at a multiple of so many words."""

MOST_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two operands that an instruction reads from different local tensors, p before q.

    `apart` is how many words further from the start of its tensor p begins; `meets` gives, by how
    far apart they are modulo the banks, the cycles that the instruction would wait.
    """

    p: str
    q: str
    apart: int
    meets: tuple[float, ...]


def lay_out(arrays: Sequence[Array]) -> dict[str, int]:
    """Return the byte addresses of arrays that lie one after the other, by name."""
    found, end = dict[str, int](), 0
    for array in arrays:
        found[array.name] = -(-end // BYTES[array.type]) * BYTES[array.type]
        end = found[array.name] + array.bytes
    return found


def spread_over_banks(
    arrays: Sequence[Array], simd: Mapping[str, Decision], banks: int
) -> dict[str, int]:
    """Return addresses of arrays one after the other, some further on if fewer reads meet then.

    Where words of 32 bits begin in all banks, they stay.
    """
    addresses = lay_out(arrays)
    shapes = {array.name: array.shape for array in arrays}
    pairs = [] if not banks or banks % ALIGNED else list(_pairs(simd, shapes, banks))
    if not pairs:
        return addresses
    first = {name: address // WORD % banks for name, address in addresses.items()}
    chosen = dict(first)
    for _ in range(MOST_ROUNDS):
        for name, now in tuple(chosen.items()):
            starts = [chosen | {name: start} for start in _starts(now, banks)]
            chosen = min(starts, key=lambda each: _waits(pairs, each))
    better = _waits(pairs, chosen) < _waits(pairs, first)
    return dict(_moved(arrays, chosen, banks)) if better else addresses


def _starts(now: int, banks: int) -> list[int]:
    """Return the banks in which a tensor may start: the one of now, and those at 32 bits."""
    return [now, *(bank for bank in range(0, banks, ALIGNED) if bank != now)]


def _waits(pairs: Sequence[Pair], starts: Mapping[str, int]) -> float:
    return sum(
        pair.meets[(starts[pair.p] + pair.apart - starts[pair.q]) % len(pair.meets)]
        for pair in pairs
    )


def _moved(
    arrays: Sequence[Array], starts: Mapping[str, int], banks: int
) -> Iterator[tuple[str, int]]:
    """Yield the addresses of arrays one after the other, each where it starts in its bank."""
    end = 0
    for array in arrays:
        aligned = -(-end // BYTES[array.type]) * BYTES[array.type]
        address = aligned + (starts[array.name] - aligned // WORD) % banks * WORD
        yield array.name, address
        end = address + array.bytes


def _pairs(
    simd: Mapping[str, Decision], shapes: Mapping[str, tuple[int, ...]], banks: int
) -> Iterator[Pair]:
    """Yield the pairs of operands that vector instructions read from known banks."""
    naming = Naming(names=Names(""), words={})
    for name, decision in simd.items():
        if decision.by == "loops" or not (decision.operation or decision.steps):
            continue
        steps = [s for s in find_steps(name, decision, naming) if not s.looped]
        for step in steps:
            cycles = (decision.cycles or 1) / len(steps)
            yield from _pairs_of(step, decision, shapes, banks, cycles)


def _pairs_of(
    step: Step,
    decision: Decision,
    shapes: Mapping[str, tuple[int, ...]],
    banks: int,
    cycles: float,
) -> Iterator[Pair]:
    extents = decision.extents or ()
    sizes = [e if isinstance(e, int) else e[1] for e in (extents[k] for k in step.over)]
    read = step.operands if step.operation == "MAC" else step.operands[1:]
    for p, q in combinations(read, 2):
        starts = [_start(operand, shapes, banks) for operand in (p, q)]
        if starts[0] is None or starts[1] is None or _name(p) == _name(q):
            continue
        steps = [(a - b) % banks for a, b in zip(_words(p), _words(q), strict=True)]
        points = max(1, prod(sizes))
        meets = (count_meetings(steps, sizes, apart, banks) / points for apart in range(banks))
        apart = starts[0] - starts[1]
        weighed = tuple(cycles * each for each in meets)
        yield Pair(p=_name(p), q=_name(q), apart=apart, meets=weighed)


def _name(operand: Given) -> str:
    if isinstance(operand, yaml_files.Local):
        return operand.local
    return operand.field if isinstance(operand, InField) else ""


def _words(operand: Given) -> list[int]:
    assert isinstance(operand, yaml_files.Local | InField), "it lies in memory"
    return [stride * BYTES[operand.type] // WORD for stride in operand.strides]


def _start(operand: Given, shapes: Mapping[str, tuple[int, ...]], banks: int) -> int | None:
    """Return at which word of its tensor an operand starts, modulo the banks; None if it varies.

    None of a number as well, and of what stays where it is.
    """
    if _name(operand) not in shapes or not any(_words(operand)):
        return None
    if isinstance(operand, InField):
        return 0
    assert isinstance(operand, yaml_files.Local), "it lies in memory"
    return find_word(operand.base, shapes[operand.local], BYTES[operand.type] // WORD, banks)
