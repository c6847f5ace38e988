"""Results.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.fabric.outcome import FabricRun
from lairmake.stages.fabric.usage import UsageTotals, sum_up
from lairmake.stages.machine.profile import Profile
from lairmake.stages.mapping.records import as_data
from lairmake.stages.program.interpreter.counts import NodeCounts
from lairmake.stages.program.irg.graph import ForLoop, ProgramGraph, WhileLoop
from lairmake.stages.program.lowering.lowered import EXECUTIVE, RESPONSE, WORKER
from lairmake.stages.program.lowering.worker import find_instruction
from lairmake.stages.program.sections.hops import CENTER
from lairmake.stages.program.sections.program import (
    ARRAY,
    COMPUTE,
    REDUCE,
    TAKE_GLOBAL,
    TAKE_SUM,
    Procedure,
    Sections,
)
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.vm.colours import REDUCTION_1, REDUCTION_3, REDUCTION_BROADCAST
from lairmake.stages.program.vm.geometry import Geometry

# --- What the cycles of workers went into, by their own clocks ----------------------------------
#
# A worker counts for each procedure its calls and elements, and the cycles from where its control
# task begins to where it is complete: all others it waits for the control.
#
# Paper    E Sec. 8.3 says 50 to 60 cycles for the set-up of an operation

@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerShares:
    """What the cycles of workers went into, as shares of all.

    `elements` has, of what is no vector instruction, all but the set-up of one; `set_up` all else
    that calls took; `sums` the waiting for one, or for a scalar of the executive; `control` the
    waiting for a call.
    """

    elements: float
    set_up: float
    sums: float
    control: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a procedure took: how often workers were told to run it, its elements on all workers
    and calls, and the cycles of a call, the mean of all workers and calls. What is no vector
    instruction counts no elements."""

    calls: int
    cycles: float
    elements: int | None = None


Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTotals:
    """What workers counted of a procedure: calls of one, and of each its elements and cycles.

    `sent` are elements that went to a neighbour.
    """

    procedure: Procedure
    calls: int
    elements: Ints
    sent: Ints
    cycles: Ints


def find_called(run: FabricRun, sections: Sections, machine: Profile) -> list[CallTotals]:
    """Return what workers counted, by procedure; the first dispatch is part of a call."""
    points, counts = run.points[WORKER], run.counters[WORKER]
    count, workers = len(sections.procedures), len(points)
    calls = [each.calls // max(1, workers) for each in counts[:count]]
    return [
        CallTotals(
            procedure=procedure, calls=calls[n], elements=points[:, n],
            sent=points[:, 2 * count + n],
            cycles=points[:, count + n] + machine.dispatch * calls[n],
        )
        for n, procedure in enumerate(sections.procedures)
    ]


def find_set_up(
    called: Sequence[CallTotals], machine: Profile, with_neighbour: bool
) -> float | None:
    """Return how many cycles an operation takes besides its elements; None where there is none.

    It is the mean over all calls of operations that are one instruction, on those workers whose
    elements take longest; `with_neighbour`: of those whose one source comes from a neighbour.
    """
    cycles, calls = 0.0, 0
    for each in called:
        is_wanted = is_instruction(each.procedure, machine) and each.calls > 0
        if is_wanted and (each.procedure.side != CENTER) == with_neighbour:
            moving = find_element_cycles(each, machine)
            busiest = moving == moving.max()
            cycles += float((each.cycles - moving)[busiest].sum())
            calls += each.calls * int(busiest.sum())
    return round(cycles / calls, 1) if calls else None


def is_instruction(procedure: Procedure, machine: Profile) -> bool:
    """Whether a procedure computes with one vector instruction."""
    return procedure.kind == COMPUTE and find_instruction(procedure, machine) is not None


def find_element_cycles(called: CallTotals, machine: Profile) -> Reals:
    """Return for each worker how long the elements of an instruction take.

    Those of a neighbour take a cycle each; where a PE has one datapath, so do those that it sends.
    """
    procedure = called.procedure
    if procedure.side != CENTER:
        moved = called.elements + called.sent if machine.shared_datapath else called.elements
        return moved.astype(float)
    result, *of = procedure.types
    moving = [type_ for type_, kind in zip(of, procedure.sources, strict=True) if kind == ARRAY]
    instruction = find_instruction(procedure, machine)
    assert instruction is not None, "only vector instructions have lanes"
    return called.elements / machine.find_lanes(instruction, result, *moving)


def find_shares(run: FabricRun, called: Sequence[CallTotals], machine: Profile) -> WorkerShares:
    """Return what the cycles of workers went into."""
    whole = max(1, run.cycles * len(run.points[WORKER]))
    set_up = find_set_up(called, machine, False) or find_set_up(called, machine, True) or 0.0
    elements = within = sums = 0.0
    for each in called:
        cycles = float(each.cycles.sum())
        within += cycles
        if each.procedure.kind in (TAKE_SUM, TAKE_GLOBAL):
            sums += cycles
        elif is_instruction(each.procedure, machine):
            elements += float(find_element_cycles(each, machine).sum())
        else:
            elements += max(0.0, cycles - set_up * each.calls * len(each.cycles))
    return WorkerShares(
        elements=_round(elements / whole),
        set_up=_round((within - elements - sums) / whole),
        sums=_round(sums / whole),
        control=_round(1 - within / whole),
    )


def find_spent(called: Sequence[CallTotals]) -> dict[str, Spent]:
    """Return what each procedure took that ran."""
    return {
        each.procedure.name: Spent(
            calls=each.calls, elements=int(each.elements.sum()) or None,
            cycles=round(float(each.cycles.mean()) / each.calls, 1),
        )
        for each in called if each.calls > 0
    }


def _round(share: float) -> float:
    return round(share, 4)


def find_probes(geometry: Geometry, layout: FabricLayout) -> dict[str, isl.Set]:
    """Return where to look for the last values of sums, and for the sums: see find_latency."""
    g = geometry
    last = [0, g.rows - 1] if g.upper else [g.rows - 1]
    wanted = {
        REDUCTION_1: " or ".join(f"y = {row}" for row in last),
        REDUCTION_3: f"x = {g.executive} and y = {g.control}",
        REDUCTION_BROADCAST: f"x = {g.executive} and y = {g.upper}",
    }
    grid = isl.Set(layout.grid)
    return {
        colour: grid.intersect(isl.Set(f"{{ PE[x, y] : {where} }}"))
        for colour, where in wanted.items() if colour in layout.colours
    }


def find_latency(run: FabricRun) -> int | None:
    """Return the cycles from the last value of the last sum to that sum; None without sums.

    The value is that of the last worker of a column to send, far from the middle; the sum is known
    where the executive's router hands it over, or the reduction PE's begins to broadcast it.
    """
    last = {
        colour: max((each.last for each in probes if each.last is not None), default=None)
        for colour, probes in run.probes.items()
    }
    sent = last.get(REDUCTION_1)
    results = (last.get(colour) for colour in (REDUCTION_3, REDUCTION_BROADCAST))
    known = [cycle for cycle in results if cycle is not None]
    return max(known) - sent if sent is not None and known else None


def count_sums(called: Sequence[CallTotals]) -> int:
    """Return how many values of all workers were brought together."""
    return sum(each.calls for each in called if each.procedure.kind == REDUCE)

# --- build/results.json of a program: outputs, cycles and what they went into, sums, and memory

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
class SumTotals:
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
class ProgramResults:
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
    workers: WorkerShares
    sums: SumTotals
    procedures: Mapping[str, Spent]
    memory: UsedMemory
    usage: UsageTotals
    operations: Mapping[str, int]
    iterations: Mapping[str, int]


def describe_run(
    run: FabricRun, outputs: Mapping[str, Array], graph: ProgramGraph,
    sections: Sections, machine: Profile, counts: NodeCounts,
) -> ProgramResults:
    """Return what is said of a run; `outputs` are right, or nothing would be said."""
    called = find_called(run, sections, machine)
    return ProgramResults(
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
        sums=SumTotals(count=count_sums(called), latency=find_latency(run)),
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


def write_results(results: ProgramResults) -> str:
    """Return build/results.json."""
    return json.dumps(as_data(results), indent=2, allow_nan=False) + "\n"


def _spell(value: Array) -> Number:
    """Return the shortest number that reads as the value."""
    if value.dtype.kind == "i":
        return int(value)
    return float(str(value[()])) if math.isfinite(value) else str(value[()])
