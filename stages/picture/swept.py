"""What a sweep kept of its builds, for the page of the folder that was swept."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.mapping.records import WrongDataError, reader_of

SWEEP = "build/sweep/sweep.json"
MOST = 2**53
"""Numbers of a page are less: a browser has those without rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of a build: cycles, with loops only, the bound and by what; bytes on the fullest
    PE, of so many; PEs. None is what its results do not have."""

    cycles: int
    loops: int | None
    speedup: float | None
    bound: int | None
    by: str | None
    bytes: int | None
    of: int | None
    pes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A build: how each key was `set`, its folder, and its figures, or the error why it has none.

    `pareto`: no other row that has as much to do takes as few cycles on as few PEs.
    """

    set: Mapping[str, str]
    folder: str
    right: bool
    pareto: bool
    figures: Figures | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """The last sweep of a folder: its keys, and a row for each combination of their values.

    `work` are the keys that say how much there is to do.
    """

    name: str
    keys: tuple[str, ...]
    work: tuple[str, ...]
    rows: tuple[Row, ...]


def read_sweep(sources: Iterable[Source]) -> Swept | None:
    """Return the last sweep of a folder, of which there is one source, or none: None.

    Raises UserError where that is not what a sweep writes: anybody may have put it there.
    """
    source = next(iter(sources), None)
    if source is None:
        return None
    try:
        found: Swept = reader_of(Swept)(json.loads(source.text, parse_constant=_refuse), ())
        _check(found)
    except (ValueError, WrongDataError) as error:
        hint = "another sweep writes it anew; without the file no sweep is shown"
        raise UserError(f"{source.path} is not what a sweep writes: {error}", hint=hint) from None
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _check(swept: Swept) -> None:
    """Raise ValueError for a row with other keys, or a number that no page could show."""
    if not set(swept.work) <= set(swept.keys):
        raise ValueError("work has other keys than keys")
    for at, row in enumerate(swept.rows):
        if row.set.keys() != set(swept.keys):
            raise ValueError(f"rows.{at}.set has other keys than keys")
        for name, value in dataclasses.asdict(row.figures).items() if row.figures else ():
            if isinstance(value, int | float) and not 0 <= value < MOST:
                raise ValueError(f"rows.{at}.figures.{name} is {value:g}")
