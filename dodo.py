"""The tasks of the layers below projects/, and of this project itself."""

import glob
import os
import sys

from doit.action import CmdAction

from lairmake.stages.make import workspace_config, workspace_tasks as task_layers  # noqa: F401

DOIT_CONFIG = workspace_config()
PYTHON = [sys.executable, "-m"]
CORES = min(os.cpu_count() or 1, 8)
WORKERS = ["-n", str(CORES), "--dist", "loadgroup"] if CORES > 1 else []
CODE, TESTS = (
    sorted(path for pattern in patterns for path in glob.glob(pattern, recursive=True))
    for patterns in (("lairmake/*.py", "stages/**/*.py", "tools/**/*.py"), ("tests/**/*.py",)))


TESTED = {
    "test": ("of every stage, chosen to fail first", "not long and not wide"),
    "test:wide": ("that are wide: the others, but the long ones", "wide and not long"),
    "test:long": ("of all kinds, the long ones too", "long or not long"),
}
CHANGED = {"name": "changed", "long": "changed", "type": bool, "default": False,
           "help": "leave out the files of tests that passed, and of which nothing changed"}


def task_runs():
    """Tests and benchmarks: these run whenever they are asked for."""
    for name, (which, marks) in TESTED.items():
        def command(changed, marks=marks):
            return [*PYTHON, "tests.changed" if changed else "pytest", *WORKERS, "-m", marks]

        yield {"basename": name, "doc": f"Run the tests {which}", "params": [CHANGED],
               "actions": [CmdAction(command, shell=False)], "io": {"capture": False}}
    yield {"basename": "bench", "doc": "Measure how fast it is: everything, or what is named",
           "actions": [f'"{sys.executable}" -m tests.bench %(names)s'], "pos_arg": "names",
           "io": {"capture": False}}
    yield {"basename": "gallery", "doc": "Draw the catalogue, and write docs/catalogue.md",
           "actions": [[*PYTHON, "tools.gallery"]], "io": {"capture": False}}
    yield {"basename": "fidelity", "doc": "Run published programs, and write docs/fidelity.md",
           "actions": [[*PYTHON, "tools.fidelity"]], "verbosity": 2}


def task_checks():
    """Check style and types, and name what is long."""
    yield {"basename": "lint", "name": "style", "doc": "Check the style of every file with ruff",
           "file_dep": ["dodo.py", "pyproject.toml", *CODE, *TESTS],
           "actions": [[*PYTHON, "ruff", "check", "--quiet", "."]]}
    yield {"basename": "lint", "name": "sizes", "doc": "Name files and functions that are long",
           "file_dep": CODE, "actions": [[*PYTHON, "tools.sizes", *CODE]], "verbosity": 2}
    yield {"basename": "types", "doc": "Check the types of the compiler with mypy",
           "actions": [[*PYTHON, "mypy"]],
           "file_dep": ["pyproject.toml", *CODE]}
