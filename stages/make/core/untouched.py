"""Null builds: layers that are unchanged since they were up to date."""

from __future__ import annotations

import fnmatch
import functools
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.key import known_code
from lairmake.stages.make.core.layers import (
    TaskNames,
    lone_folder,
    network_of,
    open_first,
    open_folder,
    with_parts,
)
from lairmake.stages.make.store.files import (
    Signature,
    add_files,
    digest_of_signature,
    find_changes,
    find_state,
    remove_left_overs,
)
from lairmake.stages.make.store.folders import (
    GRAPHS,
    LAYER,
    NETWORK,
    NOT_LAYERS,
    PROGRAM,
    SWEEP,
    LayerFolder,
    every_stage,
    folders_of,
    further_file,
    mark_of,
    matches,
    parts_of,
)
from lairmake.stages.make.store.state import FINE, MOST_OPEN, SECOND, is_fresh, state_of
from lairmake.stages.make.store.state_folder import state_folder

if TYPE_CHECKING:
    from lairmake.stages.make.core.action import ActionResult

# --- Layers that are unchanged since their build --------------------------------------------------
#
# They are found by looking at folders only. The state of the workspace has, for every layer that
# was up to date, the digest of its signature: name, times, size and inode of all files that count.
# It has the digest of the code of the stages, too, so that a change of the code is told without
# reading it. The state is an accelerator: where it is lost, tasks are made, and each finds for
# itself that it is up to date.

Place = tuple[str, str, str]
"""The folder of a layer, its build folder, and its cache."""


class Untouched:
    """The signatures of the layers of a workspace, or of one layer folder."""

    def __init__(self, home: Path) -> None:
        self._state = state_of(state_folder(home))
        self._code = known_code()
        self._settled: dict[str, Any] = {}

    def is_clean(
        self, name: str, places: Iterable[Place], changing: Collection[str] = (),
        is_one_of_many: bool = False,
    ) -> bool:
        """Return whether nothing happened to a layer since it was up to date.

        A layer is not clean if it reads, outside of its folders, one of the paths `changing`.
        """
        known = self._every.get(name) if is_one_of_many else self._state.get("layers", name)
        if not isinstance(known, list) or known[:1] != [self._code.digest]:
            return False
        _, further, digest = known
        if changing and not {os.path.realpath(path) for path in further}.isdisjoint(changing):
            return False
        return bool(digest == digest_of_signature(_signature(places, further)))

    def settle(self, folder: LayerFolder, results: Mapping[str, ActionResult]) -> None:
        """Note a layer that is up to date, unless that may change without a trace.

        `results` say what became of its tasks in this build.
        """
        from lairmake.stages.make.core.action import is_still

        found = [
            (results[f"{f.name}:{stage}"], f) for f in folders_of(folder) for stage in f.stages
        ]
        further = sorted({
            str(further_file(f, name)) for each, f in found for name in each.key.further
        })
        places = places_of(folder)
        # First the signature, then the wait, then is_still. A change after the wait has a time that
        # the signature has not; one before it with the same time is_still finds, as it reads
        # contents after the wait. With is_still before the signature, a change between them would
        # be noted as clean.
        signature = _signature(places, further)
        _wait_for(signature)
        now = time.time_ns()
        if any(is_fresh(changed, now) for changed in find_changes(signature)):
            return
        if all(is_still(*each) for each in found) and signature == _signature(places, further):
            digest = digest_of_signature(signature)
            self._settled[folder.name] = (self._code.digest, list(further), digest)

    def save(self) -> None:
        """Keep what was found out for the next build."""
        if self._settled and not self._code.may_change:
            self._state.keep("layers", self._settled)

    @functools.cached_property
    def _every(self) -> dict[str, Any]:
        return self._state.every("layers")


@functools.lru_cache(MOST_OPEN)
def untouched_of(home: Path) -> Untouched:
    """Return the untouched layers of a workspace, begun once a process."""
    return Untouched(home)


def find_folders(
    projects: str, is_meant: Callable[[str], bool] = lambda name: True
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the folders below `projects/` that are built, among those that are meant by name.

    Each has its name, its path, the file that makes it be built, and whether it has a network.yaml.
    No other folders are looked into.
    """
    waiting = [("", projects)]
    while waiting:
        name, path = waiting.pop()
        files, folders = _entries(path)
        found = mark_of(files)
        if found:
            yield name, path, found, NETWORK in files
        for folder in folders:
            below = f"{name}/{folder}" if name else folder
            is_other = folder[0] == "." or (found and folder in NOT_LAYERS)
            if not is_other and is_meant(below):
                waiting.append((below, f"{path}/{folder}"))


def places_of(folder: LayerFolder) -> list[Place]:
    """Return where the files of a layer lie, or of a network and its parts.

    Files of slots, and of parts that a stage writes, lie in the folders of the layer or kernel.
    """
    parts = (f for f in parts_of(folder) if not f.is_slot)
    found = (folder, *(f for f in parts if not f.path.is_relative_to(folder.build)))
    return [(str(f.path), str(f.build), str(f.cache)) for f in found]


def remove_temporary(places: Iterable[Place]) -> None:
    """Remove the temporary files that killed builds left in the folders of a layer."""
    for _, build, cache in places:
        others = _others(build, cache)
        for top in (build, cache):
            for folder, below, _ in os.walk(top):
                below[:] = [name for name in below if f"{folder}/{name}" not in others]
                remove_left_overs(Path(folder))


def _others(build: str, cache: str) -> frozenset[str]:
    """Return the folders in those of a layer that hold what sweeps of it built."""
    return frozenset({f"{build}/{SWEEP}", f"{cache}/build/{SWEEP}"})


def _entries(path: str) -> tuple[set[str], list[str]]:
    files, folders = set(), []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                else:
                    files.add(entry.name)
    except OSError:
        pass
    return files, folders


def _signature(places: Iterable[Place], further: Iterable[str]) -> Signature:
    """Return what changes when a file of a layer does, or comes, or goes."""
    found: Signature = []
    for path, build, cache in places:
        found.append(path)
        add_files(found, path, "", False)
        others = _others(build, cache)
        for folder in (f"{path}/inputs", build, cache):
            add_files(found, folder, folder, True, others)
        swept = f"{build}/{SWEEP}/{SWEEP}.json"  # which a report reads
        found += [(swept, *state)] if (state := find_state(swept)) else []
    for path in further:
        found.append((path, *find_state(path)))
    return found


def _wait_for(signature: Signature) -> None:
    """Wait, for a moment only, until what was just written can no longer change without a trace."""
    now = time.time_ns()
    waits = [changed + FINE - now for changed in find_changes(signature) if is_fresh(changed, now)]
    if waits and 0 < max(waits) <= FINE:
        time.sleep(max(waits) / SECOND + 0.001)

# --- Units: layers, or networks with their parts --------------------------------------------------
#
# A unit is looked at, and built, as one.

@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A layer or a network by its name, how to find where its files lie, and how to open it.

    `open` opens it with its parts. `first` opens it without them where it takes long to find them,
    and returns None where they are known at once. `listed` opens it with all that is listed by
    name; it may leave out the slots of a search, which are not.
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
    """Return the unit of the folder at a path, and the folder itself: it may have no parts yet.

    The unit of a part is its network.
    """
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
    """Yield every unit below `projects/`, by name; a part in a network is no unit of its own.

    Nor is any layer in a network that is wrong, since it may be a part. With `names`, only folders
    with these names, the folders around them, and those below them are looked into.
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
    """Return the layers of a unit asked for as a whole, and whether single tasks or parts are."""
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
        """Return the given names of tasks, and patterns, by the units that they may mean."""
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
        """Return the tasks that read the file at a path, if a user writes that file."""
        unit = self.around(path)
        folders = folders_of(unit.open()) if unit is not None else []
        return [
            f"{folder.name}:{stage}" for folder in folders for stage in every_stage(folder)
            if any(_reads(name, stage) for name in _names_of(path, folder))
        ]


def target_named(word: str, start: Path, units: Units) -> str:
    """Return the task that writes the file at a path, or the pattern of all layers in a folder.

    Paths start where the user stands, or from here, the folder of the dodo file. Any other word is
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
