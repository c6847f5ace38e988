"""Which task writes what another one reads."""

from __future__ import annotations

import functools

from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.store.folders import LayerFolder, every_stage, matches, parts_of

MOST_KINDS = 10_000
"""Of how many kinds of parts, and stages of these, is known what they take from others."""


def before(folder: LayerFolder, reads: tuple[str, ...]) -> list[str]:
    """Return the tasks that write what the patterns of a stage stand for, in other parts too."""
    found = writers_in(folder, reads)
    inside = tuple(name.partition("/")[2] for name in reads if name.startswith("*/"))
    for part in parts_of(folder):
        found += writers_in(part, inside)
    names = tuple(crossing.name for crossing in folder.crossings)
    for at in _that_match(names, reads):
        found += folder.crossings[at].after
    return found


@functools.lru_cache(MOST_KINDS)
def _that_match(names: tuple[str, ...], reads: tuple[str, ...]) -> list[int]:
    """Return which of the names some patterns stand for; they are the same for many parts."""
    return [at for at, name in enumerate(names) if any(matches(name, each) for each in reads)]


def writers_in(folder: LayerFolder, names: tuple[str, ...]) -> list[str]:
    """Return the tasks of the stages of a folder that write one of these names."""
    return [f"{folder.name}:{stage}" for stage in _that_write(every_stage(folder), names)]


@functools.cache
def _that_write(stages: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    return [stage for stage in stages if set(names).intersection(declaration(stage).writes)]


def writer_of(folder: LayerFolder, name: str) -> str | None:
    """Return the task that writes what a stage calls `name`, None for what a person writes."""
    for crossing in folder.crossings:
        if crossing.name == name:
            return crossing.after[-1]
    head, _, rest = name.partition("/")
    part = dict(folder.parts).get(head)
    if part is not None:
        return writer_of(part, rest)
    for stage in every_stage(folder):
        if any(matches(name, each) for each in declaration(stage).writes):
            return f"{folder.name}:{stage}"
    return None
