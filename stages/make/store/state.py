"""State of a workspace, state.db: kept data, the log of builds, and digests of files."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lairmake.stages.make.store.files import (
    NO_FILE,
    READ,
    hold_while_forking,
    read_file,
    remove_whatever,
    warn,
)
from lairmake.stages.make.store.folders import is_digest, shown_path
from lairmake.stages.make.store.lock import Holder, has_locks, locked

# --- State between builds: one SQLite database, `.lairmake/state.db` ------------------------------
#
# `kept` holds data by kind and name, `log` a line for each result of a task. None of it is needed:
# where it is lost a build takes longer, and where it is damaged it is made anew. SQLite does not
# notice bits that flip, so each row has a seal over its key and its value. The database works on
# file systems of the network, too, since it has no journal that processes must map.

VERSION = 1
PATIENCE = 60.0
"""Seconds that a process waits for others that write."""

MOST_PAGES = 16_000
"""Number of pages, of 4096 bytes, above which the database is made smaller."""

INTERVAL = 0.5
"""Seconds after which a line of the log is written, at most."""

SCHEMA = (
    "create table kept (kind blob, name blob, value blob, seal blob, primary key (kind, name)) "
    "without rowid",
    "create table log (at integer primary key, task blob, how blob, line blob, seal blob)",
    "create index tasks on log (task)",
    f"pragma user_version = {VERSION}",
)
MEMORY = ":memory:"
MOST_OPEN = 8
Row = Sequence[Any]


class WorkspaceState:
    """The database in a folder of state; one in memory where there can be no file.

    Every process has a connection of its own. `lost` is the reason if nothing is remembered.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "state.db"
        self.lost = ""
        self._opened: dict[int, sqlite3.Connection] = {}
        self._one = threading.RLock()
        self._is_anew = False
        self._waiting: list[Row] = []
        self._written = time.monotonic()
        hold_while_forking(self._one)

    def get(self, kind: str, name: str) -> Any:
        """Return the data of a kind and a name; None where there is none, or it is damaged."""
        key = (_bytes(kind), _bytes(name))
        rows = self.run("select value, seal from kept where kind = ? and name = ?", key)
        return self._data(key, *rows[0]) if rows else None

    def has(self, kind: str) -> bool:
        """Return whether there are data of a kind."""
        return bool(self.run("select 1 from kept where kind = ? limit 1", (_bytes(kind),)))

    def every(self, kind: str) -> dict[str, Any]:
        """Return all data of a kind, by name."""
        rows = self.run("select name, value, seal from kept where kind = ?", (_bytes(kind),))
        found = {name: self._data((_bytes(kind), name), *row) for name, *row in rows}
        return {_text(name): data for name, data in found.items() if data is not None}

    def names(self, kind: str) -> set[str]:
        """Return the names of all data of a kind."""
        rows = self.run("select name from kept where kind = ?", (_bytes(kind),))
        return {_text(name) for (name,) in rows}

    def keep(self, kind: str, data: Mapping[str, Any]) -> None:
        """Keep data of a kind, by name; all of it is kept, or none."""
        rows = []
        for name, each in data.items():
            key, value = (_bytes(kind), _bytes(name)), _bytes(json.dumps(each))
            rows.append((*key, value, _seal(*key, value)))
        if rows:
            self.run("insert or replace into kept values (?, ?, ?, ?)", rows, many=True)

    def forget(self, kind: str, name: str | None = None) -> None:
        """Forget the data of a kind and a name, or all of a kind."""
        if name is None:
            self.run("delete from kept where kind = ?", (_bytes(kind),))
        else:
            key = (_bytes(kind), _bytes(name))
            self.run("delete from kept where kind = ? and name = ?", key)

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line to the log; it is written after a moment, with others."""
        text = _bytes(json.dumps(line, separators=(",", ":")))
        task, how = _bytes(line.get("task", "")), _bytes(line.get("how", ""))
        self._waiting.append((task, how, text, _seal(task, how, text)))
        if time.monotonic() - self._written > INTERVAL:
            self.flush()

    def flush(self) -> None:
        """Write the lines of the log that wait."""
        rows, self._waiting = self._waiting, []
        self._written = time.monotonic()
        if rows:
            self.run("insert into log (task, how, line, seal) values (?, ?, ?, ?)", rows, many=True)

    def lines(self, where: str = "", values: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Yield the lines of the log, oldest first: all, or those that meet a condition of SQL."""
        self.flush()
        asked = f"select task, how, line, seal from log {where} order by at"
        for task, how, text, seal in self.run(asked, tuple(map(_bytes, values))):
            found = _unsealed(seal, task, how, text)
            if isinstance(found, dict):
                yield found
            else:
                self._complain()

    def shorten(self) -> None:
        """Write waiting lines; if the database is too long, forget digests and half of the log.

        Definitions that code once had are forgotten with them.
        """
        self.flush()
        rows = self.run("pragma page_count")
        if rows and rows[0][0] > MOST_PAGES:
            self.run("delete from log where at <= (select (min(at) + max(at)) / 2 from log)")
            self.forget("memo")
            self.forget("derived")
            self.forget("definitions")
            self.run("pragma incremental_vacuum")

    def run(self, statement: str, values: Any = (), many: bool = False) -> list[Row]:
        """Return the rows of a statement, or, with `many`, run it for each of the values.

        A database that turns out to be damaged is made anew, and the statement is run again.
        """
        is_read = statement.startswith(("select", "pragma"))
        with self._one:
            while True:
                try:
                    database = self._database(make=not is_read)
                    if database is None:
                        return []
                    if many:
                        return _all(database, statement, values)
                    return database.execute(statement, values).fetchall()
                except sqlite3.Error as error:
                    if self.lost:
                        return []
                    self._replace(error)

    def _database(self, make: bool) -> sqlite3.Connection | None:
        """Return the connection of this process; None if there is nothing to read, or to make."""
        process = os.getpid()
        if process not in self._opened:
            if self.lost:
                self._opened[process] = _open(None)
            elif not make and not os.path.lexists(self.file):
                return None
            else:
                self._opened[process] = self._open_file()
        return self._opened[process]

    def _open_file(self) -> sqlite3.Connection:
        """Return a connection to the file, opened by one process at a time. Raises sqlite3.Error.
        """
        if any(_is_other(place) for place in self._places()):
            raise sqlite3.DatabaseError(NO_FILE)
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                stack.enter_context(locked(self.file.parent, "state", holder=self._holder))
            return _open(self.file)

    @property
    def _holder(self) -> Holder:
        return Holder(who="another command", does=f"opens {shown_path(self.file)}")

    def _replace(self, error: sqlite3.Error) -> None:
        """Make the database anew if it is damaged; else go on with one of memory."""
        said = f"{shown_path(self.file)} is left out: {error}"
        is_damaged = not isinstance(error, sqlite3.OperationalError) or _tells_damage(error)
        if is_damaged and not self._is_anew and self._remove():
            said = f"{shown_path(self.file)} is damaged, and made anew"
            self._is_anew = True
        else:
            self.lost = str(error)
            self._opened.pop(os.getpid(), None)
        if not self.lost or "locked" in self.lost:
            warn(said)

    def _remove(self) -> bool:
        """Remove the database; return whether that worked."""
        self._opened.pop(os.getpid(), None)
        with contextlib.suppress(OSError):
            for place in self._places():
                remove_whatever(place)
            return True
        return False

    def _places(self) -> list[Path]:
        return [self.file.with_name(self.file.name + end) for end in ("", "-journal")]

    def _data(self, key: tuple[bytes, bytes], value: object, seal: object) -> Any:
        found = _unsealed(seal, *key, value)
        if found is None:
            self._complain()
            self.run("delete from kept where kind = ? and name = ?", key)
        return found

    def _complain(self) -> None:
        warn(f"{shown_path(self.file)} is damaged in part, and that is thrown away")


@functools.lru_cache(MOST_OPEN)
def state_of(folder: Path) -> WorkspaceState:
    """Return the state in a folder: one object in a process, unless it looks into many."""
    return WorkspaceState(folder)


def _open(file: Path | None) -> sqlite3.Connection:
    """Return a connection to a database, made where it is not there yet; with no file in memory.

    Where the system has no locks a folder beside the file is one for SQLite. Raises sqlite3.Error.
    """
    name, is_uri = str(file or MEMORY), False
    if file is not None and not has_locks(file.parent):
        _remove_old(file.with_name(f"{file.name}.lock"))
        name, is_uri = f"{file.absolute().as_uri()}?vfs=unix-dotfile", True
    found = sqlite3.connect(
        name, PATIENCE, isolation_level=None, check_same_thread=False, uri=is_uri
    )
    found.execute("pragma synchronous = off")
    if _version(found) == 0:
        found.execute("pragma auto_vacuum = incremental")
        found.execute("begin immediate")
        for statement in SCHEMA if _version(found) == 0 else ():
            found.execute(statement)
        found.execute("commit")
    if _version(found) != VERSION:
        raise sqlite3.DatabaseError("another version")
    return found


def _remove_old(lock: Path) -> None:
    """Remove the lock of a process that was killed: none is held for longer than others wait."""
    with contextlib.suppress(OSError):
        if time.time() - os.lstat(lock).st_mtime > PATIENCE:
            remove_whatever(lock)


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("pragma user_version").fetchone()[0])


def _all(database: sqlite3.Connection, statement: str, values: Sequence[Row]) -> list[Row]:
    """Run a statement for each of many values, for all of them or none."""
    database.execute("begin immediate")
    try:
        database.executemany(statement, values)
        database.execute("commit")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            database.execute("rollback")
        raise
    return []


def _is_other(path: Path) -> bool:
    """Return whether something lies at a path that is no file; a link is none."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _seal(*parts: bytes) -> bytes:
    return hashlib.blake2b(b"\0".join(parts), digest_size=8).digest()


def _unsealed(seal: object, *parts: object) -> Any:
    """Return the data that the last part of a row holds; None where the row is damaged."""
    if not all(isinstance(part, bytes) for part in parts) or seal != _seal(*parts):  # type: ignore[arg-type]
        return None
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(parts[-1])  # type: ignore[arg-type]
    return None


def _tells_damage(error: sqlite3.Error) -> bool:
    return any(word in str(error) for word in ("no such", "already exists"))

# --- Log of builds: a line for each task that was looked at ---------------------------------------
#
# The code of a stage has a line of its own in a build, before the first line that says what the
# stage read. Layers that nothing happened to since their last build are not looked at, and have no
# line; a build with no others has one line. `doit why` and `doit timing` tell what is in the log.
# Each line is JSON, for `sqlite3 .lairmake/state.db "select line from log"`.

Line = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRecord:
    """One build: its first line, a line for each task, and its last line, None while it runs."""

    id: str
    begin: Line
    tasks: list[Line]
    end: Line | None


def read(state: Path) -> Iterator[Line]:
    """Yield every line of the log, oldest first."""
    return state_of(state).lines()


def builds(state: Path) -> list[BuildRecord]:
    """Return the builds of the log, oldest first, with the lines of their tasks."""
    found: dict[str, BuildRecord] = {}
    code: dict[tuple[str, str], Line] = {}
    for line in read(state):
        name, event = line["build"], line.get("event")
        if event in ("begin", "same"):
            end = line if event == "same" else None
            found[name] = BuildRecord(id=name, begin=line, tasks=[], end=end)
        elif name in found and event == "end":
            found[name] = BuildRecord(
                id=name, begin=found[name].begin, tasks=found[name].tasks, end=line
            )
        elif event == "code":
            code[name, line["stage"]] = line["units"]
        elif name in found:
            known = {"code": code.get((name, line["stage"]), {})} if "reads" in line else {}
            found[name].tasks.append({**line, **known})
    return list(found.values())


def begun(build: BuildRecord) -> str:
    """Return the time when a build began, as text, which is also the name of the build."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(build.begin["when"]))


def covers(build: BuildRecord, layer: str) -> bool:
    """Return whether a build was to see to a layer, or to the network around it."""
    asked = build.begin.get("asked", [])
    is_all = not asked and not build.begin.get("arguments")
    seen = any(line["layer"] == layer for line in build.tasks)
    return is_all or seen or any(f"{layer}/".startswith(f"{name}/") for name in asked)


def history(state: Path, task: str) -> list[Line]:
    """Return the lines of a task from builds in which it was not up to date, oldest first."""
    where = "where task = ? and how != ?"
    return list(state_of(state).lines(where, (task, "same")))


def count(state: Path, how: str) -> int:
    """Return the number of lines of tasks with a result, as `ran`."""
    return sum(1 for _ in state_of(state).lines("where how = ?", (how,)))


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names that differ between two lines of a task: files, and `code place.py`."""
    files = _differing(before.get("reads", {}), after.get("reads", {}))
    code = _differing(before.get("code", {}), after.get("code", {}))
    return [*files, *(f"code {unit}" for unit in code)]


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    names = before.keys() | after.keys()
    return sorted(name for name in names if before.get(name) != after.get(name))

# --- Digests of files, remembered while the file is the same --------------------------------------

Mark = tuple[int, int, int, int]
"""Time of content, time of change, size and inode of a file, which change when it is written."""

KIND, DERIVED = "memo", "derived"
LARGE = 1_000_000
SECOND = 1_000_000_000
FINE, COARSE = SECOND // 50, 2 * SECOND
"""Nanoseconds after a change in which another change may have the same time: two ticks of the
slowest clock of Linux, 100 a second; and what file systems have that count seconds, or two."""


def mark_of(state: os.stat_result) -> Mark:
    """Return the mark of a file, which tells whether the file was written since."""
    return (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)


def is_fresh(changed: int, now: int) -> bool:
    """Return whether a file that changed at `changed` may yet change without a trace.

    Times are in nanoseconds. Only the time of change counts, which nobody can set. A time in whole
    seconds is taken for that of a file system that counts no finer.
    """
    return changed > now - (FINE if changed % SECOND else COARSE)


class Memo:
    """Digests of files, by path. An unknown file is read, so that a loss costs time only.

    `state` is the folder in which they are kept between builds. Paths beside that folder start
    there, so that a workspace that was copied knows what follows from the content of its files.
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

        Without `links`, a symbolic link is no file.
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
        """Return what `derive` gives for the content of a file; it is remembered as `what`.

        It holds for one content and one `code`. Return None where there is no file to read. Where
        `derive` gives None, return the digest of all of the content; this is not remembered.
        """
        digest = self.digest(path)
        return None if digest is None else self.follow(path, digest, what, derive, code)

    def follow(
        self, path: Path, digest: str, what: str, derive: Callable[[bytes], str | None], code: str
    ) -> str:
        """Return what `derive` gives for the content with a digest, of the file at a path."""
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
        """Return the content of a file; None where it does not have the digest any more."""
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
    """Return the memo of a folder of state: one in a process, unless that looks into many."""
    return Memo(state)
