"""Runs of programs on the simulated fabric, and checks of their outputs."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.fabric.compiler import CompilerError, build_library
from lairmake.stages.fabric.deadlock import error_of
from lairmake.stages.fabric.driver import FabricFailure, FabricStuck, run_fabric
from lairmake.stages.fabric.engine import Tell
from lairmake.stages.fabric.grid import check_texts
from lairmake.stages.fabric.layout import FabricLayout, read_layout
from lairmake.stages.fabric.load import find_residents
from lairmake.stages.fabric.outcome import FabricRun, RunRequest
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.program.interpreter.counts import NodeCounts, read_counts
from lairmake.stages.program.interpreter.differences import find_difference, spell_value
from lairmake.stages.program.interpreter.run import check_array
from lairmake.stages.program.irg.graph import FROM_FILE, GraphEntry, ProgramGraph
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.lowering.programs import make_arrays
from lairmake.stages.program.lowering.results import ProgramResults, describe_run, find_probes
from lairmake.stages.program.lowering.tensors import STATE
from lairmake.stages.program.sections.program import Sections
from lairmake.stages.program.sections.sections_yaml import read_sections
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.values.forms import ON_PES, UNIFORM, count_elements
from lairmake.stages.program.vm.geometry import ROLES, Geometry
from lairmake.stages.shipped import users_cache

if TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

# --- Outputs compared with other runs -------------------------------------------------------------
#
# Paper    ours

OURS = "the compiler is at fault, not the program, unless what it wrote was edited: please " \
       "report it with the program folder"

FABRIC = "on the fabric"
Runs = Mapping[str, Mapping[str, Array]]
"""Outputs by name, for each other run, such as `in the graph`."""


def take_output(entry: GraphEntry, found: Array) -> Array:
    """Return the value of an output. Raises UserError where workers differ in a uniform scalar."""
    if entry.kind != UNIFORM:
        return found.astype(entry.type, copy=False)
    first = found[0, 0]
    at = find_difference(found, np.broadcast_to(first, found.shape))
    if at is not None:
        said = f"{entry.name} is {spell_value(found[at])} on the worker in column {at[0]}, row " \
               f"{at[1]}, and {spell_value(first)} in column 0, row 0, on the fabric"
        raise UserError(said, hint=OURS)
    return np.array(first, entry.type)


def check_outputs(outputs: Mapping[str, Array], others: Runs) -> None:
    """Raise UserError for the first element that differs from another run."""
    for name, found in outputs.items():
        for run, values in others.items():
            at = find_difference(found, values[name])
            if at is not None:
                which = f"{name}[{', '.join(map(str, at))}]" if at else name
                said = f"{which} is {spell_value(found[at])} {FABRIC}, " \
                       f"{spell_value(values[name][at])} {run}"
                raise UserError(said, hint=OURS)

# --- Runs of programs -----------------------------------------------------------------------------
#
# Paper    E Sec. 3: the machine is the controller, the workers, and what they do

EDITED = "lower writes it anew once it is deleted"
PROGRAMS = "vm"
"""The folder of the programs in `build/`."""
TASKS = 3
"""Approximate tasks of a worker for an operation: its call, its arguments, its computation."""


def find_cycle_limit(
    graph: ProgramGraph, sections: Sections, counts: NodeCounts, machine: Profile
) -> int:
    """Return a limit of cycles that no right run reaches, from the counts of nodes that ran.

    A node has as many calls as its hops need. A loop over elements takes at most four operations of
    each kind for each of them: as three sources and a destination have addresses.
    """
    ran = 1 + sum(counts.operations.values()) + sum(counts.iterations.values())
    calls = Counter(call.node for section in sections.sections for call in section
                    if call.node is not None)
    entries = graph.entries.values()
    most = max((count_elements(e.shape[2:] if e.kind in ON_PES else e.shape) for e in entries),
               default=1)
    kinds = (4 * machine.find_kind_cost(kind) for kind in SCALAR_KINDS)
    figures = (machine.dispatch, machine.vector_start_up, machine.vector_latency,
               machine.configuration, machine.hop, machine.ramp, machine.fifo, *kinds)
    computed = (50 + most) * max(calls.values(), default=1)
    return ran * (computed + sum(graph.field) + len(sections.states)) * (100 + sum(figures))


def count_tasks(graph: ProgramGraph, counts: NodeCounts) -> int:
    """Return the approximate number of tasks of a run."""
    columns, rows = graph.field
    return TASKS * columns * rows * (1 + sum(counts.operations.values()))


def run_programs(
    programs: Sequence[Path],
    source: Source,
    layout: FabricLayout,
    graph: ProgramGraph,
    sections: Sections,
    counts: NodeCounts,
    machine: Profile,
    arrays: Mapping[str, Array],
    probes: Mapping[str, isl.Set],
    tell: Tell,
    *,
    recorded: bool = False,
    asked: RunRequest | None = None,
) -> FabricRun:
    """Compile the programs, and run them on a layout whose text is `source`.

    Raises UserError for a run that fails: a fault of the compiler, or of an edited file.
    """
    shapes = {entry.name: find_shape(entry, graph) for entry in graph.entries.values()}
    limit = find_cycle_limit(graph, sections, counts, machine)
    with tempfile.TemporaryDirectory() as folder:
        try:
            library = build_library(
                programs, Path(folder), cache=users_cache(), recorded=recorded, generated=True
            )
            return run_fabric(
                library, layout, machine, arrays, shapes=shapes, cycle_limit=limit,
                probes=probes, tell=tell, tasks=count_tasks(graph, counts), recorded=recorded,
                asked=asked,
            )
        except CompilerError as error:
            raise UserError(str(error), hint=error.hint) from error
        except ValueError as error:
            said = f"{source.path} does not fit the program: {error}"
            raise UserError(said, hint=EDITED) from error
        except isl.Error as error:
            said = f"{source.path} does not fit the program: isl cannot compute with its sets"
            raise UserError(said, hint=EDITED) from error
        except FabricFailure as error:
            raise error_of(error, source, PROGRAMS, OURS) from error
        except FabricStuck as error:
            raise _stuck(error, source, limit) from error


def _stuck(error: FabricStuck, source: Source, limit: int) -> UserError:
    """Return the error for a run that stopped, with the section that it had reached."""
    assert error.run is not None, "it ran"
    _, section, jumps = map(int, error.run.outputs[STATE][0])
    further = f"after section {section}, and {jumps} times back in loops"
    if error.is_endless:
        said = f"the program did not end in {limit} cycles: it is {further}"
    else:
        said = f"the fabric is stuck {further}: {str(error).rstrip()}"
    return error_of(error, source, PROGRAMS, OURS, said, further)


def check_layout(layout: FabricLayout, graph: ProgramGraph, source: Source) -> None:
    """Raise UserError for a layout with faults, other roles, or without a tensor to read."""
    check_texts(layout, source)
    path = source.path
    if set(layout.roles) != set(ROLES):
        said = f"{path} has the roles {', '.join(sorted(layout.roles))}: the virtual machine has " \
               f"{', '.join(sorted(ROLES))}"
        raise UserError(said, hint=EDITED)
    read = {name for name, _ in find_residents(layout, "out")}
    outputs = [entry.name for entry in graph.entries.values() if entry.output]
    for name in (STATE, *outputs):
        if name not in read:
            raise UserError(f"{path} has no tensor {name} that is read at the end", hint=EDITED)


def find_shape(entry: GraphEntry, graph: ProgramGraph) -> tuple[int, ...]:
    """Return the shape of an output of the fabric: for a uniform scalar, a value of each worker."""
    return graph.field if entry.kind == UNIFORM else entry.shape


def record(inputs: Inputs, asked: RunRequest | None) -> FabricRun:
    """Run the programs once more, and record the run with the events asked for."""
    return run_fabric_of(inputs, {}, recorded=True, asked=asked)[1]


def run_fabric_of(
    inputs: Inputs, further: Mapping[str, isl.Set], *, recorded: bool = False,
    asked: RunRequest | None = None,
) -> tuple[dict[str, Array], FabricRun, ProgramResults]:
    """Return the outputs, the run and its results; `further` has more PEs to probe, by colour."""
    machine = read_machine(inputs.program(), inputs)
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    sections = read_sections(
        inputs.source("sections.yaml"), inputs.source("filters.isl"), graph)
    counts = read_counts(inputs.source("build/counts.json"))
    source = inputs.source("build/layout.yaml")
    layout = read_layout(source)
    check_layout(layout, graph, source)
    entries = [entry for entry in graph.entries.values() if entry.output]
    data = {entry.name: _read_array(inputs, "data", entry)
            for entry in graph.entries.values() if entry.initial == FROM_FILE}
    columns, rows = graph.field
    geometry = Geometry(width=columns, height=rows, responses=sections.responses)
    try:
        done = run_programs(
            [inputs.path(f"build/vm/pe_{role}.c") for role in layout.roles], source, layout, graph,
            sections, counts, machine, make_arrays(graph, sections, geometry, data),
            {**further, **find_probes(geometry, layout)}, inputs.tell, recorded=recorded,
            asked=asked,
        )
    except MemoryError:
        said = f"{columns} x {rows} workers, for whose simulation this computer has no memory"
        raise UserError(said, hint="a smaller field, or fewer elements on each PE") from None
    outputs = {entry.name: take_output(entry, done.outputs[entry.name][0]) for entry in entries}
    check_outputs(outputs, {
        said: {entry.name: _read_array(inputs, of, entry) for entry in entries}
        for of, said in (("graph", "in the graph"), ("numpy", "in the source on x86"))
    })
    given = [array.size for array in data.values()]
    results = describe_run(done, outputs, graph, sections, machine, counts, given)
    return outputs, done, results


def _read_array(inputs: Inputs, of: str, entry: GraphEntry) -> Array:
    name = f"build/{of}/{entry.name}.npy"
    return check_array(inputs.array(name), entry, inputs.shown(name))
