"""The page of a layer, of what its stages wrote and its run gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import islpy as isl

from lairmake.stages.fabric.grid import Place, find_offset, shift
from lairmake.stages.fabric.layout import Layout
from lairmake.stages.layer.texts.task_graph import Graph
from lairmake.stages.layer.texts.yaml_files import Decisions
from lairmake.stages.picture.figures import Recorded, Usage
from lairmake.stages.picture.of_fabric import FabricOnPage, describe_fabric
from lairmake.stages.picture.page import write_page
from lairmake.stages.picture.swept import Swept
from lairmake.stages.picture.tasked import TaskOnPage, describe_programs, describe_tasks
from lairmake.stages.poly.text import Objects


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What stages wrote of a layer: isl texts by name, programs in C by role and variant, and by
    name the texts that a reader wants to see as they are. `results` is results.json.
    """

    layout: Layout
    graph: Graph
    decisions: Decisions
    objects: Mapping[str, Objects]
    programs: Mapping[tuple[str, str], str]
    texts: Mapping[str, str]
    results: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerOnPage:
    """All that the page of a layer shows."""

    kind: ClassVar[Literal["layer"]] = "layer"
    title: str
    results: Mapping[str, Any]
    texts: Mapping[str, str]
    fabric: FabricOnPage
    tasks: tuple[TaskOnPage, ...]
    sweep: Swept | None = None


def report_layer(
    written: Written, usage: Usage | None = None, recorded: Recorded | None = None,
    sweep: Swept | None = None,
) -> str:
    """Return the report of a layer, as HTML; what a run did is left out where it is not known."""
    title = str(written.results["top"])
    return write_page(title, describe_layer(title, written, usage, recorded, sweep))


def describe_layer(
    title: str, written: Written, usage: Usage | None, recorded: Recorded | None,
    sweep: Swept | None,
) -> LayerOnPage:
    """Return what the page of a layer shows."""
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
    """Return { [PE[x, y] -> T[e]] -> T_local[l] } of what each PE of layer.yaml accesses.

    Of the texts it takes allocations.isl and memory.isl, which call PE `offset` PE[0, 0].
    """
    accessed = objects["allocations.isl"]["accessed"].wrap()
    found: isl.UnionMap = objects["memory.isl"]["to_local"].intersect_domain(accessed)
    kept = found.domain().unwrap().range().identity()
    return found.apply_domain(isl.UnionMap.from_map(shift(offset)).product(kept))
