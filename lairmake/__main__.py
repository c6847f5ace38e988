"""The command `lairmake`: doit with our commands, which needs no dodo.py where layers are."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from doit import loader
from doit.cmd_base import DodoTaskLoader
from doit.doit_cmd import DoitMain
from doit.exceptions import InvalidDodoFile

DODO = "dodo.py"
HELP = "--help"
CALLED = "LAIRMAKE_CALLED"
"""Variable of the environment with what the user typed to start this program."""
NOTHING = """nothing to build here: no dodo.py, no layer.yaml and no projects/
hint: `{} new NAME` makes a layer; one that there is, is built in its folder"""
EMPTY = "ERROR: an empty word names no task: leave it out\n"


class Main(DoitMain):  # type: ignore[misc]
    """doit, called by our name."""

    BIN_NAME = "lairmake"

    @staticmethod
    def print_version() -> None:
        """Print the version of Lairmake."""
        print(f"lairmake {importlib.metadata.version('lairmake')}")


class Loader(DodoTaskLoader):  # type: ignore[misc]
    """Loads the nearest dodo.py; a folder of layers that has none is taken as if it had ours."""

    def setup(self, options: Any) -> None:
        """Move to the folder of what is built. Raises InvalidDodoFile where there is nothing."""
        if options["dodoFile"] != DODO or options["cwdPath"]:
            super().setup(options)
            return
        found = _nearest(Path.cwd())
        if found is None:
            raise InvalidDodoFile(NOTHING.format(Main.BIN_NAME))
        options["seek_file"] = True
        if (found / DODO).is_file():
            super().setup(options)
            return
        loader.initial_workdir = os.getcwd()
        os.chdir(found)
        self.namespace = _namespace(found)


def _nearest(here: Path) -> Path | None:
    """Return the folder with the dodo.py, or of a layer, that a path lies in; None for none.

    Only where the user stands `projects/` alone makes a workspace.
    """
    from lairmake.stages.make.core.layers import is_buildable

    for place in (here, *here.parents):
        if (place / DODO).is_file() or is_buildable(place):
            return place
    return here if (here / "projects").is_dir() else None


def _namespace(folder: Path) -> dict[str, Any]:
    """Return what our dodo.py would define in a folder that has none."""
    from lairmake.stages import make
    from lairmake.stages.make.core.layers import is_buildable

    if is_buildable(folder):
        return {"DOIT_CONFIG": make.layer_config(), "task_layers": make.layer_tasks}
    return {"DOIT_CONFIG": make.workspace_config(), "task_layers": make.workspace_tasks}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, and return doit's exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[-1] == HELP:
        words = ["help", *words[:-1][:1]]
    if "" in words:
        sys.stderr.write(EMPTY)
        return 3
    Main.BIN_NAME = os.environ.pop(CALLED, Main.BIN_NAME)
    code = Main(task_loader=Loader()).run(words)
    return int(code or 0)


if __name__ == "__main__":
    sys.exit(main())
