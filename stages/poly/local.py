"""Local memory per PE: allocations seen from one PE, moved, and boxes of them.

Paper    V Sec. 4.3, (8) (9)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from lairmake.stages.poly.bind import PE_NAMES, bind_domain
from lairmake.stages.poly.pieces import list_maps, unite

Shape = tuple[int, ...]


def at_this_pe(to_local: isl.UnionMap) -> dict[str, isl.Map]:
    """Return, by tensor, [PE_X, PE_Y] -> { T[e] -> T_local[l] }: an allocation seen from one PE.

    It has the symbolic constants of chunks where it depends on them.
    """
    own = (m.drop_unused_params() for m in list_maps(to_local))
    bound = [bind_domain(m.curry(), PE_NAMES).unwrap() for m in own]
    return {m.get_tuple_name(isl.dim_type.in_): m for m in bound}


def shift(to_local: isl.UnionMap, shifts: Mapping[str, Sequence[int]]) -> isl.UnionMap:
    """Return { [PE -> T[e]] -> T_local[l - shift] }, the shift of each local tensor by its name."""
    named = [(m, m.get_tuple_name(isl.dim_type.out)) for m in list_maps(to_local)]
    return unite(m.apply_range(shift_map(name, shifts[name])) for m, name in named)


def shift_map(name: str, shift: Sequence[int]) -> isl.Map:
    """Return { name[l] -> name[l - shift] }."""
    names = [f"l{k}" for k in range(len(shift))]
    moved = [f"{n} - ({s})" for n, s in zip(names, shift, strict=True)]
    return isl.Map(f"{{ {name}[{', '.join(names)}] -> {name}[{', '.join(moved)}] }}")
