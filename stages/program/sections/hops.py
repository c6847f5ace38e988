"""Halos: which neighbour has what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.program.irg.graph import GraphEntry, GraphNode, ProgramGraph
from lairmake.stages.program.irg.regions import HINT, RegionAccess, RegionAccesses, list_nodes
from lairmake.stages.program.values.forms import ON_PES, ON_WORKERS, REDUCTIONS

# --- Hops: what a PE takes from the neighbour on one side, for an operand of a node -------------
#
# An operand that lies further than one PE away, or on a diagonal, comes in several hops, each from
# PE to PE, through memory that workers keep for what lands there.
#
# Paper    E Sec. 4.3 and 6.1.4: neighbours and participation

Box: TypeAlias = tuple[int, int, int, int]
"""PEs of the field: least and greatest column, least and greatest row, all of them included."""

RING = ("west", "east", "north", "south")
"""The sides from which PEs take, in the order in which their routers turn."""

STEPS = {"west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)}
"""From a PE to its neighbour on a side: columns to the east, rows to the south."""

CENTER = "center"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """Hop number `number` of source `source` of a node: `takers` take from their `side`."""

    node: int
    source: int
    number: int
    side: str
    takers: Box

    @property
    def senders(self) -> Box:
        """The PEs that send."""
        (x, y), (left, right, top, bottom) = STEPS[self.side], self.takers
        return left + x, right + x, top + y, bottom + y

# --- Which PEs compute a node, and by which hops its sources come to them -----------------------
#
# Paper    E Sec. 4.3 and 6.1.4

Hops: TypeAlias = dict[tuple[int, int], tuple[Hop, ...]]
"""The hops of source k of node n, by (n, k), where it lies on other PEs."""


def is_on_workers(node: GraphNode, entries: Mapping[str, GraphEntry]) -> bool:
    """Whether workers have part in a node: they compute it, or have what is added up."""
    if entries[node.dst].kind in ON_WORKERS:
        return True
    return node.op in REDUCTIONS and entries[str(node.src[0])].kind in ON_PES


def is_over_pes(node: GraphNode, entries: Mapping[str, GraphEntry]) -> bool:
    """Whether a node adds up what all workers have."""
    return node.op in REDUCTIONS and entries[node.dst].kind not in ON_PES


def list_worker_nodes(graph: ProgramGraph) -> Iterator[GraphNode]:
    """Yield the nodes in which workers have part, in order of their ids."""
    return (node for node in list_nodes(graph.items) if is_on_workers(node, graph.entries))


def find_pes(access: RegionAccess) -> Box:
    """Return the PEs that have the elements of an access of what lies on PEs."""
    (x, w), (y, h) = ((access.start[k], 1 if access.axes[k] is None else access.sizes[k])
                      for k in (0, 1))
    return x, x + w - 1, y, y + h - 1


def find_participants(node: GraphNode, accesses: RegionAccesses, graph: ProgramGraph) -> Box:
    """Return the PEs that compute a node of workers, or whose elements it adds up."""
    if is_over_pes(node, graph.entries):
        assert accesses.src[0] is not None
        return find_pes(accesses.src[0])
    if graph.entries[node.dst].kind in ON_PES:
        return find_pes(accesses.dst)
    return 0, graph.field[0] - 1, 0, graph.field[1] - 1


def find_hops(graph: ProgramGraph, regions: Mapping[int, RegionAccesses], source: Source) -> Hops:
    """Return the hops of all sources that lie on other PEs than those that compute.

    `source` is accesses.isl. Raises UserError there where a source is not as far from all PEs, or
    where in memory an element lies depends on the PE.
    """
    found: Hops = {}
    for node in list_worker_nodes(graph):
        for k, start in _list_sources(node, regions[node.id], graph, source):
            hops = tuple(_route(node.id, k, start, find_pes(regions[node.id].dst)))
            if hops:
                found[node.id, k] = hops
    return found


def _list_sources(
    node: GraphNode, accesses: RegionAccesses, graph: ProgramGraph, source: Source
) -> Iterable[tuple[int, Box]]:
    """Return the sources of a node that lie on PEs, with the PEs, if it gives a value on PEs."""
    def refuse(which: str, said: str) -> NoReturn:
        name = f"n{node.id}_{which}"
        raise UserError(f"{name} {said}", find_statement(source, name), HINT)

    on_pes = [(k, each) for k, each in enumerate(accesses.src)
              if each is not None and graph.entries[str(node.src[k])].kind in ON_PES]
    is_placed = graph.entries[node.dst].kind in ON_PES
    for which, each in [*((f"src{k}", each) for k, each in on_pes),
                        *([("dst", accesses.dst)] if is_placed else [])]:
        if any(axis is not None and axis < 2 for axis in each.axes[2:]):
            refuse(which, "has other addresses on other PEs")
    if not is_placed:
        return
    x, right, y, bottom = find_pes(accesses.dst)
    for k, each in on_pes:
        left, end, top, low = found = find_pes(each)
        if (end - left, low - top) != (right - x, bottom - y):
            refuse(f"src{k}", "is not as far from each PE that computes")
        yield k, found


def _route(node: int, source: int, start: Box, end: Box) -> Iterator[Hop]:
    """Yield hops from the PEs of a box to those of another: along rows first, then columns."""
    at, number = start, 0
    for axis, sides in ((0, ("east", "west")), (2, ("south", "north"))):
        side = sides[0] if at[axis] > end[axis] else sides[1]
        while at[axis] != end[axis]:
            x, y = STEPS[side]
            at = at[0] - x, at[1] - x, at[2] - y, at[3] - y
            yield Hop(node=node, source=source, number=number, side=side, takers=at)
            number += 1


def find_statement(source: Source, name: str) -> Span | None:
    """Return the place of the name of a statement, None where it is not there."""
    found = re.search(rf"\b{name}\b", source.text)
    return Span(source=source, start=found.start(), end=found.end()) if found else None


def list_boxes(
    graph: ProgramGraph, regions: Mapping[int, RegionAccesses], hops: Hops
) -> tuple[Box, ...]:
    """Return the different boxes of PEs that take part in something, in order of their first use.

    Of each node those that compute, then those that take and that send in each hop.
    """
    boxes: dict[Box, None] = {}
    for node in list_worker_nodes(graph):
        boxes.setdefault(find_participants(node, regions[node.id], graph))
        for k in range(len(node.src)):
            for hop in hops.get((node.id, k), ()):
                boxes.setdefault(hop.takers)
                boxes.setdefault(hop.senders)
    return tuple(boxes)
