"""Results.json: cycles, checks, memory and the fabric of a layer's run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lairmake.stages.fabric.outcome import Probed
from lairmake.stages.fabric.usage import UsageTotals
from lairmake.stages.layer.texts.task_graph import WayAround
from lairmake.stages.machine.host import HostLink
from lairmake.stages.mapping.records import (
    as_data,
    reader_of,
)


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
    host: HostLink | None = None
    around: Mapping[str, WayAround] | None = None


def read_results(text: str) -> Results:
    """Return what a results.json of this version says. Raises WrongDataError for another one."""
    found: Results = reader_of(Results)(json.loads(text), ())
    return found


def results_text(results: Results) -> str:
    """Return the text of results.json."""
    return json.dumps(as_data(results), indent=2) + "\n"

