"""What a user's code may not do, and which files below its folder it opens.

An audit hook is no sandbox: it sees what Python does, not what C does that Python calls.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
OWN = ("build", "cache", ".lairmake")
"""Folders below that of a program which builds write."""

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
"""What code may not do, by the name that Python gives to it."""
KINDS = {"socket": CONNECTS, "shutil": WRITES}
"""What it may not do whatever stands after the dot."""
LISTING = ("os.listdir", "os.scandir")
UNSEEN = {"mkfifo": WRITES, "mknod": WRITES}
"""Functions of `os` that no hook is told of."""


class RefusedError(PermissionError):
    """Something that a user's code may not do; it was not done."""

    def __init__(self, what: str, how: str) -> None:
        super().__init__(f"the program {what}: {how}")
        self.message, self.hint = str(self), HINTS.get(what, HINT)


class Watch:
    """Refuses what code may not do, and notes the files below `folder` that it opens.

    `opened` has, by their names there, what the system said of each when it was first opened: time
    of content, time of change, size and inode; None where there was no such file. The names of
    folders that were listed end in `/`; that of the folder itself is `./`. What lies in `others`,
    folders from which Python takes modules, is none of the user's.
    """

    def __init__(self, folder: str, others: Iterable[str]) -> None:
        self.folder = folder
        found = (os.path.realpath(other) for other in others)
        self._others = tuple(o + os.sep for o in found if o.startswith(folder + os.sep))
        self.opened: dict[str, tuple[int, int, int, int] | None] = {}

    def begin(self) -> None:
        """Look at what this process does, from here to its end."""
        import _posixsubprocess

        for name, what in UNSEEN.items():
            setattr(os, name, _refusing(what, f"os.{name}"))
        _posixsubprocess.fork_exec = _refusing(STARTS, "fork_exec")
        sys.addaudithook(self.look)

    def look(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note one thing that is about to be done. Raises RefusedError."""
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
        """Return what a file is called from the folder; None for one that lies elsewhere."""
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
        """Note a file, or a folder with the `mark` of one, if it is there and the user's."""
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
    """Return a function that is refused."""
    def refuse(*arguments: Any, **named: Any) -> NoReturn:
        raise RefusedError(what, how)

    return refuse
