"""Slots of a search, of which a line tells what became of all that nobody asked for by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lairmake.stages.make.report.colour import paint
from lairmake.stages.make.store.folders import LayerFolder

T = TypeVar("T")
ALL = "-v lists them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Which folders are told task by task: all if `everything`, else no slots but those `named`."""

    everything: bool = True
    named: Collection[str] = field(default_factory=tuple)

    def folds(self, folder: LayerFolder) -> bool:
        """Return whether one line tells what became of a folder, and of the slots beside it."""
        return folder.is_slot and not self.everything and folder.name not in self.named


def told_of(words: Iterable[str], everything: bool) -> Told:
    """Return what the words of a command line ask for: `fc/slot1`, `fc/slot1:simd`."""
    return Told(everything=everything, named={word.partition(":")[0] for word in words})


def group(items: Iterable[T], folder_of: Callable[[T], LayerFolder], told: Told) -> list[list[T]]:
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
    """Return what the slots are called together: `fc/slot1 to fc/slot8`."""
    found = sorted(set(names))
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"
