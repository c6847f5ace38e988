"""Which layers nothing happened to since they were built: found by looking at folders only.

Of every layer that was up to date when it was looked at the state of the workspace has the digest
of its signature: name, times, size and inode of all files that count; and the digests of the code
of the stages, so that what changed is told without reading it. It is an accelerator: where it is
lost, tasks are made and each finds for itself that it is up to date.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lairmake.stages.make.core.known_code import known_code
from lairmake.stages.make.store.files import (
    Signature,
    add_files,
    digest_of_signature,
    find_changes,
    find_state,
    remove_left_overs,
)
from lairmake.stages.make.store.folders import (
    NETWORK,
    NOT_LAYERS,
    SWEEP,
    LayerFolder,
    folders_of,
    further_file,
    mark_of,
    parts_of,
)
from lairmake.stages.make.store.state import FINE, MOST_OPEN, SECOND, is_fresh, state_of
from lairmake.stages.make.store.state_folder import state_folder

if TYPE_CHECKING:
    from lairmake.stages.make.core.action import Result

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

        It may if it reads, outside of its folders, one of the paths that are `changing`.
        """
        known = self._every.get(name) if is_one_of_many else self._state.get("layers", name)
        if not isinstance(known, list) or known[:1] != [self._code.digest]:
            return False
        _, further, digest = known
        if changing and not {os.path.realpath(path) for path in further}.isdisjoint(changing):
            return False
        return bool(digest == digest_of_signature(_signature(places, further)))

    def settle(self, folder: LayerFolder, results: Mapping[str, Result]) -> None:
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
    """Return that of a workspace, begun once a process."""
    return Untouched(home)


def find_folders(
    projects: str, is_meant: Callable[[str], bool] = lambda name: True
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the folders below `projects/` that are built: name, path, what makes them so, and
    whether they have a network.yaml.

    Only those are looked into that are meant, by their names.
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

    Those of slots, and of parts that a stage writes, lie in the folders of the layer or kernel.
    """
    parts = (f for f in parts_of(folder) if not f.is_slot)
    found = (folder, *(f for f in parts if not f.path.is_relative_to(folder.build)))
    return [(str(f.path), str(f.build), str(f.cache)) for f in found]


def remove_temporary(places: Iterable[Place]) -> None:
    """Remove what builds that were killed left in the folders of a layer."""
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
