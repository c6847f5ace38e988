"""Run the source of a program with NumPy, as `python` would.

Paper    E Sec. 5.2
Reads    program.yaml, build/source.yaml, objects.yaml, build/data/*.npy; of the source only what
         build/source.yaml has the digest of, so that comments do not count
Writes   build/numpy/*.npy
Assumes  the program may be run: it is code of its user, in a process of its own.
Ensures  its objects began with the data that the graph begins with.
"""

from __future__ import annotations

import typing

from lairmake.stages.program.front.run import rehearse_program
from lairmake.stages.program.irg.graph import FROM_FILE
from lairmake.stages.program.irg.graph_yaml import read_entries
from lairmake.stages.program.sandbox.parent import run_apart, tell_of_limits

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "program.yaml: program, parameters, limits",
    "build/source.yaml",
    "objects.yaml",
    "build/data/*.npy",
)
WRITES = ("build/numpy/*.npy",)
DATA = (
    "../../lairmake/numpy.py", "../../numpy.py",
    "../../lairmake/objects.py", "../../objects.py",
)
"""Modules that the source imports: beside `stages/` in a wheel, in `lairmake/` in a checkout."""


def run(inputs: Inputs) -> dict[str, bytes]:
    """Return the outputs of the source."""
    tell_of_limits(inputs.program(), inputs.shown("program.yaml"))
    entries = read_entries(inputs.source("objects.yaml")).values()
    files = [f"build/data/{entry.name}.npy" for entry in entries if entry.initial == FROM_FILE]
    arguments = {
        "code": inputs.yaml("build/source.yaml")["sha256"],
        "outputs": [entry.name for entry in entries if entry.output],
        "initial": {entry.name: entry.initial for entry in entries},
    }
    data = {name: inputs.content(name) for name in files}
    return run_apart(rehearse_program, inputs, arguments, data)
