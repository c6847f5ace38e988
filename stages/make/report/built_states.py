"""What the stages of a layer wrote, as the log of builds has it, and the store."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Mapping
from datetime import datetime

from lairmake.stages.diagnose import plural
from lairmake.stages.make.core.declaration import declaration, values_of_texts
from lairmake.stages.make.report.states import State, is_source
from lairmake.stages.make.store.folders import LayerFolder
from lairmake.stages.make.store.state import Line, begun, builds, read
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import store_of

CHANGED = ("ran", "hit")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?")


def is_moment(text: str) -> bool:
    """Return whether a text is a day, or a time of it, as builds are called."""
    with contextlib.suppress(ValueError):
        return MOMENT.fullmatch(text) is not None and bool(datetime.fromisoformat(text))
    return False


def state_before(folder: LayerFolder, builds: int) -> State:
    """Return what the stages had written before the last `builds` builds that changed a layer."""
    lines = _changes(folder)
    known = list(dict.fromkeys(line["build"] for line in lines))
    label = "before the last build" if builds == 1 else f"before the last {builds} builds"
    if not 0 < builds < len(known):
        count = plural(len(known), "build")
        notes = (f"the log knows {count} of it",)
        return State(label=label, files={}, notes=notes)
    return _state(folder, lines, set(known[:-builds]), label)


def state_after(folder: LayerFolder, moment: str) -> State:
    """Return what the stages had written after the last build that began at a moment, or before."""
    state = state_folder(folder.home)
    begun = {b.id for b in builds(state) if begun(b)[: len(moment)] <= moment}
    lines, label = _changes(folder), f"the build of {moment}"
    if begun.isdisjoint(line["build"] for line in lines):
        notes = ("the log knows no build of it until then",)
        return State(label=label, files={}, notes=notes)
    return _state(folder, lines, begun, label)


def _changes(folder: LayerFolder) -> list[Line]:
    """Return what the log has of the tasks of a layer that were not up to date."""
    return [
        line for line in read(state_folder(folder.home))
        if line.get("layer") == folder.name and line.get("how") in CHANGED
    ]


def _state(
    folder: LayerFolder, lines: Collection[Line], builds: Collection[str], label: str
) -> State:
    """Return what the stages had written after some builds, as far as the store has it."""
    last = {line["stage"]: line for line in lines if line["build"] in builds}
    writes = {n: digest for line in last.values() for n, digest in line["writes"].items()}
    files, gone = _from_store(folder, writes)
    sources = _logged_sources(folder, last) if folder.asked_in is None else {}
    lost = (f"no more in the store: {', '.join(gone)}",) if gone else ()
    return State(label=label, files=files, sources=sources, notes=lost)


def _logged_sources(folder: LayerFolder, last: Mapping[str, Line]) -> dict[str, bytes]:
    """Return what a person wrote and stages read, by what the log last has of each stage."""
    store, found, values = store_of(folder.home), dict[str, bytes](), dict[str, list[bytes]]()
    for stage, line in last.items():
        for name, digest in line["reads"].items():
            content = store.blob(digest) if digest and is_source(folder, name) else None
            if content is not None and declaration(stage).values_of(name) is not None:
                values.setdefault(name, []).append(content)
            elif content is not None:
                found[name] = content
    return found | {name: values_of_texts(each) for name, each in values.items()}


def _from_store(
    folder: LayerFolder, digests: Mapping[str, str]
) -> tuple[dict[str, bytes], list[str]]:
    """Return what the store has of some contents, by their names, and the names of the others."""
    store = store_of(folder.home)
    found = {name: store.blob(digest) for name, digest in digests.items()}
    gone = [name for name, content in found.items() if content is None]
    return {name: content for name, content in found.items() if content is not None}, gone
