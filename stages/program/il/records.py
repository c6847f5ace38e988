"""What is recorded of a program while its intermediate language runs.

Nodes name parts of cells, by slices. Which PE computes, which copies are needed, and ids are
settled later, when all is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import TypeAlias

from lairmake.stages.program.values.api import Field
from lairmake.stages.program.values.forms import Form, Number, Region
from lairmake.stages.program.values.operators import Initial

OBJECT, NAMED, ITERATED, TEMPORARY = "object", "named", "iterated", "temporary"
"""What a cell is: an object of a constructor, `x: LocalArray = ...`, the value of a loop, none."""

PROGRAM, FOR, WHILE, IF, ELSE = "program", "for_loop", "while_loop", "if_", "else_"


@dataclass(slots=True, eq=False, kw_only=True)
class Scope:
    """A graph: that of the program, or of the body of a loop or branch.

    It is `open` while it is recorded. What it `wrote` whole is written behind it, too, if it is
    `sure` to run; not if that was after a break or continue: it is then `left`.
    """

    what: str
    name: str = ""
    outer: Scope | None = None
    sure: bool = False
    steps: list[Step] = field(default_factory=list)
    wrote: list[Cell] = field(default_factory=list)
    open: bool = True
    left: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class Cell:
    """A place for values. `written` is the graph in which all of it has been written."""

    role: str
    name: str
    form: Form
    scope: Scope
    initial: Initial = None
    output: bool = False
    written: Scope | None = None
    uses: int = 0


@dataclass(slots=True, frozen=True, eq=False)
class Part:
    """Elements of a cell, and their form."""

    cell: Cell
    form: Form
    region: Region


Source: TypeAlias = Part | Number


@dataclass(slots=True, eq=False, kw_only=True)
class Record:
    """A node; `kept` are the axes of the source that a reduction keeps, None of other nodes."""

    op: str
    dst: Part
    src: tuple[Source, ...]
    line: int
    kept: tuple[int, ...] | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Condition:
    """A logic text, and the global scalars whose numbers it takes."""

    text: str
    src: tuple[Cell, ...] = ()


@dataclass(slots=True, eq=False, kw_only=True)
class Block:
    """A loop, or a branch with what runs otherwise.

    A loop over a GlobalArray or a range has the value of the iteration in the cell `value`.
    """

    scope: Scope
    line: int
    over: Cell | range | None = None
    value: Cell | None = None
    condition: Condition | None = None
    otherwise: Scope | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Exit:
    """`break` or `continue` of a loop."""

    op: str
    loop: Scope
    condition: Condition
    line: int


Step: TypeAlias = Record | Block | Exit


@dataclass(slots=True, eq=False, kw_only=True)
class Recording:
    """A program while it runs: the graph that is open, and all that has a name."""

    path: str
    root: Scope
    scope: Scope
    workers: Field
    on_host: bool = False
    objects: dict[str, Cell] = field(default_factory=dict)
    lines: dict[int, tuple[CodeType, list[int | None]]] = field(default_factory=dict)
    """The line of every instruction of what runs, by the id of its code, which lives as long."""
