"""Lanes: elements that a vector instruction computes in a cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lairmake.stages.machine.types import BYTES, OPERATIONS, TYPES

# --- Lanes by type and operation ------------------------------------------------------------------
#
# A row is a type of results, `float32`, or of results and what they are computed from, `float32 of
# float16`. In a profile a row is one figure, for all operations, or one for each of these: `"ADD,
# SUB": {...}`, and `other` for those that are not named.
#
# Source   CSL language guide, appendix: SIMD mode

OTHER = "other"
Row = dict[str, int]
"""{ operation: elements a cycle }, of all operations."""


class UnknownKeyError(ValueError):
    """A key of a table is no row, or no operation: `what` says which; `known` are those there are.
    """

    def __init__(self, what: str, key: str, known: tuple[str, ...]) -> None:
        super().__init__(f"unknown {what} {key}")
        self.what, self.key, self.known = what, key, known


def read_lanes(given: Any, figure: Callable[[str, Any], Any], old: Mapping[str, Row]) -> Any:
    """Return { row: { operation: elements a cycle } }: `old`, with the given figures in it.

    `given` is one figure for everything, one a row, or one for some operations of rows. `figure`
    gets the name of a figure and its data, and returns its value. Raises UnknownKeyError.
    """
    if not _is_table(given):
        return {type_: dict.fromkeys(OPERATIONS, figure("lanes", given)) for type_ in TYPES}
    found = dict(old)
    for name, row in given.items():
        if not _is_row(name):
            raise UnknownKeyError("type", str(name), TYPES)
        if _is_table(row):
            found[name] = _read_row(name, row, figure, found.get(name, {}))
        else:
            found[name] = dict.fromkeys(OPERATIONS, figure(f"lanes of {name}", row))
    return found


def _read_row(
    name: str, given: Mapping[str, Any], figure: Callable[[str, Any], Any], old: Row
) -> Row:
    named: Row = {}
    for keys, value in given.items():
        each = figure(f"lanes of {name}", value)
        for key in str(keys).split(","):
            if key.strip() not in (*OPERATIONS, OTHER):
                raise UnknownKeyError("operation", key.strip(), OPERATIONS)
            named[key.strip()] = each
    other = {} if OTHER not in named else dict.fromkeys(OPERATIONS, named.pop(OTHER))
    return {**old, **other, **named}


def find_width(
    lanes: Mapping[str, Row], operation: str, result: str, sources: tuple[str, ...] = ()
) -> int:
    """Return how many elements of an operation are computed in a cycle.

    `sources` are the types of the operands in memory, numbers left out; the widest selects the row.
    """
    row = lanes.get(f"{result} of {find_widest(result, sources)}", lanes[result])
    return row[operation]


def find_widest(result: str, sources: tuple[str, ...]) -> str:
    """Return the widest type of some sources; that of the result if there are none."""
    return max(sources, key=lambda type_: (BYTES[type_], type_ in TYPES[:2]), default=result)


def _is_table(given: Any) -> bool:
    return isinstance(given, Mapping) and "value" not in given


def _is_row(name: Any) -> bool:
    first, _, last = str(name).partition(" of ")
    return first in TYPES and (not last or last in TYPES) and name != f"{first} of "
