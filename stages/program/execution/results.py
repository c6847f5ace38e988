"""build/results.json of a program: outputs, cycles and what they went into, sums, and memory."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from lairmake.stages.fabric.outcome import FabricRun
from lairmake.stages.fabric.usage import Used, sum_up
from lairmake.stages.machine.profile import Profile
from lairmake.stages.mapping.records import as_data
from lairmake.stages.program.execution.measures import (
    Shares,
    Spent,
    count_sums,
    find_called,
    find_latency,
    find_set_up,
    find_shares,
    find_spent,
)
from lairmake.stages.program.interpreter.counts import Counts
from lairmake.stages.program.irg.graph import ForLoop, Graph, WhileLoop
from lairmake.stages.program.lowering.lowered import EXECUTIVE, RESPONSE, WORKER
from lairmake.stages.program.sections.program import Sections
from lairmake.stages.program.values.arithmetic import Array

Number = int | float | str
"""As JSON has it, which has no NaN and no infinity: these are texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Whether an output is what NumPy and the graph give, bit for bit; a scalar's value."""

    right: bool
    value: Number | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """The cycles of an operation besides its elements, on its own PE or with a neighbour's."""

    center: float | None = None
    neighbour: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """How many sums there were, and the cycles of the last one, from its last value on."""

    count: int
    latency: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedMemory:
    """The bytes that PEs need, code included, `of` those that they have."""

    workers: int
    executive: int
    response: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The content of build/results.json.

    `field` is its columns and rows, `responses` the response PEs on a side. `procedures` are those
    that workers ran, `usage` is of PEs of all roles. `operations` counts nodes of the graph that
    ran, `iterations` has those of outermost loops.
    """

    machine: str
    field: tuple[int, int]
    responses: int
    outputs: Mapping[str, Output]
    cycles: int
    set_up: SetUp
    workers: Shares
    sums: Sums
    procedures: Mapping[str, Spent]
    memory: UsedMemory
    usage: Used
    operations: Mapping[str, int]
    iterations: Mapping[str, int]


def describe_run(
    run: FabricRun, outputs: Mapping[str, Array], graph: Graph,
    sections: Sections, machine: Profile, counts: Counts,
) -> Results:
    """Return what is said of a run; `outputs` are right, or nothing would be said."""
    called = find_called(run, sections, machine)
    return Results(
        machine=machine.name,
        field=graph.field,
        responses=sections.responses,
        outputs={
            name: Output(right=True, value=None if value.shape else _spell(value))
            for name, value in sorted(outputs.items())
        },
        cycles=run.cycles,
        set_up=SetUp(
            center=find_set_up(called, machine, False),
            neighbour=find_set_up(called, machine, True),
        ),
        workers=find_shares(run, called, machine),
        sums=Sums(count=count_sums(called), latency=find_latency(run)),
        procedures=find_spent(called),
        memory=UsedMemory(
            workers=run.memory[WORKER], executive=run.memory[EXECUTIVE],
            response=run.memory[RESPONSE], of=machine.memory,
        ),
        usage=sum_up(run),
        operations=counts.operations,
        iterations={
            item.name: counts.iterations.get(item.name, 0)
            for item in graph.items if isinstance(item, ForLoop | WhileLoop)
        },
    )


def write_results(results: Results) -> str:
    """Return build/results.json."""
    return json.dumps(as_data(results), indent=2, allow_nan=False) + "\n"


def _spell(value: Array) -> Number:
    """Return the shortest number that reads as the value."""
    if value.dtype.kind == "i":
        return int(value)
    return float(str(value[()])) if math.isfinite(value) else str(value[()])
