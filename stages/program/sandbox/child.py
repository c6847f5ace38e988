"""The child process that runs user code."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType
from typing import Any

from lairmake.stages.program.sandbox.faults import describe
from lairmake.stages.program.sandbox.limits import (
    ChildLimits,
    FileWatch,
    end_with,
    pack,
    set_limits,
    unpack,
)
from lairmake.stages.program.values.api import set_parameters
from lairmake.stages.program.values.forms import ProgramError

# --- How modules beside a program are found: by their sources, of which nothing is kept ---------
#
# Python believes byte code by the size and the seconds of its source, and lists folders; a build
# that is told of every file which is read does neither.

class SourceFiles(SourceFileLoader):
    """Compiles a module whenever it is imported."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of its source, as it is now."""
        return self.source_to_code(self.get_data(self.path), self.path)


class ModulesBeside:
    """Finds modules in one folder of a user, whose own imports note where there is none yet."""

    def __init__(self, folder: str, watch: FileWatch) -> None:
        self._folder, self._watch = folder, watch

    def find_spec(self, fullname: str, target: object = None) -> ModuleSpec | None:
        """Return where a module lies: a package, a file, or a folder of modules."""
        place = os.path.join(self._folder, fullname.rpartition(".")[2])
        for path, inside in ((os.path.join(place, "__init__.py"), [place]), (f"{place}.py", None)):
            if not os.path.isfile(path):
                self._note_missing(path)
            else:
                return importlib.util.spec_from_file_location(
                    fullname, path, loader=SourceFiles(fullname, path),
                    submodule_search_locations=inside,
                )
        if not os.path.isdir(place):
            return None
        spec = ModuleSpec(fullname, None)
        spec.submodule_search_locations = [place]
        return spec

    def _note_missing(self, path: str) -> None:
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if self._watch.name_of(frame.f_code.co_filename) is not None:
            self._watch.note(self._watch.name_of(path), "")

    def invalidate_caches(self) -> None:
        """Do nothing: nothing is kept."""


def find_beside(watch: FileWatch) -> None:
    """Let Python look for modules in the folder of a program first, as if it ran it.

    Raises ProgramError for one that Python would take for one of its own, or of NumPy.
    """
    files = set(os.listdir(watch.folder))
    for name in sorted(set(sys.modules) & {file.removesuffix(".py") for file in files}):
        if f"{name}.py" in files:
            said = f"{name}.py has the name of a module that Python or NumPy needs"
            raise ProgramError(said, "call it something else")

    def look(path: str) -> ModulesBeside:
        if watch.name_of(path) is None:
            raise ImportError
        return ModulesBeside(path, watch)

    sys.path_hooks.insert(0, look)
    sys.path_importer_cache.clear()
    sys.path.insert(0, watch.folder)


def add_paths(paths: Sequence[str]) -> None:
    """Let Python look for modules where the build does, too."""
    sys.path.extend(path for path in paths if path not in sys.path)

# --- What runs in the process that runs a user's code: one function, called once ----------------

FEW_COLLECTIONS = 100_000
"""How many objects Python makes before it looks for cycles: trees and graphs have hardly any."""


def serve(answer: int, held: int) -> None:
    """Read what to call from standard input, call it, write what it gives, and end this process."""
    gc.set_threshold(FEW_COLLECTIONS)
    end_with(held)
    with open(0, "rb", closefd=False) as file:
        told, files = unpack(file.read())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    add_paths(told["paths"])
    limits = ChildLimits(**told["limits"])
    set_limits(limits, answer)
    watch = FileWatch(told["folder"], [*told["paths"], sys.prefix, sys.base_prefix])
    fault, found = None, {}
    try:
        found = _call(told, files, watch)
    except BaseException as error:
        fault = asdict(describe(error, watch, limits))
    _send(answer, {"fault": fault, "opened": watch.opened}, found)


def _call(told: dict[str, Any], files: dict[str, bytes], watch: FileWatch) -> dict[str, bytes]:
    """Call the function that is named as the program would be run: in its folder, by its name."""
    function = getattr(importlib.import_module(told["module"]), told["function"])
    path = os.path.join(watch.folder, told["program"])
    arguments = {"path": path, **told["arguments"]}
    if told["has_data"]:
        arguments["data"] = files
    set_parameters(told["parameters"])
    sys.argv = [path]
    sys.dont_write_bytecode = True
    find_beside(watch)
    watch.begin()
    return dict(function(**arguments))


def _send(answer: int, told: Any, files: dict[str, bytes]) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    for part in pack(told, files):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(answer, rest) :]
    os._exit(0)
