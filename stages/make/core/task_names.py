"""Names that a task of doit cannot have: a folder so called is left out, and the others go on."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator

from lairmake.stages import SLOTS
from lairmake.stages.make.store.files import warn

DELETE, LATIN = 0x7F, 0xA0
"""From the one to before the other, and below the space, are the control characters."""


class TaskNames:
    """The names that doit, with its `commands`, can be asked for.

    `left_out` says why folders are left out for their names.
    """

    def __init__(self, commands: Collection[str] = ()) -> None:
        self.commands = frozenset(commands)
        self.left_out: dict[str, str] = {}

    def usable(
        self, found: Collection[str], is_searched: Callable[[str], bool]
    ) -> Iterator[str]:
        """Yield the names of layers that a task may have, and note why others are left out.

        Nor may a layer be called like a slot of one around it that `is_searched`.
        """
        for name in found:
            around, _, last = name.rpartition("/")
            fault = name_fault(name, self.commands)
            if last in SLOTS and around in found and is_searched(around):
                fault = f"the search of {around} has a slot of this name", name
            if fault is None:
                yield name
            else:
                self.left_out[fault[1]] = fault[0]

    def tell(self) -> None:
        """Say which folders are left out, a line for each."""
        for folder, why in sorted(self.left_out.items()):
            warn(f"{shown_name(f'projects/{folder}')} is left out, since {why}: rename it")


def name_fault(name: str, commands: Collection[str] = ()) -> tuple[str, str] | None:
    """Return why nobody could ask doit for a layer, and the folder to rename; None if one can.

    `commands` are those of doit, which a whole name may not be; the folder is the first on the way
    to the layer whose own name is at fault.
    """
    if name in commands:
        return "doit has a command of this name", name
    if name.startswith("-"):
        return "doit takes it for an option", name.partition("/")[0]
    if name.isascii() and name.replace("/", "_").replace("-", "_").isidentifier():
        return None  # as nearly every name: a command looks at all of them
    folders = name.split("/")
    for count, folder in enumerate(folders, 1):
        if why := _fault(folder):
            return why, "/".join(folders[:count])
    return None


def _fault(folder: str) -> str:
    if "=" in folder:
        return "doit takes it for a variable"
    if ":" in folder:
        return "what comes after : is a stage"
    if folder.encode(errors="replace") != os.fsencode(folder):
        return "that is not UTF-8"
    if len(folder.splitlines()) > 1 or any(map(_controls, folder)):
        return "it has a control character"
    return ""


def _controls(character: str) -> bool:
    return character < " " or DELETE <= ord(character) < LATIN


def shown_name(name: str) -> str:
    """Return a name on one line, with escapes for what a terminal does not show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
