"""The operands of a vector instruction: local memory in strides, what arrives, or a number.

Paper    V Sec. 5, conditions 3 and 4
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.layer.texts import yaml_files
from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.memory import Memory
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.poly.box import Shape
from lairmake.stages.poly.functions import greatest_value, least_value
from lairmake.stages.poly.lattices import linear_form

Coefficients = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InMemory:
    """Element [k] of the box at T_local[base + coefficients (k - origin)], before extensions."""

    local: str
    type: str
    base: tuple[isl.PwAff, ...]
    coefficients: Coefficients


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The element that arrives, or a number: what is the same for the whole box; or a stream.

    What comes on a stream, or leaves on it, has no place in memory.
    """

    kind: typing.Literal["element", "number", "stream"]
    value: str | float
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InPart:
    """Element [k] of what an earlier step of the statement gave, elements in their order.

    It varies along some dimensions of the box only, of which `shape` has the greatest sizes.
    """

    number: int
    type: str
    along: tuple[int, ...]
    shape: Shape

    def shown(self) -> yaml_files.Part:
        """Return the memory of the part: its type and its number of elements."""
        return yaml_files.Part(type=self.type, elements=prod(self.shape))


Operand = InMemory | Given | InPart


def in_memory(situation: Situation, tensor: str, candidate: Candidate) -> InMemory:
    """Return { T_local[base + coefficients] }.

    Raises NotPossibleError if it is not linear, or elements of the box have no place in memory: as
    in a ring, where no other place than that of its own chunk is free.
    """
    access = situation.accesses[tensor]
    if candidate.change is not None:
        access = candidate.change.apply_range(access)
    local = access.apply_range(situation.files.by_tensor[tensor])
    form = linear_form(local.intersect_domain(candidate.box), situation.known)
    if form is None:
        raise NotPossibleError(f"the access to {tensor} is not linear")
    if not candidate.box.intersect_params(situation.known).is_subset(local.domain()):
        raise NotPossibleError(f"extra instances have no place in the memory of {tensor}")
    rows = zip(form.constant, form.coefficients, strict=True)
    return InMemory(
        local=local.get_tuple_name(isl.dim_type.out),
        type=situation.type_of(tensor),
        base=tuple(_at_origin(constant, row, candidate.origin) for constant, row in rows),
        coefficients=form.coefficients,
    )


def along(operand: Operand) -> tuple[int, ...]:
    """Return the dimensions of the box along which an operand varies."""
    if isinstance(operand, InPart):
        return operand.along
    if isinstance(operand, Given):
        return ()
    columns = enumerate(zip(*operand.coefficients, strict=True))
    return tuple(k for k, column in columns if any(column))


def describe(
    operand: Operand, memory: Memory, dimensions: Sequence[int]
) -> yaml_files.OperandDecision:
    """Return an operand as simd.yaml has it, for memory as it is after extensions.

    `dimensions` are those of the box that the instruction runs over.
    """
    if isinstance(operand, Given):
        if operand.kind == "element":
            return yaml_files.Arriving(element=str(operand.value), type=operand.type)
        if operand.kind == "stream":
            return yaml_files.Streamed(stream=str(operand.value), type=operand.type)
        return yaml_files.Number(number=operand.value, type=operand.type)
    strides = find_steps_over(operand, memory, dimensions)
    if isinstance(operand, InPart):
        return yaml_files.Given(part=operand.number, type=operand.type, strides=strides)
    shift = memory.shifts[operand.local]
    base = [b.add_constant_val(isl.Val(-s)) for b, s in zip(operand.base, shift, strict=True)]
    return yaml_files.Local(
        local=operand.local,
        type=operand.type,
        base=tuple(write_value(b.coalesce()) for b in base),
        strides=strides,
    )


def find_steps_over(
    operand: Operand, memory: Memory, dimensions: Sequence[int]
) -> tuple[int, ...]:
    """Return over how many elements of an operand each dimension of the box steps."""
    if isinstance(operand, Given):
        return (0,) * len(dimensions)
    if isinstance(operand, InPart):
        steps = dict(zip(operand.along, _steps(operand.shape), strict=True))
        return tuple(steps.get(k, 0) for k in dimensions)
    return _strides(operand.coefficients, memory.shapes[operand.local], dimensions)


def write_value(function: isl.PwAff) -> int | str:
    """Return a constant as a number, another function as isl text; integral wherever it is used."""
    function = function.floor()
    least, greatest = least_value(function), greatest_value(function)
    if least.is_int() and least.eq(greatest):
        return int(least.to_python())
    return str(function)


def _at_origin(
    constant: isl.PwAff, coefficients: Sequence[int], origin: Sequence[isl.PwAff]
) -> isl.PwAff:
    """Return constant + coefficients * origin."""
    for coefficient, value in zip(coefficients, origin, strict=True):
        if coefficient:
            constant = constant.add(value.scale_val(isl.Val(coefficient)))
    return constant.coalesce()


def _strides(
    coefficients: Coefficients, shape: Shape, dimensions: Sequence[int]
) -> tuple[int, ...]:
    """Return how many elements of a local tensor each dimension of the box steps over."""
    rows = list(zip(coefficients, _steps(shape), strict=True))
    return tuple(sum(row[k] * step for row, step in rows) for k in dimensions)


def _steps(shape: Shape) -> list[int]:
    """Return how many elements each dimension of a tensor steps over."""
    return [prod(shape[k + 1 :]) for k in range(len(shape))]
