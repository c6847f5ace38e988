"""Locks between processes."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import hashlib
import mmap
import os
import stat
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lairmake.stages.make.store.files import Give, remove_whatever, settled, warn
from lairmake.stages.make.store.folders import STATE, shown_path

# --- Holders of a lock that a process waits for ---------------------------------------------------
#
# A holder is named where the wait lasts, unless it is a process of the same build.

PATIENCE = 1.0
"""Seconds after which a process says that it waits."""

LINUX, OTHERS = struct.Struct("hhqqi"), struct.Struct("qqihh")
"""`struct flock`: type, whence, start, length, process; or start, length, process, type, whence."""

NOBODY = 0

NUMBER, SLOTS = struct.Struct("Q"), 4096
_FAMILY: list[mmap.mmap] = []
"""Numbers of the processes of one build, each in the slot for its number."""


class Holder(NamedTuple):
    """A holder of a lock, `another build`, and what it does meanwhile, `is at fc:place`."""

    who: str
    does: str


ANYBODY = Holder(who="another command", does="holds a lock here")


def begin_family() -> None:
    """Begin the family of one build: this process, and all that join it after they are forked."""
    _FAMILY[:] = [mmap.mmap(-1, SLOTS * NUMBER.size)]
    join_family()


def join_family() -> None:
    """Note this process as one of the build that forked it."""
    for each in _FAMILY:
        NUMBER.pack_into(each, _slot(os.getpid()), os.getpid())


def is_family(process: int) -> bool:
    """Return whether a process is of the same build."""
    return any(NUMBER.unpack_from(each, _slot(process))[0] == process for each in _FAMILY)


def _slot(process: int) -> int:
    return process % SLOTS * NUMBER.size


@contextlib.contextmanager
def patience(file: int, at: int, kind: int, holder: Holder) -> Iterator[None]:
    """Print whom a process waits for if the wait lasts, for a lock at a byte of a lock file."""
    said = threading.Timer(PATIENCE, _say, (file, at, kind, holder))
    said.daemon = True
    said.start()
    try:
        yield
    finally:
        said.cancel()


def _say(file: int, at: int, kind: int, holder: Holder) -> None:
    process = process_at(file, at, kind)
    if process != NOBODY and (process is None or not is_family(process)):
        _say_once(holder.who, f", process {process}" if process else "", holder.does)


def process_at(file: int, at: int, kind: int) -> int | None:
    """Return the process that keeps this one from a lock, or NOBODY.

    None stands for a system that does not tell, and for a process on another machine.
    """
    mode = fcntl.F_RDLCK if kind & fcntl.LOCK_SH else fcntl.F_WRLCK
    with contextlib.suppress(OSError, struct.error):
        if sys.platform == "linux":
            asked = LINUX.pack(mode, os.SEEK_SET, at, 1, 0)
            found, _, _, _, process = LINUX.unpack(_answer(file, asked)[: LINUX.size])
        else:
            asked = OTHERS.pack(at, 1, 0, mode, os.SEEK_SET)
            _, _, process, found, _ = OTHERS.unpack(_answer(file, asked)[: OTHERS.size])
        if found == fcntl.F_UNLCK:
            return NOBODY
        return int(process) if process > 0 else None  # on another machine
    return None


def _answer(file: int, asked: bytes) -> bytes:
    return fcntl.fcntl(file, fcntl.F_GETLK, asked.ljust(2 * len(asked), b"\0"))


_SAID: set[str] = set()
"""Holders for which this process said that it waits: a build ahead is met at each task."""


def _say_once(who: str, process: str, does: str) -> None:
    if who not in _SAID:
        _SAID.add(who)
        sys.stderr.write(f"waiting for {who}{process}, which {does}\n")

# --- Locks between processes, all in one file -----------------------------------------------------
#
# A process that is killed leaves nothing.

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
    """Hold the lock of `what` in a folder, which is made where it is not there.

    Yields whether the lock is held. With `wait` it always is: the process waits for the holder, and
    says so if that lasts. Any number of processes may hold a `shared` lock. A lock is one byte of
    the file `lock`, at the digest of `what`; the system frees it when its process ends. `give` sets
    who may do what with the file. On a disk without locks every process holds it, with a warning.
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
    """Return whether the disk of a folder has locks, as far as a lock was asked for there."""
    return folder not in _LOCKLESS


def try_locks(folder: Path) -> bool:
    """Return whether a folder, which is made, lies on a disk that has locks; print nothing.

    Raises OSError where the folder cannot be written to.
    """
    try:
        fcntl.lockf(_open(folder, os.getpid(), None), fcntl.LOCK_SH | fcntl.LOCK_NB, 1)
    except (BlockingIOError, PermissionError):
        return True
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return False
    return True


def is_own(folder: Path) -> bool:
    """Return whether all in a folder is ours; in a folder that a user names some may not be."""
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
