"""Digests of files, remembered as long as nothing about the file changes."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lairmake.stages.make.store.believed import is_digest
from lairmake.stages.make.store.files import READ, read_file
from lairmake.stages.make.store.state import MOST_OPEN, state_of

Mark = tuple[int, int, int, int]
"""Time of content, time of change, size and inode of a file: what changes when it is written."""

KIND, DERIVED = "memo", "derived"
LARGE = 1_000_000
SECOND = 1_000_000_000
FINE, COARSE = SECOND // 20, 2 * SECOND
"""How long after a change another one may bear the same time, in nanoseconds."""


def mark_of(state: os.stat_result) -> Mark:
    """Return what tells whether a file was written since."""
    return (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)


def is_fresh(changed: int, now: int) -> bool:
    """Return whether a file that changed at `changed` may yet change without a trace.

    Times in nanoseconds. Only the time of change counts, which nobody can set; file systems that
    count whole seconds are told by it.
    """
    return changed > now - (FINE if changed % SECOND else COARSE)


class Memo:
    """The digests of files, by path; what it does not know it reads, so losing it loses time only.

    `state` is the folder in which it is kept between builds. A path beside that starts there, so
    that a workspace which was copied knows what follows from the content of its files.
    """

    def __init__(self, state: Path) -> None:
        self._state = state_of(state)
        self._place = f"{state.parent}/"
        self._known: dict[str, tuple[Mark, str] | None] = {}
        self._new: set[str] = set()
        self._derived: dict[str, dict[str, Any]] = {}
        self._new_derived: set[str] = set()
        self._is_begun: bool | None = None

    def digest(self, path: Path, links: bool = True) -> str | None:
        """Return the sha256 of a file, None where there is none to read.

        With no `links` a symbolic link is none.
        """
        place, name = str(path), self._name(path)
        try:
            state = os.stat(place, follow_symlinks=links)
            mark = mark_of(state)
            may_change = is_fresh(mark[1], time.time_ns())
            known = self._recall(name) if not may_change else None  # of such a file none is kept
            if known is not None and known[0] == mark:
                return known[1]
            if not stat.S_ISREG(state.st_mode):
                return None
            found = _digest(place, state.st_size, links)
        except OSError:
            return None
        if not may_change:
            self._known[name] = (mark, found)
            self._new.add(name)
        return found

    def _name(self, path: Path) -> str:
        """Return what a path is called here."""
        return str(path).removeprefix(self._place)

    def _recall(self, name: str) -> tuple[Mark, str] | None:
        if name not in self._known:
            if self._is_begun is None:
                self._is_begun = self._state.has(KIND)
            self._known[name] = self._kept(name) if self._is_begun else None
        return self._known[name]

    def derived(
        self, path: Path, what: str, derive: Callable[[bytes], str | None], code: str
    ) -> str | None:
        """Return what follows from the content of a file, in the words `what`, by some code.

        It is remembered for that content. None stands for no file to read; where nothing follows,
        which is not remembered, the digest of all of the content is returned.
        """
        digest = self.digest(path)
        return None if digest is None else self.follow(path, digest, what, derive, code)

    def follow(
        self, path: Path, digest: str, what: str, derive: Callable[[bytes], str | None], code: str
    ) -> str:
        """Return what follows from the content of a digest, which the file at a path has."""
        name = self._name(path)
        known = self._recall_derived(name)
        if known.get("of") != [digest, code]:
            known = {"of": [digest, code]}
        if what not in known:
            content = self.content(path, digest)
            found = None if content is None else derive(content)
            if found is None:
                return digest
            known[what] = found
            self._derived[name] = known
            self._new_derived.add(name)
        return str(known[what])

    def content(self, path: Path, digest: str) -> bytes | None:
        """Return the content of a file, None where that is not what has the digest any more."""
        with contextlib.suppress(OSError):
            content = read_file(path)
            if hashlib.sha256(content).hexdigest() == digest:
                return content
        return None

    def _recall_derived(self, name: str) -> dict[str, Any]:
        if name not in self._derived:
            kept = self._state.get(DERIVED, name)
            is_whole = isinstance(kept, dict) and all(
                is_digest(each) for what, each in kept.items() if what != "of"
            )
            self._derived[name] = kept if is_whole else {}
        return self._derived[name]

    def _kept(self, name: str) -> tuple[Mark, str] | None:
        kept = self._state.get(KIND, name)
        is_whole = isinstance(kept, list) and len(kept) == 5 and is_digest(kept[4])
        return (tuple(kept[:4]), kept[4]) if is_whole else None

    def save(self) -> None:
        """Keep what was found out for the next build."""
        self._state.keep(DERIVED, {name: self._derived[name] for name in self._new_derived})
        self._new_derived.clear()
        known = {name: self._known[name] for name in self._new}
        self._state.keep(KIND, {n: (*each[0], each[1]) for n, each in known.items() if each})
        self._new.clear()


def _digest(name: str, size: int, links: bool) -> str:
    """Return the sha256 of a file; a large one is never in memory as a whole. Raises OSError."""
    if size < LARGE:
        return hashlib.sha256(read_file(name, links)).hexdigest()
    with open(name, "rb", opener=lambda path, _: os.open(path, READ)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.lru_cache(MOST_OPEN)
def memo_of(state: Path) -> Memo:
    """Return the memo of a folder of state: one in a process, but where that looks into many."""
    return Memo(state)
