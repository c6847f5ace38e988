"""Pages of layers, programs, networks and kernels, and of fabrics that stopped."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import islpy as isl

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.fabric.coordinates import Place, find_offset, shift
from lairmake.stages.fabric.deadlock import PROGRAMS
from lairmake.stages.fabric.grid import read_grid
from lairmake.stages.fabric.layout import FabricLayout, read_layout
from lairmake.stages.layer.texts.simd_yaml import Decisions
from lairmake.stages.layer.texts.task_graph import TaskGraph
from lairmake.stages.mapping.records import WrongDataError, reader_of
from lairmake.stages.picture.grid import GridRecording, GridUsage
from lairmake.stages.picture.page import write_page
from lairmake.stages.picture.run import FabricOnPage, describe_fabric, read_usage, record_again
from lairmake.stages.picture.tasks import TaskOnPage, describe_programs, describe_tasks
from lairmake.stages.poly.text import Objects

if TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import FabricStop, WaitingPe
    from lairmake.stages.fabric.outcome import FabricRun, RunRequest

# --- Page of a fabric that stopped ----------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class StepOnPage:
    """An arrow from a PE that waits, x and y, to the PE or port that it waits for, maybe itself.

    A port lies beside the grid. `number` counts the steps from 1, also those left out. `says` is
    the line of the text, if there is one, and `kind` is one of WAITING_KINDS.
    """

    number: int
    waits: tuple[int, int]
    on: tuple[int, int]
    kind: str
    colour: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOnPage:
    """Data of the page of a fabric that stopped; `else_said` is the rest of the fabric's text.

    `left_out` steps are missing in the middle. In a circle the last step waits for the first.
    """

    kind: ClassVar[Literal["stop"]] = "stop"
    title: str
    says: str
    headline: str
    further: str
    else_said: str
    texts: Mapping[str, str]
    fabric: FabricOnPage
    cause: str = ""
    steps: tuple[StepOnPage, ...] = ()
    left_out: int = 0
    is_circle: bool = False


def report_stop(
    stop: FabricStop, title: str, says: str, programs: Mapping[tuple[str, str], str],
    texts: Mapping[str, str], record: Callable[[RunRequest], FabricRun],
    to_local: isl.UnionMap | None = None,
) -> str:
    """Return the page of a fabric that stopped, as HTML.

    `says` names what ran. `programs` are C by role and variant, `texts` those that a reader wants
    to see as they are, and `to_local` is that of `describe_grid`. `record` runs the fabric once
    more, until it stops.
    """
    layout, waiting = read_layout(stop.layout), stop.waiting
    usage = read_usage(stop.usage) if stop.usage else None
    recorded = None if usage is None else record_again(layout, usage, record, waiting)
    return write_page(title, StopOnPage(
        title=title, says=f"{says}; it ran the programs {PROGRAMS[stop.programs]}",
        headline=stop.said.partition("\n")[0], further=stop.further, texts=texts,
        else_said=find_rest(stop.said, waiting),
        fabric=describe_fabric(
            layout, describe_programs(programs), usage, recorded, to_local
        ),
        cause=waiting.cause if waiting else "",
        steps=tuple(_list_steps(waiting)) if waiting else (),
        left_out=waiting.left_out if waiting else 0,
        is_circle=waiting.is_circle if waiting else False,
    ))


def find_rest(said: str, waiting: WaitingPe | None) -> str:
    """Return the text of a fabric without its first line, the circle or chain, and the cause."""
    rest = said.splitlines()[1:]
    if waiting is not None:
        first = next(at for at, line in enumerate(rest) if line.startswith("it waits "))
        del rest[first : rest.index(f"so: {waiting.cause}") + 1]
    return "\n".join(rest)


def _list_steps(waiting: WaitingPe) -> Iterator[StepOnPage]:
    """Yield the steps with their numbers: what is left out comes after the first half."""
    half = len(waiting.steps) // 2
    for at, step in enumerate(waiting.steps):
        yield StepOnPage(
            number=at + 1 + (waiting.left_out if at >= half else 0), waits=step.waits, on=step.on,
            kind=step.kind, colour=step.colour or "", says=step.said or "",
        )

# --- Last sweep of a folder, for its page ---------------------------------------------------------

SWEEP = "build/sweep/sweep.json"
MOST = 2**53
"""Bound of the numbers of a page: a browser has smaller ones without rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigures:
    """Figures of a build, each None where its results do not have it.

    Cycles, also with loops only; the bound, and what binds; bytes on the fullest PE, of so many;
    and PEs.
    """

    cycles: int
    loops: int | None
    speedup: float | None
    bound: int | None
    by: str | None
    bytes: int | None
    of: int | None
    pes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A build: the setting of each key, its folder, and its figures, or the error if it has none.

    `pareto`: no other row with as much to do takes as few cycles on as few PEs.
    """

    set: Mapping[str, str]
    folder: str
    right: bool
    pareto: bool
    figures: PageFigures | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptPage:
    """The last sweep of a folder: its keys, and a row for each combination of their values.

    `work` are the keys that say how much there is to do.
    """

    name: str
    keys: tuple[str, ...]
    work: tuple[str, ...]
    rows: tuple[PageRow, ...]


def read_sweep(sources: Iterable[Source]) -> SweptPage | None:
    """Return the last sweep of a folder, from its one source; None where there is no source.

    Raises UserError for a text that no sweep writes: anybody may have put it there.
    """
    source = next(iter(sources), None)
    if source is None:
        return None
    try:
        found: SweptPage = reader_of(SweptPage)(json.loads(source.text, parse_constant=_refuse), ())
        _check(found)
    except (ValueError, WrongDataError) as error:
        hint = "another sweep writes it anew; without the file no sweep is shown"
        raise UserError(f"{source.path} is not what a sweep writes: {error}", hint=hint) from None
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _check(swept: SweptPage) -> None:
    """Raise ValueError for a row with other keys, or a number that no page could show."""
    if not set(swept.work) <= set(swept.keys):
        raise ValueError("work has other keys than keys")
    for at, row in enumerate(swept.rows):
        if row.set.keys() != set(swept.keys):
            raise ValueError(f"rows.{at}.set has other keys than keys")
        for name, value in dataclasses.asdict(row.figures).items() if row.figures else ():
            if isinstance(value, int | float) and not 0 <= value < MOST:
                raise ValueError(f"rows.{at}.figures.{name} is {value:g}")

# --- Page of a layer ------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPage:
    """Texts that stages wrote for a layer.

    `objects` are isl texts by name, `programs` C by role and variant. `texts` are, by name, those
    that a reader wants to see as they are. `results` is results.json.
    """

    layout: FabricLayout
    graph: TaskGraph
    decisions: Decisions
    objects: Mapping[str, Objects]
    programs: Mapping[tuple[str, str], str]
    texts: Mapping[str, str]
    results: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerOnPage:
    """Data of the page of a layer."""

    kind: ClassVar[Literal["layer"]] = "layer"
    title: str
    results: Mapping[str, Any]
    texts: Mapping[str, str]
    fabric: FabricOnPage
    tasks: tuple[TaskOnPage, ...]
    sweep: SweptPage | None = None


def report_layer(
    written: WrittenPage, usage: GridUsage | None = None, recorded: GridRecording | None = None,
    sweep: SweptPage | None = None,
) -> str:
    """Return the report of a layer, as HTML; what a run did is left out where it is not known."""
    title = str(written.results["top"])
    return write_page(title, describe_layer(title, written, usage, recorded, sweep))


def describe_layer(
    title: str, written: WrittenPage, usage: GridUsage | None, recorded: GridRecording | None,
    sweep: SweptPage | None,
) -> LayerOnPage:
    """Return the data of the page of a layer."""
    offset = find_offset(written.layout)
    return LayerOnPage(
        title=title,
        results=written.results,
        texts=written.texts,
        fabric=describe_fabric(
            written.layout, describe_programs(written.programs), usage, recorded,
            find_accessed(written.objects, offset),
        ),
        tasks=describe_tasks(
            written.graph, written.decisions, written.objects["compressions.isl"],
            written.objects["hulls.isl"], written.programs, offset,
        ),
        sweep=sweep,
    )


def find_accessed(objects: Mapping[str, Objects], offset: Place) -> isl.UnionMap:
    """Return { [PE[x, y] -> T[e]] -> T_local[l] } of the elements that PEs of layer.yaml access.

    It is made of allocations.isl and memory.isl, for which PE `offset` is PE[0, 0].
    """
    accessed = objects["allocations.isl"]["accessed"].wrap()
    found: isl.UnionMap = objects["memory.isl"]["to_local"].intersect_domain(accessed)
    kept = found.domain().unwrap().range().identity()
    return found.apply_domain(isl.UnionMap.from_map(shift(offset)).product(kept))

# --- Page of a program in NumPy -------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOnPage:
    """A node of the graph: its id, its depth in loops and branches, and what it does."""

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
    """Data of the page of a program; `results` is its results.json."""

    kind: ClassVar[Literal["program"]] = "program"
    title: str
    results: Mapping[str, Any]
    texts: Mapping[str, str]
    fabric: FabricOnPage
    nodes: tuple[NodeOnPage, ...]
    lives: tuple[Life, ...]
    calls: tuple[CallOnPage, ...]
    sweep: SweptPage | None = None


def report_program(page: ProgramReport) -> str:
    """Return the report of a program, as HTML."""
    return write_page(page.title, page)

# --- Page of a network, a graph or a kernel -------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class PartOnPage:
    """A part, the sizes of its grid, and the cycles expected of it before it was built, if any."""

    name: str
    columns: int
    rows: int
    expected: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEdge:
    """A tensor that a part takes from another one, or from what is given to all; `says` how."""

    source: str
    target: str
    tensor: str
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTile:
    """The part of a result that a tile gives: its first element, the steps between them, sizes."""

    name: str
    least: tuple[int, ...]
    steps: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeOnPage:
    """Data of the page of a network, or a kernel; `results` is its results.json.

    `fabric` is the one that all parts share, if they do.
    """

    kind: ClassVar[Literal["whole"]] = "whole"
    title: str
    says: str
    results: Mapping[str, Any]
    texts: Mapping[str, str]
    parts: tuple[PartOnPage, ...]
    edges: tuple[PageEdge, ...] = ()
    tiles: tuple[PageTile, ...] = ()
    fabric: FabricOnPage | None = None
    sweep: SweptPage | None = None


def report_whole(page: WholeOnPage) -> str:
    """Return the report of a network or a kernel, as HTML."""
    return write_page(page.title, page)


def describe_parts(
    layouts: Mapping[str, FabricLayout], expected: Mapping[str, int] | None = None
) -> tuple[PartOnPage, ...]:
    """Return the parts, from the layout of each, and the cycles expected of it, by its name."""
    grids = {name: read_grid(layout.grid) for name, layout in layouts.items()}
    return tuple(
        PartOnPage(
            name=name, columns=grid.width, rows=grid.height, expected=(expected or {}).get(name)
        )
        for name, grid in grids.items()
    )


def list_edges(crossings: Mapping[str, Mapping[str, Any]]) -> Iterator[PageEdge]:
    """Yield the edges of crossings, which results.json has by `part.tensor`."""
    for end, crossing in crossings.items():
        target, _, tensor = end.partition(".")
        given: str | Sequence[str] = crossing["is"]
        sizes = " x ".join(map(str, crossing.get("sizes", ())))
        says = ", ".join(each for each in (sizes, crossing.get("type"), crossing["by"]) if each)
        for each in [given] if isinstance(given, str) else given:
            source, _, output = each.partition(".")
            yield PageEdge(source=source, target=target, tensor=output or tensor, says=says)
