"""Files that are whole or absent, their signatures, and access to them in shared stores."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import itertools
import marshal
import os
import re
import shutil
import stat
import sys
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

# --- Files written whole or not at all ------------------------------------------------------------
#
# A file is written under another name, then renamed. Anybody may have put something else in the
# place of a file: nothing is read that a reader would wait for, and nothing is written through a
# symbolic link.

TEMPORARY = re.compile(r"\..+\.(?:([0-9a-f]{8})-)?(\d+)\.\d+\.tmp")
DAY = 86_400.0
"""Seconds after which a file that another machine did not finish is left over."""
_COUNTER = itertools.count()
Give = Callable[[str | int], None]

READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
NO_FILE = "it is no file"
LEAST = 65536
"""Number of bytes that are read at a time, at least."""


def read_file(path: str | Path, links: bool = True) -> bytes:
    """Return the bytes of a file. Raises OSError as `opened` does."""
    file = os.open(path, READ if links else READ | os.O_NOFOLLOW)
    try:
        return read_open(file, _state_of(file, path).st_size)
    finally:
        os.close(file)


@contextlib.contextmanager
def opened(path: str | Path, links: bool = True) -> Iterator[tuple[int, os.stat_result]]:
    """Open a file to be read, and yield it with its state.

    Without `links`, a symbolic link is no file. Raises OSError, also for a folder, or a pipe, for
    which a reader would wait.
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
    """Return the content of an open file; `size` is its size a moment ago. Raises OSError."""
    most = max(size, LEAST) + 1
    parts = [os.read(file, most)]
    while parts[-1] and (len(parts) > 1 or len(parts[0]) != size):
        parts.append(os.read(file, most))
    return b"".join(parts)


def digest_of(content: bytes) -> str:
    """Return the digest by which two contents of a file are told apart."""
    return hashlib.sha256(content).hexdigest()


def link_below(folder: str, path: str) -> str | None:
    """Return the first symbolic link among the folders from one to a path below it; else None."""
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
    """Return a name for writing that no other process, and no other file of this one, uses."""
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

    Files and folders that are made are handed to `give`, which sets who may do what with them.
    Raises OSError; then nothing is left.
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
    """Return whether a name is the temporary name of a process of this machine that has ended."""
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
    """Remove the files from a folder that killed processes left there.

    Processes of other machines are not known: their files are left over after a day.
    """
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(folder)
    for name in filter(TEMPORARY.fullmatch, names):
        with contextlib.suppress(OSError):  # another process may have removed it
            if is_left_over(name) or time.time() - os.lstat(folder / name).st_mtime > DAY:
                (folder / name).unlink(missing_ok=True)

# --- Locks that nobody holds during a fork --------------------------------------------------------
#
# A process forked while a thread holds a lock would wait for that lock for ever.

_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()
_HELD: list[Any] = []
_FORKS = threading.RLock()
"""Held by the thread that forks: one thread after the other."""


def hold_while_forking(lock: Any) -> None:
    """Let a thread that forks wait for a lock, an RLock, and hold it meanwhile."""
    _LOCKS.add(lock)


def _hold() -> None:
    # They are taken in the order of a set, which is any: who holds one must not wait for another,
    # nor for a lock that a thread may hold when it forks. WorkspaceState.run, for whose locks this
    # is, waits for other processes at most. _let_go needs _HELD, for _LOCKS may change meanwhile.
    _FORKS.acquire()
    _HELD[:] = _LOCKS
    for lock in _HELD:
        lock.acquire()


def _let_go() -> None:
    for lock in _HELD:
        lock.release()
    _HELD.clear()
    _FORKS.release()


os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)

# --- Warnings: slow builds and discarded data, no errors ------------------------------------------

@functools.cache
def warn(text: str) -> None:
    """Print on stderr, once a process, a warning about what is no error."""
    sys.stderr.write(f"warning: {text}\n")

# --- Signatures of files, which change when files do ----------------------------------------------

Signature = list[Any]
BYTE_CODE = "__pycache__"


def add_files(
    found: Signature, path: str, below: str, deep: bool, others: Collection[str] = ()
) -> None:
    """Add name, times, size and inode of the files in a folder, and below it if `deep`.

    Folders in `others` are left out. For a symbolic link the link counts, and the file that it
    leads to. Folders that a link leads to, and folders of byte code, are not looked into: stages
    read nothing there.
    """
    files: list[tuple[Any, ...]] = []
    folders = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == "." and not name.endswith(".tmp"):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders += [name] * (name != BYTE_CODE)
                else:
                    files.append((f"{below}/{name}", *_mark(entry)))
    except OSError as error:
        files.append((path, error.errno))
    files.sort()
    found += files
    for name in sorted(folders) if deep else ():
        if f"{path}/{name}" not in others:
            add_files(found, f"{path}/{name}", f"{below}/{name}", deep, others)


def _mark(entry: os.DirEntry[str]) -> tuple[int, ...]:
    """Return what changes when a file does; of a link also what changes when it leads elsewhere."""
    s = entry.stat(follow_symlinks=False)
    mark = (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino)
    return (*mark, *find_state(entry.path)) if entry.is_symlink() else mark


def find_state(path: str) -> tuple[int, ...]:
    """Return times, size and inode of a file, or of what a link leads to; () for no file."""
    try:
        s = os.stat(path)
    except OSError:
        return ()
    return (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino)


def digest_of_signature(signature: Signature) -> str:
    """Return the digest of a signature; this version of marshal has one text for it."""
    return hashlib.sha256(marshal.dumps(signature, 2)).hexdigest()


def find_changes(signature: Signature) -> Iterator[int]:
    """Yield the time of change of each file, and of what a link leads to, in nanoseconds."""
    marks = [part for part in signature if isinstance(part, tuple) and len(part) > 2]
    yield from (mark[2] for mark in marks)
    yield from (mark[6] for mark in marks if len(mark) > 6)

# --- Access to a shared store, as its folder has it -----------------------------------------------
#
# All that is made in the folder follows the folder, as in a shared repository of git. Otherwise the
# umask of the first who builds would keep all others of a team from writing, even from the lock.

T = TypeVar("T")
SETTLING = 0.05
"""Seconds after which a file or folder that another process makes has its mode."""
GROUP, FILES = stat.S_IRWXG, 0o666
GIVEN = stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO | stat.S_ISGID


class SharedAccess(NamedTuple):
    """Mode and group of a folder: those of all folders in it, and of files but for `x`."""

    mode: int
    group: int

    def give(self, place: str | int) -> None:
        """Give mode and group to a file or folder of this user, by path or open file.

        Where this user is not in the group, the file's own group gets the rights of everybody.
        """
        found = os.stat(place)
        if found.st_uid != os.geteuid():
            return
        mode = self.mode if stat.S_ISDIR(found.st_mode) else self.mode & FILES
        with contextlib.suppress(OSError):
            if found.st_gid != self.group and not _changed_group(place, self.group):
                mode = mode & ~(GROUP | stat.S_ISGID) | (mode & stat.S_IRWXO) << 3
            if stat.S_IMODE(os.stat(place).st_mode) != mode:
                os.chmod(place, mode)


def settled(act: Callable[[], T]) -> T:
    """Return the result of an act; it is tried twice if it is refused at first.

    Another process may just be making a folder, which has its mode a moment later. Raises OSError.
    """
    try:
        return act()
    except PermissionError:
        time.sleep(SETTLING)
        return act()


def _changed_group(place: str | int, group: int) -> bool:
    with contextlib.suppress(PermissionError):
        os.chown(place, -1, group)
        return True
    return False


@functools.cache
def access_of(folder: Path) -> SharedAccess:
    """Return mode and group for all that is made in a folder, read once a process.

    A folder that is not there is made; it gets mode and group of the one around it, if that passes
    its group on. Raises OSError.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        around = os.stat(folder.parent)
        if around.st_mode & stat.S_ISGID:
            SharedAccess(mode=around.st_mode & GIVEN, group=around.st_gid).give(str(folder))
    found = os.stat(folder)
    return SharedAccess(mode=found.st_mode & GIVEN, group=found.st_gid)
