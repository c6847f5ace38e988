"""Layers of which layer.yaml leaves something open: their slots, as folders in the cache.

In each slot one candidate goes through the stages that say what it costs. What is refused there
fails no build: a text that says why stands in the place of all that would follow.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lairmake.stages import PIPELINE, SEARCHED, SLOTS, TRIED
from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.plans import UnknownPlanError, kept_plan
from lairmake.stages.make.store.folders import (
    CHOSEN,
    LAYER,
    Crossing,
    LayerFolder,
    file_of,
    is_pattern,
    names_of,
    shown_path,
)
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.user_files import content_of

LAIR = "lair.isl"
CANDIDATES = "candidates.yaml"
GIVEN = re.compile(rb"^placement:\s*(?:[|>][-+]?\s*)?[\"']?\s*\{", re.MULTILINE)
OPEN = re.compile(rb"^search\b|\b(?:arrives|leaves)[\"']?\s*:\s*[^\s\"'{|>]", re.MULTILINE)


def with_slots(folder: LayerFolder) -> LayerFolder:
    """Return a layer folder, with slots if its layer.yaml leaves something open."""
    return open_slots(folder) if leaves_open(folder) else folder


def open_slots(folder: LayerFolder) -> LayerFolder:
    """Return a layer folder with the stages of a search, and its slots."""
    slots = tuple((name, _slot(folder, name)) for name in SLOTS)
    return replace(folder, stages=SEARCHED, parts=slots, is_searched=True)


def _slot(folder: LayerFolder, name: str) -> LayerFolder:
    """Return a slot: what a user wrote is that of the layer, what is written lies in its cache."""
    crossings = (
        Crossing(name=LAIR, file=file_of(folder, LAIR), after=(f"{folder.name}:parse",)),
        Crossing(name=CHOSEN, file=folder.cache / name / CHOSEN, after=(f"{folder.name}:choose",)),
    )
    return LayerFolder(
        name=f"{folder.name}/{name}", path=folder.path, build=folder.build / name,
        cache=folder.cache / name, home=folder.home, stages=TRIED, analyses=(),
        crossings=(*folder.crossings, *crossings), is_searched=True, is_slot=True,
    )


def old_slots(folder: LayerFolder) -> list[str]:
    """Return the files of an earlier search, of a layer that leaves nothing open any more.

    What somebody edited is not among them, nor what is of a layer that is called like a slot.
    """
    from lairmake.stages.make.store.state import memo_of
    from lairmake.stages.make.store.store import store_of

    if not file_of(folder, CANDIDATES).is_file():
        return []
    names = [name for stage in set(SEARCHED) - set(PIPELINE) for name in declaration(stage).writes]
    tried = [name for stage in TRIED for name in declaration(stage).writes]
    names += [found for slot in SLOTS for name in tried for found in _in_slot(folder, slot, name)]
    layers = {slot for slot in SLOTS if (folder.path / slot).exists()}
    memo, store = memo_of(state_folder(folder.home)), store_of(folder.home)
    digests = {
        name: memo.digest(file_of(folder, name)) for name in names
        if not layers.intersection(name.split("/"))
    }
    return sorted(name for name, digest in digests.items() if digest and store.has_blob(digest))


def _in_slot(folder: LayerFolder, slot: str, name: str) -> list[str]:
    """Return the files of a slot that a name, or a pattern, stands for there.

    What is built lies in `build/slot1/`, all else in the cache.
    """
    head, _, rest = name.partition("/")
    inside = f"build/{slot}/{rest}" if head == "build" else f"{slot}/{name}"
    return names_of(folder, inside) if is_pattern(inside) else [inside]


def leaves_open(folder: LayerFolder) -> bool:
    """Return whether layer.yaml leaves open where instances run, or where tensors arrive or leave.

    Of one that is wrong this is not known: a stage says what is wrong with it.
    """
    try:
        content = content_of(folder.path / LAYER)
    except UserError:
        return False
    if GIVEN.search(content) and not OPEN.search(content):
        return False  # nearly every layer, without reading YAML
    try:
        found = kept_plan(folder, [LAYER], ("parse",), _is_flag, lambda: _is_open(folder, content))
    except UnknownPlanError:
        return _is_open(folder, content)
    return bool(found)


def _is_flag(data: Any) -> bool:
    return isinstance(data, bool)


def _is_open(folder: LayerFolder, content: bytes) -> bool:
    from lairmake.stages.mapping.layer_yaml import read_mapping

    try:
        return read_mapping(source_of(shown_path(folder.path / LAYER), content)).is_open
    except (UserError, UserErrors):
        return False
