"""Contiguous dimensions of a vector instruction become one, where it has too many of them.

Paper    V Sec. 5, goes without this

Two dimensions p, q of a box, one after the other, are as one of n times as many elements, n the
size along q, if every operand steps along p over n times what it steps over along q: element
(p, q) is number n p + q.  Steps depend on the shapes of local tensors, which must stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from lairmake.stages.layer.texts.task_graph import AT_RUN_TIME
from lairmake.stages.layer.vector.candidate import Candidate, RankError
from lairmake.stages.layer.vector.memory import Memory
from lairmake.stages.layer.vector.operands import Given, InMemory, InPart, Operand, find_steps_over
from lairmake.stages.layer.vector.steps import Step
from lairmake.stages.poly.functions import find_same

IN, OUT, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def merge(
    name: str, candidate: Candidate, steps: Sequence[Step], memory: Memory, most: int
) -> tuple[Candidate, tuple[Step, ...]]:
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
        found = tuple(_at_step(step, at, count) for step in found)
        candidate = _candidate(candidate, at, count, _shapes(found, memory))
    check_rank(name, candidate, most)
    return candidate, found


def check_rank(name: str, candidate: Candidate, most: int) -> None:
    """Raise RankError for a box of more dimensions than a vector instruction has."""
    rank = len(candidate.sizes)
    if rank > most:
        raise RankError(f"{name} needs {rank} dimensions, a vector instruction has {most}")


def is_as_merged(candidate: Candidate, memory: Memory) -> bool:
    """Return whether the local tensors have the shapes that merged dimensions rely on."""
    return all(memory.shapes[name] == shape for name, shape in candidate.shapes.items())


def _merges(candidate: Candidate, steps: Sequence[Step], memory: Memory, at: int) -> bool:
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
    candidate: Candidate, at: int, count: int, shapes: Mapping[str, tuple[int, ...]]
) -> Candidate:
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


def _at_step(step: Step, at: int, count: int) -> Step:
    return replace(
        step,
        operands=tuple(_operand(operand, at, count) for operand in step.operands),
        along=_without(step.along, at),
    )


def _operand(operand: Operand, at: int, count: int) -> Operand:
    """Return an operand without the outer one of two dimensions."""
    if isinstance(operand, Given):
        return operand
    if isinstance(operand, InMemory):
        rows = operand.coefficients
        return replace(operand, coefficients=tuple((*r[:at], *r[at + 1 :]) for r in rows))
    return _part(operand, at, count)


def _part(part: InPart, at: int, count: int) -> InPart:
    shape = list(part.shape)
    if at in part.along:
        k = part.along.index(at)
        shape[k : k + 2] = [shape[k] * shape[k + 1]]
    return replace(part, along=_without(part.along, at), shape=tuple(shape))


def _without(along: Sequence[int], at: int) -> tuple[int, ...]:
    """Return dimensions, those after one numbered as if it were gone."""
    return tuple(k - (k > at) for k in along if k != at)


def _shapes(steps: Sequence[Step], memory: Memory) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the local tensors that steps read or write."""
    operands = [operand for step in steps for operand in step.operands]
    return {o.local: memory.shapes[o.local] for o in operands if isinstance(o, InMemory)}
