"""Files that are there whole or not at all: written under another name, then renamed.

What stands where a file should may have been put there by anybody: nothing is read that one would
wait for, and nothing is written through a symbolic link.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import itertools
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

TEMPORARY = re.compile(r"\..+\.(?:([0-9a-f]{8})-)?(\d+)\.\d+\.tmp")
DAY = 86_400.0
"""After how many seconds what another machine did not finish is left over."""
_COUNTER = itertools.count()
Give = Callable[[str | int], None]

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
NO_FILE = "it is no file"
LEAST = 65536
"""How many bytes are read at a time at least."""


def read_file(path: str | Path, links: bool = True) -> bytes:
    """Return the bytes of a file. Raises OSError as `opened` does."""
    file = os.open(path, READ if links else READ | os.O_NOFOLLOW)
    try:
        return read_open(file, _state_of(file, path).st_size)
    finally:
        os.close(file)


@contextlib.contextmanager
def opened(path: str | Path, links: bool = True) -> Iterator[tuple[int, os.stat_result]]:
    """Open a file to be read, and yield its state too; with no `links` a symbolic link is none.

    Raises OSError, also for a folder, or a pipe, for which a reader would wait.
    """
    file = os.open(path, READ if links else READ | os.O_NOFOLLOW)
    try:
        yield file, _state_of(file, path)
    finally:
        os.close(file)


def _state_of(file: int, path: str | Path) -> os.stat_result:
    """Return the state of an open file. Raises OSError for what is none."""
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        is_folder = stat.S_ISDIR(found.st_mode)
        why = os.strerror(errno.EISDIR) if is_folder else NO_FILE
        raise OSError(errno.EISDIR if is_folder else errno.EINVAL, why, str(path))
    return found


def read_open(file: int, size: int) -> bytes:
    """Return what an open file holds, which had a size a moment ago. Raises OSError."""
    most = max(size, LEAST) + 1
    parts = [os.read(file, most)]
    while parts[-1] and (len(parts) > 1 or len(parts[0]) != size):
        parts.append(os.read(file, most))
    return b"".join(parts)


def digest_of(content: bytes) -> str:
    """Return the digest by which two contents of a file are told apart."""
    return hashlib.sha256(content).hexdigest()


def link_below(folder: str, path: str) -> str | None:
    """Return the first symbolic link among the folders between one and a path below it, if any."""
    at = path.find("/", len(folder) + 1)
    while at != -1:
        if os.path.islink(path[:at]):
            return path[:at]
        at = path.find("/", at + 1)
    return None


def remove_whatever(path: Path) -> None:
    """Remove what lies at a path, if anything does: a file, a link, or a folder. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def temporary_name(name: str) -> str:
    """Return a name that no other process, and no other file of this one, is written under."""
    return f".{name}.{_here()}-{os.getpid()}.{next(_COUNTER)}.tmp"


@functools.cache
def _here() -> str:
    """Return what tells apart machines, and containers, whose processes have the same numbers."""
    with contextlib.suppress(OSError):
        known = f"{os.uname().nodename} {os.stat('/proc/self/ns/pid').st_ino}"
        return hashlib.sha256(known.encode()).hexdigest()[:8]
    return hashlib.sha256(os.uname().nodename.encode()).hexdigest()[:8]


def write_whole(
    path: str | Path, content: bytes, by: str | Path | None = None, give: Give | None = None
) -> None:
    """Write a file in one step; `by` is the folder to write it in first, its own by default.

    What is made is handed to `give`, which says who may do what with it. Raises OSError; then
    nothing is left.
    """
    folder, name = os.path.split(path)
    written = os.path.join(by or folder, temporary_name(name))
    try:
        write_new(written, content, give)
        try:
            os.replace(written, path)
        except FileNotFoundError:
            _make_folders(folder, give)
            os.replace(written, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(written)
        raise


def write_new(path: str, content: bytes, give: Give | None = None) -> None:
    """Write a file that is not there yet, and the folders above it. Raises OSError."""
    try:
        file = os.open(path, NEW, 0o666)
    except FileNotFoundError:
        _make_folders(os.path.dirname(path), give)
        file = os.open(path, NEW, 0o666)
    try:
        if give is not None:
            give(file)
        left = memoryview(content)
        while left:
            left = left[os.write(file, left) :]
    finally:
        os.close(file)


def _make_folders(folder: str, give: Give | None) -> None:
    """Make a folder, and those above it. Raises OSError."""
    if give is None:
        os.makedirs(folder, exist_ok=True)
        return
    if not os.path.isdir(folder):
        _make_folders(os.path.dirname(folder), give)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
            give(folder)


def is_left_over(name: str) -> bool:
    """Return whether this is the temporary name of a process of this machine that is no more."""
    found = TEMPORARY.fullmatch(name)
    if found is None or found[1] not in (None, _here()):
        return False
    try:
        os.kill(int(found[2]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


def remove_left_overs(folder: Path) -> None:
    """Remove from a folder what processes that were killed left there.

    Nobody knows of those of other machines: what they write is left over after a day.
    """
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(folder)
    for name in filter(TEMPORARY.fullmatch, names):
        with contextlib.suppress(OSError):  # another process may have removed it
            if is_left_over(name) or time.time() - os.lstat(folder / name).st_mtime > DAY:
                (folder / name).unlink(missing_ok=True)
