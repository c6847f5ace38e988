"""A ring of chunks: local memory in which a chunk takes the place of one that is no longer used.

Chunk n lies in slot n modulo the depth.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from lairmake.stages.poly.bind import bind_domain, name_indices, project_names, unbind_set
from lairmake.stages.poly.box_hull import box
from lairmake.stages.poly.compact import fit
from lairmake.stages.poly.order import at_index
from lairmake.stages.poly.reuse import number_chunks

NUMBER = "index"
"""The symbolic constant that is the number of a chunk."""

PE = "[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }"


def roll(numbers: isl.Map, depth: int, name: str) -> tuple[isl.Set, isl.Map]:
    """Return { name[l] : 0 <= l < size } and where each element lies, while it is in memory.

    That is { [PE -> T[e]] -> name[n mod depth, e - offset(PE, n)] }, where `numbers` is
    { T[e] -> [PE -> [n]] }, the chunk of each element. Size and offset are those of the fixed-size
    box hull of a chunk, V (8).
    """
    elements = at_index(numbers)
    size, local = fit(elements, name)
    whole = project_names(_in_slot(local.intersect_domain(elements), depth).wrap(), [NUMBER])
    to_local = whole.coalesce().unbind_params_insert_domain(isl.MultiId(PE)).uncurry()
    return box(name, (depth, *size)), to_local


def roll_in_boxes(
    numbers: isl.Map, depth: int, counts: Sequence[int], name: str
) -> tuple[isl.Set, isl.Map]:
    """Return the same, and where elements lie when a chunk of so many is at work.

    That is [index...] -> { [PE -> T[e]] -> name[l] } for all of the box in its slot, whether there
    are such elements or not: so the first chunk and the last one may be as large as others.
    """
    elements = at_index(numbers)
    size, local = fit(elements, name)
    inside = local.intersect_range(box(name, size)).intersect_params(elements.params())
    to_local = _in_slot(inside, depth).wrap().unbind_params_insert_domain(isl.MultiId(PE))
    by_number = unbind_set(to_local.uncurry().wrap(), "", [NUMBER])
    by_chunk = number_chunks(counts).apply_range(by_number)
    found = bind_domain(by_chunk, name_indices(len(counts))).unwrap()
    return box(name, (depth, *size)), found.coalesce()


def _in_slot(local: isl.Map, depth: int) -> isl.Map:
    """Return [index] -> { T[e] -> name[index mod depth, l] } of { T[e] -> name[l] }."""
    name = local.get_tuple_name(isl.dim_type.out)
    slot = isl.Map(f"[{NUMBER}] -> {{ [] -> [{NUMBER} mod {depth}] }}").range()
    placed = isl.Map.from_domain_and_range(local.domain(), slot).flat_range_product(local)
    return placed.set_tuple_name(isl.dim_type.out, name)
