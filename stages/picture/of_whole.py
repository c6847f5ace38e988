"""The page of what is made of parts: a network, the graph of a framework, or a kernel in tiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from lairmake.stages.fabric.grid import read_grid
from lairmake.stages.fabric.layout import Layout
from lairmake.stages.picture.of_fabric import FabricOnPage
from lairmake.stages.picture.page import write_page
from lairmake.stages.picture.swept import Swept


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOnPage:
    """A part, the sizes of its grid, and the cycles expected of it before it was built, if any."""

    name: str
    columns: int
    rows: int
    expected: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """What a part takes of another one, or of what is given to all: `says` how."""

    source: str
    target: str
    tensor: str
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """The part of a result that a tile gives: its first element, the steps between them, sizes."""

    name: str
    least: tuple[int, ...]
    steps: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeOnPage:
    """All that the page of a network, or a kernel, shows; `results` is its results.json.

    `fabric` is the one that all parts share, if they do.
    """

    kind: ClassVar[Literal["whole"]] = "whole"
    title: str
    says: str
    results: Mapping[str, Any]
    texts: Mapping[str, str]
    parts: tuple[PartOnPage, ...]
    edges: tuple[Edge, ...] = ()
    tiles: tuple[Tile, ...] = ()
    fabric: FabricOnPage | None = None
    sweep: Swept | None = None


def report_whole(page: WholeOnPage) -> str:
    """Return the report of a network or a kernel, as HTML."""
    return write_page(page.title, page)


def describe_parts(
    layouts: Mapping[str, Layout], expected: Mapping[str, int] | None = None
) -> tuple[PartOnPage, ...]:
    """Return parts, with the layout of each, and the cycles expected of it, by its name."""
    grids = {name: read_grid(layout.grid) for name, layout in layouts.items()}
    return tuple(
        PartOnPage(
            name=name, columns=grid.width, rows=grid.height, expected=(expected or {}).get(name)
        )
        for name, grid in grids.items()
    )


def list_edges(crossings: Mapping[str, Mapping[str, Any]]) -> Iterator[Edge]:
    """Yield what crosses, as results.json has it: by `part.tensor`, what it is, and how it does."""
    for end, crossing in crossings.items():
        target, _, tensor = end.partition(".")
        given: str | Sequence[str] = crossing["is"]
        sizes = " x ".join(map(str, crossing.get("sizes", ())))
        says = ", ".join(each for each in (sizes, crossing.get("type"), crossing["by"]) if each)
        for each in [given] if isinstance(given, str) else given:
            source, _, output = each.partition(".")
            yield Edge(source=source, target=target, tensor=output or tensor, says=says)
