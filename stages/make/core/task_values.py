"""What tasks may take from a stage: its values, for `getargs` and `calc_dep`, and its result.

Both are read from what the stage wrote, so they are there whether it ran in this build, came from
the store, or was up to date.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.store.folders import LayerFolder, file_of, names_meant
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.state_folder import state_folder

RESULTS = "build/results.json"


def files_of(folder: LayerFolder, stage: str) -> dict[str, Path]:
    """Return the files that a stage wrote, by name."""
    names = names_meant(folder, declaration(stage).writes)
    found = {name: file_of(folder, name) for name in names}
    return {name: path for name, path in found.items() if path.is_file()}


def values_of(folder: LayerFolder, stage: str) -> dict[str, Any]:
    """Return the values of a stage, by name.

    `file_dep` are the paths of what it wrote, so that a task with the stage as `calc_dep` depends
    on all of it. Of a stage that writes results.json, each of its values is one, whole and, as
    `cycles.simd`, each one in it.
    """
    found = files_of(folder, stage)
    paths = [path_from_here(path, folder.home) for path in found.values()]
    values: dict[str, Any] = {"file_dep": paths}
    if RESULTS in found:
        results = json.loads(found[RESULTS].read_text("utf-8"))
        values |= dict(_within("", results))
    return values


def result_of(folder: LayerFolder, stage: str) -> dict[str, str | None] | None:
    """Return the digest of each file that a stage wrote, by name; None where there is none."""
    memo = memo_of(state_folder(folder.home))
    found = files_of(folder, stage)
    return {name: memo.digest(path) for name, path in found.items()} or None


def path_from_here(path: Path, home: Path) -> str:
    """Return a path as a dodo file has it: from its own folder, within the workspace `home`."""
    name, below = str(path), f"{os.getcwd()}/"
    if name.startswith(below):
        return name.removeprefix(below)
    return os.path.relpath(name) if path.is_relative_to(home) else name


def _within(prefix: str, data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        yield f"{prefix}{name}", value
        if isinstance(value, dict):
            yield from _within(f"{prefix}{name}.", value)
