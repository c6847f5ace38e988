"""Hops of operands between neighbours, and the boxes of PEs that take part in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.program.irg.graph import GraphEntry, GraphNode, ProgramGraph
from lairmake.stages.program.irg.regions import HINT, RegionAccess, RegionAccesses, list_nodes
from lairmake.stages.program.values.forms import ON_PES, ON_WORKERS, REDUCTIONS

# --- Hops from one neighbour to another -----------------------------------------------------------
#
# An operand that lies further than one PE away, or on a diagonal, comes in several hops, each from
# a PE to its neighbour, through slots in the memory of workers.
#
# Paper    E Sec. 4.3 and 6.1.4: neighbours and participation

Box: TypeAlias = tuple[int, int, int, int]
"""A box of PEs of the field: least and greatest column, least and greatest row, inclusive."""

RING = ("west", "east", "north", "south")
"""The sides from which PEs take, in the order in which their routers turn."""

STEPS = {"west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)}
"""The step from a PE to its neighbour on a side: columns to the east, rows to the south."""

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
        """Return the PEs that send."""
        (x, y), (left, right, top, bottom) = STEPS[self.side], self.takers
        return left + x, right + x, top + y, bottom + y

# --- Participants and hops of a node --------------------------------------------------------------
#
# Paper    E Sec. 4.3 and 6.1.4

Hops: TypeAlias = dict[tuple[int, int], tuple[Hop, ...]]
"""The hops of source k of node n, by (n, k), for sources that lie on other PEs."""


def is_on_workers(node: GraphNode, entries: Mapping[str, GraphEntry]) -> bool:
    """Return whether workers take part in a node: they compute it, or have elements of its sum."""
    if entries[node.dst].kind in ON_WORKERS:
        return True
    return node.op in REDUCTIONS and entries[str(node.src[0])].kind in ON_PES


def is_over_pes(node: GraphNode, entries: Mapping[str, GraphEntry]) -> bool:
    """Return whether a node adds up elements of all workers."""
    return node.op in REDUCTIONS and entries[node.dst].kind not in ON_PES


def list_worker_nodes(graph: ProgramGraph) -> Iterator[GraphNode]:
    """Yield the nodes in which workers take part, in order of their ids."""
    return (node for node in list_nodes(graph.items) if is_on_workers(node, graph.entries))


def find_pes(access: RegionAccess) -> Box:
    """Return the PEs that have the elements of an access."""
    (x, w), (y, h) = ((access.start[k], 1 if access.axes[k] is None else access.sizes[k])
                      for k in (0, 1))
    return x, x + w - 1, y, y + h - 1


def find_participants(node: GraphNode, accesses: RegionAccesses, graph: ProgramGraph) -> Box:
    """Return the PEs that compute a node of workers, or that have the elements of its sum."""
    if is_over_pes(node, graph.entries):
        assert accesses.src[0] is not None
        return find_pes(accesses.src[0])
    if graph.entries[node.dst].kind in ON_PES:
        return find_pes(accesses.dst)
    return 0, graph.field[0] - 1, 0, graph.field[1] - 1


def find_hops(graph: ProgramGraph, regions: Mapping[int, RegionAccesses], source: Source) -> Hops:
    """Return the hops of all sources that lie on other PEs than the node computes on.

    `source` is accesses.isl. Raises UserError, at the statement there, for a source whose distance
    is not the same for all PEs, or whose address in memory depends on the PE.
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
    """Yield the sources of a node that lie on PEs, with their PEs; none for a node without PEs."""
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
    """Yield the hops from the PEs of one box to those of another, first along rows."""
    at, number = start, 0
    for axis, sides in ((0, ("east", "west")), (2, ("south", "north"))):
        side = sides[0] if at[axis] > end[axis] else sides[1]
        while at[axis] != end[axis]:
            x, y = STEPS[side]
            at = at[0] - x, at[1] - x, at[2] - y, at[3] - y
            yield Hop(node=node, source=source, number=number, side=side, takers=at)
            number += 1


def find_statement(source: Source, name: str) -> Span | None:
    """Return the place of the name of a statement; None where it does not occur."""
    found = re.search(rf"\b{name}\b", source.text)
    return Span(source=source, start=found.start(), end=found.end()) if found else None


def list_boxes(
    graph: ProgramGraph, regions: Mapping[int, RegionAccesses], hops: Hops
) -> tuple[Box, ...]:
    """Return the different boxes of PEs that take part in nodes, in order of their first use.

    The boxes of a node are its participants, then the takers and the senders of each hop.
    """
    boxes: dict[Box, None] = {}
    for node in list_worker_nodes(graph):
        boxes.setdefault(find_participants(node, regions[node.id], graph))
        for k in range(len(node.src)):
            for hop in hops.get((node.id, k), ()):
                boxes.setdefault(hop.takers)
                boxes.setdefault(hop.senders)
    return tuple(boxes)
