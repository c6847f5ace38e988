"""What a user said of single tasks: that it is to be forgotten that they ran, or to ignore them.

`.lairmake/marks` holds their names, so that every dodo file of a workspace knows them. Tasks that
are no stages have such marks in doit's own database.
"""

from __future__ import annotations

from pathlib import Path

from stages.diagnose import UserError
from stages.make.folders import STATE, shown_path
from stages.make.store.files import load_data, save_data
from stages.make.store.lock import locked

FORGOTTEN, IGNORED = "forgotten", "ignored"


def is_marked(home: Path, task: str, mark: str) -> bool:
    """Return whether a task bears a mark."""
    return task in _read(home).get(mark, ())


def marked(home: Path) -> set[str]:
    """Return the names of all tasks that bear a mark."""
    return {name for names in _read(home).values() for name in names}


def set_mark(home: Path, task: str, mark: str, value: bool = True) -> None:
    """Give a task a mark, or take it away. Raises UserError where that cannot be kept."""
    if is_marked(home, task, mark) == value:
        return
    file = home / STATE / "marks"
    with locked(home / STATE, "marks"):
        known = {each: set(names) for each, names in _read(home).items()}
        names = known.setdefault(mark, set())
        (names.add if value else names.discard)(task)
        save_data(file, {each: sorted(known[each]) for each in known})
    if is_marked(home, task, mark) != value:
        raise UserError(f"cannot write {shown_path(file)}")


def _read(home: Path) -> dict[str, list[str]]:
    return load_data(home / STATE / "marks") or {}
