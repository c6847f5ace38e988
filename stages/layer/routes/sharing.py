"""Which tensors lie in one memory, and which statements wait for others because of it.

Source   design, A layer folder: `next` takes "one memory if every read precedes the write"
"""

from __future__ import annotations

import graphlib
from collections.abc import Collection, Iterator

import islpy as isl

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.poly.canonical import from_domain

InPlace = dict[str, str]
"""By tensor, the one in whose memory it lies."""


def find_in_place(
    layer: Layer, needed: isl.UnionMap, computed: isl.UnionMap, apart: Collection[str]
) -> InPlace:
    """Return the tensors that may take the place of others at once, and these.

    `needed` and `computed` are { tensor[e] -> PE[x, y] }, the tensors `apart` need memory of their
    own. Of the rest one may lie where it will be carried to if every PE computes the elements that
    it needs there, each by an instance that alone of its statement reads what was there before;
    if nothing else is made of it; and if no statements wait for each other then.
    """
    sources = [carry.source for carry in layer.carries]
    writers = {statement.target.tensor: statement for statement in layer.statements}
    in_place: InPlace = {}
    for carry in layer.carries:
        old, new = carry.tensor, carry.source
        if new in writers and new not in apart and old not in sources and new not in in_place:
            writer = writers[new]
            overwrites = writer.op == "=" and _reads_only_its_own(writer, old)
            same = _same(from_domain(needed, old), from_domain(computed, new), new)
            if overwrites and same and not _has_circle(layer, in_place | {new: old}):
                in_place[new] = old
    return in_place


def list_waits(layer: Layer, in_place: InPlace) -> Iterator[tuple[str, list[str]]]:
    """Yield, for each statement that waits for others on its PE, the names of these.

    They define what it reads, or read what lay before where it writes.
    """
    for statement in layer.statements:
        old = in_place.get(statement.target.tensor)
        before = [
            other.name
            for other in layer.statements
            if _reads(statement, other.target.tensor)
            or (other is not statement and old is not None and _reads(other, old))
        ]
        if before:
            yield statement.name, before


def _reads(statement: Statement, tensor: str) -> bool:
    return any(access.tensor == tensor for access in statement.reads)


def _reads_only_its_own(writer: Statement, old: str) -> bool:
    """Say whether an instance reads no element of a tensor but the one where it writes."""
    return all(a.rows == writer.target.rows for a in writer.reads if a.tensor == old)


def _has_circle(layer: Layer, in_place: InPlace) -> bool:
    """Say whether statements wait for each other."""
    try:
        graphlib.TopologicalSorter(dict(list_waits(layer, in_place))).prepare()
    except graphlib.CycleError:
        return True
    return False


def _same(needed: isl.UnionMap, computed: isl.UnionMap, new: str) -> bool:
    """Say whether the PEs are those of the same elements: { old[e] -> PE } = { new[e] -> PE }."""
    if needed.is_empty():
        return False
    renamed = isl.Map.from_union_map(needed).set_tuple_name(isl.dim_type.in_, new)
    return bool(renamed.is_equal(isl.Map.from_union_map(computed)))
