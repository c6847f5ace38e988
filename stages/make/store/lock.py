"""Locks between processes: one file for any number of them, and nothing left of a killed one."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from lairmake.stages.make.store.access import settled
from lairmake.stages.make.store.files import Give, remove_whatever
from lairmake.stages.make.store.folders import STATE, shown_path
from lairmake.stages.make.store.lock_holders import ANYBODY, Holder, patience
from lairmake.stages.make.store.warn import warn

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)
ONE_AT_A_TIME = (
    "run one build at a time here, or let LAIRMAKE_STATE, or `state:` in lairmake.yaml, name a "
    "folder on a disk with locks"
)
_LOCKLESS: set[Path] = set()

LOCK = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


@contextlib.contextmanager
def locked(
    folder: Path, what: str, wait: bool = True, shared: bool = False, give: Give | None = None,
    holder: Holder = ANYBODY,
) -> Iterator[bool]:
    """Hold the lock of `what` in a folder, made where it is not there yet.

    Yields whether it is held: always, if it may wait for its holder, of which it says so if that
    lasts. Any number of processes may hold one that is `shared`. A lock is one byte of the file
    `lock`, at the digest of `what`; the system frees it when its process ends. `give` says who may
    do what with it. On a disk without locks it is held by whoever asks, with a warning.
    Raises OSError where the folder cannot be written to.
    """
    file = _open(folder, os.getpid(), give)
    at = int.from_bytes(hashlib.sha256(os.fsencode(what)).digest()[:7], "big")
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    is_held = _take(folder, file, kind, at, holder if wait else None)
    try:
        yield is_held
    finally:
        if is_held and has_locks(folder):
            fcntl.lockf(file, fcntl.LOCK_UN, 1, at)


def _take(folder: Path, file: int, kind: int, at: int, holder: Holder | None) -> bool:
    """Take the lock of a byte, and return whether it is held.

    It waits for the holder, if one is named. Raises OSError.
    """
    try:
        fcntl.lockf(file, kind | fcntl.LOCK_NB, 1, at)
    except (BlockingIOError, PermissionError):
        if holder is None:
            return False
        with patience(file, at, kind, holder):
            fcntl.lockf(file, kind, 1, at)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        _LOCKLESS.add(folder)
        warn(_lockless(folder, error.strerror or "no locks"))
    return True


def _lockless(folder: Path, why: str) -> str:
    """Return what follows from a disk without locks, said once for a folder of state."""
    if not is_own(folder):
        return f"{shown_path(folder)} is used without locks: {why}: stages may run twice"
    own = next(each for each in (folder, *folder.parents) if each.name == STATE)
    return f"{shown_path(own)} is used without locks: {why}: {ONE_AT_A_TIME}"


def has_locks(folder: Path) -> bool:
    """Return whether a folder lies on a disk that has locks, as far as any was asked for there."""
    return folder not in _LOCKLESS


def is_own(folder: Path) -> bool:
    """Return whether all in a folder is ours: of one that a user names only what we wrote is."""
    return STATE in folder.parts


@functools.cache
def _open(folder: Path, process: int, give: Give | None) -> int:
    """Return the lock file, open until the process ends: closing it would free its other locks."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "lock"
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        if not is_own(folder):
            raise FileExistsError(errno.EEXIST, "something else is there", str(path))
        warn(f"{path} is damaged, and made anew")
        remove_whatever(path)
    if give is None:
        return os.open(path, LOCK, 0o666)
    file = settled(lambda: os.open(path, LOCK, 0o666))
    give(file)
    return file
