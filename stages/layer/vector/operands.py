"""Operands of a vector instruction: memory in strides, elements that arrive, numbers."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod

import islpy as isl

from lairmake.stages.layer.texts import simd_yaml
from lairmake.stages.layer.vector.situation import NotPossibleError, Situation, VectorCandidate
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.box import Shape, box, extend_allocation, find_shape, shift
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_set,
    find_greatest,
    find_least,
    greatest_value,
    least_value,
    project_names,
)
from lairmake.stages.poly.lattices import linear_form

# --- First words of operands ----------------------------------------------------------------------
#
# They are words of local tensors, as far as banks tell words apart. Where they depend on the PE, on
# what arrives, or on loops, they are a histogram: the share of the calls in which the operands of
# an instruction begin there. Each symbolic constant takes all values from its least on the PE to
# its greatest, by their stride, whatever the others are. Without bounds all are as frequent.
#
# Source   stages/fabric/rate.c, which charges what happens

@dataclass(frozen=True, slots=True)
class LinearIndex:
    """An index of a local tensor: a constant, and multiples of functions of symbolic constants."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()


FirstIndex = tuple[Sequence[LinearIndex], Sequence[int]]
"""Indices of the first element of an operand, and over how many words each of them steps."""


def find_calls(known: isl.Set, guard: str | None, outer: str | None) -> isl.Set:
    """Return the symbolic constants of calls, given those of the task; `outer` are its loops.

    `guard` tells where there are instances. What loops run over are outer0, ...
    """
    calls = known if guard is None else known.intersect(isl.Set(guard))
    if outer is None:
        return calls
    rows = isl.Set(outer)
    names = [f"outer{k}" for k in range(rows.dim(isl.dim_type.set))]
    return calls.intersect(bind_set(rows, names))


class CallValues:
    """The values that functions of symbolic constants have in the calls of an instruction."""

    def __init__(self, calls: isl.Set) -> None:
        """Keep the constants with which it is called."""
        self.calls = calls
        self.counts: dict[tuple[str, int], tuple[int, ...]] = {}
        self.least: dict[str, LinearIndex | None] = {}

    def read(self, function: int | str | isl.PwAff) -> LinearIndex:
        """Return an index in symbolic constants, each from 0 on; one not affine as it is."""
        if isinstance(function, int):
            return LinearIndex(function)
        found = _read_affine(isl.PwAff(function) if isinstance(function, str) else function)
        if found is None:
            return LinearIndex(0, ((str(function), 1),))
        constant, factors = found
        terms: dict[str, int] = {}
        for name, factor in factors.items():
            least = self._find_least(name)
            constant += factor * (least.constant if least else 0)
            for other, times in least.terms if least else ():
                terms[other] = terms.get(other, 0) + factor * times
            terms[name] = terms.get(name, 0) + factor
        return LinearIndex(constant, tuple((name, by) for name, by in terms.items() if by))

    def _find_least(self, name: str) -> LinearIndex | None:
        """Return the least value of a symbolic constant, in those of the PE; None for another form.
        """
        if name not in self.least:
            values = self._list_values(_as_function(name), PE_NAMES)
            least = None
            if name not in PE_NAMES and find_least(values, 0).is_int():
                least = _read_affine(values.dim_min(0))
            self.least[name] = None if least is None else LinearIndex(
                least[0], tuple(least[1].items()))
        return self.least[name]

    def _list_values(self, function: isl.PwAff, kept: Sequence[str] = ()) -> isl.Set:
        """Return { [value] } in the calls, or [kept] -> { [value] }."""
        values = isl.Set.from_pw_aff(function.intersect_params(self.calls))
        names = values.get_var_names_not_none(isl.dim_type.param)
        return project_names(values, [name for name in names if name not in kept])

    def count(self, term: str, modulus: int) -> tuple[int, ...]:
        """Return how many values a symbolic constant from 0 on, or a function, has of each
        remainder.
        """
        if (term, modulus) not in self.counts:
            self.counts[term, modulus] = self._count(term, modulus)
        return self.counts[term, modulus]

    def _count(self, term: str, modulus: int) -> tuple[int, ...]:
        function = isl.PwAff(term) if "{" in term else self._from_least(term)
        values = self._list_values(function)
        least, greatest = find_least(values, 0), find_greatest(values, 0)
        if not (least.is_int() and greatest.is_int()):
            return (1,) * modulus
        counts = [0] * modulus
        first, stride = int(least.to_python()), int(values.get_stride(0).to_python()) or 1
        size = (int(greatest.to_python()) - first) // stride + 1
        for k in range(min(modulus, size)):
            counts[(first + k * stride) % modulus] += (size - k + modulus - 1) // modulus
        return tuple(counts)

    def _from_least(self, name: str) -> isl.PwAff:
        """Return a symbolic constant less its least value on the PE."""
        least, function = self._find_least(name), _as_function(name)
        if least is None:
            return function
        listed = " + ".join(f"{by}{other}" for other, by in (*least.terms, ("", least.constant)))
        names = ", ".join(PE_NAMES)
        return function.sub(isl.PwAff(f"[{names}] -> {{ [({listed})] }}"))


def _as_function(name: str) -> isl.PwAff:
    return isl.PwAff(f"[{name}] -> {{ [({name})] }}")


def _read_affine(function: isl.PwAff) -> tuple[int, dict[str, int]] | None:
    """Return the constant of a function, and its factors by name; None if it is not affine."""
    simple = function.gist(function.domain()).coalesce()
    if not (simple.isa_aff() and simple.domain().plain_is_universe()):
        return None
    affine, names = simple.as_aff(), simple.get_var_names_not_none(isl.dim_type.param)
    if affine.dim(isl.dim_type.div) or not affine.get_denominator_val().is_one():
        return None
    by = [affine.get_coefficient_val(isl.dim_type.param, k) for k in range(len(names))]
    factors = {n: int(a.to_python()) for n, a in zip(names, by, strict=True) if not a.is_zero()}
    return int(affine.get_constant_val().to_python()), factors


def count_first_words(
    operands: Sequence[FirstIndex], values: CallValues, modulus: int
) -> dict[tuple[int, ...], Fraction]:
    """Return the share of the calls in which operands begin at some words, by these, modulo banks.
    """
    found = count_calls(operands, values, modulus, tuple)
    every = sum(found.values())
    return {words: Fraction(times, every) for words, times in found.items()}


def count_calls(
    operands: Sequence[FirstIndex], values: CallValues, modulus: int,
    turn: Callable[[Sequence[int]], tuple[int, ...]],
) -> dict[tuple[int, ...], int]:
    """Return in how many calls operands begin at some words, by these, modulo banks.

    `turn` makes one of words between which nobody tells a difference, whatever is added to each.
    """
    first, steps = list[int](), dict[str, list[int]]()
    for k, (indices, words) in enumerate(operands):
        first.append(sum(i.constant * w for i, w in zip(indices, words, strict=True)) % modulus)
        for index, word in zip(indices, words, strict=True):
            for function, factor in index.terms:
                steps.setdefault(function, [0] * len(operands))[k] += factor * word
    found = {turn(first): 1}
    for function, by in steps.items():
        if any(step % modulus for step in by):
            found = _add(found, by, values.count(function, modulus), turn)
    return found


def _add(
    found: Mapping[tuple[int, ...], int], steps: Sequence[int], counts: Sequence[int],
    turn: Callable[[Sequence[int]], tuple[int, ...]],
) -> dict[tuple[int, ...], int]:
    """Return a histogram of words, to which multiples of steps are added, each as often."""
    modulus = len(counts)
    moved: dict[tuple[int, ...], int] = {}
    for value, times in enumerate(counts):
        if times:
            by = turn([value * step % modulus for step in steps])
            moved[by] = moved.get(by, 0) + times
    sums: dict[tuple[int, ...], int] = {}
    for (words, often), (by, times) in product(found.items(), moved.items()):
        to = tuple([(w + s) % modulus for w, s in zip(words, by, strict=True)])
        sums[to] = sums.get(to, 0) + often * times
    turned: dict[tuple[int, ...], int] = {}
    for words, often in sums.items():
        to = turn(words)
        turned[to] = turned.get(to, 0) + often
    return turned


Counts = Mapping[str, int]
"""How many buffers a local tensor has, if it has several, of which tensors take turns."""


def count_turns(buffers: Counts) -> int:
    """Return after how many invocations all tensors have the same buffers again."""
    return lcm(*buffers.values())


def turn_buffer(
    indices: Sequence[LinearIndex], local: str, turn: int, buffers: Counts
) -> tuple[LinearIndex, ...]:
    """Return indices of a local tensor, given those in the first invocation, so many later."""
    if local not in buffers:
        return tuple(indices)
    first, *others = indices
    return LinearIndex((first.constant + turn) % buffers[local]), *others

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
