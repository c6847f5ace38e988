"""Which tasks of layers a build needs: what is asked for, and what tasks of the user refer to."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import gc
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doit.exceptions import InvalidTask
from doit.task import Task

from lairmake.stages.make.core.pipeline import knows_parts, tasks_up_to
from lairmake.stages.make.core.untouched import (
    Unit,
    Units,
    asked_of,
    places_of,
    remove_temporary,
    untouched_of,
)
from lairmake.stages.make.doit.references import Paths, References, reached_by
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.doit.tasks import group_of, tasks_needed, tasks_of
from lairmake.stages.make.store.folders import LAYER, LayerFolder, folders_of
from lairmake.stages.make.store.marks import marked
from lairmake.stages.make.store.store import store_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a build asks of layers, that of a session.

    By the names of units, `words` are what it is to make: names of tasks, and patterns; tasks of
    the user refer to those called `names`, and want the values of those that are `valued`. They
    `read` what stages write, by the name of the task that does so, `files` of the units so called,
    and `write`, by path, what stages read. To units that are `touched` something happens: a task
    of the user makes a file in their folders, or a task of theirs is forgotten or ignored. All
    tasks are to be made if `everything` is; those of the words if they are `is_given`, and not what
    is built by default; and if not `skips`, those of layers that nothing happened to.
    """

    session: Session
    units: Units
    words: Mapping[str, Sequence[str]]
    names: Mapping[str, Sequence[str]]
    valued: frozenset[str]
    read: Paths
    files: frozenset[str]
    write: Paths
    touched: frozenset[str]
    everything: bool
    is_given: bool
    skips: bool


def reach_of(
    session: Session, units: Units, own: Sequence[Any], references: References,
    words: Sequence[str], is_given: bool, skips: bool,
) -> Reach:
    """Return what a build asks of layers that is to make `words`, where tasks of the user, `own`,
    have references.

    A layer may be left out, as nothing happened to it, only if no task of the user runs first: who
    knows what that does.
    Raises InvalidTask for a target that a stage writes.
    """
    asked, names = units.sorted(words), units.sorted(references.names)
    others = set(words).difference(*asked.values())
    reached = reached_by(own, others, references) if is_given or skips else own
    writers = {path: units.writer(path) for path in (*references.reads, *references.writes)}
    for path, makers in references.writes.items():
        if writers[path] is not None:
            raise InvalidTask(
                f"Two different tasks can't have a common target. '{path}' is a target for "
                f"{makers[0].name} and {writers[path]}."
            )
    read = {w: t for path, t in references.reads.items() if (w := writers[path]) is not None}
    return Reach(
        session=session, units=units, words=asked, names=names, valued=references.valued,
        read=read, files=frozenset(units.sorted(read)),
        write=references.writes, touched=frozenset(_touched(session, references)),
        is_given=is_given, skips=skips and not any(task.actions for task in reached),
        everything=session.arguments is None or any(t.loader or t.calc_dep for t in reached),
    )


def _touched(session: Session, references: References) -> Iterator[str]:
    home, units = session.home, session.units
    assert home is not None and units is not None
    marks = (units.named(name) for name in marked(home))
    made = (units.around(path) for path in references.writes)
    return (unit.name for unit in (*marks, *made) if unit is not None)


def groups_of_unit(session: Session, unit: Unit) -> Iterator[Task]:
    """Yield the tasks of the layers of a unit as a whole, without those of their stages."""
    for folder in folders_of(unit.listed()):
        if not folder.is_slot:
            yield group_of(session, folder)


def tasks_of_unit(reach: Reach, unit: Unit) -> Iterator[Task]:
    """Yield the tasks of a unit that a build needs; none where nothing happened to it, but that of
    the whole if somebody named it."""
    known = reach.session
    asked, below = asked_of(unit, reach.words.get(unit.name, ()))
    named, inside = asked_of(unit, reach.names.get(unit.name, ()))
    if known.arguments:
        known.asked |= asked
    read = unit.name in reach.files
    if not (asked or below or named or inside or read or reach.everything):
        return
    is_single = below or inside or bool(named & reach.valued)
    clean = not is_single and _is_clean(reach, unit)
    if clean and not named and not (reach.is_given and asked) and not known.asked & asked:
        known.unchanged += bool(asked)
        return
    words = _words_of_unit(reach, unit)
    folder = _find_first(reach, unit, words) or unit.open()
    known.selected |= asked | ({unit.name} if named or read else set())
    if clean:
        known.clean.add(unit.name)
        yield group_of(known, folder)
        return
    if known.arguments is not None:
        _tidy(folder.home)
        remove_temporary(places_of(folder))
    found = _find_needed(folder, words) if not reach.everything else None
    with _uncollected():
        made = list(
            tasks_needed(known, folder, *found) if found is not None
            else tasks_of(known, folder, functools.partial(_is_wanted, reach, unit.name))
        )
    yield from made


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Let Python look for no garbage while many tasks are made, nor ever among what there is then.

    It stays until the command ends; those of an earlier command in this process need not.
    """
    was_enabled = gc.isenabled()
    gc.unfreeze()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_enabled:
            gc.enable()


def _words_of_unit(reach: Reach, unit: Unit) -> set[str]:
    """Return what is asked for of a unit, and what tasks of the user refer to."""
    read = (task for task in reach.read if reach.units.named(task) is unit)
    return {*reach.words.get(unit.name, ()), *reach.names.get(unit.name, ()), *read}


def _find_first(reach: Reach, unit: Unit, words: Set[str]) -> LayerFolder | None:
    """Return a unit without its parts if only stages that come before all of them are needed.

    None for another one, and where a task of the user makes what may decide which parts there are.
    """
    is_of_tasks = all(":" in word for word in words)
    if not is_of_tasks or reach.everything or unit.name in reach.touched:
        return None
    folder = unit.first()
    found = _find_needed(folder, words) if folder is not None else None
    if found is None or any(knows_parts(stage) for _, stage in found[1].values()):
        return None
    return folder


def _find_needed(
    folder: LayerFolder, words: Set[str]
) -> tuple[list[LayerFolder], dict[str, tuple[LayerFolder, str]]] | None:
    """Return which parts of a folder are needed as a whole, and all tasks that are, by name.

    None if that may be any, as for the whole folder, patterns, and names that mean nothing.
    """
    if folder.name in words:
        return None
    layers = [each for each in folders_of(folder) if each.name in words]
    tasks = words - {each.name for each in layers}
    stages = [f"{each.name}:{stage}" for each in layers for stage in each.stages]
    found = tasks_up_to(folder, [*tasks, *stages])
    return (layers, found) if tasks <= found.keys() else None


def _is_clean(reach: Reach, unit: Unit) -> bool:
    """Return whether nothing happened to a unit since it was built, nor may while others are."""
    known = reach.session
    if reach.everything or known.build.always or not reach.skips or unit.name in reach.touched:
        return False
    assert known.home is not None
    known.skips = True
    is_one_of_many = not known.arguments
    return untouched_of(known.home).is_clean(unit.name, unit.places, reach.write, is_one_of_many)


def _is_wanted(reach: Reach, unit: str, task: str) -> bool:
    """Return whether a stage that only runs where it is asked for is."""
    found = (words.get(unit, ()) for words in (reach.words, reach.names))
    words = [word for each in found for word in each if ":" in word]
    is_meant = any(fnmatch.fnmatchcase(task, word) for word in words)
    return reach.everything or task in reach.read or is_meant


@functools.cache
def _tidy(home: Path) -> None:
    """Remove, once a process, what builds that were killed left in the state of a workspace."""
    store_of(home).tidy()


def join(reach: Reach, tasks: Mapping[str, Task]) -> None:
    """Let tasks come after those that write what they read: stages and tasks of the user."""
    for writer, readers in reach.read.items():
        for reader in readers if writer in tasks else ():
            _put_before(reader, writer)
    stages = {name: reach.session.stages[name] for name in tasks}
    for path, makers in reach.write.items():
        for name in (*reach.units.readers(path), *_given(path, stages)):
            for maker in makers if name in tasks else ():
                _put_before(tasks[name], maker.name)


def _put_before(task: Any, name: str) -> None:
    if name not in task.task_dep:
        task.task_dep.append(name)


def _given(path: str, stages: Mapping[str, tuple[LayerFolder, str]]) -> list[str]:
    """Return the tasks of layers whose layer.yaml names a file outside of their folder."""
    if not path.endswith(".yaml"):
        return []
    folders = {folder.name: folder for folder, _ in stages.values()}
    naming = {name for name, folder in folders.items() if _names(folder, Path(path).name)}
    return [name for name, (folder, _) in stages.items() if folder.name in naming]


def _names(folder: LayerFolder, name: str) -> bool:
    return any(
        name.encode() in file.read_bytes()
        for each in folders_of(folder) if (file := each.path / LAYER).is_file()
    )
