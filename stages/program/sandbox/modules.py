"""Finder of the modules beside a program: always compiled from their sources, never cached."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType

from lairmake.stages.program.sandbox.limits import (
    FileWatch,
)
from lairmake.stages.program.values.forms import ProgramError


class SourceFiles(SourceFileLoader):
    """Compiles a module whenever it is imported."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the source as it is now."""
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
