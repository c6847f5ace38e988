"""The page of a program in NumPy: its machine, its sections, and its memory over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from lairmake.stages.picture.of_fabric import FabricOnPage
from lairmake.stages.picture.page import write_page
from lairmake.stages.picture.swept import Swept


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOnPage:
    """A node of the graph: its id, how deep in loops and branches it is, and what it does."""

    id: int
    depth: int
    does: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """An entry: its bytes in the memory of a worker, or of the executive, from node to node."""

    name: str
    space: str
    address: int
    bytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOnPage:
    """A call in a section: the node it is for, or none, the procedure, and its arguments."""

    section: int
    node: str
    procedure: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramReport:
    """All that the page of a program shows; `results` is its results.json."""

    kind: ClassVar[Literal["program"]] = "program"
    title: str
    results: Mapping[str, Any]
    texts: Mapping[str, str]
    fabric: FabricOnPage
    nodes: tuple[NodeOnPage, ...]
    lives: tuple[Life, ...]
    calls: tuple[CallOnPage, ...]
    sweep: Swept | None = None


def report_program(page: ProgramReport) -> str:
    """Return the report of a program, as HTML."""
    return write_page(page.title, page)
