"""The least or greatest value of a relation at each point of its domain.

isl's lexmin and lexmax lose points of some relations with integer divisions, as they were
constructed, not of what is read from their text: all that there are at a point, or the least of
them only. So what they find is proved, and they are asked again for what they lost.
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

MOST_TIMES = 4
"""How often isl is asked for what it lost before."""


def least(relation: isl.Map) -> isl.Map:
    """Return { a -> b : b the lexicographically least with (a -> b) in the relation }.

    Raises ArithmeticError where isl does not find it.
    """
    return _proved(relation, isl.Map.lexmin, isl.Map.lex_gt(relation.range().space))


def greatest(relation: isl.Map) -> isl.Map:
    """Return { a -> b : b the lexicographically greatest with (a -> b) in the relation }.

    Raises ArithmeticError where isl does not find it.
    """
    return _proved(relation, isl.Map.lexmax, isl.Map.lex_lt(relation.range().space))


def _proved(relation: isl.Map, extreme: Callable[[isl.Map], isl.Map], beyond: isl.Map) -> isl.Map:
    """Return what `extreme` finds: in the relation, of the same domain, with nothing beyond it.

    Where there is something beyond, or nothing was found, `extreme` is asked for that alone.
    """
    for each in (relation, isl.Map(str(relation))):
        found = extreme(each)
        for _ in range(MOST_TIMES):
            if not found.is_subset(relation):
                break
            left = relation.subtract_domain(found.domain())
            left = left.union(relation.intersect(found.apply_range(beyond)))
            if left.is_empty():
                return found
            found = found.subtract_domain(left.domain()).union(extreme(left))
    raise ArithmeticError(f"isl loses points of {relation}")
