"""Halos whose elements of 16 bits move in pairs, two in a wavelet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.memory.banks import (
    ArrayPlace,
    BankedOperand,
    find_values,
    list_operands,
    turn_operand,
)
from lairmake.stages.layer.routes.exchanges import name_task
from lairmake.stages.layer.texts.simd_yaml import Decision, LocalDecision
from lairmake.stages.layer.vector.operands import (
    CallValues,
    OperandMemory,
    count_calls,
    count_turns,
    write_value,
)
from lairmake.stages.machine.banks import PAIR, WORD, PlaceCost
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.functions import greatest_value

if TYPE_CHECKING:
    from lairmake.stages.layer.vector.options import VectorChoice
    from lairmake.stages.layer.vector.situation import SituationFiles

# --- Elements in pairs ----------------------------------------------------------------------------
#
# A wavelet has 32 bits: two elements of 16 bits that lie side by side move in one. So do rows of an
# even number of elements that begin at 32 bits, in the memory of who sends them and of who takes
# them, in every invocation.
#
# Source   CSL language guide, Builtins: @mov32

WORDS = "int32"
"""The type of a pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedMove:
    """What moves to a side: the tasks that send and take it, and the memory of both.

    Moved in pairs it takes as many cycles less as `saved` in all invocations, if it can.
    """

    tasks: tuple[str, ...]
    saved: int
    ends: tuple[tuple[BankedOperand, CallValues], ...]

    def find_excess(self, places: Mapping[str, ArrayPlace], _: Fraction | None = None) -> Fraction:
        """Return the cycles that it takes more than in pairs, where arrays have such places."""
        fits = all(_begins_at_pairs(each, values, places) for each, values in self.ends)
        return Fraction(0 if fits else self.saved)

    def cost(self) -> PlaceCost[ArrayPlace]:
        """Return what it costs, by the places of arrays."""
        arrays = frozenset(operand.array for operand, _ in self.ends)
        return PlaceCost(arrays=arrays, of=self.find_excess, weight=self.saved)


def _begins_at_pairs(
    operand: BankedOperand, values: CallValues, places: Mapping[str, ArrayPlace]
) -> bool:
    *rows, last = operand.find_strides(places)
    if last != 1 or any(row % PAIR for row in rows):
        return False
    first = operand.find_first(places, places[operand.array].start)
    return not any(words[0] for words in count_calls([first], values, PAIR, tuple))


def list_paired(
    chosen: Mapping[str, VectorChoice], memory: OperandMemory, files: SituationFiles
) -> list[PairedMove]:
    """Return what may move in pairs, if arrays have places for that."""
    buffers, found = files.graph.count_buffers(), []
    turns = range(count_turns(buffers))
    sides = ((n, s) for n, m in files.graph.moves.items() for each in m.rounds for s in each)
    for name, side in sides:
        tasks = tuple(name_task(verb, name, side) for verb in ("send", "receive"))
        ends = [_find_end(chosen[task], memory) for task in tasks]
        if all(ends):
            elements = sum(size for _, _, size in filter(None, ends))
            found.append(PairedMove(
                tasks=tasks,
                saved=files.invocations * elements // PAIR,
                ends=tuple(
                    (turned, values)
                    for operand, values, _ in filter(None, ends) for turn in turns
                    if isinstance(turned := turn_operand(operand, turn, buffers), BankedOperand)
                ),
            ))
    return found


def _find_end(
    choice: VectorChoice, memory: OperandMemory
) -> tuple[BankedOperand, CallValues, int] | None:
    """Return the memory of a stream, and how many elements at most; None if they are in no pairs.
    """
    candidate, situation = choice.taken.candidate, choice.options.situation
    if candidate is None:
        return None
    (step,), known = choice.taken.steps, situation.known
    values = find_values(situation, candidate, known)
    sizes = [size.intersect_domain(known).coalesce() for size in candidate.sizes]
    (operand,) = list_operands("", step, memory, values)
    if not isinstance(operand, BankedOperand) or BYTES[operand.type] != WORD or not sizes:
        return None
    if not greatest_value(sizes[-1].mod_val(PAIR)).is_zero():
        return None
    return operand, values, prod(int(greatest_value(size).to_python()) for size in sizes)


def move_in_pairs(
    decisions: Mapping[str, Decision],
    moves: Sequence[PairedMove],
    places: Mapping[str, ArrayPlace],
) -> dict[str, Decision]:
    """Return decisions in which moves are in pairs that can be, where arrays have such places."""
    paired = {task for each in moves if not each.find_excess(places) for task in each.tasks}
    return {n: _paired(each) if n in paired else each for n, each in decisions.items()}


def _paired(decision: Decision) -> Decision:
    """Return a decision whose operand has words, half as many as elements."""
    *rows, size = decision.sizes or ()
    (operand,) = decision.operands
    assert isinstance(operand, LocalDecision), "what moves is in memory"
    *strides, _ = operand.strides
    strides = [stride // PAIR for stride in strides]
    half = size // PAIR if isinstance(size, int) else write_value(
        isl.PwAff(size).scale_down_val(PAIR))
    return replace(
        decision, sizes=(*rows, half), paired=True,
        operands=(replace(operand, type=WORDS, strides=(*strides, 1)),))
