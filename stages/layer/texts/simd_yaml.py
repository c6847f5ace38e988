"""Simd.yaml: the way of each task to its vector instruction, and why (the paper, Sec. 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.mapping.records import (
    Absent,
    Key,
    as_data,
    explain,
    read_records,
)
from lairmake.stages.mapping.yaml_text import read_document, write_document

DECISIONS_TITLE = "How each task gets its vector instruction, and why (Sec. 5)."

Function = int | str
Size = int | tuple[int, int]
EntryType = Literal["int16", "int32"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """A way that is not taken."""

    cycles: Annotated[int | None, "what it would cost"] = None
    not_possible: Annotated[str | None, Key("not possible"), "why there is none"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDecision:
    """What an element looks up by an index."""

    by: Annotated[str, "the index"]
    least: Annotated[int, Key("from"), "its least value"]
    entries: Annotated[int, "how many there are"]
    type: Annotated[EntryType, "of an entry"]
    value: Annotated[str, "what it finds there"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDecision:
    """Element [i] is at base + strides * i of local memory."""

    local: Annotated[str, "a local tensor, of which element [i] is at base + strides i"]
    type: Annotated[str, "the type of the elements"]
    base: Annotated[tuple[Function, ...], "an index of it; first0, ... are the least instances"]
    strides: Annotated[tuple[int, ...], "in elements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """The element that arrives."""

    element: Annotated[str, "what arrives"]
    type: Annotated[str, "the type of the elements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """A stream, of which each element is taken as it comes, or leaves as it is computed."""

    stream: Annotated[str, "an arrival, or a departure, element by element: none is in memory"]
    type: Annotated[str, "the type of the elements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberDecision:
    """A number."""

    number: Annotated[str | int | float, "a number"]
    type: Annotated[str, "the type of the elements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDecision:
    """What an earlier step gave."""

    part: Annotated[int, "what an earlier step gave"]
    type: Annotated[str, "the type of the elements"]
    strides: Annotated[tuple[int, ...], "in elements"]


OperandDecision = LocalDecision | Arriving | Streamed | NumberDecision | GivenDecision


@dataclass(frozen=True, slots=True, kw_only=True)
class PartDecision:
    """The memory of what steps give to each other."""

    type: Annotated[str, "the type of its elements"]
    elements: Annotated[int, "how many there are"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDecision:
    """One of several instructions of a task."""

    operation: Annotated[str, "d op a, b, c, as pe.h says"]
    by: Annotated[str | None, "loops, for a function that no vector operation is"] = None
    why: Annotated[str | None, "that it is none"] = None
    over: Annotated[
        tuple[int, ...] | None, "the dimensions of the sizes that it runs over, if not all in order"
    ] = None
    operands: Annotated[tuple[OperandDecision, ...], "d, a, b, c"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of one task."""

    guard: Annotated[
        str | Absent | None,
        "the symbolic constants for which a statement has instances, null if all that occur",
    ] = Absent.ABSENT
    by: Annotated[str, "the way to the instruction, or loops, which isl generates"]
    why: Annotated[str, "why that is the way"]
    cycles: Annotated[
        int | None,
        "expected on the busiest PE, of all invocations, its configurations included",
    ] = None
    others: Annotated[Mapping[str, Other] | None, "the other ways"] = None
    limited: Annotated[
        tuple[str, ...], "figures of the machine of which a better way needs more than there is"
    ] = ()
    sizes: Annotated[tuple[Function, ...] | None, "the sizes of the instruction"] = None
    least: Annotated[
        tuple[Function, ...], "with enumerate, the least sizes, of which others follow"
    ] = ()
    several: Annotated[
        tuple[int, ...], "how many sizes there are from the least ones on, a configuration each"
    ] = ()
    needed: Annotated[str | None, "those of them that a PE configures"] = None
    outer: Annotated[str | None, "with nested and scalar, what the loops run over"] = None
    extents: Annotated[
        tuple[Size, ...] | None, "the sizes, or from where to where they go if they differ"
    ] = None
    tables: Annotated[
        Mapping[str, TableDecision], "symbolic constants that an element looks up"
    ] = field(default_factory=dict)
    in_turn: Annotated[
        bool, "whether steps have one configuration in turn, each before its call"
    ] = False
    paired: Annotated[bool, "whether an element is a pair of those of the tensor"] = False
    operation: Annotated[str | None, "d op a, b, c, as pe.h says"] = None
    over: Annotated[
        tuple[int, ...] | None, "the dimensions of the sizes that it runs over, if not all in order"
    ] = None
    operands: Annotated[tuple[OperandDecision, ...], "d, a, b, c"] = ()
    parts: Annotated[tuple[PartDecision, ...] | None, "what steps give to each other"] = None
    steps: Annotated[
        tuple[StepDecision, ...], "several instructions, of which the last one gives the result"
    ] = ()


Decisions = Mapping[str, Decision]


def read_decisions(source: Source) -> Decisions:
    """Return what simd.yaml says of each task. Raises UserErrors where it was edited wrongly."""
    found = read_records(source, Decision)
    for name, each in found.items():
        if each.paired and [type(operand) for operand in each.operands] != [LocalDecision]:
            span = read_document(source).keys.get((name, "paired"))
            raise UserError(f"{name} is no stream of elements in memory", span, "undo the edit")
    return found


def write_decisions(decisions: Decisions) -> str:
    """Return simd.yaml: the decisions, and at its head what the keys are that occur."""
    return write_document(explain(DECISIONS_TITLE, decisions), as_data(decisions))

