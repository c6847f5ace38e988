"""Vector instructions: their dimensions, and the elements that they compute in a cycle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import prod

import islpy as isl

from lairmake.stages.layer.texts import simd_yaml
from lairmake.stages.layer.texts.simd_yaml import (
    Decision,
    LocalDecision,
    OperandDecision,
    Size,
    TableDecision,
)
from lairmake.stages.layer.texts.task_graph import AT_RUN_TIME, Fills, React, Runs
from lairmake.stages.layer.vector.operands import (
    GivenOperand,
    InPart,
    MemoryOperand,
    Operand,
    OperandMemory,
    describe,
    extend,
    find_steps_over,
    write_value,
)
from lairmake.stages.layer.vector.situation import RankError, Situation, VectorCandidate
from lairmake.stages.layer.vector.steps import StepTables, VectorStep, find_parts
from lairmake.stages.machine.profile import Profile
from lairmake.stages.poly.box import Shape
from lairmake.stages.poly.functions import find_same, greatest_value, least_value

IN, OUT, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

# --- Vector instruction, as simd.yaml describes it ------------------------------------------------
#
# Paper    V Sec. 5

def instruction(
    decision: Decision,
    situation: Situation,
    candidate: VectorCandidate,
    steps: Sequence[VectorStep],
    memory: OperandMemory,
) -> Decision:
    """Return a decision with sizes, loops, tables and operations.

    They are for `memory` as it is after extensions.
    """
    listed = [_step(step, memory, len(candidate.sizes)) for step in steps]
    tables, listed = _tables(situation, candidate, listed)
    found = replace(
        decision,
        sizes=tuple(write_value(size) for size in candidate.sizes),
        least=tuple(write_value(each) for each in candidate.least) if candidate.several else (),
        several=tuple(candidate.several),
        needed=None if candidate.needed is None else str(candidate.needed),
        outer=None if candidate.outer is None else str(candidate.outer),
        extents=_extents(candidate),
        tables=tables,
        in_turn=candidate.in_turn,
    )
    if len(listed) == 1:
        return _alone(found, listed[0])
    parts = tuple(part.shown() for part in find_parts(steps))
    return replace(found, parts=parts, steps=tuple(listed))


def _alone(decision: Decision, step: simd_yaml.StepDecision) -> Decision:
    """Return a decision with the only step."""
    return replace(
        decision,
        by=step.by or decision.by,
        why=step.why or decision.why,
        operation=step.operation,
        over=step.over,
        operands=step.operands,
    )


def _step(step: VectorStep, memory: OperandMemory, rank: int) -> simd_yaml.StepDecision:
    return simd_yaml.StepDecision(
        operation=step.operation,
        by="loops" if step.looped else None,
        why=f"{step.operation} is no vector operation" if step.looped else None,
        over=None if step.along == tuple(range(rank)) else step.along,
        operands=tuple(describe(operand, memory, step.along) for operand in step.operands),
    )


def _tables(
    situation: Situation, candidate: VectorCandidate, steps: list[simd_yaml.StepDecision]
) -> tuple[dict[str, TableDecision], list[simd_yaml.StepDecision]]:
    """Return what an element looks up, and the steps with such constants in bases of operands."""
    if not isinstance(situation.task, React):
        return {}, steps
    tables = StepTables(situation)
    if candidate.way in AT_RUN_TIME:
        for k, least in enumerate(situation.exact.minimum):
            tables.holds(f"first{k}", least)
            tables.holds(f"size{k}", candidate.sizes[k])
    placed = [
        replace(step, operands=tuple(_placed(operand, tables) for operand in step.operands))
        for step in steps
    ]
    return tables.found, placed


def _placed(operand: OperandDecision, tables: StepTables) -> OperandDecision:
    if not isinstance(operand, LocalDecision):
        return operand
    return replace(operand, base=tuple(tables.place(index) for index in operand.base))


def _extents(candidate: VectorCandidate) -> tuple[Size, ...]:
    """Return each size, or its least and greatest value where it is not the same everywhere."""
    domain = candidate.box.params()
    found: list[Size] = []
    for size in candidate.sizes:
        here = size.intersect_params(domain).floor()
        least, greatest = least_value(here).to_python(), greatest_value(here).to_python()
        found.append(least if least == greatest else (least, greatest))
    return tuple(found)

# --- Contiguous dimensions merged into one --------------------------------------------------------
#
# Dimensions are merged where an instruction has too many of them.
#
# Paper    V Sec. 5, goes without this
#
# Two dimensions p, q of a box, one after the other, are as one of n times as many elements, n the
# size along q, if every operand steps along p over n times what it steps over along q: element (p,
# q) is number n p + q.  Steps depend on the shapes of local tensors, which must stay as they are.

def merge(
    name: str,
    candidate: VectorCandidate,
    steps: Sequence[VectorStep],
    memory: OperandMemory,
    most: int,
) -> tuple[VectorCandidate, tuple[VectorStep, ...]]:
    """Return the instructions of a task in at most so many dimensions, the innermost merged first.

    The candidate then relies on the shapes of local tensors in the memory. Raises RankError if too
    many remain, and for sizes that are found at run time.
    """
    found = tuple(steps)
    while len(candidate.sizes) > most:
        last = 0 if candidate.way in AT_RUN_TIME else len(candidate.sizes) - 1
        at = next((k for k in range(last - 1, -1, -1) if _merges(candidate, found, memory, k)), -1)
        if at < 0:
            break
        count = find_same(candidate.sizes[at + 1]) or 0
        found = tuple(_at_step(step, at) for step in found)
        candidate = _candidate(candidate, at, count, _shapes(found, memory))
    check_rank(name, candidate, most)
    return candidate, found


def check_rank(name: str, candidate: VectorCandidate, most: int) -> None:
    """Raise RankError for a box of more dimensions than a vector instruction has."""
    rank = len(candidate.sizes)
    if rank > most:
        raise RankError(f"{name} needs {rank} dimensions, a vector instruction has {most}")


def is_as_merged(candidate: VectorCandidate, memory: OperandMemory) -> bool:
    """Say whether the local tensors have the shapes that merged dimensions rely on."""
    return all(memory.shapes[name] == shape for name, shape in candidate.shapes.items())


def _merges(
    candidate: VectorCandidate, steps: Sequence[VectorStep], memory: OperandMemory, at: int
) -> bool:
    """Return whether a dimension and the next one are contiguous for every operand."""
    count = find_same(candidate.sizes[at + 1])
    if not count:
        return False
    for step in steps:
        if len({at, at + 1}.intersection(step.along)) == 1:
            return False
        for operand in step.operands:
            outer, inner = find_steps_over(operand, memory, (at, at + 1))
            if outer != count * inner:
                return False
    return True


def _candidate(
    candidate: VectorCandidate, at: int, count: int, shapes: Mapping[str, tuple[int, ...]]
) -> VectorCandidate:
    """Return the box with a dimension and the next one, of so many elements, as one."""
    sizes, origin = list(candidate.sizes), list(candidate.origin)
    by = isl.Val(count)
    sizes[at : at + 2] = [sizes[at].scale_val(by)]
    origin[at : at + 2] = [origin[at].scale_val(by).add(origin[at + 1])]
    merged = _numbered(len(candidate.sizes), at, count).intersect_domain(candidate.box)
    change = merged.reverse()
    if candidate.change is not None:
        change = change.apply_range(candidate.change)
    return replace(
        candidate,
        sizes=tuple(sizes),
        origin=tuple(origin),
        box=candidate.box.apply(merged),
        change=change,
        shapes=shapes,
    )


def _numbered(rank: int, at: int, count: int) -> isl.Map:
    """Return { [..., p, q, ...] -> [..., count p + q, ...] }."""
    names = [f"k{k}" for k in range(rank)]
    numbers = [*names[:at], f"{count}*{names[at]} + {names[at + 1]}", *names[at + 2 :]]
    return isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(numbers)}] }}")


def _at_step(step: VectorStep, at: int) -> VectorStep:
    return replace(
        step,
        operands=tuple(_operand(operand, at) for operand in step.operands),
        along=_without(step.along, at),
    )


def _operand(operand: Operand, at: int) -> Operand:
    """Return an operand without the outer one of two dimensions."""
    if isinstance(operand, GivenOperand):
        return operand
    if isinstance(operand, MemoryOperand):
        rows = operand.coefficients
        return replace(operand, coefficients=tuple((*r[:at], *r[at + 1 :]) for r in rows))
    return _part(operand, at)


def _part(part: InPart, at: int) -> InPart:
    shape = list(part.shape)
    if at in part.along:
        k = part.along.index(at)
        shape[k : k + 2] = [shape[k] * shape[k + 1]]
    return replace(part, along=_without(part.along, at), shape=tuple(shape))


def _without(along: Sequence[int], at: int) -> tuple[int, ...]:
    """Return dimensions, those after one numbered as if it were gone."""
    return tuple(k - (k > at) for k in along if k != at)


def _shapes(steps: Sequence[VectorStep], memory: OperandMemory) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the local tensors that steps read or write."""
    operands = [operand for step in steps for operand in step.operands]
    return {o.local: memory.shapes[o.local] for o in operands if isinstance(o, MemoryOperand)}

# --- Elements computed in a cycle -----------------------------------------------------------------
#
# They are as the fabric charges them. Banks of memory are left out: where operands lie is found
# later.

def find_rate(
    profile: Profile,
    operation: str,
    operands: Sequence[tuple[str, tuple[int, ...]]],
    single: Sequence[bool],
) -> int:
    """Return the elements a cycle of an instruction, given types and strides of d, a, b, c.

    `single` says of each of its dimensions whether there is one element along it.
    """
    (result, _), *sources = operands
    moving = [type_ for type_, steps in sources if any(steps)]
    rate = profile.find_lanes(operation, result, *moving)
    along = next((k for k in reversed(range(len(single))) if not single[k]), None)
    if along is None:
        return rate
    if operands[0][1][along] == 0:
        rate = min(rate, profile.find_sum_lanes(result, *moving) or rate)
    for _, steps in operands:
        rate = min(rate, find_limit(profile, steps[along]) or rate)
    return rate


def find_limit(profile: Profile, stride: int) -> int:
    """Return how many elements a cycle an operand of a stride has at most; 0: any."""
    return 0 if stride in (0, 1) else profile.stride_limits[stride % 8]

# --- Order of an instruction's dimensions ---------------------------------------------------------
#
# It is the order of the most elements a cycle. What is added up in one element is added in the
# order of the instances all the same. Where columns of a local tensor are read slowly, its rows may
# be longer, or it may have more of them.
#
# Paper    V Sec. 5, has the order of the instances

SHARE = 16
"""The part of the memory of a PE that larger local tensors of a task take at most."""


def list_arrangements(
    situation: Situation, candidate: VectorCandidate, steps: Sequence[VectorStep]
) -> list[tuple[VectorCandidate, tuple[VectorStep, ...]]]:
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
    situation: Situation, steps: Sequence[VectorStep], memory: OperandMemory, along: int
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
    situation: Situation,
    steps: Sequence[VectorStep],
    memory: OperandMemory,
    name: str,
    shape: Shape,
    along: int,
) -> Fraction:
    """Return the cycles of an element where only strides of a tensor of this shape limit steps."""
    tried = replace(memory, shapes={**memory.shapes, name: shape})
    strides = (
        find_steps_over(operand, tried, (along,))[0]
        for step in steps for operand in step.operands
        if isinstance(operand, MemoryOperand) and operand.local == name
    )
    limits = (find_limit(situation.profile, stride) for stride in strides)
    return sum((Fraction(1, limit) for limit in limits if limit), Fraction(0))


def _is_spare(situation: Situation, before: OperandMemory, larger: OperandMemory) -> bool:
    """Return whether larger tensors take little of what a PE has: half of its memory stays free."""
    most = situation.profile.memory
    bytes_, more = (each.bytes(situation.local_type) for each in (before, larger))
    return SHARE * (more - bytes_) <= most and 2 * (more + situation.files.code) <= most


def _ordered(
    situation: Situation,
    candidate: VectorCandidate,
    steps: Sequence[VectorStep],
    memory: OperandMemory,
) -> tuple[tuple[VectorStep, ...], Fraction]:
    """Return steps in their best orders, and the cycles of one point in all of them."""
    single = [is_single(size) for size in candidate.sizes]

    def rate(step: VectorStep) -> int:
        return find_step_rate(situation, step, memory, single)

    found = tuple(s if s.looped else max(_orders(s, memory), key=rate) for s in steps)
    return found, sum((Fraction(1, rate(s)) for s in found if not s.looped), Fraction(0))


def _list_tables(steps: Sequence[VectorStep]) -> list[str]:
    """Return the local tensors of several dimensions that steps read or write."""
    operands = [operand for step in steps for operand in step.operands]
    tables = [o.local for o in operands if isinstance(o, MemoryOperand) and len(o.coefficients) > 1]
    return list(dict.fromkeys(tables))


def find_step_rate(
    situation: Situation, step: VectorStep, memory: OperandMemory, single: Sequence[bool]
) -> int:
    """Return the elements a cycle of a step; `single` says which dimensions have one element."""
    operands = [(o.type, find_steps_over(o, memory, step.along)) for o in step.operands]
    alone = [single[k] for k in step.along]
    return find_rate(situation.profile, step.operation, operands, alone)


def is_single(size: isl.PwAff) -> bool:
    """Return whether a size is 1 everywhere."""
    return find_same(size) == 1


def _orders(step: VectorStep, memory: OperandMemory) -> Iterator[VectorStep]:
    """Yield a step in all orders of its dimensions that give the same values."""
    yield step
    if _reads_elsewhere(step):
        return
    still = find_steps_over(step.operands[0], memory, step.along)
    kept = [k for k, stride in zip(step.along, still, strict=True) if stride == 0]
    for along in permutations(step.along):
        if [k for k in along if k in kept] == kept:
            yield replace(step, along=along)


def _reads_elsewhere(step: VectorStep) -> bool:
    """Return whether a step reads other elements of the tensor that it writes."""
    to, *sources = step.operands
    return isinstance(to, MemoryOperand) and any(_is_other(to, source) for source in sources)


def _is_other(to: MemoryOperand, source: Operand) -> bool:
    return isinstance(source, MemoryOperand) and source.local == to.local and source != to
