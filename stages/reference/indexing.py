"""Elements of arrays by isl maps: the index arrays by which NumPy reads or moves them.

No isl call depends on the number of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.poly.functions import PARAM, evaluate_pw_aff, evaluate_set, find_function
from lairmake.stages.reference.strided import Array, blocks

IN = isl.dim_type.in_
OUT = isl.dim_type.out
Values = dict[str, Any]
"""The values of symbolic constants."""


def move(copy: isl.Map, array: Array, operand: Array, sizes: Values) -> None:
    """Put the elements of an operand where { array[e] -> operand[e'] } has them."""
    for block in blocks(array.shape, ()):
        grid = grid_of(block)
        where, inside = elements(copy, grid, sizes)
        inside = np.broadcast_to(inside, tuple(map(len, block)))
        here: Any = (..., *(slice(each.start, each.stop) for each in block))
        part = array[here]
        moved = operand[tuple(np.broadcast_to(w, inside.shape)[inside] for w in where)]
        part[inside] = moved


def elements(
    by: isl.Map, grid: Sequence[Array], sizes: Values
) -> tuple[list[Array], Array]:
    """Return the element that a function gives for every point of a grid, and where it has one.

    One array per dimension of the element; each broadcasts to the grid.
    """
    names = [f"index{k}" for k in range(len(grid))]
    tuple_ = f"{by.get_tuple_name(IN) or ''}[{', '.join(names)}]"
    bound = by.reverse().bind_range(isl.MultiId(f"[{', '.join(names)}] -> {{ {tuple_} }}"))
    values = {**dict(zip(names, grid, strict=True)), **sizes}
    function = find_function(bound)
    where = [_at_index(function.get_at(k), values) for k in range(function.dim(OUT))]
    context = bound.params().drop_unused_params()
    return where, evaluate_set(context, _used(context, values))


def _at_index(function: isl.PwAff, values: Values) -> Array:
    plain = function.drop_unused_params()
    found, _ = evaluate_pw_aff(plain, _used(plain, values))
    return found


def _used(thing: Any, values: Values) -> Values:
    """Return the values of the symbolic constants that occur."""
    names = [thing.get_dim_name(PARAM, k) for k in range(thing.dim(PARAM))]
    return {name: values[name] for name in names}


def grid_of(block: Sequence[range]) -> list[Array]:
    """Return an array per dimension, which broadcast to the block."""
    return list(np.ix_(*(np.arange(each.start, each.stop) for each in block)))
