"""Which dimensions of its argument a function depends on."""

from __future__ import annotations

import islpy as isl

IN = isl.dim_type.in_
OUT = isl.dim_type.out


def functions(relation: isl.Map) -> list[isl.PwAff]:
    """Return the functions { S[i] -> [...] } of a map that is one, a dimension each."""
    whole = relation.as_pw_multi_aff()
    return [whole.get_at(k) for k in range(relation.dim(OUT))]


def arguments(function: isl.PwAff) -> set[int]:
    """Return the dimensions of the argument in the expressions of a function.

    The domain does not count.
    """
    terms = [term for _, term in function.get_pieces()]
    return {k for term in terms for k in range(term.dim(IN)) if term.involves_dims(IN, k, 1)}


def depends_on(relation: isl.Map) -> list[set[int]]:
    """Return the arguments of each dimension of the result. Raises isl.Error for no function."""
    return list(map(arguments, functions(relation)))
