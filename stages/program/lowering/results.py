"""Results of a run of a program: cycles, sums and memory, in results.json."""

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
from lairmake.stages.machine.host import HostLink, price_copies
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

# --- Cycles of workers and their uses -------------------------------------------------------------
#
# A worker counts the calls and elements of each procedure, and the cycles from the start of its
# control task to its completion. In all other cycles it waits for the control.
#
# Paper    E Sec. 8.3 says 50 to 60 cycles for the set-up of an operation

@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerShares:
    """Shares of all cycles of workers, by use.

    `elements` are cycles for elements, and for procedures that are no vector instruction all but
    one set-up; `set_up` is the rest of the cycles of calls; `sums` is the wait for a sum, or for a
    scalar of the executive; `control` is the wait for a call.
    """

    elements: float
    set_up: float
    sums: float
    control: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The cost of a procedure: calls, cycles of a call, and elements.

    `calls` is the number that each worker was told to run, `cycles` the mean of all workers and
    calls, `elements` the number on all workers and calls; None for what is no vector instruction.
    """

    calls: int
    cycles: float
    elements: int | None = None


Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTotals:
    """Counts of workers for a procedure: calls of one worker, elements and cycles of each worker.

    `sent` has the elements that each worker sent to a neighbour.
    """

    procedure: Procedure
    calls: int
    elements: Ints
    sent: Ints
    cycles: Ints


def find_called(run: FabricRun, sections: Sections, machine: Profile) -> list[CallTotals]:
    """Return the counts of workers, by procedure; the first dispatch is part of a call."""
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
    """Return the cycles of an operation besides its elements; None without such operations.

    The mean is over all calls of operations that are one instruction, on the workers whose elements
    take longest. `with_neighbour` selects operations with a source that comes from a neighbour, or
    without.
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
    """Return whether a procedure computes with one vector instruction."""
    return procedure.kind == COMPUTE and find_instruction(procedure, machine) is not None


def find_element_cycles(called: CallTotals, machine: Profile) -> Reals:
    """Return the cycles of the elements of an instruction, on each worker.

    An element from a neighbour takes a cycle; so does one that is sent, where a PE has one
    datapath.
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
    """Return the shares of the cycles of workers, by use."""
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
    """Return the cost of each procedure that ran."""
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
    """Return the PEs to probe, by colour, for last values and results of sums: see find_latency."""
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
    """Return the cycles from the last value of the last sum to its result; None without sums.

    The last value is sent by the worker of a column that is farthest from the middle. The result is
    known when the executive's router hands it over, or the reduction PE begins to broadcast it.
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
    """Return the number of reductions over all workers."""
    return sum(each.calls for each in called if each.procedure.kind == REDUCE)

# --- build/results.json of a program --------------------------------------------------------------

Number = int | float | str
"""A number of JSON, which has no NaN and no infinity: these are texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """An output: whether all runs give the same bits, and the value if it is a scalar."""

    right: bool
    value: Number | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """The cycles of an operation besides its elements, on its own PE or with a neighbour's."""

    center: float | None = None
    neighbour: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SumTotals:
    """The number of sums, and the cycles of the last one, from its last value on."""

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

    `field` is its columns and rows, `responses` the number of response PEs on a side. `procedures`
    are those that workers ran, and `usage` covers the PEs of all roles. `operations` counts the
    nodes of the graph that ran, `iterations` those of outermost loops.
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
    host: HostLink | None = None


def describe_run(
    run: FabricRun, outputs: Mapping[str, Array], graph: ProgramGraph,
    sections: Sections, machine: Profile, counts: NodeCounts, inputs: Sequence[int],
) -> ProgramResults:
    """Return the results of a run; its `outputs` have been found right.

    `inputs` are the elements of each array that it began with.
    """
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
        host=price_copies(machine, inputs, [array.size for _, array in sorted(outputs.items())]),
    )


def write_results(results: ProgramResults) -> str:
    """Return build/results.json."""
    return json.dumps(as_data(results), indent=2, allow_nan=False) + "\n"


def _spell(value: Array) -> Number:
    """Return the shortest number that reads as the value, or a text for NaN and infinity."""
    if value.dtype.kind == "i":
        return int(value)
    return float(str(value[()])) if math.isfinite(value) else str(value[()])
