"""Limits of user code: time, memory, files, and the wire to its parent."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import json
import math
import os
import resource
import select
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

# --- Limits of time and memory --------------------------------------------------------------------

WAITING = 10
"""Limit of time by the clock, in multiples of the limit of processors: a program waits, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildLimits:
    """Limits of user code: seconds of processors, bytes of `memory` and of its `answer`.

    `memory` counts addresses. `clock` is the limit in seconds of the clock; None stands for WAITING
    times `seconds`.
    """

    seconds: float = 60
    memory: int = 4 << 30
    answer: int = 1 << 30
    clock: float | None = None

    @property
    def longest(self) -> float:
        """Return the limit in seconds of the clock; other processes may use some of them."""
        return WAITING * self.seconds if self.clock is None else self.clock


LIMITS = ChildLimits()
MOST = ChildLimits(seconds=86_400, memory=1 << 40, answer=1 << 33)
"""The largest limits that program.yaml may set: a day, 1 TiB, 8 GiB."""


def set_limits(limits: ChildLimits, report: int) -> None:
    """Limit this process for good. The file `report` gets the line where a limit ended it.

    The limit of processors counts all threads. A thread of C watches the clock, so that code which
    never comes back from C is ended, too.
    """
    faulthandler.enable(report)
    faulthandler.dump_traceback_later(limits.longest, exit=True, file=report)
    faulthandler.register(signal.SIGXCPU, report, chain=True)
    _limit(resource.RLIMIT_CPU, math.ceil(limits.seconds), math.ceil(limits.seconds) + 1)
    _limit(resource.RLIMIT_AS, limits.memory)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)


def spell_bytes(count: int) -> str:
    """Return a number of bytes as `4 GiB` or `2 MiB` where it is a multiple, else in bytes."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if count and not count % size:
            return f"{count // size} {unit}"
    return f"{count} bytes"


def suggest_more(key: str, now: float) -> str:
    """Return a hint to raise a limit in program.yaml; "" where it is the largest already."""
    times = 10 if key == "seconds" else 2
    more = min(times * now, getattr(MOST, key))
    return f"; or more, in program.yaml: `limits: {{{key}: {more:.0f}}}`" if more > now else ""


def _limit(kind: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, as far as the system has it and allows it."""
    known = resource.getrlimit(kind)[1]
    hard = soft if hard is None else hard
    if known != resource.RLIM_INFINITY:
        soft, hard = min(soft, known), min(hard, known)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, hard))


def end_with(held: int) -> None:
    """Let the system end this process when nobody holds the other end of a pipe any more."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(held, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(held, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    ended = select.poll()  # which takes a file of any number
    ended.register(held)
    if ended.poll(0):
        sys.exit(1)

# --- Refused operations and watched files ---------------------------------------------------------
#
# An audit hook is no sandbox: it sees what Python does, not what C does that Python calls.

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
OWN = ("build", "cache", ".lairmake")
"""Folders inside the folder of a program that builds write."""

STARTS = "starts another process"
SENDS = "sends signals"
CONNECTS = "opens a connection"
WRITES = "writes files"
CHANGES_LIMITS = "changes its limits"
CALLS = "calls libraries in C by their names"

HINTS = {
    WRITES: "what plots and writes belongs in `with MACH_Compiler_Ignore():`",
}
HINT = "`with MACH_Compiler_Ignore():` has what only `python` runs"

REFUSED = {
    **dict.fromkeys(("os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn"), STARTS),
    **dict.fromkeys(("subprocess.Popen", "os.system", "pty.spawn"), STARTS),
    **dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), SENDS),
    **dict.fromkeys(("os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.link"), WRITES),
    **dict.fromkeys(("os.symlink", "os.truncate", "os.chmod", "os.chown", "os.utime"), WRITES),
    **dict.fromkeys(("os.setxattr", "os.removexattr", "os.chflags", "os.lockf"), WRITES),
    **dict.fromkeys(("tempfile.mkdtemp", "tempfile.mkstemp", "sqlite3.connect"), WRITES),
    **dict.fromkeys(("resource.setrlimit", "resource.prlimit"), CHANGES_LIMITS),
    **dict.fromkeys(("ctypes.dlsym", "ctypes.dlsym/handle"), CALLS),
}
"""Refused operations by the names of their audit events."""
KINDS = {"socket": CONNECTS, "shutil": WRITES}
"""Refused families of audit events by the names before the dot."""
LISTING = ("os.listdir", "os.scandir")
UNSEEN = {"mkfifo": WRITES, "mknod": WRITES}
"""Refused functions of `os` that raise no audit event."""


class RefusedError(PermissionError):
    """An operation that user code may not do; it was not done."""

    def __init__(self, what: str, how: str) -> None:
        super().__init__(f"the program {what}: {how}")
        self.message, self.hint = str(self), HINTS.get(what, HINT)


class FileWatch:
    """A watch on user code: it refuses operations, and notes the files below `folder`.

    `opened` maps the name of a file in the folder to its state when user code first opened it: time
    of content, time of change, size and inode; None for a file that was not there. The names of
    folders that were listed end in `/`; the folder itself is `./`. Files in `others`, folders from
    which Python takes modules, do not count as files of the user.
    """

    def __init__(self, folder: str, others: Iterable[str]) -> None:
        self.folder = folder
        found = (os.path.realpath(other) for other in others)
        self._others = tuple(o + os.sep for o in found if o.startswith(folder + os.sep))
        self.opened: dict[str, tuple[int, int, int, int] | None] = {}

    def begin(self) -> None:
        """Watch this process until its end."""
        import _posixsubprocess

        for name, what in UNSEEN.items():
            setattr(os, name, _refusing(what, f"os.{name}"))
        _posixsubprocess.fork_exec = _refusing(STARTS, "fork_exec")
        sys.addaudithook(self.look)

    def look(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note one operation that is about to be done. Raises RefusedError."""
        if event == "open":
            self._open(*arguments)
        elif event in LISTING:
            self.note(self.name_of(arguments[0]), "/")
        elif event == "ctypes.dlopen":
            if arguments[0] is not None:
                raise RefusedError(CALLS, str(arguments[0]))
        else:
            what = REFUSED.get(event) or KINDS.get(event.partition(".")[0])
            if what is not None:
                raise RefusedError(what, event)

    def name_of(self, path: Any) -> str | None:
        """Return the name of a file relative to the folder; None for one that lies elsewhere."""
        try:
            given = os.path.abspath(os.fsdecode("." if path is None else path))
            real = os.path.realpath(given)
        except (TypeError, ValueError):
            return None
        for found in (given, real):
            inside = f"{found}{os.sep}".startswith(f"{self.folder}{os.sep}")
            if inside and not found.startswith(self._others):
                return os.path.relpath(found, self.folder)
        return None

    def _open(self, path: Any, mode: str | None, flags: int) -> None:
        if isinstance(path, int):
            return
        if flags & WRITING and path != os.devnull:
            raise RefusedError(WRITES, f"open {path!r}")
        self.note(self.name_of(path), "/" if os.path.isdir(path) else "")

    def note(self, name: str | None, mark: str) -> None:
        """Note a file of the user, or a folder, whose name gets a `mark`. Raises RefusedError."""
        if name is None or "__pycache__" in name:
            return
        if name.split(os.sep)[0] in OWN:
            raise RefusedError("reads what the build writes", name)
        found = None
        with contextlib.suppress(OSError):
            state = os.stat(os.path.join(self.folder, name))
            found = state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino
        self.opened.setdefault(name + mark, found)


def _refusing(what: str, how: str) -> Any:
    """Return a function that always raises RefusedError."""
    def refuse(*arguments: Any, **named: Any) -> NoReturn:
        raise RefusedError(what, how)

    return refuse

# --- Messages between a build and user code -------------------------------------------------------
#
# The build believes nothing that comes from that process, and evaluates nothing of it.

def pack(told: Any, files: Mapping[str, bytes]) -> Iterator[bytes]:
    """Yield the parts of a message: a line of JSON with the sizes of files, then their bytes."""
    sizes = {name: len(content) for name, content in files.items()}
    yield json.dumps({"told": told, "sizes": sizes}).encode() + b"\n"
    yield from files.values()


def unpack(message: bytes) -> tuple[Any, dict[str, bytes]]:
    """Return the content of a message, and its files. Raises ValueError for a damaged one."""
    line, _, rest = message.partition(b"\n")
    try:
        head = json.loads(line)
        sizes = {str(name): int(size) for name, size in head["sizes"].items()}
        told = head["told"]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no message") from error
    if any(size < 0 for size in sizes.values()) or sum(sizes.values()) != len(rest):
        raise ValueError("a message that is not whole")
    files, at = {}, 0
    for name, size in sizes.items():
        files[name] = rest[at : at + size]
        at += size
    return told, files
