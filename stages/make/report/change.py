"""What changed in an object of a file, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Elements of a set or relation: its text; where that is cheap how many they are, over all
    symbolic constants, and one of them. None is not known, or infinite."""

    set: str
    points: int | None = None
    sample: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What changed in an object.

    Of functions the text before and after, of other sets and relations what was `removed` and
    `added`, None for nothing: all within what both `known` state, '' for everything. Of data the
    `values`, `old` and `new` as far as there are any; of text the `lines` of a unified diff. `note`
    says what there is to say besides.
    """

    note: str = ""
    functions: Sequence[tuple[str, str]] = ()
    removed: Part | None = None
    added: Part | None = None
    known: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()


Changes = Mapping[str, Change]
"""What changed in a file, by the names of its objects, or of its values; '' is all of it."""


def count_of_lines(change: Change) -> dict[str, int]:
    """Return how many lines were added, and how many removed."""
    signs = {"lines_added": "+", "lines_removed": "-"}
    return {name: sum(x.startswith(sign) for x in change.lines) for name, sign in signs.items()}


def describe_change(change: Change) -> dict[str, Any]:
    """Return a change as data that a program reads, without empty parts."""
    parts = {"removed": change.removed, "added": change.added}
    found: dict[str, Any] = {"note": change.note, "known": change.known, **change.values}
    found["functions"] = [{"old": old, "new": new} for old, new in change.functions]
    found |= {way: _data_of_part(part) for way, part in parts.items() if part is not None}
    if change.lines:
        found |= {**count_of_lines(change), "lines": list(change.lines)}
    empty = {name for name in ("note", "known", "functions") if not found[name]}
    return {name: value for name, value in found.items() if name not in empty}


def _data_of_part(part: Part) -> dict[str, Any]:
    sides = {"set": part.set, "points": part.points, "sample": part.sample}
    return {name: value for name, value in sides.items() if value is not None}
