"""The doit tasks of a layer, of a workspace, and their configuration."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from doit.task import dict_to_task

from stages.make.action import build_stage, is_up_to_date
from stages.make.declare import declaration
from stages.make.files import remove_left_overs
from stages.make.folders import (
    STATE,
    LayerFolder,
    every_stage,
    file_of,
    folders_of,
    is_pattern,
    names_of,
    open_folder,
    parts_of,
)
from stages.make.outputs import remove
from stages.make.record import recorded
from stages.make.reporter import StageReporter
from stages.make.session import session
from stages.make.store import store_of
from stages.make.sweep import Sweep, remove_temporary
from stages.make.units import Unit, asked_of, check_name, name_targets, unit_of, units_below

Task = dict[str, Any]


def layer_tasks() -> Iterator[Task]:
    """Build and simulate the layer or the network in this folder."""
    folder = open_folder(Path.cwd())
    session().asked.add(folder.name)
    yield from _tasks_of_units([unit_of(folder)], folder.name)


def workspace_tasks() -> Iterator[Task]:
    """Build and simulate the layers below projects/."""
    yield from _tasks_of_units(list(units_below(Path.cwd().resolve())), None)


def layer_config() -> dict[str, Any]:
    """Return the DOIT_CONFIG of a layer folder."""
    return _config(open_folder(Path.cwd()).home)


def workspace_config() -> dict[str, Any]:
    """Return the DOIT_CONFIG of a workspace: by default every layer is built."""
    return _config(Path.cwd().resolve())


def _tasks_of_units(units: list[Unit], default: str | None) -> Iterator[Task]:
    """Yield the tasks of the layers that are asked for, and that anything happened to.

    Without arguments that is `default`, or every unit where it is None. Commands other than `run`
    get all tasks.
    """
    known = session()
    for unit in units:
        check_name(unit.name)
    if known.arguments is None:
        known.default += [default] if default else [unit.name for unit in units]
    else:
        name_targets(known.arguments, known.start, units)
    for unit in units:
        yield from _tasks_of_unit(unit, default)


def _tasks_of_unit(unit: Unit, default: str | None) -> Iterator[Task]:
    known = session()
    if known.arguments is None:
        yield from tasks_of(unit.open())
        return
    names = known.arguments or [default or unit.name]
    asked, below = asked_of(unit, names)
    if not asked and not below:
        return
    if known.arguments:
        known.asked |= asked
    clean = not below and not known.always and _sweep().is_clean(unit.name, unit.places)
    if clean and not known.asked & asked:
        known.unchanged += 1
        return
    if not known.arguments:
        known.default += asked
    folder = unit.open()
    known.selected |= asked
    known.folders |= {f.name: f for f in folders_of(folder)}
    if clean:
        known.clean.add(unit.name)
        yield _group(folder)
    else:
        _tidy(folder.home)
        remove_temporary(unit.places)
        yield from tasks_of(folder)


@functools.cache
def _tidy(home: Path) -> None:
    """Remove, once a process, what builds that were killed left in the state of a workspace."""
    remove_left_overs(home / STATE)
    store_of(home).tidy()


def _sweep() -> Sweep:
    known = session()
    assert known.home is not None
    known.sweep = known.sweep or Sweep(known.home)
    return known.sweep


def tasks_of(folder: LayerFolder) -> Iterator[Task]:
    """Yield the task of a layer and a subtask for every stage; before those of a network come those
    of its parts."""
    for part in parts_of(folder):
        yield from tasks_of(part)
    yield _group(folder)
    for stage in folder.stages:
        yield _stage_task(folder, stage)
    yield from _analyses(folder)


def _analyses(folder: LayerFolder) -> Iterator[Any]:
    """Yield the tasks of analyses, all of them if one is asked for, or for other commands than run.

    They are tasks of doit, since the layer's own one would wait for what is yielded as a dict.
    """
    arguments = session().arguments
    asked = [name for name in arguments or () if ":" in name]
    names = [f"{folder.name}:{stage}" for stage in folder.analyses]
    if arguments is not None and not any(fnmatch.filter(names, name) for name in asked):
        return
    for stage, name in zip(folder.analyses, names, strict=True):
        described = _stage_task(folder, stage) | {"name": name}
        del described["basename"]
        task = dict_to_task(described)
        task.subtask_of = folder.name
        yield task


def _group(folder: LayerFolder) -> Task:
    return {
        "basename": folder.name,
        "name": None,
        "doc": f"build and simulate {folder.name}",
        "clean": [(remove_parts, [folder])] if (folder.build / "parts").is_dir() else [],
    }


def _stage_task(folder: LayerFolder, stage: str) -> Task:
    """Return the task of a stage: it comes after those that write what it declares to read."""
    declared = declaration(stage)
    return {
        "basename": folder.name,
        "name": stage,
        "doc": declared.title,
        "task_dep": before(folder, declared.reads),
        "targets": [str(file_of(folder, n)) for n in declared.writes if not is_pattern(n)],
        "uptodate": [(is_up_to_date, [stage, folder])],
        "actions": [(build_stage, [stage, folder])],
        "clean": [(remove_outputs, [folder, declared.writes])],
        "verbosity": 2,
    }


def before(folder: LayerFolder, reads: tuple[str, ...]) -> list[str]:
    """Return the tasks that write what the patterns of a stage stand for, in other parts too."""
    found = _writers(folder, reads)
    inside = tuple(name.partition("/")[2] for name in reads if name.startswith("*/"))
    for part in parts_of(folder):
        found += _writers(part, inside)
    for crossing in folder.crossings:
        if any(fnmatch.fnmatchcase(crossing.name, name) for name in reads):
            found += crossing.after
    return found


def _writers(folder: LayerFolder, names: tuple[str, ...]) -> list[str]:
    """Return the tasks of the stages of a folder that write one of these names."""
    wrote = (s for s in every_stage(folder) if set(names).intersection(declaration(s).writes))
    return [f"{folder.name}:{stage}" for stage in wrote]


def remove_outputs(folder: LayerFolder, writes: tuple[str, ...], dryrun: bool) -> None:
    """Remove what a stage wrote to `build/`; the texts in the cache stay."""
    _remove(folder, [n for pattern in writes for n in names_of(folder, pattern)], dryrun)


def remove_parts(folder: LayerFolder, dryrun: bool) -> None:
    """Remove what stages wrote to `build/` for the parts of a kernel, old ones included."""
    from stages.make.kernel import names_of_parts

    _remove(folder, names_of_parts(folder), dryrun)


def _remove(folder: LayerFolder, names: Iterable[str], dryrun: bool) -> None:
    for name in names:
        if name.startswith("build/"):
            print(f"remove {file_of(folder, name)}")
            if not dryrun:
                remove(folder, name)


def _config(home: Path) -> dict[str, Any]:
    """Return the configuration of doit: its own database is for tasks of other kinds."""
    session().home = home
    state = home / STATE
    with contextlib.suppress(OSError):
        state.mkdir(exist_ok=True)
        if not (state / ".gitignore").is_file():
            (state / ".gitignore").write_text("*\n", encoding="utf-8")
    return {
        "lairmake": True,
        "backend": "sqlite3",
        "dep_file": ":memory:",
        "default_tasks": session().default,
        "reporter": recorded(StageReporter),
        "verbosity": 2,
    }
