"""Which dimensions of its argument a function depends on."""

from __future__ import annotations

import islpy as isl

IN = isl.dim_type.in_
OUT = isl.dim_type.out


def depends_on(function: isl.Map) -> list[set[int]]:
    """Return, for each dimension of the result, the dimensions of the argument in its expressions.

    The domain does not count. Raises isl.Error if the map is no function.
    """
    by = function.as_pw_multi_aff()
    return [
        {
            n
            for _, expression in by.get_at(k).get_pieces()
            for n in range(function.dim(IN))
            if expression.involves_dims(IN, n, 1)
        }
        for k in range(function.dim(OUT))
    ]
