"""Operands of nodes as slices, read from the relations of accesses.isl.

Paper    E Sec. 5.4: nodes and edges have the specifics of accesses to data
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.poly.functions import find_greatest, find_least
from lairmake.stages.poly.iscc import IsccStatement, TextError, statements
from lairmake.stages.program.irg.graph import GraphEntry, GraphNode, Items, ProgramGraph, list_items
from lairmake.stages.program.values.forms import ON_PES, REDUCTIONS, Form

SET, IN, OUT = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out
HINT = "capture writes accesses.isl; what it wrote is in the store of the build"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionAccess:
    """The elements of an entry that the instances of a node read or write.

    Instances are a box, `low` to `low + sizes`. On axis k of the entry instance i has element
    `start[k] + step[k] * (i[axes[k]] - low[axes[k]])`; where `axes[k]` is None, element `start[k]`.
    """

    low: tuple[int, ...]
    sizes: tuple[int, ...]
    axes: tuple[int | None, ...]
    start: tuple[int, ...]
    step: tuple[int, ...]

    def covers(self, entry: GraphEntry) -> bool:
        """Return whether the access covers all elements of an entry."""
        counts = [1 if axis is None else self.sizes[axis] for axis in self.axes]
        return counts == list(entry.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionAccesses:
    """The operands of a node: None for sources that are numbers."""

    dst: RegionAccess
    src: tuple[RegionAccess | None, ...]


def list_nodes(items: Items) -> Iterator[GraphNode]:
    """Yield all operations of a graph and of the graphs in it, in order of their ids."""
    return (item for item in list_items(items) if isinstance(item, GraphNode))


def read_regions(source: Source, graph: ProgramGraph) -> dict[int, RegionAccesses]:
    """Return the operands of each node by its id.

    Raises UserError for a relation that is missing, belongs to no operand, is no slice, or leaves
    its entry.
    """
    reader = _Reader(source, graph)
    return {node.id: reader.operands(node) for node in list_nodes(graph.items)}


class _Reader:
    """A reader of relations; relations that differ only in names are parsed once."""

    def __init__(self, source: Source, graph: ProgramGraph) -> None:
        self.source, self.graph = source, graph
        try:
            found = statements(source.text)
        except TextError as error:
            raise UserError(error.message, self.span(error.position), HINT) from None
        self.relations = {each.name: each for each in found}
        self.read: dict[tuple[str, Form], RegionAccess] = {}
        names = set(self.names(list_nodes(graph.items)))
        for each in found:
            if each.name not in names:
                span = self.span(each.start, len(each.name))
                raise UserError(f"{each.name} is no operand of graph.yaml", span, HINT)

    def names(self, nodes: Iterable[GraphNode]) -> Iterator[str]:
        for node in nodes:
            yield f"n{node.id}_dst"
            for k, each in enumerate(node.src):
                if isinstance(each, str):
                    yield f"n{node.id}_src{k}"

    def span(self, start: int, length: int = 1) -> Span:
        return Span(source=self.source, start=start, end=start + length)

    def operands(self, node: GraphNode) -> RegionAccesses:
        dst = self.access(node, "dst", node.dst)
        src = tuple(self.access(node, f"src{k}", each) if isinstance(each, str) else None
                    for k, each in enumerate(node.src))
        if node.op in REDUCTIONS:
            assert src[0] is not None
            self.check_whole(node, src[0], "src0")
            self.check_reduction(node, dst, src[0])
        else:
            self.check_whole(node, dst, "dst")
        for k, each in enumerate(src):
            if each is not None and (each.low, each.sizes) != (dst.low, dst.sizes):
                said = f"n{node.id}_src{k} has other instances than n{node.id}_dst"
                raise self.error(self.relations[f"n{node.id}_src{k}"], said)
        return RegionAccesses(dst=dst, src=src)

    def access(self, node: GraphNode, which: str, name: str) -> RegionAccess:
        statement = self.relations.get(f"n{node.id}_{which}")
        if statement is None:
            said = f"{self.source.path} has no n{node.id}_{which}, an operand of graph.yaml"
            raise UserError(said, hint=HINT)
        text = statement.expression.replace(f"n{node.id}[", "n[", 1)
        text = text.replace(f"-> {name}[", "-> entry[", 1)
        entry = self.graph.entries[name]
        form = Form(kind=entry.kind, type=entry.type, shape=entry.shape, origin=entry.origin)
        if (text, form) not in self.read:
            self.read[text, form] = self.parse(statement, text, entry)
        return self.read[text, form]

    def error(self, statement: IsccStatement, message: str, hint: str = HINT) -> UserError:
        return UserError(message, self.span(statement.start, len(statement.name)), hint)

    def parse(self, statement: IsccStatement, text: str, entry: GraphEntry) -> RegionAccess:
        try:
            if statement.factor is not None:
                raise ValueError
            names, access = _read_relation(text)
        except (isl.Error, ValueError):
            raise self.error(statement, f"{statement.name} is no relation of a node") from None
        if names != ("n", "entry"):
            said = f"{statement.name} is of other tuples than its node and {entry.name}"
            raise self.error(statement, said)
        if access is None or len(access.axes) != len(entry.shape):
            said = f"{statement.name} is no slice of {entry.name}"
            raise self.error(statement, said, "boxes of instances, and on each axis `x`, `2z + 1`")
        _check_inside(self, statement, entry, access)
        return access

    def check_whole(self, node: GraphNode, access: RegionAccess, which: str) -> None:
        """Raise UserError where two instances have one element: a node writes each element once."""
        used = {axis for axis in access.axes if axis is not None}
        if any(size > 1 and k not in used for k, size in enumerate(access.sizes)):
            name = f"n{node.id}_{which}"
            raise self.error(self.relations[name], f"{name} has an element more than once")

    def check_reduction(self, node: GraphNode, dst: RegionAccess, src: RegionAccess) -> None:
        """Raise UserError for a sum over PEs whose result is an array."""
        kept = [axis for axis in dst.axes if axis is not None]
        gone = [k for k, size in enumerate(src.sizes) if k not in kept and size > 1]
        first = self.graph.entries[str(node.src[0])]
        if kept and first.kind in ON_PES and any(k < 2 for k in gone):
            name = f"n{node.id}_dst"
            raise self.error(self.relations[name], f"{name} adds over PEs to an array")


def _check_inside(
    reader: _Reader, statement: IsccStatement, entry: GraphEntry, access: RegionAccess
) -> None:
    for k, axis in enumerate(access.axes):
        first = entry.origin[k] if entry.kind in ON_PES and k < 2 else 0
        size = 1 if axis is None else access.sizes[axis]
        ends = access.start[k], access.start[k] + access.step[k] * (size - 1)
        if min(ends) < first or max(ends) >= first + entry.shape[k]:
            said = f"{statement.name} leaves {entry.name}: axis {k} has {first} to " \
                   f"{first + entry.shape[k] - 1}"
            raise reader.error(statement, said)
        if entry.kind in ON_PES and k < 2 and axis is not None and (
                axis != k or access.step[k] != 1):
            raise reader.error(statement, f"{statement.name} has PEs that are no neighbours")


@lru_cache(maxsize=4096)
def _read_relation(text: str) -> tuple[tuple[str, str], RegionAccess | None]:
    """Return the tuple names of a relation, and the access; None where it is no slice.

    Raises isl.Error or ValueError for a text that is no relation between two named tuples.
    """
    union = isl.UnionMap(text)
    if union.n_map() != 1:
        raise ValueError(text)
    relation = isl.Map.from_union_map(union)
    names = relation.get_tuple_name(IN), relation.get_tuple_name(OUT)
    return names, _find_access(relation) if names == ("n", "entry") else None


def _find_access(relation: isl.Map) -> RegionAccess | None:
    """Return `{ n[i] -> entry[start + step * (i - low)] : i in a box }`; None if it is none."""
    box = find_box(relation.domain())
    if box is None or not relation.is_single_valued():
        return None
    low, sizes = box
    pieces: list[isl.MultiAff] = []
    isl.PwMultiAff.from_map(relation).foreach_piece(lambda _, piece: pieces.append(piece))
    if len(pieces) != 1:
        return None
    rows = [_find_row(pieces[0].get_at(k), low, sizes) for k in range(relation.dim(OUT))]
    found = [row for row in rows if row is not None]
    axes = [row[0] for row in found if row[0] is not None]
    if len(found) < len(rows) or axes != sorted(set(axes)):
        return None
    return RegionAccess(
        low=low, sizes=sizes, axes=tuple(row[0] for row in found),
        start=tuple(row[1] for row in found), step=tuple(row[2] for row in found),
    )


def find_box(domain: isl.Set) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the least instance and the sizes of a box; None if the set is no bounded box."""
    if domain.is_empty() or not domain.is_bounded() or domain.dim(isl.dim_type.param):
        return None
    rank = domain.dim(SET)
    low = [find_least(domain, k) for k in range(rank)]
    high = [find_greatest(domain, k) for k in range(rank)]
    box = isl.Set.universe(domain.get_space())
    for k in range(rank):
        box = box.lower_bound_val(SET, k, low[k]).upper_bound_val(SET, k, high[k])
    if not box.is_equal(domain):
        return None
    first = tuple(each.to_python() for each in low)
    return first, tuple(h.to_python() - n + 1 for n, h in zip(first, high, strict=True))


def _find_row(
    aff: isl.Aff, low: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[int | None, int, int] | None:
    """Return axis, start and step of one coordinate of an entry; None if it is no slice."""
    if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        return None
    start, axis, step = aff.get_constant_val().to_python(), None, 1
    for k, first in enumerate(low):
        factor = aff.get_coefficient_val(IN, k).to_python()
        start += factor * first
        if factor and sizes[k] > 1:
            if axis is not None:
                return None
            axis, step = k, factor
    return axis, start, step
