"""Run the programs on the simulated fabric, and compare what they give with NumPy and the graph.

Paper    E Sec. 3, 4
Reads    program.yaml, objects.yaml, graph.yaml, filters.isl, sections.yaml,
         build/data/*.npy, build/numpy/*.npy, build/graph/*.npy, build/counts.json,
         build/layout.yaml, build/vm/pe_*.c
Writes   build/outputs/*.npy, build/results.json, build/usage.npz
Assumes  source and graph agree (interpret).
Ensures  every value was computed by the programs; all three agree bit for bit.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping

from stages.diagnose import UserError
from stages.fabric.layout_yaml import read_layout
from stages.fabric.usage import find_usage, write_usage
from stages.mapping.machine import read_machine
from stages.program.execution.measures import find_probes
from stages.program.execution.outputs import check_outputs, take_output
from stages.program.execution.results import Results, describe_run, write_results
from stages.program.execution.running import check_layout, run_programs
from stages.program.interpreter.arrays import check_array, write_array
from stages.program.interpreter.counts import read_counts
from stages.program.irg.graph import FROM_FILE, Entry
from stages.program.irg.reading import read_graph
from stages.program.lowering.data import make_arrays
from stages.program.sections.sections_reading import read_sections
from stages.program.values.arithmetic import Array
from stages.program.vm.geometry import Geometry

if typing.TYPE_CHECKING:
    import islpy as isl

    from stages.fabric.driver import FabricRun
    from stages.fabric.recorded import Asked
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "objects.yaml", "graph.yaml", "filters.isl", "sections.yaml",
         "build/data/*.npy", "build/numpy/*.npy", "build/graph/*.npy", "build/counts.json",
         "build/layout.yaml", "build/vm/pe_*.c")
WRITES = ("build/outputs/*.npy", "build/results.json", "build/usage.npz")


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the outputs of the fabric, and what is known of the run."""
    outputs, done, results = run_fabric_of(inputs, {})
    files: dict[str, str | bytes] = {
        f"build/outputs/{name}.npy": write_array(value) for name, value in outputs.items()}
    used = write_usage(find_usage(done))
    return files | {"build/results.json": write_results(results), "build/usage.npz": used}


def record(inputs: Inputs, asked: Asked | None) -> FabricRun:
    """Run the programs once more, and record it, with the events that are asked for."""
    return run_fabric_of(inputs, {}, recorded=True, asked=asked)[1]


def run_fabric_of(
    inputs: Inputs, further: Mapping[str, isl.Set], *, recorded: bool = False,
    asked: Asked | None = None,
) -> tuple[dict[str, Array], FabricRun, Results]:
    """Return the outputs, the run, and what is known of it; `further` probes are PEs by colour."""
    machine = read_machine(inputs.program(), inputs.further_path)
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
    results = describe_run(done, outputs, graph, sections, machine, counts)
    return outputs, done, results


def _read_array(inputs: Inputs, of: str, entry: Entry) -> Array:
    name = f"build/{of}/{entry.name}.npy"
    return check_array(inputs.array(name), entry, inputs.shown(name))
