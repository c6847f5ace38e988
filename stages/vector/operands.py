"""The operands of a vector instruction: local memory in strides, what arrives, or a number.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5, conditions 3 and 4
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from stages.lair.operation import Leaf, Operation, Part
from stages.poly.linear import linear_form
from stages.poly.local import Shape
from stages.streams.tasks import FILLS
from stages.vector.candidate import Candidate, NotPossibleError
from stages.vector.memory import Memory
from stages.vector.situation import Description, Situation

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
    """The element that arrives, or a number: what is the same for the whole box."""

    kind: typing.Literal["element", "number"]
    value: str | float
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InPart:
    """Element [k] of what an earlier step of the statement gave, elements in their order."""

    number: int
    type: str
    shape: Shape

    def shown(self) -> Description:
        """Return the memory of the part: its type and its number of elements."""
        return {"type": self.type, "elements": prod(self.shape)}


Operand = InMemory | Given | InPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A vector instruction: its operation, and its operands d, a, b, c."""

    operation: str
    operands: tuple[Operand, ...]


def steps_of(
    situation: Situation, operations: Sequence[Operation], candidate: Candidate
) -> tuple[Step, ...]:
    """Return the steps of a statement. Raises NotPossibleError if an access is not linear."""
    if not situation.runs:
        (operation,), (tensor,) = operations, situation.accesses
        memory = _in_memory(situation, tensor, candidate)
        value = typing.cast(str, operation.sources[0])
        filled = Given(kind="number", value=value, type=memory.type)
        fills = situation.task["kind"] in FILLS
        operands: tuple[Operand, ...] = (memory, filled) if fills else (memory,)
        return (Step(operation=operation.name, operands=operands),)
    return tuple(_step(situation, operation, candidate) for operation in operations)


def _step(situation: Situation, operation: Operation, candidate: Candidate) -> Step:
    """Return one step. Whatever is no tensor is computed in float32, or in int32."""
    target = situation.task["target"]
    leaves = (operation.to or target, *operation.sources)
    operands = (_operand(situation, x, candidate) for x in leaves)
    return Step(operation=operation.name, operands=tuple(operands))


def _operand(situation: Situation, leaf: Leaf, candidate: Candidate) -> Operand:
    target = situation.type_of(situation.task["target"])
    computed = "int32" if target.startswith("int") else "float32"
    if isinstance(leaf, Part):
        type_ = target if leaf.rounded and target.startswith("float") else computed
        return InPart(number=leaf.number, type=type_, shape=_greatest(situation, candidate))
    if not isinstance(leaf, str):
        return Given(kind="number", value=leaf, type=computed)
    if leaf == situation.arriving:
        return Given(kind="element", value=leaf, type=situation.type_of(leaf))
    return _in_memory(situation, leaf, candidate)


def _greatest(situation: Situation, candidate: Candidate) -> Shape:
    """Return the greatest size of each dimension of the box."""
    domain = candidate.box.params()
    sizes = (size.intersect_params(domain).floor().max_val() for size in candidate.sizes)
    return tuple(size.to_python() for size in sizes)


def _in_memory(situation: Situation, tensor: str, candidate: Candidate) -> InMemory:
    """Return { T_local[base + coefficients] }. Raises NotPossibleError if it is not linear."""
    access = situation.accesses[tensor]
    if candidate.change is not None:
        access = candidate.change.apply_range(access)
    local = access.apply_range(situation.files.by_tensor[tensor])
    form = linear_form(local.intersect_domain(candidate.box), situation.known)
    if form is None:
        raise NotPossibleError(f"the access to {tensor} is not linear")
    rows = zip(form.constant, form.coefficients, strict=True)
    return InMemory(
        local=local.get_tuple_name(isl.dim_type.out),
        type=situation.type_of(tensor),
        base=tuple(_at_origin(constant, row, candidate.origin) for constant, row in rows),
        coefficients=form.coefficients,
    )


def parts_of(steps: Sequence[Step]) -> list[InPart]:
    """Return the parts that steps give to later ones, by their numbers."""
    parts = {o.number: o for step in steps for o in step.operands if isinstance(o, InPart)}
    return [parts[number] for number in sorted(parts)]


def described(operand: Operand, memory: Memory, rank: int) -> Description:
    """Return an operand as simd.yaml has it, for memory as it is after extensions."""
    if isinstance(operand, Given):
        return {operand.kind: operand.value, "type": operand.type}
    if isinstance(operand, InPart):
        strides = _strides(_unit(len(operand.shape)), operand.shape)
        return {"part": operand.number, "type": operand.type, "strides": strides}
    shift = memory.shifts[operand.local]
    base = [b.add_constant_val(isl.Val(-s)) for b, s in zip(operand.base, shift, strict=True)]
    return {
        "local": operand.local,
        "type": operand.type,
        "base": [value_of(b.coalesce()) for b in base],
        "strides": _strides(operand.coefficients, memory.shapes[operand.local]) or [0] * rank,
    }


def value_of(function: isl.PwAff) -> int | str:
    """Return a constant as a number, another function as isl text; integral wherever it is used."""
    function = function.floor()
    least, greatest = function.min_val(), function.max_val()
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


def _unit(rank: int) -> Coefficients:
    return tuple(tuple(int(j == k) for k in range(rank)) for j in range(rank))


def _strides(coefficients: Coefficients, shape: Shape) -> list[int]:
    """Return how many elements of a local tensor each dimension of the box steps over."""
    steps = [1]
    for size in reversed(shape[1:]):
        steps.insert(0, steps[0] * size)
    columns = zip(*coefficients, strict=True)
    return [sum(c * s for c, s in zip(column, steps, strict=True)) for column in columns]
