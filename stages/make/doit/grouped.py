"""What became of the stages of a build, a line for each layer, or network with its parts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lairmake.stages.make.store.folders import LayerFolder, wholes_of

INTERVAL = 30.0
"""After how many seconds without a line one says how far a layer is."""


class Grouped:
    """The stages that are selected, by layer, and what became of those that ended.

    The parts of `folders` count as these.
    """

    def __init__(self, names: Iterable[str], folders: Iterable[LayerFolder] = ()) -> None:
        self._wholes = wholes_of(folders)
        self._selected = Counter(self._whole(name) for name in names)
        self._done: Counter[str] = Counter()
        self._failed: set[str] = set()
        self._ended: dict[str, Counter[str]] = {}
        self._said = time.monotonic()

    def end(self, name: str, how: str) -> str:
        """Note that a stage `ran`, was a `hit`, stayed the `same` or was `left`.

        Returns the line of its layer if it was the last one there, or none was printed for long;
        else nothing, nor for a layer to which nothing happened.
        """
        whole = self._whole(name)
        self._done[whole] += 1
        self._ended.setdefault(whole, Counter())[how] += 1
        if self._done[whole] == self._selected[whole]:
            return self._line(whole)
        if time.monotonic() - self._said < INTERVAL:
            return ""
        self._said = time.monotonic()
        return f"{whole}: {self._done[whole]} of {_stages(self._selected[whole])} done\n"

    def fail(self, name: str) -> str:
        """Return the line of the layer of a stage that failed, so far."""
        whole = self._whole(name)
        self._done[whole] += 1
        self._failed.add(whole)
        return self._line(whole, name.removeprefix(whole)[1:])

    def left(self) -> int:
        """Return how many layers have not ended because others failed."""
        ends = (self._done[whole] == count for whole, count in self._selected.items()
                if whole not in self._failed)
        return list(ends).count(False) if self._failed else 0

    def rest(self) -> str:
        """Return the lines of the layers that did not end."""
        return "".join(map(self._line, list(self._ended)))

    def _whole(self, name: str) -> str:
        layer = name.rpartition(":")[0]
        return self._wholes.get(layer, layer)

    def _line(self, whole: str, failed: str = "") -> str:
        said = list(_counts(self._ended.pop(whole, Counter())))
        said += [f"{failed} failed"] if failed else []
        if not said:
            return ""
        self._said = time.monotonic()
        return f"{whole}: {', '.join(said)}\n"


def needed(tasks: Mapping[str, Any], selected: Iterable[str]) -> list[str]:
    """Return the tasks with actions among some tasks and all that these depend on."""
    waiting = list(selected)
    seen = set(waiting)
    while waiting:
        found = {name for name in tasks[waiting.pop()].task_dep if name not in seen}
        seen |= found
        waiting += found
    return [name for name in seen if tasks[name].actions]


def _counts(ended: Counter[str]) -> Iterator[str]:
    if ended["ran"]:
        yield f"{_stages(ended['ran'])} ran"
    if ended["hit"]:
        yield f"{ended['hit'] if ended['ran'] else _stages(ended['hit'])} from the store"


def _stages(count: int) -> str:
    return f"{count} {'stage' if count == 1 else 'stages'}"
