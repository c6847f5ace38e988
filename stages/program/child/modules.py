"""How modules beside a program are found: by their sources, of which nothing is kept.

Python believes byte code by the size and the seconds of its source, and lists folders; a build that
is told of every file which is read does neither.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType

from stages.program.child.watch import Watch


class Sources(SourceFileLoader):
    """Compiles a module whenever it is imported."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of its source, as it is now."""
        return self.source_to_code(self.get_data(self.path), self.path)


class Beside:
    """Finds modules in one folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(self, fullname: str, target: object = None) -> ModuleSpec | None:
        """Return where a module lies: a package, a file, or a folder of modules."""
        place = os.path.join(self._folder, fullname.rpartition(".")[2])
        for path, inside in ((os.path.join(place, "__init__.py"), [place]), (f"{place}.py", None)):
            if os.path.isfile(path):
                return importlib.util.spec_from_file_location(
                    fullname, path, loader=Sources(fullname, path),
                    submodule_search_locations=inside,
                )
        if not os.path.isdir(place):
            return None
        spec = ModuleSpec(fullname, None)
        spec.submodule_search_locations = [place]
        return spec

    def invalidate_caches(self) -> None:
        """Do nothing: nothing is kept."""


def find_beside(watch: Watch) -> None:
    """Let Python look for modules in the folder of a program first, as if it ran it."""

    def look(path: str) -> Beside:
        if watch.name_of(path) is None:
            raise ImportError
        return Beside(path)

    sys.path_hooks.insert(0, look)
    sys.path_importer_cache.clear()
    sys.path.insert(0, watch.folder)


def add_paths(paths: Sequence[str]) -> None:
    """Let Python look for modules where the build does, too."""
    sys.path.extend(path for path in paths if path not in sys.path)
