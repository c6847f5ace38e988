"""Cycles of an operation, of the control and of a sum of a program, on the virtual machine.

Paper    E Sec. 3, 8: its figures stand beside ours
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import islpy as isl
import yaml

from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.program import PIPELINE, execute
from lairmake.stages.program.lowering import running
from lairmake.stages.program.lowering.results import ProgramResults
from lairmake.stages.program.vm.geometry import Geometry
from tools.evaluation.document import table
from tools.evaluation.templates import template

MACHINES = ("wse2", "wse3", "ideal", "paper")
ITERATIONS = 200
SIZES = (1, 10, 50, 100, 1000)
RESPONSES = (1, 2, 5, 16)
SIDES = (4, 8, 16, 32)
"""Columns, and rows, of the fields over which a sum is measured."""

HEAD = """\
from lairmake import numpy as np
from lairmake.objects import GlobalScalar, LocalArray, global_range
a = LocalArray("a", 1.0, shape={shape}, output=True)
b = LocalArray("b", 0.5, shape={shape})
"""
LOOP = """\
for _ in global_range({iterations}):
    a[...] = a + b
"""
NEIGHBOURS = """\
for _ in global_range({iterations}):
    a[1:-1, 1:-1, :] = a[1:-1, 1:-1, :] + b[:-2, 1:-1, :]
    a[1:-1, 1:-1, :] = a[1:-1, 1:-1, :] + b[2:, 1:-1, :]
    a[1:-1, 1:-1, :] = a[1:-1, 1:-1, :] + b[1:-1, :-2, :]
    a[1:-1, 1:-1, :] = a[1:-1, 1:-1, :] + b[1:-1, 2:, :]
"""
STRIDED = """\
c = LocalArray("c", 1.0, shape=(6, 4, 6, 6), output=True)
d = LocalArray("d", 1.0, shape=(6, 4, 6, 6), output=True)
e = LocalArray("e", 0.5, shape=(6, 4, 6, 6))
for _ in global_range({iterations}):
    c[:, :-1, ::2, ::2] = c[:, :-1, ::2, ::2] + e[:, 1:, ::2, ::2]
    d[:, :-1, ::2, ::2] = d[:, :-1, ::2, ::2] + e[:, 1:, ::2, ::2]
"""
SUM = """\
s = GlobalScalar("s", 0.0, output=True)
s[...] = np.sum(a, controller=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A program to measure: its statements, the field, numbers on a PE, responses a side."""

    text: str
    machine: str
    field: tuple[int, int]
    size: int = 1
    responses: int = 1

    @property
    def name(self) -> str:
        """Name of the program while it runs."""
        return f"{self.field[0]} x {self.field[1]} workers on {self.machine}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A run of a program.

    `path` are the cycles from the executive's first index to the merge PE's first wavelet.
    `responding` is the share of the cycles of response PEs in which they are busy.
    """

    results: ProgramResults
    path: int
    responding: float


Runs = Mapping[Wanted, Found]


def adding(machine: str, size: int) -> Wanted:
    """Return a loop of one operation of `size` numbers on a PE."""
    return Wanted(text=LOOP, machine=machine, field=(6, 4), size=size)


def taking(machine: str) -> Wanted:
    """Return a loop of operations with a number of each neighbour."""
    return Wanted(text=NEIGHBOURS, machine=machine, field=(6, 4))


def striding(machine: str) -> Wanted:
    """Return a loop of operations with every other number along two axes, always of one neighbour.

    It takes the most of all: three states of the ring are passed over before each operation.
    """
    return Wanted(text=STRIDED, machine=machine, field=(6, 4))


def controlled(machine: str, responses: int) -> Wanted:
    """Return a loop of one operation, told by so many response PEs a side."""
    return Wanted(text=LOOP, machine=machine, field=(36, 2), responses=responses)


def summed(machine: str, side: int) -> Wanted:
    """Return a sum over a square field."""
    return Wanted(text=SUM, machine=machine, field=(side, side))


def list_wanted() -> list[Wanted]:
    """Return all programs to measure."""
    return [
        wanted for machine in MACHINES for wanted in (
            *(adding(machine, size) for size in SIZES), taking(machine), striding(machine),
            *(controlled(machine, responses) for responses in RESPONSES),
            *(summed(machine, side) for side in SIDES),
        )
    ]


def measure_program(wanted: Wanted, workspace: Path) -> Found:
    """Build a program in a new folder of a workspace, and run it on the fabric.

    Raises UserError, also where the fabric does not give what NumPy gives.
    """
    (workspace / "projects").mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=workspace / "projects"))
    text = (HEAD + wanted.text).format(shape=(*wanted.field, wanted.size), iterations=ITERATIONS)
    (folder / "program.py").write_text(text, encoding="utf-8")
    settings = {"machine": wanted.machine, "control": {"responses": wanted.responses}}
    (folder / "program.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    for stage in PIPELINE[:-1]:
        run_stage(stage, folder)
    columns, rows = wanted.field
    geometry = Geometry(width=columns, height=rows, responses=wanted.responses)
    probes = {"ctrl_coord": geometry.executive, "ctrl": geometry.merge}
    inputs = FolderInputs(open_folder(folder), execute.READS)
    _, run, results = running.run_fabric_of(inputs, {
        colour: isl.Set(f"{{ PE[{x}, {geometry.control}] }}") for colour, x in probes.items()})
    layout = read_layout(inputs.source("build/layout.yaml"))
    first = {colour: run.probes[colour][0].first for colour in probes}
    busy = run.usage["busy"][run.role == list(layout.roles).index("response")]
    return Found(
        results=results, path=(first["ctrl"] or 0) - (first["ctrl_coord"] or 0),
        responding=float(busy.sum()) / (len(busy) * run.cycles),
    )


def document(found: Runs) -> str:
    """Return the document."""
    return template("programs.md.j2").render(
        operations=operations_table(found), efficiency=efficiency_table(found),
        control=control_table(found), sums=sums_table(found), iterations=ITERATIONS,
    )


def operations_table(found: Runs) -> str:
    """Return the cycles of operations besides their elements, and the waiting for the control."""
    return table(("", "set-up", "with a neighbour", "at most", "waiting for the control"), [
        ("the paper", "50 to 60", "", "", ""),
        *((machine, found[adding(machine, 1)].results.set_up.center,
           found[taking(machine)].results.set_up.neighbour,
           found[striding(machine)].results.set_up.neighbour,
           f"{found[adding(machine, 1)].results.workers.control:.1%}") for machine in MACHINES),
    ])


def efficiency_table(found: Runs) -> str:
    """Return the shares of workers' cycles that were elements."""
    return table(("", *map(str, SIZES)), [
        (machine, *(f"{found[adding(machine, size)].results.workers.elements:.0%}"
                    for size in SIZES)) for machine in MACHINES
    ])


def control_table(found: Runs) -> str:
    """Return, by responses, the path, the cycles of a section, and how busy response PEs are."""
    rows = []
    for machine in MACHINES:
        for what in ("first call", "a section", "a response PE"):
            each = (found[controlled(machine, count)] for count in RESPONSES)
            rows.append((machine, what, *(_control_cell(what, one) for one in each)))
    return table(("", "cycles", *(f"K = {count}" for count in RESPONSES)), rows)


def _control_cell(what: str, found: Found) -> str:
    if what == "first call":
        return str(found.path)
    cycles = found.results.cycles / ITERATIONS
    if what == "a response PE":
        cycles *= found.responding
    return f"{cycles:.1f}"


def sums_table(found: Runs) -> str:
    """Return the cycles from the last worker's value to the executive's router."""
    return table(("", *(f"W + H = {2 * side}" for side in SIDES)), [
        (machine, *(found[summed(machine, side)].results.sums.latency for side in SIDES))
        for machine in MACHINES
    ])
