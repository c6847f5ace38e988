"""What a build would do to each task, without doing it."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from stages.make.core.build import PLAIN, Build
from stages.make.core.declare import declaration
from stages.make.core.disk import Disk, compare
from stages.make.core.key import ActionKey, action_key
from stages.make.core.pipeline import orders, tasks_of_folders
from stages.make.store.entry import Entry
from stages.make.store.folders import STATE, LayerFolder, file_of, is_pattern, names_of
from stages.make.store.marks import FORGOTTEN, IGNORED, is_marked
from stages.make.store.memo import Memo, memo_of
from stages.make.store.store import store_of

UP_TO_DATE = "up to date"
FROM_STORE = "from the store"
WOULD_RUN = "would run"
MAY_RUN = "may run"
LEFT_OUT = "ignored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a build would do to a task: one of the words above.

    A task may run where one before it would, unless that one gives what it gave before: then its
    `key` is not known yet. `after` are the tasks before it.
    """

    task: str
    folder: LayerFolder
    stage: str
    status: str
    after: Sequence[str]
    key: ActionKey | None


class Foreseen(Memo):
    """The digests that files will have once the store's contents are restored."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo
        self._digests: dict[Path, str | None] = {}
        self._names: dict[str, set[str]] = {}

    def digest(self, path: Path, links: bool = True) -> str | None:
        """Return the sha256 that a file will have, None where there will be none to read."""
        return self._digests[path] if path in self._digests else self._memo.digest(path, links)

    def expect(self, folder: LayerFolder, digests: Mapping[str, str | None]) -> None:
        """Take note of what will be restored in a folder, by name; None is removed."""
        self._digests |= {file_of(folder, name): digest for name, digest in digests.items()}
        self._names.setdefault(folder.name, set()).update(digests)

    def reads(self, stage: str, folder: LayerFolder) -> dict[str, str | None]:
        """Return the digest of every file that a stage will read, by name."""
        declared = declaration(stage).reads
        names = [
            name
            for each in declared
            for name in (self._matching(folder, each) if is_pattern(each) else [each])
        ]
        return {name: self.digest(file_of(folder, name)) for name in names}

    def _matching(self, folder: LayerFolder, pattern: str) -> list[str]:
        own = self._names.get(folder.name, set())
        parts = {f"{n}/{o}" for n, part in folder.parts for o in self._names.get(part.name, ())}
        crossing = {crossing.name for crossing in folder.crossings}
        known = {n for n in own | parts | crossing if fnmatch.fnmatchcase(n, pattern)}
        there = known | set(names_of(folder, pattern))
        return sorted(name for name in there if self.digest(file_of(folder, name)) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a task finds that waits for no other one: its key, what the store knows for that, None
    for nothing or where it is not to count, and how what lies on disk compares with it."""

    key: ActionKey
    entry: Entry | None
    disk: Disk | None


def current_key(stage: str, folder: LayerFolder) -> ActionKey:
    """Return the key of a stage for the files as they are now."""
    return action_key(stage, folder, store_of(folder.home), memo_of(folder.home / STATE))


def entry_of(folder: LayerFolder, key: ActionKey) -> Entry | None:
    """Return what the store knows for a key."""
    declared = declaration(key.stage).writes
    return store_of(folder.home).lookup(key.digest, key.stage, declared)


def foresee(
    stage: str, folder: LayerFolder, build: Build = PLAIN, foreseen: Foreseen | None = None
) -> Outlook:
    """Return what a build finds of a task, or would find once others are done that are `foreseen`.

    Nothing is written. Raises UserError or UserErrors as `compare` does.
    """
    memo = foreseen or memo_of(folder.home / STATE)
    reads = foreseen.reads(stage, folder) if foreseen is not None else None
    key = action_key(stage, folder, store_of(folder.home), memo, reads=reads)
    entry = None
    if not build.always and not is_marked(folder.home, f"{folder.name}:{stage}", FORGOTTEN):
        entry = entry_of(folder, key)
    disk = compare(stage, folder, entry.outputs, build) if entry is not None else None
    return Outlook(key=key, entry=entry, disk=disk)


def is_up_to_date(stage: str, folder: LayerFolder) -> bool:
    """Return whether the store has what the key of a task gives, and the files on disk are that."""
    found = foresee(stage, folder)
    return found.disk is not None and not found.disk.wrong


def forecast(
    folders: Sequence[LayerFolder], build: Build = PLAIN
) -> dict[str, Forecast]:
    """Return what a build would do to the tasks of layers and networks."""
    tasks = tasks_of_folders(folders)
    after = orders(tasks)
    found: dict[str, Forecast] = {}
    seen: dict[Path, Foreseen] = {}
    for task in TopologicalSorter(after).static_order():
        folder, stage = tasks[task]
        state = folder.home / STATE
        foreseen = seen.setdefault(state, Foreseen(memo_of(state)))
        before = {found[name].status for name in after[task]}
        key: ActionKey | None = None
        if LEFT_OUT in before or is_marked(folder.home, task, IGNORED):
            status = LEFT_OUT
        elif before & {WOULD_RUN, MAY_RUN}:
            status = MAY_RUN
        else:
            status, key = _status(stage, folder, build, foreseen)
        found[task] = Forecast(
            task=task, folder=folder, stage=stage, status=status, after=after[task], key=key
        )
    return {task: found[task] for task in tasks}


def _status(
    stage: str, folder: LayerFolder, build: Build, foreseen: Foreseen
) -> tuple[str, ActionKey]:
    """Return what a build would do to a task that waits for none."""
    found = foresee(stage, folder, build, foreseen)
    if found.entry is None or found.disk is None:
        return WOULD_RUN, found.key
    outputs, wrong, store = found.entry.outputs, found.disk.wrong, store_of(folder.home)
    if not all(store.blob(outputs[name]) for name in wrong if name in outputs):
        return WOULD_RUN, found.key
    foreseen.expect(folder, {name: outputs.get(name) for name in wrong})
    return FROM_STORE if wrong else UP_TO_DATE, found.key
