"""The least value of a relation at each point of its domain, and the element before another one.

isl's lexmin and lexmax lose points of some relations with integer divisions, as they were
constructed, not of what is read from their text: of all values at a point, or of the least only.
So what they find is proved.
"""

from __future__ import annotations

import islpy as isl


def least(relation: isl.Map) -> isl.Map:
    """Return { a -> b : b the lexicographically least with (a -> b) in the relation }.

    Raises ArithmeticError where isl does not find it.
    """
    at_most = isl.Map.lex_le(relation.range().space)
    for each in (relation, isl.Map(str(relation))):
        found = each.lexmin()
        if found.is_subset(relation) and relation.is_subset(found.apply_range(at_most)):
            return found
    raise ArithmeticError(f"isl loses points of {relation}")


def previous(elements: isl.Set) -> isl.Map:
    """Return { a -> b : b the last of the elements before a }, which the first one has not.

    Of finitely many elements it is the only function that has one before each, and no two the same.
    Raises ArithmeticError where isl does not find it.
    """
    before = isl.Map.lex_gt(elements.space).intersect_domain(elements).intersect_range(elements)
    for each in (before, isl.Map(str(before))):
        found = each.lexmax()
        after_others = found.domain().is_equal(before.domain())
        if after_others and found.is_subset(before) and found.is_bijective():
            return found.coalesce()
    raise ArithmeticError(f"isl loses points of {elements}")
