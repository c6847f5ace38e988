"""Simd.yaml, candidates.yaml, results.json."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.fabric.outcome import Probed
from lairmake.stages.fabric.usage import UsageTotals
from lairmake.stages.machine.profile import KNOWN, Profile
from lairmake.stages.machine.scarcity import with_figures
from lairmake.stages.mapping.candidates import Ports
from lairmake.stages.mapping.records import (
    Absent,
    Key,
    as_data,
    explain,
    read_record,
    read_records,
    reader_of,
)
from lairmake.stages.mapping.yaml_text import write_document

# --- How tasks get their vector instructions, as simd.yaml has it -------------------------------
#
# Paper    V Sec. 5

DECISIONS_TITLE = "How each task gets its vector instruction, and why (Sec. 5)."

Function = int | str
Size = int | tuple[int, int]


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
    return read_records(source, Decision)


def write_decisions(decisions: Decisions) -> str:
    """Return simd.yaml: the decisions, and at its head what the keys are that occur."""
    return write_document(explain(DECISIONS_TITLE, decisions), as_data(decisions))

# --- What a search tried, as candidates.yaml has it ---------------------------------------------
#
# Source   design, Placement by search

CANDIDATES_TITLE = (
    "Placements that were thought of, the best first, with what a closed form predicts of them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A placement, and ports of tensors left open, with what is predicted of it."""

    slot: Annotated[int | None, "in which slot it goes through the stages"] = None
    refused: Annotated[str | None, "why it fell out"] = None
    against: Annotated[str | None, "the key of layer.yaml that is in its way"] = None
    cycles: Annotated[int | None, "predicted"] = None
    memory: Annotated[int | None, "in bytes, on the fullest PE"] = None
    area: Annotated[int | None, "in PEs that work"] = None
    placement: Annotated[str | None, "the PE of each instance, as in layer.yaml"] = None
    tensors: Annotated[
        Mapping[str, Ports], "how those arrive and leave of which layer.yaml does not say it"
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All that were thought of, the best first."""

    candidates: Annotated[tuple[Candidate, ...], "what was thought of, the best first"]


def write_candidates(candidates: Candidates) -> str:
    """Return candidates.yaml, and at its head what the keys are that occur."""
    return write_document(explain(CANDIDATES_TITLE, candidates), as_data(candidates))


def read_candidates(source: Source) -> tuple[Candidate, ...]:
    """Return what candidates.yaml says. Raises UserErrors where it was edited to say nothing."""
    return read_record(source, Candidates).candidates


SLOTS_TITLE = "What the stages found of the candidates that were tried, each in its slot."


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What the stages found of one candidate; `refused` by one of them, nothing else is known."""

    taken: Annotated[bool, "whether it is the one that is built"] = False
    refused: Annotated[str | None, "the stage that refused it, and why"] = None
    cycles: Annotated[int, "expected of the programs"] = 0
    memory: Annotated[int, "in bytes, of data and code on the fullest PE"] = 0
    area: Annotated[int, "in PEs that take part"] = 0


def write_slots(slots: Mapping[str, Slot], best: str) -> str:
    """Return slots.yaml, in which the best one is taken."""
    said = {name: replace(slot, taken=name == best) for name, slot in slots.items()}
    return write_document(explain(SLOTS_TITLE, said), as_data(said))

# --- What build/results.json says of a layer: cycles, checks, memory, the fabric, and each task

@dataclass(frozen=True, slots=True, kw_only=True)
class Cycles:
    """Those of the programs with vector instructions, and with loops only."""

    simd: int
    loops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """By what a task runs, and how often.

    `instances` are those that the loops ran; `extra` ones, what vector instructions ran besides.
    """

    by: str
    why: str
    sizes: tuple[int | str, ...]
    configurations: int
    calls: int
    instances: int
    extra: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Cycles that no programs fall below, and what says so."""

    cycles: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Whether an output is right, whether it must be so bit for bit, and the largest error."""

    exact: bool
    right: bool
    max_abs_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The memory of the fullest PE, and what a PE has, in bytes."""

    bytes_per_pe: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """How many PEs of the target compute, and how many it has."""

    compute: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What moved on the fabric."""

    wavelets: int
    hops: int
    stalls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What the programs take where routers copy, and how many times that PEs need."""

    cycles: int
    worth: float
    wavelets: int
    hops: int
    stalls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How much a machine has, of which nobody has published how much there is; and what would do.
    """

    of: int
    enough: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited:
    """What the programs take that are written for a machine with enough of what limits others."""

    cycles: int
    figures: Mapping[str, Limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubled:
    """What the programs take less with twice as much of figures that nobody has published."""

    cycles: int
    figures: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The content of build/results.json."""

    top: str
    machine: str
    invocations: int
    cycles: Cycles
    main_cycles: Cycles
    speedup: float
    bound: Bound
    lanes: int
    busiest: Mapping[str, Mapping[str, int]]
    tasks: Mapping[str, TaskResult]
    data: Mapping[str, str]
    check: Mapping[str, Check]
    memory: Filled
    pes: Working
    fabric: Traffic
    usage: UsageTotals
    multicast: Worth | None = None
    rests: Mapping[str, int] | None = None
    limits: Limited | None = None
    doubled: Doubled | None = None
    probes: Mapping[str, Mapping[str, tuple[Probed, ...]]] | None = None


def read_results(text: str) -> Results:
    """Return what a results.json of this version says. Raises WrongDataError for another one."""
    found: Results = reader_of(Results)(json.loads(text), ())
    return found


def results_text(results: Results) -> str:
    """Return the text of results.json."""
    return json.dumps(as_data(results), indent=2) + "\n"

# --- A machine with more of what nobody has published how much there is: a file machine.yaml ----

LIMITS, ENOUGH = "build/limits/", "build/enough/"
"""Where texts for such a machine lie, and programs."""
GRAPH = f"{LIMITS}graph/"
"""Where those lie from which its instructions are chosen, if its task graph is another one."""
MACHINE = "machine.yaml"
LIMITS_TITLE = (
    "A machine that has enough of what tasks need more of than the one that was asked for."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLimits:
    """How much such a machine has."""

    enough: Annotated[Mapping[str, int], "its figures, by their keys in a profile"]


def write_limits(enough: Mapping[str, int]) -> str:
    """Return machine.yaml: figures of which nothing needs more."""
    limits = MachineLimits(enough=enough)
    return write_document(explain(LIMITS_TITLE, limits), as_data(limits))


def read_limits(source: Source) -> Mapping[str, int]:
    """Return the figures that machine.yaml has. Raises UserErrors where it was edited wrongly."""
    return read_record(source, MachineLimits).enough


def with_enough(profile: Profile, source: Source) -> Profile:
    """Return a machine with the figures of machine.yaml. Raises UserErrors where these are none."""
    enough = read_limits(source)
    with contextlib.suppress(ValueError):  # of a figure that is no such number
        if set(enough) <= set(KNOWN):
            return with_figures(profile, enough)
    span = Span(source=source, start=0, end=1)
    raise UserError(f"these are no figures of {profile.name}", span, "undo the edit")
