"""What of all that changed in a layer did so on its own, and what follows from that."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.pipeline import stages_until
from lairmake.stages.make.report.change import Changes
from lairmake.stages.make.report.details import changed_keys
from lairmake.stages.make.report.difference import (
    find_differences,
    find_values,
    is_respelled,
    known_by_both,
)
from lairmake.stages.make.report.states import State
from lairmake.stages.make.store.folders import LayerFolder

BUILD = "build/"
INSTANCES = "instances.isl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed in a layer from one state to another.

    `changed` are the names of the files that did, in the order of the stages. `files` has what
    changed in those that are to be shown. The objects of texts that changed are, by file, `roots`:
    no text did that leads to them, or layer.yaml says something else of them; or they `follow`.
    """

    layer: LayerFolder
    old: State
    new: State
    changed: Sequence[str]
    files: Mapping[str, Changes]
    roots: Mapping[str, Sequence[str]]
    follow: Mapping[str, Sequence[str]]


def compare(
    layer: LayerFolder, old: State, new: State, wanted: Collection[str] | None = None
) -> Comparison:
    """Return what changed from one state of a layer to another.

    In files whose names match a wanted pattern that is everything; where that is None, in all texts
    what does not follow.
    """
    stages = dict(_changed_files(layer, old, new))
    known = known_by_both(old.files.get(INSTANCES), new.files.get(INSTANCES))
    edited = _edited_keys(old, new)
    files: dict[str, Changes] = {}
    roots: dict[str, Sequence[str]] = {}
    follow: dict[str, Sequence[str]] = {}
    for name, stage in stages.items():
        is_text = not name.startswith(BUILD)
        objects = _changed_objects(name, old, new) if is_text else []
        before = set(stages_until(layer, stage)) - {stage}
        is_led = any(stages[each] in before for each in (*roots, *follow))
        own = [each for each in objects if each in edited or not is_led]
        is_wanted = any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted or ())
        if own or is_wanted:
            found = find_differences(name, old.files.get(name), new.files.get(name), known)
            if is_wanted or wanted is None:
                files[name] = {k: c for k, c in found.items() if is_wanted or _is_of(k, own)}
            own = [] if is_respelled(found) else own
        edited -= set(own)
        roots |= {name: own} if own else {}
        rest = [each for each in objects if each not in own]
        follow |= {name: rest} if rest and (own or is_led) else {}
    return Comparison(
        layer=layer, old=old, new=new, changed=tuple(stages), files=files, roots=roots,
        follow=follow,
    )


def _changed_files(layer: LayerFolder, old: State, new: State) -> Iterator[tuple[str, str]]:
    """Yield the files that differ, each with its stage, of stages that both states have built."""
    there = {**old.files, **new.files}
    for stage in layer.stages:
        for pattern in declaration(stage).writes:
            if all(fnmatch.filter(state.files, pattern) for state in (old, new)):
                for name in fnmatch.filter(there, pattern):
                    if old.files.get(name) != new.files.get(name):
                        yield name, stage


def _changed_objects(name: str, old: State, new: State) -> list[str]:
    """Return the objects of a text that are not written as they were, of YAML its first keys.

    Where it has none, '' is all of it.
    """
    before, after = (find_values(name, state.files.get(name, b"")) for state in (old, new))
    return [n for n in {**before, **after} if before.get(n) != after.get(n)] or [""]


def _edited_keys(old: State, new: State) -> set[str]:
    """Return the first keys of all values that a person changed: `placement`."""
    return {
        key for name in old.sources.keys() & new.sources.keys() if name.endswith(".yaml")
        for key in changed_keys(old.sources[name], new.sources[name])
    }


def _is_of(key: str, objects: Sequence[str]) -> bool:
    """Is a value, `on_x.operands[1].base`, of one of some objects, `on_x`, or of the file, ''?"""
    return any(each in ("", key) or key.startswith((f"{each}.", f"{each}[")) for each in objects)
