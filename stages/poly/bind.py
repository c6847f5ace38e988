"""Bind tuples to symbolic constants, and project symbolic constants out again.

Paper    V Sec. 2, (4); Sec. 4.3, (8), (9)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

import islpy as isl

PE_NAMES = ["PE_X", "PE_Y"]
"""The symbolic constants that stand for the coordinates of a PE."""

PARAM = isl.dim_type.param

Parametric = TypeVar("Parametric", isl.Set, isl.Map)


def name_indices(n: int) -> list[str]:
    """Return the symbolic constants of an order with `n` dimensions, the innermost one last.

    `index_names(1)` is `["index"]`, `index_names(3)` is `["index0", "index1", "index"]`.
    """
    return [*(f"index{i}" for i in range(n - 1)), "index"][-n:] if n else []


def find_index_constants(obj: isl.Set | isl.Map) -> list[str]:
    """Return the symbolic constants of a set or map but those of the PE, in their order."""
    return [name for name in obj.get_var_names_not_none(PARAM) if name not in PE_NAMES]


def bind_range(relation: isl.Map, names: Sequence[str]) -> isl.Set:
    """Return `{ a : (a -> names) in relation }`, the range removed.

    Raises ValueError if the range does not have one dimension per name.
    """
    return relation.bind_range(_multi_id(relation.range().space, names))


def bind_domain(relation: isl.Map, names: Sequence[str]) -> isl.Set:
    """Return `{ b : (names -> b) in relation }`, the domain removed.

    Raises ValueError if the domain does not have one dimension per name.
    """
    return bind_range(relation.reverse(), names)


def bind_set(elements: isl.Set, names: Sequence[str]) -> isl.Set:
    """Return the set without tuple `[names] -> { : names in elements }`.

    Raises ValueError if the set does not have one dimension per name.
    """
    return elements.bind(_multi_id(elements.space, names))


def unbind_set(elements: isl.Set, tuple_name: str, names: Sequence[str]) -> isl.Map:
    """Return `{ tuple_name[names] -> a : a in elements }`, the names no longer constants."""
    listed = ", ".join(names)
    identifiers = isl.MultiId(f"[{listed}] -> {{ {tuple_name}[{listed}] }}")
    return elements.unbind_params_insert_domain(identifiers)


def project_names(obj: Parametric, names: Sequence[str]) -> Parametric:
    """Return `{ a : exists names : a in obj }`; names that do not occur are ignored."""
    result = cast("isl.Set | isl.Map", obj)
    for name in names:
        position = result.find_dim_by_name(PARAM, name)
        if position >= 0:
            result = result.project_out(PARAM, position, 1)
    return cast(Parametric, result)


def _multi_id(space: isl.Space, names: Sequence[str]) -> isl.MultiId:
    """Return the tuple of identifiers `{ T[names] }` for a set space with tuple name `T`.

    The identifiers come from parsed text: those made by `isl.Id` differ from parsed ones.
    """
    if space.dim(isl.dim_type.set) != len(names):
        raise ValueError(f"cannot bind {space} to {list(names)}")
    tuple_name = space.get_tuple_name(isl.dim_type.set) or ""
    listed = ", ".join(names)
    return isl.MultiId(f"[{listed}] -> {{ {tuple_name}[{listed}] }}")
