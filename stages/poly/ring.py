"""A ring of chunks: local memory in which a chunk takes the place of one that is no longer used.

Chunk n lies in slot n modulo the depth.
"""

from __future__ import annotations

import islpy as isl

from stages.poly.bind import project_names
from stages.poly.box_hull import box
from stages.poly.compact import fit
from stages.poly.order import at_index

NUMBER = "index"
"""The symbolic constant that is the number of a chunk."""


def roll(numbers: isl.Map, depth: int, name: str) -> tuple[isl.Set, isl.Map]:
    """Return { name[l] : 0 <= l < size } and where each element lies, while it is in memory.

    That is { [PE -> T[e]] -> name[n mod depth, e - offset(PE, n)] }, where `numbers` is
    { T[e] -> [PE -> [n]] }, the chunk of each element. Size and offset are those of the fixed-size
    box hull of a chunk, V (8).
    """
    elements = at_index(numbers)
    size, local = fit(elements, name)
    within = local.intersect_domain(elements)
    slot = isl.Map(f"[{NUMBER}] -> {{ [] -> [{NUMBER} mod {depth}] }}").range()
    placed = isl.Map.from_domain_and_range(elements, slot).flat_range_product(within)
    placed = placed.set_tuple_name(isl.dim_type.out, name)
    pe = isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }")
    whole = project_names(placed.wrap(), [NUMBER]).coalesce()
    to_local = whole.unbind_params_insert_domain(pe).uncurry()
    return box(name, (depth, *size)), to_local
