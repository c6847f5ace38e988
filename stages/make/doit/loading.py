"""Tasks of a dodo file: those of the user, and those of layers that they need."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doit.cmdparse import CmdOption, CmdParseError, TaskParse
from doit.exceptions import InvalidCommand, InvalidDodoFile, InvalidTask
from doit.globals import Globals
from doit.task import Task, result_dep

from lairmake.stages.make.core.layers import name_fault, shown_name
from lairmake.stages.make.core.pipeline import knows_parts, tasks_up_to
from lairmake.stages.make.core.untouched import (
    Unit,
    Units,
    asked_of,
    places_of,
    remove_temporary,
    target_named,
    untouched_of,
    usable_units,
)
from lairmake.stages.make.doit.dependency import StageDependency
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.doit.tasks import (
    Layers,
    group_of,
    make_state,
    serve,
    tasks_needed,
    tasks_of,
)
from lairmake.stages.make.store.folders import LAYER, LayerFolder, folders_of, one_path
from lairmake.stages.make.store.marks import marked
from lairmake.stages.make.store.store import store_of

# --- References of users' tasks, by name and by file ----------------------------------------------

Paths = dict[str, list[Any]]
"""Tasks, by the path of a file: absolute, without symbolic links in the names of folders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """References of some tasks to other tasks and to files.

    `names` are names of tasks, or patterns of names, that come before one of the tasks. Of those
    that are `valued`, too, the values or the result are wanted. `reads` and `writes` have, by file,
    the tasks with that file as file_dep or target.
    """

    names: frozenset[str]
    valued: frozenset[str]
    reads: Paths
    writes: Paths


def references_of(tasks: Iterable[Any]) -> References:
    """Return the references of some tasks."""
    names: set[str] = set()
    valued: set[str] = set()
    reads: Paths = {}
    writes: Paths = {}
    real = functools.cache(real_path)  # many tasks read the same files
    for task in tasks:
        names.update(named_by(task))
        valued |= {*task.calc_dep, *(name for name, _ in task.getargs.values())}
        valued |= {item.dep_name for item, _, _ in task.uptodate if isinstance(item, result_dep)}
        for paths, found in ((task.file_dep, reads), (task.targets, writes)):
            for path in paths:
                found.setdefault(real(path), []).append(task)
    return References(
        names=frozenset(names), valued=frozenset(valued), reads=reads, writes=writes
    )


def named_by(task: Any) -> list[str]:
    """Return the names of tasks, and patterns of them, that come before a task."""
    return [*task.task_dep, *task.wild_dep, *task.setup_tasks, *task.calc_dep]


def real_path(path: str) -> str:
    """Return a path from here as one from the root, without symbolic links but in its last name."""
    folder, name = os.path.split(path)
    if name in ("", os.curdir, os.pardir):
        folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(_real_folder(folder, os.getcwd()), name)


@functools.lru_cache(maxsize=4096)
def _real_folder(path: str, here: str) -> str:
    return os.path.realpath(os.path.join(here, path))


def reached_by(tasks: Sequence[Any], words: Iterable[str], references: References) -> list[Any]:
    """Return the tasks that words name, and those that come before them, in no order.

    A word that is no task may name one that another task creates during the build.
    """
    known = {task.name: task for task in tasks}
    late = [name for name, task in known.items() if task.loader]
    waiting = [name for word in words for name in _matching(word, known, references) or late]
    found: dict[str, Any] = {}
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found[name] = task = known[name]
            before = (*named_by(task), *task.file_dep)
            waiting += [n for word in before for n in _matching(word, known, references)]
    return list(found.values())


def _matching(word: str, known: Iterable[str], references: References) -> list[str]:
    """Return the tasks that a word names, as a pattern, or by a file that they make."""
    names = [name for name in known if word == name or fnmatch.fnmatch(name, word)]
    return [*names, *(task.name for task in references.writes.get(real_path(word), ()))]

# --- Tasks of layers that a build needs -----------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReach:
    """Needs of a build, that of a session, in tasks of layers.

    By the names of units, `words` are the tasks to make, as names and patterns, and `names` those
    that tasks of the user refer to; of the latter, the `valued` ones have to give their values. By
    the name of the task that writes a file, `read` has the tasks of the user that read it; `files`
    are the names of the units of these files. `write` has, by path, the tasks of the user that make
    a file. Units are `touched` if a task of the user makes a file in their folders, or one of their
    tasks is forgotten or ignored.

    With `everything`, all tasks are made. `is_given` says that `words` were asked for, and are not
    what is built by default. With `skips`, layers that nothing happened to get no tasks.
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
) -> TaskReach:
    """Return the needs of a build that is to make `words`.

    `own` are the tasks of the user, with their references. A layer that nothing happened to may be
    skipped only if no task of the user runs first, since nobody knows what that does.
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
    return TaskReach(
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


def tasks_of_unit(reach: TaskReach, unit: Unit) -> Iterator[Task]:
    """Yield the tasks of a unit that a build needs.

    A unit that nothing happened to has none, except the task of the whole if somebody named it.
    """
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


def _words_of_unit(reach: TaskReach, unit: Unit) -> set[str]:
    """Return what is asked for of a unit, and what tasks of the user refer to."""
    read = (task for task in reach.read if reach.units.named(task) is unit)
    return {*reach.words.get(unit.name, ()), *reach.names.get(unit.name, ()), *read}


def _find_first(reach: TaskReach, unit: Unit, words: Set[str]) -> LayerFolder | None:
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


def _is_clean(reach: TaskReach, unit: Unit) -> bool:
    """Return whether nothing happened to a unit since it was built, nor may while others are."""
    known = reach.session
    if reach.everything or known.build.always or not reach.skips or unit.name in reach.touched:
        return False
    assert known.home is not None
    known.skips = True
    is_one_of_many = not known.arguments
    return untouched_of(known.home).is_clean(unit.name, unit.places, reach.write, is_one_of_many)


def _is_wanted(reach: TaskReach, unit: str, task: str) -> bool:
    """Return whether a stage that only runs where it is asked for is."""
    found = (words.get(unit, ()) for words in (reach.words, reach.names))
    words = [word for each in found for word in each if ":" in word]
    is_meant = any(fnmatch.fnmatchcase(task, word) for word in words)
    return reach.everything or task in reach.read or is_meant


@functools.cache
def _tidy(home: Path) -> None:
    """Remove, once a process, what builds that were killed left in the state of a workspace."""
    store_of(home).tidy()


def join(reach: TaskReach, tasks: Mapping[str, Task]) -> None:
    """Let tasks come after those that write what they read, be they stages or the user's."""
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

# --- Tasks of a dodo file with layers -------------------------------------------------------------
#
# The task creators of the dodo file run first. The tasks that they define, and the words of the
# command line, refer to layers by the names of tasks and by the paths of files: a build makes the
# tasks of these layers. Where the dodo file has our DOIT_CONFIG, layers to which nothing happened
# since they were built need no tasks, unless somebody refers to them. Commands other than `run` get
# all tasks.

OURS = "lairmake"
"""The key that marks the DOIT_CONFIG of our dodo files: it holds the folder of their state."""


def watch_loading(loader: Any, session: Session) -> None:
    """Let the loader of a command's dodo file make tasks of layers, for a session."""
    if not hasattr(loader, OURS):
        loader.load_doit_config = functools.partial(_load_config, loader, loader.load_doit_config)
        loader.load_tasks = functools.partial(_load_tasks, loader, loader.load_tasks)
    setattr(loader, OURS, session)


def _load_config(loader: Any, load: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    config = load()
    if OURS in config:
        getattr(loader, OURS).home = one_path(config[OURS])
    return config


def _load_tasks(
    loader: Any, load: Callable[..., list[Any]], cmd: Any, pos_args: list[str]
) -> list[Any]:
    """Return the tasks of a dodo file; its command gets a manager that knows stages."""
    known: Session = getattr(loader, OURS)
    serve(known)
    known.loads = True
    try:
        found = load(cmd=cmd, pos_args=pos_args)
    finally:
        known.loads = False
    layers = [task for task in found if isinstance(task, Layers)]
    is_ours = known.home is not None
    if cmd.dep_manager is not None and (layers or is_ours or any(t.loader for t in found)):
        cmd.dep_manager = Globals.dep_manager = StageDependency(cmd.dep_manager, known)
    if not layers:
        return found
    known.home = known.home or layers[0].home
    make_state(known.home)
    tasks = _with_layers(known, cmd, found, layers, is_ours)
    if known.arguments is not None or not cmd.execute_tasks:  # else a build is begun that tells
        _tell_left_out(known, pos_args, {task.name for task in tasks})
    return tasks


def _tell_left_out(known: Session, words: Sequence[str], tasks: Set[str]) -> None:
    """Say which folders are left out for their names, unless each word is one of the tasks."""
    if not words or not set(words) <= tasks:
        known.names.tell()


def _with_layers(
    known: Session, cmd: Any, found: list[Any], layers: list[Layers], is_ours: bool
) -> list[Any]:
    """Return all tasks, and let the command know what is built by default."""
    own = [task for task in found if not isinstance(task, Layers)]
    references = references_of(own)
    units = known.units = _find_units(known, cmd, layers, own, references)
    _check_names(known, units, layers, own)
    words = _words_of(known, cmd, own, units)
    default = [name for each in layers for name in each.names]
    known.asked.update(name for each in layers if each.is_one for name in each.names)
    is_given = words is not None
    if known.lists:
        made = {unit.name: list(groups_of_unit(known, unit)) for unit in units}
    else:
        reach = reach_of(
            known, units, own, references, default if words is None else words, is_given, is_ours,
        )
        made = {unit.name: list(tasks_of_unit(reach, unit)) for unit in units}
        if cmd.execute_tasks:
            stages = (t for tasks in made.values() for t in tasks if t.name in known.stages)
            join(reach, {task.name: task for task in stages})
    if is_given and not any(task.loader for task in own):
        _check_patterns(words or [], [task.name for task in own], units)
    placed = {unit.name for each in layers for unit in each.units}
    tasks = [t for task in found for t in _in_place(task, made)]
    tasks += [t for name in made if name not in placed for t in made[name]]
    if cmd.sel_tasks is None:
        there = [task.name for task in tasks]
        ours = [name for name in default if name in there]
        cmd.sel_tasks = ours if is_ours else list(_plain(known, there))
    return tasks


def _check_patterns(words: Iterable[str], names: Sequence[str], units: Units) -> None:
    """Raise InvalidCommand for a pattern that no task has, of the user or of layers."""
    for word in words:
        if "*" in word and not units.sorted([word]) and not fnmatch.filter(names, word):
            raise InvalidCommand(not_found=word)


def _find_units(
    session: Session, cmd: Any, layers: Sequence[Layers], own: Sequence[Any], references: References
) -> Units:
    """Return the units that a command may need: all, unless each word of a build is one of few."""
    names = _names_meant(session, cmd, own, references)
    if names is not None:
        units = _look_for(session, names, layers, own, references)
        known = {task.name for task in own}
        words = _words_of(session, cmd, own, units) or []
        if all(word in known or units.sorted([word]) for word in words):
            return units
    return _look_for(session, None, layers, own, references)


def _look_for(
    session: Session, names: Set[str] | None, layers: Sequence[Layers], own: Sequence[Any],
    references: References,
) -> Units:
    for each in layers:
        each.look_for(session.names, names)
    return _units_around(session, layers, own, references)


def _names_meant(
    known: Session, cmd: Any, own: Sequence[Any], references: References
) -> set[str] | None:
    """Return what the units may be called that a build is asked for, or tasks of the user need.

    None where these may be any: for other commands, by default, for patterns, and where what a task
    needs is known late.
    """
    given = cmd.sel_tasks
    words = [*(given or ()), *references.names]
    is_late = any(task.loader or task.calc_dep for task in own)
    if known.arguments is None or given is None or is_late or any("*" in word for word in words):
        return None
    places = (known.start, Path.cwd())
    paths = [os.path.realpath(place / word) for place in places for word in given]
    tops = [os.path.join(str(known.home), top, "") for top in ("projects", "cache")]
    below = {
        path.removeprefix(top) for path in (*paths, *references.reads, *references.writes)
        for top in tops if path.startswith(top)
    }
    return below | {word.partition(":")[0] for word in words} | {task.name for task in own}


def _units_around(
    session: Session, layers: Sequence[Layers], own: Sequence[Any], references: References
) -> Units:
    """Return the units of a dodo file, and those of its workspace if tasks refer to others."""
    units = Units(unit for each in layers for unit in each.units)
    home, known = str(layers[0].home), {task.name for task in own}
    files = [path for path in references.reads if path.startswith(f"{home}/")]
    others = [name for name in references.names if name not in known]
    is_whole = not any(each.is_one for each in layers) or not Path(home, "projects").is_dir()
    meant = {name for names in units.sorted(others).values() for name in names}
    if is_whole or (all(map(units.around, files)) and meant.issuperset(others)):
        return units
    every = usable_units(Path(home), None, session.names)
    return Units({unit.name: unit for unit in (*every, *units)}.values())


def _in_place(task: Any, made: Mapping[str, list[Any]]) -> list[Any]:
    if isinstance(task, Layers):
        return [each for unit in task.units for each in made[unit.name]]
    return [task]


def _plain(known: Session, names: Iterable[str]) -> Iterator[str]:
    """Yield the names of tasks but those of stages that run only where they are asked for."""
    for name in names:
        folder, stage = known.stages.get(name, (None, ""))
        if folder is None or stage not in folder.analyses:
            yield name


def _check_names(
    known: Session, units: Units, layers: Sequence[Layers], own: Sequence[Any]
) -> None:
    """Raise InvalidDodoFile for a task of the user called like a layer, and where the only layer
    that a dodo file builds has a name that no task can have."""
    for unit in (unit for each in layers if each.is_one for unit in each.units):
        fault = name_fault(unit.name, known.names.commands)
        if fault is not None:
            name, folder = map(shown_name, (unit.name, fault[1]))
            raise InvalidDodoFile(
                f"a layer may not be called {name}, since {fault[0]}: rename the folder {folder}"
            )
    for task in own:
        if task.name in units.by_name:
            raise InvalidDodoFile(
                f"Task names must be unique. {task.name}: rename the task, or projects/{task.name}"
            )


def _words_of(
    known: Session, cmd: Any, own: Sequence[Any], units: Units
) -> list[str] | None:
    """Return what is asked for, with tasks in place of files: the names of tasks, and patterns.

    Of a build these are on the command line, or what the dodo file has as default_tasks; None is
    neither.
    """
    if cmd.sel_tasks is None or known.arguments is None:
        return None
    cmd.sel_tasks = given = list(cmd.sel_tasks)
    names = {task.name for task in own}
    found = list(words_at(given, own))
    for at in found:
        if given[at] not in names:
            given[at] = target_named(given[at], known.start, units)
    return [given[at] for at in found if not given[at].startswith("-")]


def words_at(given: Sequence[str], tasks: Sequence[Any]) -> Iterator[int]:
    """Yield the indices of the words of a command line that no task before them takes."""
    known = {task.name: task for task in tasks}
    at = 0
    while at < len(given):
        yield at
        task = known.get(given[at])
        at = at + 1 if task is None else len(given) - len(_left(task, list(given[at + 1 :])))


def _left(task: Any, arguments: list[str]) -> list[str]:
    """Return the arguments after those that a task takes."""
    if task.pos_arg is None and not (task.params or task.creator_params):
        return arguments
    parser = TaskParse([CmdOption(option) for option in (*task.params, *task.creator_params)])
    try:
        left: list[str] = parser.parse(arguments)[1]
    except CmdParseError:  # doit says so
        return []
    return [] if task.pos_arg is not None else left


class Targets(dict[str, str]):
    """The task that makes each file, by path; a file that stages write has any spelling.

    doit asks for it where tasks come to depend on files during the build.
    """

    def __init__(
        self, known: Mapping[str, str], tasks: Mapping[str, Any], session: Session
    ) -> None:
        super().__init__(known)
        self._tasks, self._session = tasks, session

    def __contains__(self, path: object) -> bool:
        return super().__contains__(path) or self._writer(str(path)) is not None

    def __missing__(self, path: str) -> str:
        found = self._writer(path)
        if found is None:
            raise KeyError(path)
        return found

    def _writer(self, path: str) -> str | None:
        units = self._session.units
        found = units.writer(real_path(path)) if units is not None else None
        return found if found is not None and self._has(found) else None

    def _has(self, name: str) -> bool:
        """Return whether a task is there: before it is made, another one may stand for it."""
        return name in self._tasks and bool(self._tasks[name].targets)
