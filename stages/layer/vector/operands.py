"""Operands of a vector instruction: memory in strides, elements that arrive, numbers."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod

import islpy as isl

from lairmake.stages.layer.texts import simd_yaml
from lairmake.stages.layer.vector.situation import NotPossibleError, Situation, VectorCandidate
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.box import Shape, box, extend_allocation, find_shape, shift
from lairmake.stages.poly.functions import greatest_value, least_value
from lairmake.stages.poly.lattices import linear_form

# --- First word of an operand ---------------------------------------------------------------------
#
# It is the word of its local tensor, as far as banks tell words apart.
#
# Source   stages/fabric/rate.c, which charges what happens

def find_word(
    base: Sequence[int | str], shape: Sequence[int], word: int, banks: int
) -> int | None:
    """Return at which word of a tensor an element lies, modulo the banks; None if that varies.

    `word` is how many words an element takes.
    """
    found = 0
    for k, index in enumerate(base):
        step = prod(shape[k + 1 :]) * word
        if isinstance(index, int):
            found += index * step
        elif step % banks and not _is_multiple(index, banks // gcd(step, banks)):
            return None
    return found % banks


def _is_multiple(index: str, of: int) -> bool:
    """Whether an index, a function of constants, is a multiple of a number everywhere."""
    values = isl.Set.from_pw_aff(isl.PwAff(index).floor())
    return bool(values.is_subset(isl.Set(f"{{ [value] : value mod {of} = 0 }}")))

# --- Local memory with room for extra accesses ----------------------------------------------------
#
# Vector instructions access elements besides those that their tasks do.
#
# Paper    V Sec. 5.3, Ex. 5.9

@dataclass(frozen=True, slots=True, kw_only=True)
class OperandMemory:
    """The shape of every local tensor, and the index of its first element before the extension."""

    shapes: Mapping[str, Shape]
    shifts: Mapping[str, Shape]

    def local(self) -> isl.UnionSet:
        """Return { T_local[l] }."""
        found = isl.UnionSet("{ }")
        for name, shape in self.shapes.items():
            found = found.union(isl.UnionSet.from_set(box(name, shape)))
        return found

    def bytes(self, type_of: Callable[[str], str]) -> int:
        """Return how many bytes they take, given the type of a local tensor by its name."""
        return sum(BYTES[type_of(name)] * prod(shape) for name, shape in self.shapes.items())

    def moved(self, to_local: isl.UnionMap) -> isl.UnionMap:
        """Return { [PE -> T[e]] -> T_local[l] } of the allocation before the extension."""
        return shift(to_local, self.shifts)


def extend(local: Mapping[str, isl.Set], touched: Iterable[isl.Set]) -> OperandMemory:
    """Return memory that holds the local tensors and all that is touched.

    `touched` are sets [PE_X, PE_Y] -> { T_local[l] } in the coordinates of `local`.
    """
    shapes = {name: find_shape(elements) for name, elements in local.items()}
    shifts = {name: (0,) * len(shape) for name, shape in shapes.items()}
    for elements in touched:
        name = elements.get_tuple_name()
        extension = extend_allocation(find_shape(local[name]), elements)
        assert extension is not None, "extra instances access a bounded box"
        shapes[name], shifts[name] = _joined(
            shapes[name], shifts[name], extension.size, extension.shift
        )
    return OperandMemory(shapes=shapes, shifts=shifts)


def _joined(size: Shape, shift: Shape, other: Shape, other_shift: Shape) -> tuple[Shape, Shape]:
    """Return size and shift of the least box that holds two boxes."""
    first = tuple(min(a, b) for a, b in zip(shift, other_shift, strict=True))
    ends = (max(s + n, t + m) for n, s, m, t in zip(size, shift, other, other_shift, strict=True))
    return tuple(e - f for e, f in zip(ends, first, strict=True)), first

# --- Operands of a vector instruction -------------------------------------------------------------
#
# Paper    V Sec. 5, conditions 3 and 4

Coefficients = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOperand:
    """Element [k] of the box at T_local[base + coefficients (k - origin)], before extensions."""

    local: str
    type: str
    base: tuple[isl.PwAff, ...]
    coefficients: Coefficients


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOperand:
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

    def shown(self) -> simd_yaml.PartDecision:
        """Return the memory of the part: its type and its number of elements."""
        return simd_yaml.PartDecision(type=self.type, elements=prod(self.shape))


Operand = MemoryOperand | GivenOperand | InPart


def in_memory(situation: Situation, tensor: str, candidate: VectorCandidate) -> MemoryOperand:
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
    return MemoryOperand(
        local=local.get_tuple_name(isl.dim_type.out),
        type=situation.type_of(tensor),
        base=tuple(_at_origin(constant, row, candidate.origin) for constant, row in rows),
        coefficients=form.coefficients,
    )


def along(operand: Operand) -> tuple[int, ...]:
    """Return the dimensions of the box along which an operand varies."""
    if isinstance(operand, InPart):
        return operand.along
    if isinstance(operand, GivenOperand):
        return ()
    columns = enumerate(zip(*operand.coefficients, strict=True))
    return tuple(k for k, column in columns if any(column))


def describe(
    operand: Operand, memory: OperandMemory, dimensions: Sequence[int]
) -> simd_yaml.OperandDecision:
    """Return an operand as simd.yaml has it, for memory as it is after extensions.

    `dimensions` are those of the box that the instruction runs over.
    """
    if isinstance(operand, GivenOperand):
        if operand.kind == "element":
            return simd_yaml.Arriving(element=str(operand.value), type=operand.type)
        if operand.kind == "stream":
            return simd_yaml.Streamed(stream=str(operand.value), type=operand.type)
        return simd_yaml.NumberDecision(number=operand.value, type=operand.type)
    strides = find_steps_over(operand, memory, dimensions)
    if isinstance(operand, InPart):
        return simd_yaml.GivenDecision(part=operand.number, type=operand.type, strides=strides)
    shift = memory.shifts[operand.local]
    base = [b.add_constant_val(isl.Val(-s)) for b, s in zip(operand.base, shift, strict=True)]
    return simd_yaml.LocalDecision(
        local=operand.local,
        type=operand.type,
        base=tuple(write_value(b.coalesce()) for b in base),
        strides=strides,
    )


def find_steps_over(
    operand: Operand, memory: OperandMemory, dimensions: Sequence[int]
) -> tuple[int, ...]:
    """Return over how many elements of an operand each dimension of the box steps."""
    if isinstance(operand, GivenOperand):
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
