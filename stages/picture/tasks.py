"""Tasks of a layer on a page: instances, ways to instructions, and code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.fabric.coordinates import Place, shift
from lairmake.stages.layer.texts.simd_yaml import (
    Arriving,
    Decision,
    Decisions,
    GivenDecision,
    LocalDecision,
    NumberDecision,
    OperandDecision,
    Streamed,
)
from lairmake.stages.layer.texts.task_graph import AnyTask, TaskGraph
from lairmake.stages.picture.page import Line, find_functions, highlight
from lairmake.stages.poly.arrays import evaluate_set
from lairmake.stages.poly.box import find_extents
from lairmake.stages.poly.cardinality import bind_constants
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, bind_set, unbind_set
from lairmake.stages.poly.text import Objects, spell_object

PARAM, SET = isl.dim_type.param, isl.dim_type.set

# --- Instances of a task on one PE, and its box hull, as points -----------------------------------

MOST = 64
"""Number of points that are drawn along a dimension, at most."""
INSTANCE, HULL = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The instances of a task for one value of each symbolic constant, and of its outer dimensions.

    `rows` has a digit for each point of a box from `least` on, in the two innermost dimensions: 1
    for an instance, 2 for a point of the hull only, 3 for a point of both, else 0. Where the box is
    cut, `sizes` are larger than `rows`.
    """

    constants: Mapping[str, int]
    outer: Mapping[str, int]
    dimensions: tuple[str, ...]
    least: tuple[int, ...]
    sizes: tuple[int, ...]
    rows: tuple[str, ...]


def sample(instances: isl.Set, hull: isl.Set | None) -> Sampled | None:
    """Return a picture of instances `[p] -> { [i] }`, and of a hull `[p] -> { [i] }` around them.

    The symbolic constants are the first, in lexicographic order, with instances, and with other
    points in the hull, if there are any such. Return None where there is nothing to draw.
    """
    around = instances if hull is None else instances.union(hull)
    extra = around.subtract(instances)
    constants = instances.params()
    both = constants.intersect(extra.params())
    names, values = _first(constants if both.is_empty() else both)
    drawn = [instances] if hull is None else [instances, around]
    here = [_fixed(each, names, values) for each in drawn]
    return None if not here[0].dim(SET) or here[0].is_empty() else _drawn(here, names, values)


def _first(constants: isl.Set) -> tuple[list[str], list[int]]:
    """Return the names and the first values of symbolic constants."""
    points = bind_constants(constants)
    first = points.lexmin() if points.is_bounded() else points
    point = first.sample_point()
    values = [point.get_coordinate_val(SET, k).to_python() for k in range(points.dim(SET))]
    return list(constants.get_var_names_not_none(PARAM)), values


def _fixed(elements: isl.Set, names: list[str], values: list[int]) -> isl.Set:
    """Return { [i] } of `[p] -> { [i] }` for values of its symbolic constants."""
    for name, value in zip(names, values, strict=True):
        at = elements.find_dim_by_name(PARAM, name)
        if at >= 0:
            elements = elements.fix_val(PARAM, at, value).project_out(PARAM, at, 1)
    return elements


def _drawn(here: list[isl.Set], names: list[str], values: list[int]) -> Sampled | None:
    first = here[0].lexmin().sample_point()
    count = here[0].dim(SET)
    outer = [first.get_coordinate_val(SET, k).to_python() for k in range(count)][:-2]
    said = [here[0].get_dim_name(SET, k) or f"i{k}" for k in range(count)]
    slices = [_at(each, outer) for each in here]
    box = find_extents(slices[-1])
    if box is None:
        return None
    axes = [np.arange(low, min(high, low + MOST - 1) + 1, dtype=np.int64) for low, high in box]
    return Sampled(
        constants=dict(zip(names, values, strict=True)),
        outer=dict(zip(said, outer, strict=False)),
        dimensions=tuple(said[len(outer) :]),
        least=tuple(low for low, _ in box),
        sizes=tuple(high - low + 1 for low, high in box),
        rows=_rows(slices, axes),
    )


def _at(elements: isl.Set, outer: list[int]) -> isl.Set:
    """Return { [i, j] } of { [o..., i, j] } for values of what is outer."""
    for at, value in enumerate(outer):
        elements = elements.fix_val(SET, at, value)
    return elements.project_out(SET, 0, len(outer)).reset_tuple_id()


def _rows(slices: list[isl.Set], axes: list[np.ndarray]) -> tuple[str, ...]:
    """Return the digits of the points whose coordinates the axes are."""
    shape = tuple(map(len, axes))
    names = [f"d{k}" for k in range(len(axes))]
    points = dict(zip(names, np.meshgrid(*axes, indexing="ij"), strict=True))
    digits = np.full(shape, ord("0"), dtype=np.uint8)
    for bit, elements in zip((INSTANCE, HULL), slices, strict=False):
        digits += evaluate_set(bind_set(elements, names), points).astype(np.uint8) * np.uint8(bit)
    return tuple(row.tobytes().decode("ascii") for row in digits.reshape(-1, shape[-1]))

# --- Numbers and PEs of isl texts, in words of a page ---------------------------------------------
#
# isl texts give a PE by PE_X and PE_Y, counted from the first PE that computes. A page calls it
# PE[x, y], as layer.yaml does.

AXES = ("x", "y")
PIECE = re.compile(r"\[(?P<value>[^\]]*)\](?: : (?P<where>.*))?")


def spell_number(function: int | str, offset: Place) -> str:
    """Return a number, or the text of `[p] -> { [f(p)] }`, as f(p): `index`, `8y - 8`.

    `offset` is the name in layer.yaml of the PE that is PE[0, 0] in texts. Several pieces are said
    with their conditions.
    """
    if isinstance(function, int):
        return str(function)
    at_pe = unbind_set(isl.Set(function), "PE", PE_NAMES).apply_domain(shift(offset))
    said = spell_object(bind_domain(at_pe, AXES).reset_tuple_id())
    pieces = [PIECE.fullmatch(each.strip()) for each in said[said.index("{") + 1 : -1].split(";")]
    return " or ".join(
        each["value"] if each["where"] is None else f"{each['value']} where {each['where']}"
        for each in pieces if each is not None
    )


def spell_pes(constants: Mapping[str, int], offset: Place) -> str:
    """Return the PEs with these coordinates: `PE[2, y]` where PE_Y is none of the constants."""
    if not any(name in constants for name in PE_NAMES):
        return ""
    said = [
        str(constants[name] + more) if name in constants else axis
        for name, axis, more in zip(PE_NAMES, AXES, offset, strict=True)
    ]
    return f"PE[{', '.join(said)}]"

# --- Tasks on a page: instances, ways, code -------------------------------------------------------

VARIANTS = ("simd", "loops")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWay:
    """A way to an instruction: the cycles expected of it, or the reason why it is none."""

    name: str
    cycles: int | None = None
    why_not: str | None = None
    taken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Place of a task in the program of a role: its first line, and the one after its last."""

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
    ways: tuple[TaskWay, ...]
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
    """Return the role of the program in a file: `compute` of build/simd/pe_compute.c."""
    return file.rpartition("/pe_")[2].removesuffix(".c")


def describe_programs(texts: Mapping[tuple[str, str], str]) -> tuple[ProgramOnPage, ...]:
    """Return programs, given as C by role and variant."""
    return tuple(
        ProgramOnPage(role=role, variant=variant, lines=highlight(text))
        for (role, variant), text in texts.items()
    )


def describe_tasks(
    graph: TaskGraph, decisions: Decisions, compressions: Objects, hulls: Objects,
    texts: Mapping[tuple[str, str], str], offset: Place,
) -> tuple[TaskOnPage, ...]:
    """Return the data of each task, in the order in which PEs run them.

    `compressions` and `hulls` are the texts of these names; `texts` are the programs in C by role
    and variant; `offset` is the name in layer.yaml of the PE that is PE[0, 0] in these.
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


def _ways(decision: Decision) -> Iterator[TaskWay]:
    """Yield the way taken, and the others in the order in which they were weighed."""
    yield TaskWay(name=decision.by, cycles=decision.cycles, taken=True)
    for name, other in (decision.others or {}).items():
        yield TaskWay(name=name, cycles=other.cycles, why_not=other.not_possible)


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
        case LocalDecision():
            base, strides = _listed(operand.base, offset), _listed(operand.strides, offset)
            return f"{operand.type} {operand.local}, from [{base}], strides [{strides}]"
        case Arriving():
            return f"{operand.type} {operand.element}, the element that arrives"
        case Streamed():
            return f"{operand.type} {operand.stream}, as it streams"
        case NumberDecision():
            return f"{operand.type} {operand.number}"
        case GivenDecision():
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
