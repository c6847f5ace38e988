"""What is known of a task: its key, what the store has for that, and what lies on disk.

Both a build and who wants to know what it would do ask here, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lairmake.stages.make.core.build import PLAIN, BuildOptions
from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.disk import Disk, compare
from lairmake.stages.make.core.key import ActionKey, action_key, read_digest
from lairmake.stages.make.store.folders import (
    CHOSEN,
    LayerFolder,
    file_of,
    is_pattern,
    matches,
    names_of,
)
from lairmake.stages.make.store.marks import FORGOTTEN, is_marked
from lairmake.stages.make.store.state import Memo, memo_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import Entry, Store, store_of


class Foreseen(Memo):
    """The digests that files will have once the store's contents are restored."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo
        self._digests: dict[Path, str | None] = {}
        self._stores: dict[Path, Store] = {}
        self._names: dict[str, set[str]] = {}

    def digest(self, path: Path, links: bool = True) -> str | None:
        """Return the sha256 that a file will have, None where there will be none to read."""
        return self._digests[path] if path in self._digests else self._memo.digest(path, links)

    def follow(
        self, path: Path, digest: str, what: str, derive: Callable[[bytes], str | None], code: str
    ) -> str:
        """Return what follows from the content that a file will have."""
        if path not in self._digests:
            return self._memo.follow(path, digest, what, derive, code)
        content = self._stores[path].blob(digest)
        found = None if content is None else derive(content)
        return digest if found is None else found

    def expect(self, folder: LayerFolder, digests: Mapping[str, str | None]) -> None:
        """Take note of what will be restored in a folder, by name; None is removed."""
        files = {file_of(folder, name): digest for name, digest in digests.items()}
        self._digests |= files
        self._stores |= dict.fromkeys(files, store_of(folder.home))
        self._names.setdefault(folder.name, set()).update(digests)

    def reads(self, stage: str, folder: LayerFolder) -> dict[str, str | None]:
        """Return the digest of every file that a stage will read, by name."""
        declared = declaration(stage).reads
        names = [
            name
            for each in declared if each != CHOSEN or folder.is_searched
            for name in (self._matching(folder, each) if is_pattern(each) else [each])
        ]
        return {name: read_digest(stage, folder, name, self) for name in names}

    def _matching(self, folder: LayerFolder, pattern: str) -> list[str]:
        own = self._names.get(folder.name, set())
        parts = {f"{n}/{o}" for n, part in folder.parts for o in self._names.get(part.name, ())}
        crossing = {crossing.name for crossing in folder.crossings}
        known = {n for n in own | parts | crossing if matches(n, pattern)}
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
    return action_key(stage, folder, store_of(folder.home), memo_of(state_folder(folder.home)))


def entry_of(folder: LayerFolder, key: ActionKey) -> Entry | None:
    """Return what the store knows for a key."""
    declared, store = declaration(key.stage).writes, store_of(folder.home)
    found = store.lookup(key.digest, key.stage, declared)
    if found is None and folder.is_slot:
        return store.lookup(key.as_refused().digest, key.stage, declared)
    return found


def foresee(
    stage: str, folder: LayerFolder, build: BuildOptions = PLAIN, foreseen: Foreseen | None = None
) -> Outlook:
    """Return what a build finds of a task, or would find once others are done that are `foreseen`.

    Nothing is written. Raises UserError or UserErrors as `compare` does.
    """
    memo = foreseen or memo_of(state_folder(folder.home))
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
