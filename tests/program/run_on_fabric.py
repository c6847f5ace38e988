"""Programs, from their source to what fabric and graph give for their outputs."""

import numpy as np

from lairmake.stages.diagnose import Source
from lairmake.stages.fabric.driver import run_fabric
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.program import lower, paint
from lairmake.stages.program.interpreter.run import make_store, read_value, run_graph
from lairmake.stages.program.irg.graph import FROM_FILE
from lairmake.stages.program.irg.regions import read_regions
from lairmake.stages.program.lowering.programs import make_arrays
from lairmake.stages.program.vm.geometry import Geometry
from tests.program.built import build_texts
from tests.program.given import Given
from tests.program.sectioned import read_files, section_program


def lower_program(source, settings):
    """Return the files of a program, as far as its PE programs. Raises whatever stages raise."""
    files = section_program(source, settings)
    for run in (paint.run, lower.run):
        files = files | run(Given(files))
    return files


def run_programs(files, machine):
    """Return the outputs that the fabric gives, and those of the graph, by name."""
    (graph, sections), given = read_files(files), Given(files)
    regions = read_regions(given.source("accesses.isl"), graph)
    data = {name: given.array(f"build/data/{name}.npy")
            for name, entry in graph.entries.items() if entry.initial == FROM_FILE}
    store = make_store(graph, regions, data)
    run_graph(graph, regions, store)
    outputs = [entry for entry in graph.entries.values() if entry.output]
    wanted = {entry.name: read_value(store, entry) for entry in outputs}
    shapes = {entry.name: graph.field if entry.kind == "UniformLocalScalar" else entry.shape
              for entry in outputs}
    geometry = Geometry(width=graph.field[0], height=graph.field[1], responses=sections.responses)
    layout = read_layout(Source(path="layout.yaml", text=files["build/layout.yaml"]))
    library = build_texts({role: files[f"build/vm/pe_{role}.c"] for role in layout.roles})
    run = run_fabric(library, layout, load_profile(machine, {}),
                     make_arrays(graph, sections, geometry, data), shapes=shapes,
                     cycle_limit=10**6)
    return {name: run.outputs[name][0] for name in wanted}, wanted


def are_equal(found, wanted):
    """Whether values are the same bit for bit, a NaN as another one; scalars as on all workers."""
    whole = np.broadcast_to(wanted, found.shape)
    is_nan = (whole != whole) & (found != found)
    return bool(((found == whole) & (np.signbit(found) == np.signbit(whole)) | is_nan).all())
