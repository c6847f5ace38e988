"""Run a program three times in this process: on x86, as a graph, and as a graph at addresses."""

import json

from stages.diagnose import Source
from stages.program import interpret, remember
from stages.program.front.run import rehearse_program
from stages.program.front.stripped import digest_code, strip_source
from stages.program.il.run import capture_program
from stages.program.irg.graph import FROM_FILE
from stages.program.irg.reading import read_entries
from stages.program.source.translation import translate_source
from stages.program.values.parameters import set_parameters
from tests.program.given import Given

NAME = "program.py"


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


def read_results(files):
    """Return what build/results.json says."""
    return json.loads(files["build/results.json"])
