"""The doit tasks of a layer, of a workspace, and their configuration."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stages import PIPELINE
from stages.make.action import build_stage
from stages.make.declare import declaration
from stages.make.folders import (
    STATE,
    LayerFolder,
    file_of,
    find_layers,
    is_pattern,
    names_of,
    open_folder,
)
from stages.make.key import is_up_to_date
from stages.make.reporter import StageReporter

SQLITE = b"SQLite format 3\0"
RESULTS = "build/results.json"
Task = dict[str, Any]


def layer_tasks() -> Iterator[Task]:
    """Build and simulate the layer in this folder."""
    yield from tasks_of(open_folder(Path.cwd()))


def workspace_tasks() -> Iterator[Task]:
    """Build and simulate the layers below projects/."""
    for folder in find_layers(Path.cwd()):
        yield from tasks_of(folder)


def layer_config() -> dict[str, Any]:
    """Return the DOIT_CONFIG of a layer folder."""
    folder = open_folder(Path.cwd())
    return _config(folder.home, [folder])


def workspace_config() -> dict[str, Any]:
    """Return the DOIT_CONFIG of a workspace: by default every layer is built."""
    return _config(Path.cwd().resolve(), find_layers(Path.cwd()))


def tasks_of(folder: LayerFolder) -> Iterator[Task]:
    """Yield the task of a layer, a subtask for every stage, and one that prints the result."""
    yield {"basename": folder.name, "name": None, "doc": f"build and simulate {folder.name}"}
    for stage in PIPELINE:
        yield _stage_task(folder, stage)
    yield _summary_task(folder)


def _stage_task(folder: LayerFolder, stage: str) -> Task:
    """Return the task of a stage. Files make the order; patterns, whose files may not be there
    yet, make it by the stage that writes them."""
    declared = declaration(stage)
    return {
        "basename": folder.name,
        "name": stage,
        "doc": declared.title,
        "file_dep": _dependencies(folder, declared.reads),
        "task_dep": [f"{folder.name}:{s}" for s in _writers(declared.reads)],
        "targets": [str(file_of(folder, n)) for n in declared.writes if not is_pattern(n)],
        "uptodate": [(is_up_to_date, [stage, folder])],
        "actions": [(build_stage, [stage, str(folder.path)])],
        "clean": [(remove_outputs, [folder, declared.writes])],
        "verbosity": 2,
    }


def _dependencies(folder: LayerFolder, reads: tuple[str, ...]) -> list[str]:
    """Return the files that stages write, and those of the user that there are."""
    written = {name for stage in PIPELINE for name in declaration(stage).writes}
    fixed = [n for n in reads if n in written and not is_pattern(n)]
    given = [n for pattern in reads if pattern not in written for n in names_of(folder, pattern)]
    return [str(file_of(folder, name)) for name in fixed + given]


def _writers(reads: tuple[str, ...]) -> list[str]:
    patterns = {name for name in reads if is_pattern(name)}
    return [stage for stage in PIPELINE if patterns.intersection(declaration(stage).writes)]


def _summary_task(folder: LayerFolder) -> Task:
    return {
        "basename": folder.name,
        "name": "summary",
        "doc": "Print what was built, whether it is right, and how long it takes",
        "file_dep": [str(file_of(folder, RESULTS))],
        "uptodate": [False],
        "actions": [(_print_summary, [folder])],
        "io": {"capture": False},
    }


def _print_summary(folder: LayerFolder) -> bool:
    """Print the summary; a wrong value fails the task."""
    import json

    from stages.make.summary import is_right, summary

    results = json.loads(file_of(folder, RESULTS).read_text(encoding="utf-8"))
    sys.stdout.write(summary(results))
    return is_right(results)


def remove_outputs(folder: LayerFolder, writes: tuple[str, ...], dryrun: bool) -> None:
    """Remove what a stage wrote to `build/`; the texts in the cache stay."""
    for name in [n for pattern in writes for n in names_of(folder, pattern)]:
        if name.startswith("build/"):
            print(f"remove {file_of(folder, name)}")
            if not dryrun:
                file_of(folder, name).unlink()


def _config(home: Path, layers: list[LayerFolder]) -> dict[str, Any]:
    """Return the configuration of doit."""
    return {
        "backend": "sqlite3",
        "dep_file": str(_database(home)),
        "default_tasks": [layer.name for layer in layers],
        "reporter": StageReporter,
        "verbosity": 2,
    }


def _database(home: Path) -> Path:
    """Return the file of doit's state, in `.lairmake/`, which git ignores.

    A damaged one is removed: what it knew is found out again by running the stages.
    """
    state = home / STATE
    state.mkdir(exist_ok=True)
    (state / ".gitignore").write_text("*\n", encoding="utf-8")
    database = state / "doit.db"
    if database.is_file():
        with database.open("rb") as file:
            intact = file.read(len(SQLITE)) in (SQLITE, b"")
        if not intact:
            database.unlink()
    return database
