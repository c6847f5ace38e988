"""The tasks of a layer as a page shows them: instances, ways taken and not, and code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import islpy as isl

from lairmake.stages.fabric.grid import Place
from lairmake.stages.layer.texts.task_graph import AnyTask, Graph
from lairmake.stages.layer.texts.yaml_files import (
    Arriving,
    Decision,
    Decisions,
    Given,
    Local,
    Number,
    OperandDecision,
    Streamed,
)
from lairmake.stages.picture.highlighted import Line, find_functions, highlight
from lairmake.stages.picture.sampled import Sampled, sample
from lairmake.stages.picture.spelled import spell_number, spell_pes
from lairmake.stages.poly.text import Objects

VARIANTS = ("simd", "loops")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to an instruction: the cycles expected of it, or why it is none."""

    name: str
    cycles: int | None = None
    why_not: str | None = None
    taken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Where a task lies in the program of a role: its first line, and the one after it."""

    role: str
    variant: str
    first: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOnPage:
    """A task: what it does, how it became an instruction and why, and one PE's instances.

    `pes` are the PEs that have these instances, `PE[2, y]`; "" if all have.
    """

    name: str
    kind: str
    does: str
    why: str
    ways: tuple[Way, ...]
    instruction: tuple[str, ...]
    code: tuple[Code, ...]
    instances: Sampled | None = None
    pes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOnPage:
    """The program of a role, in C, in one of its variants."""

    role: str
    variant: str
    lines: tuple[Line, ...]


def find_role(file: str) -> str:
    """Return the role of which a file has the program: of build/simd/pe_compute.c `compute`."""
    return file.rpartition("/pe_")[2].removesuffix(".c")


def describe_programs(texts: Mapping[tuple[str, str], str]) -> tuple[ProgramOnPage, ...]:
    """Return programs, given as C by role and variant."""
    return tuple(
        ProgramOnPage(role=role, variant=variant, lines=highlight(text))
        for (role, variant), text in texts.items()
    )


def describe_tasks(
    graph: Graph, decisions: Decisions, compressions: Objects, hulls: Objects,
    texts: Mapping[tuple[str, str], str], offset: Place,
) -> tuple[TaskOnPage, ...]:
    """Return what a page shows of each task, in the order in which PEs run them.

    `compressions` and `hulls` are the texts of these names; `texts` the programs in C by role and
    variant; `offset` is what layer.yaml calls the PE that they call PE[0, 0].
    """
    return tuple(
        _describe(
            name, task, decisions, _sampled(name, compressions, hulls),
            tuple(_find_code(name, texts)), offset,
        )
        for name, task in graph.tasks.items()
    )


def _describe(
    name: str, task: AnyTask, decisions: Decisions, instances: Sampled | None,
    code: tuple[Code, ...], offset: Place,
) -> TaskOnPage:
    decision = decisions.get(name)
    return TaskOnPage(
        name=name, kind=task.kind, does=_does(task), why=decision.why if decision else "",
        ways=tuple(_ways(decision)) if decision else (),
        instruction=tuple(_instruction(decision, offset)) if decision else (),
        code=code, instances=instances,
        pes=spell_pes(instances.constants, offset) if instances else "",
    )


def _does(task: AnyTask) -> str:
    """Return what a task computes, as the LAIR has it, or what it takes, fills or sends."""
    fields: dict[str, Any] = {name: getattr(task, name, None) for name in (
        "target", "op", "expression", "arrival", "departure", "tensor", "value",
    )}
    if fields["expression"] is not None:
        return f"{fields['target']} {fields['op']} {fields['expression']}"
    if fields["value"] is not None:
        return f"{fields['tensor']} = {fields['value']}"
    return next((str(fields[n]) for n in ("arrival", "departure", "tensor") if fields[n]), "")


def _ways(decision: Decision) -> Iterator[Way]:
    """Yield the way taken, and the others in the order in which they were weighed."""
    yield Way(name=decision.by, cycles=decision.cycles, taken=True)
    for name, other in (decision.others or {}).items():
        yield Way(name=name, cycles=other.cycles, why_not=other.not_possible)


def _instruction(decision: Decision, offset: Place) -> Iterator[str]:
    """Yield a line for each instruction of a task, with its operands below."""
    sizes = _sizes(decision, offset)
    steps = decision.steps or ((decision,) if decision.operation else ())
    for step in steps:
        yield f"{step.operation} [{sizes}]"
        yield from (f"  {_spelled(operand, offset)}" for operand in step.operands)


def _sizes(decision: Decision, offset: Place) -> str:
    """Return the sizes of a vector instruction, `4 to 8` where they differ."""
    if decision.extents is None:
        return _listed(decision.sizes or (), offset)
    return ", ".join(
        str(size) if isinstance(size, int) else f"{size[0]} to {size[1]}"
        for size in decision.extents
    )


def _listed(numbers: Iterable[int | str], offset: Place) -> str:
    return ", ".join(spell_number(each, offset) for each in numbers)


def _spelled(operand: OperandDecision, offset: Place) -> str:
    match operand:
        case Local():
            base, strides = _listed(operand.base, offset), _listed(operand.strides, offset)
            return f"{operand.type} {operand.local}, from [{base}], strides [{strides}]"
        case Arriving():
            return f"{operand.type} {operand.element}, the element that arrives"
        case Streamed():
            return f"{operand.type} {operand.stream}, as it streams"
        case Number():
            return f"{operand.type} {operand.number}"
        case Given():
            return f"{operand.type} what step {operand.part} gave"


def _find_code(name: str, texts: Mapping[tuple[str, str], str]) -> Iterator[Code]:
    """Yield where a task's function is: the one that counts it, else the one that is called so."""
    counts = f"COUNT_CALL(pe, {name.upper()})"
    counted = {at: text for at, text in texts.items() if counts in text}
    for (role, variant), text in (counted or texts).items():
        lines = text.split("\n")
        for function, (first, end) in find_functions(text).items():
            is_counted = any(counts in line for line in lines[first:end])
            if is_counted if counted else function == name:
                yield Code(role=role, variant=variant, first=first, end=end)


def _sampled(name: str, compressions: Objects, hulls: Objects) -> Sampled | None:
    if name not in compressions or compressions[name].is_empty():
        return None
    hull = hulls.get(f"{name}_hull")
    return sample(
        isl.Set.from_union_set(compressions[name]),
        None if hull is None or hull.is_empty() else isl.Set.from_union_set(hull),
    )
