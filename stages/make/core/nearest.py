"""Hints of known words near to a word that names nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lairmake.stages.diagnose import (
    nearest,
)
from lairmake.stages.make.store.folders import (
    LayerFolder,
    every_stage,
)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the hint of the known word that is nearest, also by what is after its last `/`.

    The hint is empty where none is near.
    """
    near = _nearest(word, known)
    return f"did you mean {near}?" if near else ""


def _nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is nearest to another; None where none is near."""
    names = list(known)
    found = {name.rpartition("/")[2]: name for name in names} | {name: name for name in names}
    near = nearest(word, found, numbers=True)
    return found[near] if near else None


def nearest_task(word: str, folders: Sequence[LayerFolder], others: Iterable[str]) -> str:
    """Return the hint of the layer, stage, or other word that is nearest; empty for none."""
    if unread := hint_of_unread(word, folders):
        return unread
    having = [folder.name for folder in folders if word in every_stage(folder)]
    if having:
        return f"{word} is a stage: say {having[0]}:{word}" + ", for example" * (len(having) > 1)
    named = {folder.name: folder for folder in folders}
    layer, colon, stage = word.partition(":")
    near: str | None = layer if layer in named else _nearest(layer, [*named, *others])
    if near in named and colon:
        stages = every_stage(named[near])
        within = stage if stage in stages else _nearest(stage, stages)
        near = f"{near}:{within}" if within else None
    return f"did you mean {near}?" if near and near != word else ""


def hint_of_unread(word: str, folders: Iterable[LayerFolder]) -> str:
    """Return why the parts of a folder are not known, for a word that would be one of them."""
    for folder in folders:
        if folder.unread and word.startswith(f"{folder.name}/"):
            return f"the parts of {folder.name} are not known: {folder.unread}"
    return ""
