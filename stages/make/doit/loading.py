"""The tasks of a dodo file with layers: what the user defined, and of the layers what is needed.

The task creators of the dodo file run first. What they define, and what is asked for, refers to
layers, by the names of tasks and by the paths of files: a build makes the tasks of these layers.
Where the dodo file has our DOIT_CONFIG, layers to which nothing happened since they were built need
no tasks, unless somebody refers to them. Commands other than `run` get all tasks.
"""

from __future__ import annotations

import fnmatch
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from doit.cmdparse import CmdOption, CmdParseError, TaskParse
from doit.exceptions import InvalidCommand, InvalidDodoFile
from doit.globals import Globals

from lairmake.stages.make.core.layers import name_fault, shown_name
from lairmake.stages.make.core.untouched import Units, target_named, usable_units
from lairmake.stages.make.doit.dependency import StageDependency
from lairmake.stages.make.doit.reach import groups_of_unit, join, reach_of, tasks_of_unit
from lairmake.stages.make.doit.references import References, real_path, references_of
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.doit.tasks import Layers, make_state, serve
from lairmake.stages.make.store.folders import one_path

OURS = "lairmake"
"""The key that marks the DOIT_CONFIG of our dodo files: it holds the folder of their state."""


def watch_loading(loader: Any, session: Session) -> None:
    """Let the loader of the dodo file of a command make tasks of layers, for its session."""
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
    """Yield where the words of a command line are that no task before them takes for itself."""
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
    """The task that makes each file, by its path; one that stages write has any spelling.

    doit asks for it where tasks come to depend on files while it builds.
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
