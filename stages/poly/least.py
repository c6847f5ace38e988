"""The least or greatest value of a relation at each point of its domain.

isl's lexmin and lexmax lose points of some relations with integer divisions, as they were
constructed, not of what is read from their text: all that there are at a point, or the least of
them only. So what they find is proved.
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl


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
    """Return what `extreme` finds: in the relation, of the same domain, with nothing beyond it."""
    wanted = relation.domain()
    for each in (relation, isl.Map(str(relation))):
        found = extreme(each)
        whole = found.domain().is_equal(wanted) and found.is_subset(relation)
        if whole and relation.is_disjoint(found.apply_range(beyond)):
            return found
    raise ArithmeticError(f"isl loses points of {relation}")
