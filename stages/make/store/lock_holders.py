"""Who holds a lock that a process waits for: said where it lasts, and is no process of the same
build."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import struct
import sys
import threading
from collections.abc import Iterator
from typing import NamedTuple

PATIENCE = 1.0
"""After how many seconds a process says that it waits."""

LINUX, OTHERS = struct.Struct("hhqqi"), struct.Struct("qqihh")
"""`struct flock`: type, whence, start, length, process; or start, length, process, type, whence."""

NOBODY = 0

NUMBER, SLOTS = struct.Struct("Q"), 4096
_FAMILY: list[mmap.mmap] = []
"""The numbers of the processes of one build, each in the slot that it has by its number."""


class Holder(NamedTuple):
    """Who may hold a lock, `another build`, and what it does meanwhile, `is at fc:place`."""

    who: str
    does: str


ANYBODY = Holder(who="another command", does="holds a lock here")


def begin_family() -> None:
    """Take this process, and all that join it after they were forked, for those of one build."""
    _FAMILY[:] = [mmap.mmap(-1, SLOTS * NUMBER.size)]
    join_family()


def join_family() -> None:
    """Note this process as one of the build that it was forked for."""
    for each in _FAMILY:
        NUMBER.pack_into(each, _slot(os.getpid()), os.getpid())


def is_family(process: int) -> bool:
    """Return whether a process is one of the same build."""
    return any(NUMBER.unpack_from(each, _slot(process))[0] == process for each in _FAMILY)


def _slot(process: int) -> int:
    return process % SLOTS * NUMBER.size


@contextlib.contextmanager
def patience(file: int, at: int, kind: int, holder: Holder) -> Iterator[None]:
    """Say what a process waits for at a byte of a lock file, with a lock of a kind, if it lasts."""
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
    """Return the process that keeps this one from a lock, or NOBODY; None where the system does not
    tell."""
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
"""Of whom this process has said that it waits: a build that goes ahead is met at each task."""


def _say_once(who: str, process: str, does: str) -> None:
    if who not in _SAID:
        _SAID.add(who)
        sys.stderr.write(f"waiting for {who}{process}, which {does}\n")
