"""Causes of builds: why tasks ran, were restored, or would run."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from lairmake.stages.diagnose import plural
from lairmake.stages.make.core.action import (
    FROM_STORE,
    LEFT_OUT,
    MAY_RUN,
    SMALL,
    UP_TO_DATE,
    WOULD_RUN,
    Forecast,
)
from lairmake.stages.make.core.code import (
    StageReach,
    digest_of_part,
    lines_of,
    path_of_unit,
    reach_of,
)
from lairmake.stages.make.core.declaration import (
    declaration,
    is_figures,
    is_read_by_values,
    read_figures_text,
    values_read,
)
from lairmake.stages.make.core.key import Part, code_units, digest_further, known_code, read_digest
from lairmake.stages.make.core.pins import pinned_in, pins
from lairmake.stages.make.core.pipeline import writer_of
from lairmake.stages.make.report.colour import paint
from lairmake.stages.make.report.difference import details, list_some
from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.folders import (
    LayerFolder,
    file_of,
    further_file,
    matches,
    names_meant,
    parts_of,
    shown_path,
)
from lairmake.stages.make.store.marks import FORGOTTEN, is_marked
from lairmake.stages.make.store.state import (
    BuildRecord,
    Line,
    begun,
    builds,
    changes,
    covers,
    memo_of,
)
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import ResultStore, store_of

# --- Folded slots of a search: one line for all ---------------------------------------------------
#
# Slots that are asked for by name get their own lines.

T = TypeVar("T")
ALL = "-v lists them"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTask:
    """Folders told task by task: all with `everything`, else all but the slots not in `named`."""

    everything: bool = True
    named: Collection[str] = field(default_factory=tuple)

    def folds(self, folder: LayerFolder) -> bool:
        """Return whether a folder and the slots beside it share one line."""
        return folder.is_slot and not self.everything and folder.name not in self.named


def told_of(words: Iterable[str], everything: bool) -> ToldTask:
    """Return the folders to tell, from the words of a command line: `fc/slot1`, `fc/slot1:simd`."""
    return ToldTask(everything=everything, named={word.partition(":")[0] for word in words})


def group(
    items: Iterable[T], folder_of: Callable[[T], LayerFolder], told: ToldTask
) -> list[list[T]]:
    """Return the items of each folder; those of folded slots of one layer are together."""
    found: dict[tuple[str, bool], list[T]] = {}
    for item in items:
        folder = folder_of(item)
        folds = told.folds(folder)
        name = folder.name.rpartition("/")[0] if folds else folder.name
        found.setdefault((name, folds), []).append(item)
    return list(found.values())


def say_slots(
    names: Sequence[str], statuses: Iterable[str], styles: Mapping[str, str], more: str = ""
) -> str:
    """Return the line for slots: `fc/slot1 to fc/slot8: 40 ran, 20 not rebuilt; -v lists them`."""
    counts = Counter(statuses)
    said = ", ".join(paint(styles[s], f"{counts[s]} {s}") for s in styles if counts[s])
    return f"{paint('bold', name_slots(names))}: {said}{more}; {ALL}"


def name_slots(names: Iterable[str]) -> str:
    """Return one name for some slots: `fc/slot1 to fc/slot8`."""
    found = sorted(set(names))
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"

# --- Code of stages, and its changes, in words ----------------------------------------------------

ON_IMPORT = "what runs when it is imported"
WIDTH = 100


def changed_names(stage: str, unit: str, old: str | None, new: str | None) -> list[str]:
    """Return the names of the changed definitions in a unit of a stage's code.

    Where these are not known any more, the only name is that of the unit's file.
    """
    path = path_of_unit(unit)
    before, after = (_part(stage, unit, digest) for digest in (old, new))
    if before is None or after is None:
        return [path]
    every = sorted(before.keys() | after.keys())
    return [f"{path}: {name or ON_IMPORT}" for name in every if before.get(name) != after.get(name)]


def _part(stage: str, unit: str, digest: str | None) -> Part | None:
    """Return the definitions of a module that a stage reached; None for a file of data."""
    if digest is None:
        return {}
    part = reach_of(stage).definitions.get(unit)
    if part is not None and digest_of_part(part) == digest:
        return part
    return known_code().part(digest)


def list_stages() -> list[str]:
    """Return the names of all stages, wing by wing."""
    from lairmake.stages import WINGS

    return [stage for wing in WINGS for stage in wing.STAGES]


def reach_in_words(stage: str) -> Iterator[str]:
    """Yield lines of what a stage reaches: definitions by module, then files of data."""
    found = reach_of(stage)
    lines = sum(size for part in data_of_reach(found)["modules"].values() for size in part.values())
    count = sum(len(part) for part in found.definitions.values())
    yield (
        f"{paint('bold', stage)} reaches {plural(count, 'definition')} of {lines} lines in "
        f"{plural(len(found.definitions), 'module')}, and {plural(len(found.data), 'file')} of data"
    )
    for own in sorted(found.definitions, key=path_of_unit):
        yield f"  {paint('bold', path_of_unit(own))}"
        names = ", ".join(name or ON_IMPORT for name in sorted(found.definitions[own]))
        yield textwrap.fill(names, WIDTH, initial_indent="    ", subsequent_indent="    ",
                            break_long_words=False)
    yield from (f"  {paint('bold', name)}" for name in sorted(found.data))


def data_of_reach(found: StageReach) -> dict[str, Any]:
    """Return reached code as data for a program: the lines of each definition, by module."""
    modules = {
        path_of_unit(own): {name: lines_of(own, name) for name in sorted(found.definitions[own])}
        for own in sorted(found.definitions, key=path_of_unit)
    }
    return {"modules": modules, "data": sorted(found.data)}

# --- Causes of what a build did, from its log -----------------------------------------------------

DONE = ("ran", "hit")
CODE = "code "


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Something that a task reads and that changed, by the name that its stage uses.

    `by` is the task that wrote it. It is None for what a person wrote: a source, or a text that was
    `edited` by hand. `old` and `new` are digests; None where there was nothing. The `name` of code
    begins with `code `.
    """

    name: str
    by: str | None
    edited: bool
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Result of a task in a build, and its causes.

    `how` is the word of the log; `is_always` says whether -a asked for all tasks. `before` is what
    the task had read and written before the build, None for its first build. `wrote` are the files
    that are not as before. `spared` has the files of tasks before it that ran and gave it what they
    had given before, by these tasks.
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
    """Log of the builds of a workspace, for the tasks that there are now."""

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
        """Return the last build with one of some tasks in a layer that something happened to."""
        numbers = [self._last[task] for task in tasks if task in self._last]
        return self._builds[max(numbers)] if numbers else None

    def since(self, build: BuildRecord, layer: str) -> BuildRecord | None:
        """Return the last build after another one that was to see to a layer; None if none was."""
        later = reversed(self._builds[self._numbers[build.id] + 1 :])
        return next((each for each in later if covers(each, layer)), None)

    def new_tools(self, build: BuildRecord, task: str) -> dict[str, list[str]]:
        """Return the tools that changed since the last build with a task before `build`.

        Each has its old and its new version.
        """
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
        """Return the results of the tasks of a build, by their names."""
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
        """Return whether a file is gone that a task wrote, even a task that is gone as well."""
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
        """Return a small content by its digest: from `path`, or else from the store."""
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
    """Yield what changed, of all that a task read, between two of its lines in the log."""
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
    store: ResultStore = store_of(folder.home)
    return store.edit_path(found).is_file() and not store.has_blob(found)


def find_changes(before: Line, after: Line, part: str) -> list[str]:
    """Return the names whose digests differ between two lines in one of their parts."""
    old, new = before.get(part, {}), after.get(part, {})
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def find_sources(
    history: History, causes: Iterable[tuple[LayerFolder, Sequence[Cause]]]
) -> dict[str, list[str]]:
    """Return the files that a person changed, by path, and the changes in each, in a few lines."""
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
    """Return the path of a file that a stage read, declared or not, by its name."""
    if is_figures(name):
        return further_file(folder, name)
    path = file_of(folder, name)
    in_cache = any(path.is_relative_to(each.cache) for each in (folder, *parts_of(folder)))
    is_further = in_cache and writer_of(folder, name) is None
    return further_file(folder, name) if is_further else path

# --- Builds in words: edits, tasks, reasons -------------------------------------------------------

WORDS = {"ran": "ran", "hit": "from the store", "same": "not rebuilt", "failed": "failed"}
STYLES = {"ran": "yellow", "hit": "cyan", "same": "green", "failed": "red"}
USAGE = "usage.npz"
"""Usage of a run, of which results.json has the sums."""
TOOLS = {"packages": "tools", "compiler": "C compiler"}
Tasks = dict[str, tuple[LayerFolder, str]]


def explained(
    history: History, tasks: Tasks, wanted: list[str], is_all: bool, is_chain: bool
) -> Iterator[tuple[BuildRecord, list[Event]]]:
    """Yield the last build of each layer, with the events of the tasks wanted.

    With `is_chain`, the events of tasks that led to these are among them. With `is_all`, only
    layers of the last build of all count.
    """
    last = history.last(tasks)
    for layer in dict.fromkeys(tasks[task][0].name for task in wanted):
        own = [task for task in wanted if tasks[task][0].name == layer]
        build = history.last(own)
        if build is None or (is_all and build is not last):
            continue
        events = history.events(build)
        own = [task for task in own if task in events]
        chosen = set(_led_to(events, own)) if is_chain else set(own)
        yield build, [events[task] for task in tasks if task in chosen]


def _led_to(events: Mapping[str, Event], tasks: Sequence[str]) -> Iterator[str]:
    """Yield tasks and those of whose files they read what had changed, or had not though it ran."""
    seen: set[str] = set()
    waiting = list(tasks)
    while waiting:
        task = waiting.pop()
        if task in seen or task not in events:
            continue
        seen.add(task)
        yield task
        event = events[task]
        waiting += [cause.by for cause in event.causes if cause.by is not None]
        waiting += event.spared if not event.causes else []


def told_of_slots(events: Sequence[Event]) -> str:
    """Return one line on the tasks of slots in a build."""
    names = [event.folder.name for event in events]
    styles = {WORDS[how]: style for how, style in STYLES.items()}
    return say_slots(names, (WORDS[event.how] for event in events), styles) + "\n"


def told(history: History, build: BuildRecord, events: Sequence[Event]) -> str:
    """Return lines on a layer in a build, and whether anything happened to it since."""
    layer = events[-1].folder.name
    since = "nothing changed since the build" if history.since(build, layer) else "build"
    lines = [f"{paint('bold', layer)}: {since} of {begun(build)}"]
    causes = [(event.folder, event.causes) for event in events]
    sources = find_sources(history, causes)
    for path, edits in [*sources.items(), *_made_with(history, build, events)]:
        lines += [f"  {paint('bold', path)}", *(f"    {edit}" for edit in edits)]
    names = {event.task: event.task.removeprefix(f"{layer}:") for event in events}
    width = max(map(len, names.values()))
    for event in events:
        word = paint(STYLES[event.how], f"{WORDS[event.how]:<14}")
        lines.append(f"  {names[event.task]:<{width}}  {word}  {reason(event)}")
    return "\n".join(lines) + "\n"


def _made_with(
    history: History, build: BuildRecord, events: Sequence[Event]
) -> Iterator[tuple[str, list[str]]]:
    """Yield what changed of the tools that the tasks are made with, if anything."""
    tools: dict[str, str] = {}
    for event in events:
        if {each.name.removeprefix(CODE) for each in event.causes} & TOOLS.keys():
            news = history.new_tools(build, event.task)
            tools |= {name: f"{old} -> {new}" for name, (old, new) in news.items()}
    if tools:
        yield "tools", [f"{name}: {change}" for name, change in tools.items()]


def reason(event: Event) -> str:
    """Return in one line why a task was rebuilt, or not, and what came of it."""
    if event.how == "failed":
        return f"{_because(event)}: {event.line['error'].strip().splitlines()[0]}"
    if event.how == "same":
        return _why_not(event)
    if event.how == "hit" and event.before is not None and not event.causes:
        repaired = list_some(list(event.line.get("repaired", {})))
        what = f"{repaired} was edited by hand" if repaired else "what it wrote was not there"
        return f"{what}: as it was before"
    if event.before is not None and not event.wrote:
        return f"{_because(event)}, but writes what it wrote before"
    return f"{_because(event)}: another {_told(event.wrote)}" if event.before else "first build"


def _told(wrote: Sequence[str]) -> str:
    """Return what a stage wrote; of what a run used nothing is said beside its results."""
    used = {name for name in wrote if name.endswith(USAGE) and len(wrote) > 1}
    return list_some([name for name in wrote if name not in used])


def _because(event: Event) -> str:
    """Return what made a task be looked at anew: first what a person changed."""
    if event.causes:
        causes = sorted(event.causes, key=lambda cause: cause.by is not None)
        return f"{list_some([_named(cause.name) for cause in causes])} changed"
    if event.line.get("forgotten"):
        return "it was forgotten"
    if event.is_always:
        return "-a asked for it"
    return "nothing changed, but the store did not know it"


def _named(name: str) -> str:
    """Return what a cause is called: a file, `code place.py`, or the tools."""
    return TOOLS.get(name.removeprefix(CODE), name) if name.startswith(CODE) else name


def _why_not(event: Event) -> str:
    kept = event.line.get("kept", {})
    if kept:
        pinned = set(kept) <= set(pins(event.folder))
        why = f", since {pinned_in(event.folder).name} pins it" if pinned else ""
        return f"{list_some(list(kept))} stays as it was edited by hand{why}"
    if event.causes:
        return f"{_because(event)}, but what it wrote is right"
    if not event.spared:
        return "nothing that it reads changed"
    tasks = [name.removeprefix(f"{event.folder.name}:") for name in event.spared]
    files = [file for names in event.spared.values() for file in names]
    return f"{list_some(tasks)} ran, but {list_some(files)} did not change"


def data_of_event(history: History, build: BuildRecord, event: Event) -> dict[str, Any]:
    """Return the result of a task in a build, and its causes, as data for a program."""
    since = history.since(build, event.folder.name)
    return {
        "task": event.task,
        "layer": event.folder.name,
        "stage": event.stage,
        "build": build.id,
        "same_in": since.id if since is not None else None,
        "how": event.how,
        "reason": reason(event),
        "causes": [
            {
                "name": cause.name.removeprefix(CODE),
                "kind": _kind(event, cause.name),
                "task": cause.by,
                "old": cause.old,
                "new": cause.new,
            }
            for cause in event.causes
        ],
        "wrote": list(event.wrote),
        "spared": {task: list(names) for task, names in event.spared.items()},
    }


def _kind(event: Event, name: str) -> str:
    """Return what a cause is: code, the output of a task, an edit of one, or a source."""
    if name.startswith(CODE):
        return "code"
    cause = next(each for each in event.causes if each.name == name)
    return "task" if cause.by is not None else "edit" if cause.edited else "source"

# --- Forecasts in words: tasks, causes, reasons ---------------------------------------------------

MOST_LINES = 40
"""Number of lines that are printed without `-v`, at most."""

PLAN_STYLES = {
    WOULD_RUN: "red", MAY_RUN: "yellow", FROM_STORE: "cyan", LEFT_OUT: "dim", UP_TO_DATE: "green",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """Forecast of a task, the changes in what it reads, and the reason in words."""

    forecast: Forecast
    causes: Sequence[Cause]
    reason: str


def plan_of(history: History, found: Mapping[str, Forecast], each: Forecast) -> BuildPlan:
    """Return the forecast of one of the tasks `found`, with its causes and its reason."""
    before = history.before(each.task)
    causes: list[Cause] = []
    if before is not None and each.status != UP_TO_DATE:
        causes = list(find_causes(each.folder, each.stage, before, _line(each, before)))
    if each.status == MAY_RUN:
        causes = [cause for cause in causes if not _waits(found, cause)]
    reason = _reason(found, each, causes, is_first=before is None)
    return BuildPlan(forecast=each, causes=causes, reason=reason)


def _line(each: Forecast, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a task would read, as the log has it; `before` is what it had read.

    Of what waits for others it is not known which files it reads beyond those that it declares: it
    is taken to be those that it did.
    """
    if each.key is not None:
        return {"reads": {**each.key.reads, **each.key.further}, "code": code_units(each.stage)}
    memo = memo_of(state_folder(each.folder.home))
    names = names_meant(each.folder, declaration(each.stage).reads)
    reads = {name: read_digest(each.stage, each.folder, name, memo) for name in names}
    declared = declaration(each.stage).reads
    further = [n for n in before["reads"] if not any(matches(n, pattern) for pattern in declared)]
    return {"reads": {n: digest_further(each.folder, n, memo) for n in further} | reads}


def _waits(found: Mapping[str, Forecast], cause: Cause) -> bool:
    """Return whether a file is to be written by a task that would run, or may."""
    by = found.get(cause.by or "")
    return by is not None and by.status in (WOULD_RUN, MAY_RUN)


def _reason(
    found: Mapping[str, Forecast], each: Forecast, causes: Sequence[Cause], is_first: bool
) -> str:
    """Return in one line why a build would do that to a task."""
    if each.status in (UP_TO_DATE, LEFT_OUT):
        return ""
    if is_first:
        return "not built here yet"
    if causes:
        return f"{list_some([cause.name for cause in causes])} changed"
    if each.status == MAY_RUN:
        return f"unless {list_some(list(_waiting(found, each)))} comes out as before"
    if each.status == FROM_STORE:
        return "what it wrote is not there, or edited"
    is_forgotten = is_marked(each.folder.home, each.task, FORGOTTEN)
    return "it was forgotten" if is_forgotten else "not in store"


def _waiting(found: Mapping[str, Forecast], each: Forecast) -> Iterator[str]:
    """Yield what a task reads from tasks that would run, or may."""
    open_ = {task for task, other in found.items() if other.status in (WOULD_RUN, MAY_RUN)}
    taken = {crossing.name: crossing.after for crossing in each.folder.crossings}
    for read in declaration(each.stage).reads:
        for name in [name for name in taken if matches(name, read)] or [read]:
            if open_.intersection(taken.get(name, (writer_of(each.folder, name),))):
                yield name


def lines_of_tasks(history: History, plans: Sequence[BuildPlan], told: ToldTask) -> Iterator[str]:
    """Yield the lines of layers that a build would not leave alone, and a count of other tasks."""
    to_do = [plan for plan in plans if plan.forecast.status != UP_TO_DATE]
    width = max((len(plan.forecast.stage) for plan in to_do), default=0)
    for own in group(to_do, lambda plan: plan.forecast.folder, told):
        if told.folds(own[0].forecast.folder):
            names = [plan.forecast.folder.name for plan in own]
            yield say_slots(names, (plan.forecast.status for plan in own), PLAN_STYLES)
            continue
        yield paint("bold", own[0].forecast.folder.name)
        pairs = [(plan.forecast.folder, plan.causes) for plan in own]
        for path, edits in find_sources(history, pairs).items():
            yield f"  {paint('bold', path)}"
            yield from (f"    {edit}" for edit in edits)
        for plan in own:
            status = f"{plan.forecast.status:<{len(FROM_STORE)}}"
            painted = paint(PLAN_STYLES[plan.forecast.status], status)
            yield f"  {plan.forecast.stage:<{width}}  {painted}  {plan.reason}".rstrip()
    yield _up_to_date(plans)


def lines_of_layers(
    history: History, plans: Sequence[BuildPlan], wholes: Mapping[str, str]
) -> Iterator[str]:
    """Yield a line for each layer, or network with its parts: what a build would do, and why."""
    found: dict[str, list[BuildPlan]] = {}
    for plan in plans:
        if plan.forecast.status != UP_TO_DATE:
            name = plan.forecast.folder.name
            found.setdefault(wholes.get(name, name), []).append(plan)
    most = len(found) if len(found) < MOST_LINES else MOST_LINES - 2
    for whole, own in list(found.items())[:most]:
        yield f"{paint('bold', whole)}: {_counts(own)}; {_reason_of(history, own)}"
    if most < len(found):
        rest = [plan for own in list(found.values())[most:] for plan in own]
        yield f"and {len(found) - most} more layers: {_counts(rest)}; -v lists them"
    yield _up_to_date(plans)


def _counts(plans: Sequence[BuildPlan]) -> str:
    statuses = Counter(plan.forecast.status for plan in plans)
    return ", ".join(
        paint(PLAN_STYLES[s], f"{statuses[s]} {s}") for s in PLAN_STYLES if statuses[s]
    )


def _reason_of(history: History, plans: Sequence[BuildPlan]) -> str:
    """Return why a build would do that to a layer: the files that changed, else what is first."""
    pairs = [(plan.forecast.folder, plan.causes) for plan in plans]
    changed = list(find_sources(history, pairs))
    return f"{list_some(changed)} changed" if changed else plans[0].reason


def _up_to_date(plans: Sequence[BuildPlan]) -> str:
    count = sum(plan.forecast.status == UP_TO_DATE for plan in plans)
    return f"{plural(count, 'task')} up to date"


def data_of_plan(plan: BuildPlan) -> dict[str, Any]:
    """Return the forecast of a task, and its reason, as data for a program."""
    each = plan.forecast
    return {
        "task": each.task,
        "layer": each.folder.name,
        "stage": each.stage,
        "status": each.status,
        "reason": plan.reason,
        "changed": [cause.name for cause in plan.causes],
    }
