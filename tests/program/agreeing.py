"""Run a program in this process: on x86, as a graph, as a graph at addresses, and on the fabric."""

import io
import json
from pathlib import Path

import numpy as np

from lairmake.stages.diagnose import Source
from lairmake.stages.program import exchange, execute, interpret, lower, paint, remember, section
from lairmake.stages.program.front.run import rehearse_program
from lairmake.stages.program.front.source_on_x86 import digest_code, strip_source
from lairmake.stages.program.il.run import capture_program
from lairmake.stages.program.irg.graph import FROM_FILE
from lairmake.stages.program.irg.graph_yaml import read_entries
from lairmake.stages.program.lowering import running
from lairmake.stages.program.source.translation import translate_source
from lairmake.stages.program.values.api import set_parameters
from tests.program.built import build_once, store_program
from tests.program.given import Given

NAME = "program.py"
VIRTUAL = (exchange, section, paint, lower)
"""The stages between interpret and execute."""


def run_program(source, parameters=()):
    """Return the files of all stages of a program. Raises whatever they raise."""
    parameters = dict(parameters)
    files = {"program.yaml": "", NAME: source}
    files["program.il"] = translate_source(Source(path=NAME, text=source)).text
    set_parameters(parameters)
    files |= capture_program(files["program.il"], source, NAME)
    set_parameters(parameters)
    files |= rehearse(source, files)
    for stage in (remember, interpret):
        files |= stage.run(Given(files))
    return files


class OnDisk(Given):
    """Files of which PE programs are on a disk, by what they hold: a compiler reads them there."""

    def path(self, name):
        return store_program(Path(name).name, self.content(name))


def run_virtual(files, profile="wse2", responses=None):
    """Return the files of a captured program with those of the stages up to execute.

    `files` are those of `run_program`, for whatever machine. Raises whatever stages raise.
    """
    control = "" if responses is None else f"control: {{responses: {responses}}}\n"
    files = {**files, "program.yaml": f"machine: {profile}\n{control}"}
    for stage in (remember, *VIRTUAL):
        files |= stage.run(OnDisk(files))
    before, running.build_library = running.build_library, lambda programs, *_, **__: build_once(
        *programs)
    try:
        return files | execute.run(OnDisk(files))
    finally:
        running.build_library = before


def run_on_fabric(source, profile="wse2", parameters=(), responses=None):
    """Return the files of all stages of a program. Raises whatever they raise."""
    return run_virtual(run_program(source, parameters), profile, responses)


def rehearse(source, files):
    """Return the outputs of a source on x86."""
    objects = Source(path="objects.yaml", text=files["objects.yaml"].decode())
    entries = read_entries(objects).values()
    outputs = [entry.name for entry in entries if entry.output]
    initial = {entry.name: entry.initial for entry in entries}
    data = {f"build/data/{name}.npy": files[f"build/data/{name}.npy"]
            for name, given in initial.items() if given == FROM_FILE}
    code = digest_code(strip_source(source, NAME))
    return rehearse_program(source, NAME, code, outputs, initial, data)


def read_outputs(files, of="graph"):
    """Return the outputs that a run gave, by name: `graph`, `numpy`, or `outputs` of the fabric."""
    names = [name for name in files if name.startswith(f"build/{of}/")]
    return {Path(name).stem: np.load(io.BytesIO(files[name])) for name in names}


def read_results(files):
    """Return what build/results.json says."""
    return json.loads(files["build/results.json"])
