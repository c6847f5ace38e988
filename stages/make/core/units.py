"""What is looked at and built as one: a layer, or a network with its parts."""

from __future__ import annotations

import fnmatch
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.layers import (
    lone_folder,
    network_of,
    open_first,
    open_folder,
    with_parts,
)
from lairmake.stages.make.core.task_names import TaskNames
from lairmake.stages.make.core.untouched import Place, find_folders, places_of
from lairmake.stages.make.store.folders import (
    GRAPHS,
    LAYER,
    PROGRAM,
    LayerFolder,
    every_stage,
    folders_of,
    matches,
    parts_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A layer or a network by its name, how to find where its files lie, and how to open it.

    `first` opens it without its parts where it takes long to find out which these are, for who
    needs none of them; it returns None where that is known at once. `listed` opens it with all
    that is listed by name, and may leave out the slots of a search, which are not.
    """

    name: str
    find_places: Callable[[], list[Place]]
    open: Callable[[], LayerFolder]
    listed: Callable[[], LayerFolder]
    first: Callable[[], LayerFolder | None] = lambda: None

    @property
    def places(self) -> list[Place]:
        """Where its files lie, or those of its parts."""
        return self.find_places()


def unit_at(path: Path) -> tuple[Unit, LayerFolder]:
    """Return the unit that the folder at a path belongs to, the network for a part of one, and the
    folder itself: it may have no parts yet."""
    first = open_first(path)
    if first is not None:
        return _unit_of_graph(first.name, str(first.path)), first
    folder = open_folder(path)
    return unit_of(network_of(folder)), folder


def unit_of(whole: LayerFolder) -> Unit:
    """Return a folder as a unit, with its parts."""
    places = functools.cache(functools.partial(places_of, whole))
    return Unit(name=whole.name, find_places=places, open=lambda: whole, listed=lambda: whole)


def _unit_of_graph(name: str, path: str) -> Unit:
    """Return the folder of a graph as a unit; its parts are found once somebody asks for them."""
    whole = functools.cache(functools.partial(open_folder, path))
    places = functools.cache(lambda: places_of(whole()))
    first = functools.partial(open_first, path)
    return Unit(name=name, find_places=places, open=whole, listed=whole, first=first)


def units_below(workspace: Path, names: Set[str] | None = None) -> Iterator[Unit]:
    """Yield every unit below `projects/`, by name; a part in its network is none of its own.

    Nor is any layer in a network that is wrong, since it may be a part. With `names` these are the
    folders so called, those around them, and those below: no others are looked into.
    """
    projects = f"{workspace}/projects"
    every = find_folders(projects) if names is None else find_folders(projects, _near(names))
    found = sorted(every)
    around = {each for name, *_ in found for each in _around(name.rpartition("/")[0])}
    graphs = {
        name for name, path, mark, _ in found
        if mark.endswith(GRAPHS) and name not in around and open_first(path) is not None
    }
    networks = {
        name: open_folder(path) for name, path, _, is_network in found
        if is_network and name not in graphs
    }
    parts = {part.name for network in networks.values() for part in parts_of(network)}
    wrong = {name for name, network in networks.items() if not network.parts}
    for name, path, mark, _ in found:
        if name in graphs:
            yield _unit_of_graph(name, path)
        elif name in networks:
            yield unit_of(networks[name])
        elif name not in parts and name.rpartition("/")[0] not in wrong:
            places = [(path, f"{path}/build", f"{workspace}/cache/{name}")]
            opened = functools.partial(_lone, path)
            is_alone = mark in (LAYER, PROGRAM)
            listed = functools.partial(lone_folder, Path(path)) if is_alone else opened
            yield Unit(
                name=name, find_places=functools.partial(list, places), open=opened, listed=listed
            )


def usable_units(
    workspace: Path, names: Set[str] | None, allowed: TaskNames
) -> Iterator[Unit]:
    """Yield those of `units_below` with names that are allowed."""
    found = {unit.name: unit for unit in units_below(workspace, names)}
    for name in allowed.usable(found, lambda name: found[name].open().is_searched):
        yield found[name]


def _near(names: Set[str]) -> Callable[[str], bool]:
    """Return whether a folder is one of those with some names, around one, or below one."""
    around = {each for name in names for each in _around(name)}
    return lambda folder: folder in around or any(name in names for name in _around(folder))


def _around(name: str) -> Iterator[str]:
    """Yield a name, and those of the folders that it lies in."""
    while name:
        yield name
        name = name.rpartition("/")[0]


def _lone(path: str) -> LayerFolder:
    return with_parts(lone_folder(Path(path)))


def asked_of(unit: Unit, names: Sequence[str]) -> tuple[set[str], bool]:
    """Return what of a unit is asked for: layers as a whole, and whether single tasks or parts."""
    if not names:
        return set(), False
    globs = [name for name in names if "*" in name]
    is_whole = unit.name in names or any(fnmatch.fnmatchcase(unit.name, n) for n in globs)
    whole = {unit.name} if is_whole else set()
    inside = (f"{unit.name}:", f"{unit.name}/")
    below = [n for n in names if n not in globs and n.startswith(inside)]
    may_be_parts = any(":" not in name and name != unit.name for name in names)
    is_glob_inside = any(":" in name or name.startswith(inside) for name in globs)
    if is_glob_inside or (may_be_parts and len(unit.places) > 1):
        folder = unit.open()
        layers = [f.name for f in folders_of(folder)]
        whole |= {f for f in layers for n in names if fnmatch.fnmatchcase(f, n)}
        tasks = [f"{f.name}:{s}" for f in folders_of(folder) for s in every_stage(f)]
        below += [n for n in globs if fnmatch.filter(tasks, n)]
    return whole, bool(below)


class Units:
    """Units by name, and by the folders that their files lie in."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self.by_name = {unit.name: unit for unit in units}

    def __iter__(self) -> Iterator[Unit]:
        return iter(self.by_name.values())

    @functools.cached_property
    def _by_place(self) -> dict[str, Unit]:
        return {place: unit for unit in self for places in unit.places for place in places}

    def named(self, task: str) -> Unit | None:
        """Return the unit of a task, or of a part, by its name; None for none."""
        names = _around(task.partition(":")[0])
        return next((self.by_name[name] for name in names if name in self.by_name), None)

    def sorted(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Return names of tasks, and patterns, by the names of the units that they may mean."""
        found: dict[str, list[str]] = {}
        for word in words:
            named = self.named(word)
            meant = [named] if named is not None else []
            if "*" in word:
                meant = [unit for unit in self if asked_of(unit, [word]) != (set(), False)]
            for unit in meant:
                found.setdefault(unit.name, []).append(word)
        return found

    def around(self, path: str) -> Unit | None:
        """Return the unit that a path from the root lies in, None for none."""
        while path not in self._by_place and path.rpartition("/")[0]:
            path = path.rpartition("/")[0]
        return self._by_place.get(path)

    def layer_at(self, path: str) -> str | None:
        """Return the name of the layer in the folder at a path, None for none."""
        unit = self.around(path)
        inside = folders_of(unit.open()) if unit is not None else []
        return next((folder.name for folder in inside if path == str(folder.path)), None)

    def writer(self, path: str) -> str | None:
        """Return the task that writes the file at a path; None for none."""
        unit = self.around(path)
        for folder in folders_of(unit.open()) if unit is not None else ():
            for stage in every_stage(folder):
                if _writes(folder, stage, path):
                    return f"{folder.name}:{stage}"
        return None

    def readers(self, path: str) -> list[str]:
        """Return the tasks that read the file at a path, if that is what a user writes."""
        unit = self.around(path)
        folders = folders_of(unit.open()) if unit is not None else []
        return [
            f"{folder.name}:{stage}" for folder in folders for stage in every_stage(folder)
            if any(_reads(name, stage) for name in _names_of(path, folder))
        ]


def target_named(word: str, start: Path, units: Units) -> str:
    """Return the task that writes the file at a path, or the pattern of all layers in a folder.

    Paths start where the user stands, or from here, the folder of the dodo file. Another word is
    returned as it is.
    """
    if word in units.by_name or word.startswith("-") or set(":*") & set(word):
        return word
    if any(name.startswith(f"{word}/") for name in units.by_name):
        return f"{word}/*"
    if not set("/.") & set(word) and not os.path.lexists(start / word):
        return word
    paths = [os.path.realpath(place / word) for place in (start, Path.cwd())]
    found = (units.layer_at(path) or units.writer(path) for path in paths)
    return next((name for name in found if name), word)


def _names_of(path: str, folder: LayerFolder) -> Iterator[str]:
    """Yield what stages call the file at a path, if it lies in a layer's folder or a part's."""
    for prefix, each in (("", folder), *((f"{name}/", part) for name, part in folder.parts)):
        if _is_in(path, str(each.path)):
            yield prefix + os.path.relpath(path, each.path)


def _reads(name: str, stage: str) -> bool:
    return any(matches(name, each) for each in declaration(stage).reads)


def _writes(folder: LayerFolder, stage: str, path: str) -> bool:
    """Return whether a stage declares to write the file at a path."""
    for place, below in ((folder.build, "build/"), (folder.cache, "")):
        if _is_in(path, str(place)):
            name = below + os.path.relpath(path, os.path.realpath(place))
            return any(matches(name, n) for n in declaration(stage).writes)
    return False


def _is_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{os.path.realpath(folder)}/")
