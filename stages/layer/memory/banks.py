"""Banks of memory: where arrays start, and how long rows are, so that instructions wait least."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, inf, prod
from operator import mul
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.memory.arrays import ProgramArray, lay_out
from lairmake.stages.layer.texts.task_graph import Fills, Runs
from lairmake.stages.layer.vector.instruction import find_rate, is_single
from lairmake.stages.layer.vector.operands import (
    CallValues,
    Counts,
    FirstIndex,
    InPart,
    LinearIndex,
    MemoryOperand,
    OperandMemory,
    count_calls,
    count_turns,
    find_calls,
    turn_buffer,
)
from lairmake.stages.machine.banks import (
    WORD,
    PlaceCost,
    choose_places,
    find_waits,
    list_starts,
    turn_banks,
)
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.box import Shape
from lairmake.stages.poly.functions import greatest_value

if TYPE_CHECKING:
    from lairmake.stages.layer.vector.options import VectorChoice
    from lairmake.stages.layer.vector.situation import Situation, VectorCandidate
    from lairmake.stages.layer.vector.steps import VectorStep
    from lairmake.stages.machine.profile import Profile

# --- Vector instructions and the banks of their operands ------------------------------------------

@dataclass(frozen=True)
class ArrayPlace:
    """The shape of an array, and the bank in which it starts."""

    shape: Shape
    start: int

    @cached_property
    def steps(self) -> list[int]:
        """How many elements each dimension steps over."""
        return [prod(self.shape[k + 1 :]) for k in range(len(self.shape))]


@dataclass(frozen=True, slots=True, kw_only=True)
class BankedOperand:
    """An operand in memory: at index + coefficients k of its array, for element k of a box.

    `coefficients` has one column per dimension of the array, one row per dimension of the box.
    """

    array: str
    type: str
    indices: tuple[LinearIndex, ...]
    coefficients: tuple[tuple[int, ...], ...]

    def find_strides(self, places: Mapping[str, ArrayPlace]) -> tuple[int, ...]:
        """Return how many elements each dimension of the box steps over."""
        steps = places[self.array].steps
        return tuple(sum(map(mul, row, steps)) for row in self.coefficients)

    def find_words(self, places: Mapping[str, ArrayPlace]) -> tuple[int, ...]:
        """Return how many words each dimension of the box steps over."""
        return tuple(stride * BYTES[self.type] // WORD for stride in self.find_strides(places))

    def find_first(self, places: Mapping[str, ArrayPlace], start: int) -> FirstIndex:
        """Return indices of the first word, and over how many words each steps.

        `start` is the word in which the array begins.
        """
        words = (step * BYTES[self.type] // WORD for step in places[self.array].steps)
        return (LinearIndex(start), *self.indices), (1, *words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapedInstruction:
    """A vector instruction where arrays have some shapes, wherever they start.

    `begun` says in how many calls operands begin at some words of their arrays. It takes some
    cycles more than the least where it waits for no bank, `excess`, and `of_wait` for each wait in
    one of the calls. By the words at which arrays start, `known` has the waits of all calls, and
    `at_least` some of them, of which there are more.
    """

    begun: Mapping[tuple[int, ...], int]
    count_waits: Callable[[Sequence[int]], int]
    excess: Fraction
    of_wait: Fraction
    known: dict[tuple[int, ...], int] = field(default_factory=dict)
    at_least: dict[tuple[int, ...], int] = field(default_factory=dict)

    def sum_waits(self, starts: tuple[int, ...], every: int, most: float) -> int:
        """Return the cycles in which all calls wait, where arrays start at some of so many words;
        or at least `most` of them, where there are more.
        """
        waits = self.at_least.get(starts, 0)
        if waits >= most:
            return waits
        waits = 0
        for words, often in self.begun.items():
            at = [(w + s) % every for w, s in zip(words, starts, strict=True)]
            waits += often * self.count_waits(at)
            if waits >= most:
                self.at_least[starts] = waits
                return waits
        self.known[starts] = waits
        return waits


@dataclass(frozen=True, kw_only=True)
class BankedInstruction:
    """A vector instruction, and its operands d, a, b, c: of those not in memory the type alone.

    `weight` grows with how many elements it computes, on the busiest PE.
    """

    operation: str
    weight: int
    sizes: Shape
    single: tuple[bool, ...]
    operands: tuple[BankedOperand | str, ...]
    values: CallValues
    profile: Profile
    shaped: dict[tuple[Shape, ...], ShapedInstruction] = field(default_factory=dict)
    alike: dict[object, ShapedInstruction] = field(default_factory=dict)

    @cached_property
    def in_memory(self) -> list[BankedOperand]:
        """The operands that lie in memory."""
        return [o for o in self.operands if isinstance(o, BankedOperand)]

    @cached_property
    def accessed(self) -> list[BankedOperand]:
        """Those that take banks: read ones, and where results go."""
        return [*self.read, *self.written]

    @cached_property
    def read(self) -> list[BankedOperand]:
        """Those that are read there; a source that stays where it is, is a number."""
        return [
            operand
            for k, operand in enumerate(self.operands)
            if isinstance(operand, BankedOperand)
            and (self.operation == "MAC" if k == 0 else any(map(any, operand.coefficients)))
        ]

    @cached_property
    def written(self) -> list[BankedOperand]:
        """Where results go, if writes take banks."""
        takes = self.profile.write_latency > 0
        return [o for o in self.operands[:1] if takes and isinstance(o, BankedOperand)]

    def find_excess(self, places: Mapping[str, ArrayPlace], most: Fraction | None) -> Fraction:
        """Return how many cycles more than the least its elements take where arrays have such
        places, and lanes are full; or at least `most` of them, where there are more.
        """
        accessed = self.accessed
        shapes = tuple([places[operand.array].shape for operand in accessed])
        if shapes not in self.shaped:
            self.shaped[shapes] = self._find_shaped(accessed, places)
        shaped = self.shaped[shapes]
        starts = tuple([places[operand.array].start for operand in accessed])
        waits = shaped.known.get(starts)
        if waits is None:
            enough = (
                inf if most is None else ceil((most - shaped.excess) / shaped.of_wait)
            )
            waits = shaped.sum_waits(starts, self.profile.banks.words, enough)
        return shaped.excess + shaped.of_wait * waits if waits else shaped.excess

    @cached_property
    def least(self) -> Fraction:
        """The cycles of its elements where no operand is slow, and none waits for a bank."""
        result, *sources = self.operands
        moving = [
            o.type for o in sources
            if isinstance(o, BankedOperand) and any(map(any, o.coefficients))
        ]
        type_ = result if isinstance(result, str) else result.type
        lanes = self.profile.find_lanes(self.operation, type_, *moving)
        return Fraction(self.weight, max(1, lanes))

    def _find_shaped(
        self, accessed: Sequence[BankedOperand], places: Mapping[str, ArrayPlace]
    ) -> ShapedInstruction:
        """Return the instruction where arrays have the shapes that they have at some places.

        It is the same one for shapes that differ by whole rounds over the banks.
        """
        every = self.profile.banks.words
        steps = [operand.find_words(places) for operand in accessed]
        firsts = [operand.find_first(places, start=0) for operand in accessed]
        count_waits = find_waits(steps, len(self.read), self.sizes, self.profile.banks)
        rate, rounds = self._find_rate(places), max(1, every)
        begun_by = tuple(tuple(word % rounds for word in words) for _, words in firsts)
        key = count_waits, rate, begun_by
        if key not in self.alike:
            turn = partial(turn_banks, every=rounds)
            begun = count_calls(firsts, self.values, every, turn)
            points = sum(begun.values()) * max(1, prod(self.sizes))
            self.alike[key] = ShapedInstruction(
                begun=begun, count_waits=count_waits, of_wait=Fraction(self.weight, points * rate),
                excess=Fraction(self.weight, rate) - self.least,
            )
        return self.alike[key]

    def _find_rate(self, places: Mapping[str, ArrayPlace]) -> int:
        """Return its elements a cycle."""
        none = (0,) * len(self.sizes)
        operands = [
            (o, none) if isinstance(o, str) else (o.type, o.find_strides(places))
            for o in self.operands
        ]
        return max(1, find_rate(self.profile, self.operation, operands, self.single))


def list_banked(
    chosen: Mapping[str, VectorChoice],
    memory: OperandMemory,
    profile: Profile,
    place_of: Callable[[Situation], isl.Set],
) -> list[BankedInstruction]:
    """Return the vector instructions that tasks of computing PEs run on memory.

    `place_of` gives [PE_X, PE_Y] -> { : the PE } of a task whose calls count.
    """
    found = []
    for name, choice in chosen.items():
        situation, candidate = choice.options.situation, choice.taken.candidate
        runs = isinstance(situation.task, Runs | Fills) and not situation.files.place(name)
        if candidate is None or not runs:
            continue
        domain = candidate.box.params()
        sizes = [greatest_value(n.intersect_params(domain).floor()) for n in candidate.sizes]
        known = situation.known.intersect_params(place_of(situation))
        values = find_values(situation, candidate, known)
        steps = [step for step in choice.taken.steps if not step.looped]
        buffers = situation.files.graph.count_buffers()
        turns = count_turns(buffers)
        found += [
            BankedInstruction(
                operation=step.operation,
                weight=max(1, choice.taken.cycles // len(steps) // turns),
                sizes=tuple(int(sizes[k].to_python()) for k in step.along),
                single=tuple(is_single(candidate.sizes[k]) for k in step.along),
                operands=tuple(
                    turn_operand(each, turn, buffers)
                    for each in list_operands(name, step, memory, values)
                ),
                values=values,
                profile=profile,
            )
            for step in steps for turn in range(turns)
        ]
    return found


def find_values(
    situation: Situation, candidate: VectorCandidate, known: isl.Set
) -> CallValues:
    """Return the values of functions in the calls of an instruction, for `known` constants."""
    guard, outer = (None if s is None else str(s) for s in (situation.guard, candidate.outer))
    return CallValues(find_calls(known, guard, outer))


def turn_operand(
    operand: BankedOperand | str, turn: int, buffers: Counts
) -> BankedOperand | str:
    """Return an operand so many invocations after the first one."""
    if isinstance(operand, str):
        return operand
    return replace(operand, indices=turn_buffer(operand.indices, operand.array, turn, buffers))


def list_operands(
    name: str, step: VectorStep, memory: OperandMemory, values: CallValues
) -> Iterator[BankedOperand | str]:
    """Yield the operands of a step of a task: of those not in memory the type alone."""
    for operand in step.operands:
        if isinstance(operand, MemoryOperand):
            yield _in_tensor(operand, step, memory, values)
        elif isinstance(operand, InPart):
            yield _in_part(operand, step, f"{name}_part{operand.number}")
        else:
            yield operand.type


def _in_tensor(
    operand: MemoryOperand, step: VectorStep, memory: OperandMemory, values: CallValues
) -> BankedOperand:
    bases = zip(operand.base, memory.shifts[operand.local], strict=True)
    return BankedOperand(
        array=operand.local,
        type=operand.type,
        indices=tuple(values.read(base.add_constant_val(isl.Val(-s))) for base, s in bases),
        coefficients=tuple(tuple(row[k] for row in operand.coefficients) for k in step.along),
    )


def _in_part(part: InPart, step: VectorStep, array: str) -> BankedOperand:
    """Return a part, whose array has one dimension."""
    rows = [prod(part.shape[k + 1 :]) for k in range(len(part.shape))]
    steps = dict(zip(part.along, rows, strict=True))
    return BankedOperand(
        array=array,
        type=part.type,
        indices=(LinearIndex(0),),
        coefficients=tuple((steps.get(k, 0),) for k in step.along),
    )

# --- Places of arrays -----------------------------------------------------------------------------
#
# Arrays start a few words further on, and rows of local tensors are a few elements longer, so that
# instructions wait least.
#
# Source   CSL language guide, appendix: SIMD mode; stages/fabric/rate.c charges what remains

PART = 8
"""The part of the memory of a PE that longer rows of a tensor take at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLimits:
    """How much longer rows may get: by so many bytes a tensor, but those that keep their shapes."""

    most: int
    kept: frozenset[str] = frozenset()


def spread_over_banks(
    arrays: Sequence[ProgramArray],
    instructions: Sequence[BankedInstruction],
    moves: Sequence[PlaceCost[ArrayPlace]],
    limits: RowLimits,
    words: int,
) -> dict[str, ArrayPlace]:
    """Return the shape of each array, and the bank in which it starts: of so many `words`.

    Instructions and moves take no more than where arrays lie one after the other.
    """
    first = {name: address // WORD % words for name, address in lay_out(arrays).items()}
    met = {
        operand.array
        for each in instructions
        if len(each.read) + len(each.written) > 1
        for operand in each.in_memory
    }
    met = met.union(*(each.arrays for each in moves))
    options = {
        array.name: [
            ArrayPlace(shape, start)
            for shape in _list_shapes(array, limits, words)
            for start in list_starts(first[array.name], words, BYTES[array.type] // WORD)
        ]
        if array.name in met
        else [ArrayPlace(array.shape, first[array.name])]
        for array in arrays
    }
    costs = [
        PlaceCost(
            arrays=frozenset(o.array for o in each.in_memory),
            of=each.find_excess,
            weight=each.weight,
        )
        for each in instructions
    ]
    return choose_places(options, [*costs, *moves])


def _list_shapes(array: ProgramArray, limits: RowLimits, words: int) -> list[Shape]:
    """Return the shape of an array, and those with more in one dimension, the last first."""
    shape, found = array.shape, [array.shape]
    if array.name in limits.kept:
        return found
    for k in reversed(range(1, len(shape))):
        longer = ((*shape[:k], shape[k] + more, *shape[k + 1 :]) for more in range(1, words))
        found += [s for s in longer if BYTES[array.type] * (prod(s) - prod(shape)) <= limits.most]
    return found
