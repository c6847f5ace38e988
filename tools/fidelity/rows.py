"""Rows of docs/fidelity.md: published cycles, their sources, and how far ours may be off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from lairmake.stages.diagnose import source_of
from lairmake.stages.mapping.records import read_record

ROWS = Path(__file__).parent / "rows.yaml"
Grade = Literal["A", "B", "C"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A program whose cycles a model gives, for any numbers of elements and PEs."""

    program: str
    title: str
    formula: str
    source: str
    grade: Grade
    differs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Programs that run with all `elements` on all `pes`, on a profile with changed `figures`."""

    elements: tuple[int, ...]
    pes: tuple[int, ...]
    profile: str
    figures: Mapping[str, int]
    programs: tuple[Model, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measurement: a program on a machine, and the cycles that are published of it."""

    title: str
    machine: str
    elements: int
    size: int
    published: int
    options: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A program of which somebody measured the cycles; ours may be `band` percent off.

    `use` says whether any of its rows was looked at while a figure was chosen: `figure`.
    """

    name: str
    program: str
    use: Literal["fitted", "unseen"]
    source: str
    grade: Grade
    band: int
    covers: str
    rows: tuple[Row, ...]
    figure: str = ""
    differs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """All rows, in the order of the document."""

    models: Models
    programs: tuple[Measured, ...]

    def list_measured(self) -> Iterator[tuple[Measured, Row]]:
        """Yield the rows of programs that were measured."""
        for program in self.programs:
            yield from ((program, row) for row in program.rows)


@cache
def read_rows() -> Rows:
    """Return the rows of rows.yaml."""
    return read_record(source_of(ROWS.name, ROWS.read_bytes()), Rows)


def modelled(program: str, elements: int, pes: int, ramp: int) -> int:
    """Return the cycles of a model: Luczynski et al., HPDC 2024."""
    columns = columns_of(pes)
    return {
        "broadcast": elements + pes + 2 * ramp,
        "broadcast_2d": elements + columns + pes // columns - 2 + 2 * ramp + 1,
        "star": elements * (pes - 1) + 2 * ramp + 1,
        "chain": elements + (2 * ramp + 2) * (pes - 1),
    }[program]


def columns_of(pes: int) -> int:
    """Return the columns of a rectangle that is as square as powers of two are."""
    return 1 << (pes.bit_length() - 1) // 2
