"""Why tasks were rebuilt or not, from the log of builds: what of all that they read had changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lairmake.stages.make.core.action import SMALL
from lairmake.stages.make.core.declaration import (
    is_figures,
    is_read_by_values,
    read_figures_text,
    values_read,
)
from lairmake.stages.make.core.pipeline import writer_of
from lairmake.stages.make.report.code import changed_names
from lairmake.stages.make.report.details import details
from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.folders import (
    LayerFolder,
    file_of,
    further_file,
    parts_of,
    shown_path,
)
from lairmake.stages.make.store.state import BuildRecord, Line, builds, changes, covers
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import Store, store_of

DONE = ("ran", "hit")
CODE = "code "


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Something that a task reads and that changed, by the name that its stage uses.

    `by` is the task that wrote it, None for what a person wrote: a source, or a text `edited` by
    hand. `old` and `new` are digests; None where there was nothing. Code has a `name` that begins
    with `code `.
    """

    name: str
    by: str | None
    edited: bool
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What became of a task in a build, and why.

    `how` is that of the log, `is_always` whether -a asked for all. `before` is what it had read and
    written before the build, None for its first. `wrote` are the files that are not as before,
    `spared` the tasks before it that ran and gave it what they had given before.
    """

    folder: LayerFolder
    stage: str
    how: str
    line: Line
    before: Line | None
    causes: Sequence[Cause]
    wrote: Sequence[str]
    spared: Mapping[str, Sequence[str]]
    is_always: bool

    @property
    def task(self) -> str:
        """The name of the task."""
        return f"{self.folder.name}:{self.stage}"


class History:
    """The log of a workspace, with the tasks that there are now."""

    def __init__(self, home: Path, tasks: Mapping[str, tuple[LayerFolder, str]]) -> None:
        self._builds = builds(state_folder(home))
        self._numbers = {build.id: number for number, build in enumerate(self._builds)}
        self._tasks = tasks
        self._store = store_of(home)
        self._by_key: dict[str, Line] = {}
        self._lines: dict[str, list[tuple[int, Line]]] = {}
        self._last: dict[str, int] = {}
        self._written: set[str] = set()
        for number, build in enumerate(self._builds):
            busy = {line["layer"] for line in build.tasks if not self._is_idle(line)}
            for line in build.tasks:
                if line["layer"] in busy:
                    self._last[line["task"]] = number
                self._lines.setdefault(line["task"], []).append((number, line))
                if "writes" in line:
                    self._by_key[line["key"]] = line
                    self._written.update(line["writes"].values())

    def _is_idle(self, line: Line) -> bool:
        """Return whether nothing had happened to a task since the line before."""
        before = self._lines.get(line["task"])
        same = before is not None and before[-1][1]["key"] == line["key"]
        return same and line["how"] == "same" and not line.get("kept")

    def last(self, tasks: Iterable[str]) -> BuildRecord | None:
        """Return the last build with one of some tasks in a layer that was not as before."""
        numbers = [self._last[task] for task in tasks if task in self._last]
        return self._builds[max(numbers)] if numbers else None

    def since(self, build: BuildRecord, layer: str) -> BuildRecord | None:
        """Return the last build after one that was to see to a layer; None if none was."""
        later = reversed(self._builds[self._numbers[build.id] + 1 :])
        return next((each for each in later if covers(each, layer)), None)

    def new_tools(self, build: BuildRecord, task: str) -> dict[str, list[str]]:
        """Return the tools that changed since a task was in the build before, from what to what."""
        end = self._numbers[build.id]
        start = max((n for n, _ in self._lines.get(task, []) if n < end), default=end)
        begins = [each.begin for each in self._builds[start + 1 : end + 1]]
        tools: dict[str, list[str]] = {}
        for begin in begins:
            for name, (old, new) in begin.get("tools", {}).items():
                tools[name] = [tools.get(name, [old])[0], new]
        return tools

    def before(self, task: str, build: BuildRecord | None = None) -> Line | None:
        """Return what a task had read and written before a build, or by now; None for nothing."""
        end = len(self._builds) if build is None else self._numbers[build.id]
        for number, line in reversed(self._lines.get(task, [])):
            if number < end and line["how"] != "failed":
                return self._whole(line)
        return None

    def events(self, build: BuildRecord) -> dict[str, Event]:
        """Return what became of the tasks of a build, by their names."""
        lines = {line["task"]: self._whole(line) for line in build.tasks}
        before = {task: self.before(task, build) for task in lines if task in self._tasks}
        always = bool(build.begin.get("always"))
        return {task: self._event(task, lines, before[task], always) for task in before}

    def _whole(self, line: Line) -> Line:
        """Return a line with what it read and wrote, also where only its key was logged."""
        if "reads" in line:
            return line
        known = self._by_key.get(line["key"])
        if known is None:
            entry = self._store.entry(line["key"])
            known = {"reads": entry.reads, "writes": entry.outputs} if entry is not None else {}
        return {**{name: known.get(name, {}) for name in ("reads", "writes", "code")}, **line}

    def _event(
        self, task: str, lines: Mapping[str, Line], before: Line | None, always: bool
    ) -> Event:
        folder, stage = self._tasks[task]
        line = lines[task]
        causes = list(find_causes(folder, stage, before, line)) if before is not None else []
        wrote = find_changes(before or {}, line, "writes") if line["how"] in DONE else []
        spared: dict[str, list[str]] = {}
        for name in line["reads"] if line["how"] == "same" else ():
            by = writer_of(folder, name)
            ran = by is not None and lines.get(by, {}).get("how") in DONE
            if by is not None and ran and name not in {cause.name for cause in causes}:
                spared.setdefault(by, []).append(name)
        return Event(
            folder=folder, stage=stage, how=line["how"], line=line, before=before,
            causes=causes, wrote=wrote, spared=spared, is_always=always,
        )

    def is_lost(self, cause: Cause) -> bool:
        """Return whether something is gone that a task wrote, be it one that there is no more."""
        return cause.new is None and cause.old in self._written

    def read(self, folder: LayerFolder, name: str, wanted: str | None) -> bytes | None:
        """Return what a stage read of a file, by its digest: all of it, or values."""
        if is_figures(name):
            now = read_figures_text(folder, name)
            is_now = now is not None and digest_of(now) == wanted
            return now if is_now else self._store.blob(wanted) if wanted else None
        path = find_path(folder, name)
        found = self.content(path, wanted)
        if found is None and wanted is not None and path.is_file():
            every = values_read(folder, name, path.read_bytes())
            found = next((each for each in every if digest_of(each) == wanted), None)
        return found

    def content(self, path: Path, wanted: str | None) -> bytes | None:
        """Return a small content by its digest: what lies at `path` now, or in the store."""
        if wanted is None:
            return None
        for place in (path, self._store.edit_path(wanted), self._store.blob_path(wanted)):
            if place.is_file() and place.stat().st_size < SMALL:
                content = place.read_bytes()
                if digest_of(content) == wanted:
                    return content
        return None


def find_causes(
    folder: LayerFolder, stage: str, before: Line, after: Line
) -> Iterator[Cause]:
    """Yield what changed between two lines of a task, of all that it read."""
    known = bool(before.get("code")) and bool(after.get("code"))
    for name in changes(before, after):
        if name.startswith(CODE):
            units = (line.get("code", {}).get(name.removeprefix(CODE)) for line in (before, after))
            for said in _code_named(stage, name, *units) if known else ():
                yield Cause(name=said, by=None, edited=False, old=None, new=None)
            continue
        old, new = before["reads"].get(name), after["reads"].get(name)
        if is_figures(name) and None in (old, new):
            continue  # another machine is asked for: what says so is a cause
        by = writer_of(folder, name)
        edited = by is not None and new is not None and _is_edit(folder, new)
        yield Cause(name=name, by=None if edited else by, edited=edited, old=old, new=new)


def _code_named(
    stage: str, name: str, old: str | None, new: str | None
) -> Iterator[str]:
    """Yield what the code that changed is called: tools, files, and definitions in these."""
    unit = name.removeprefix(CODE)
    yield from (f"{CODE}{each}" for each in changed_names(stage, unit, old, new))


def _is_edit(folder: LayerFolder, found: str) -> bool:
    store: Store = store_of(folder.home)
    return store.edit_path(found).is_file() and not store.has_blob(found)


def find_changes(before: Line, after: Line, part: str) -> list[str]:
    """Return the names whose digests differ between two lines in one of their parts."""
    old, new = before.get(part, {}), after.get(part, {})
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def find_sources(
    history: History, causes: Iterable[tuple[LayerFolder, Sequence[Cause]]]
) -> dict[str, list[str]]:
    """Return what a person changed, by its path, and for each file what, in a few lines."""
    found: dict[str, list[str]] = {}
    for folder, each in causes:
        for cause in each:
            is_code = cause.name.startswith(CODE)
            if cause.by is None and not is_code and not history.is_lost(cause):
                path = find_path(folder, cause.name)
                old, new = (history.read(folder, cause.name, d) for d in (cause.old, cause.new))
                file = path.read_bytes() if is_read_by_values(folder, cause.name) else None
                said = details(cause.name, old, new, file)
                known = found.setdefault(f"{shown_path(path)}{_note(cause)}", [])
                known += [line for line in said if line not in known]
    return found


def _note(cause: Cause) -> str:
    if cause.edited:
        return ", edited by hand"
    return " is new" if cause.old is None else " is gone" if cause.new is None else ""


def find_path(folder: LayerFolder, name: str) -> Path:
    """Return the file of a name that a stage read, declared or not."""
    if is_figures(name):
        return further_file(folder, name)
    path = file_of(folder, name)
    in_cache = any(path.is_relative_to(each.cache) for each in (folder, *parts_of(folder)))
    is_further = in_cache and writer_of(folder, name) is None
    return further_file(folder, name) if is_further else path
