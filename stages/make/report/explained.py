"""What happened to tasks in builds, in words: from what was edited to what was rebuilt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lairmake.stages.make.core.edits import pinned_in, pins
from lairmake.stages.make.report.causes import CODE, Event, History, find_sources
from lairmake.stages.make.report.colour import paint
from lairmake.stages.make.report.details import list_some
from lairmake.stages.make.report.folded import say_slots
from lairmake.stages.make.store.folders import LayerFolder
from lairmake.stages.make.store.state import BuildRecord, begun

WORDS = {"ran": "ran", "hit": "from the store", "same": "not rebuilt", "failed": "failed"}
STYLES = {"ran": "yellow", "hit": "cyan", "same": "green", "failed": "red"}
USAGE = "usage.npz"
"""What a run used, of which results.json has the sums."""
TOOLS = {"packages": "tools", "compiler": "C compiler"}
Tasks = dict[str, tuple[LayerFolder, str]]


def explained(
    history: History, tasks: Tasks, wanted: list[str], is_all: bool, is_chain: bool
) -> Iterator[tuple[BuildRecord, list[Event]]]:
    """Yield the last build of each layer, with the events of the tasks wanted.

    Of a chain that is also what led to them. Of all layers only those of the last build count.
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
    """Return in one line what happened to the tasks of slots."""
    names = [event.folder.name for event in events]
    styles = {WORDS[how]: style for how, style in STYLES.items()}
    return say_slots(names, (WORDS[event.how] for event in events), styles) + "\n"


def told(history: History, build: BuildRecord, events: Sequence[Event]) -> str:
    """Return what happened to a layer as lines, and whether that was in its last build."""
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
    """Return what became of a task in a build, as data for a program."""
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
