"""The least value of a relation at each point of its domain.

isl's lexmin loses points of some relations with integer divisions, as they were constructed, not
of what is read from their text. So what it finds is compared.
"""

from __future__ import annotations

import islpy as isl


def least(relation: isl.Map) -> isl.Map:
    """Return { a -> b : b the lexicographically least with (a -> b) in the relation }.

    Raises ArithmeticError where isl does not find all.
    """
    wanted = relation.domain()
    for each in (relation, isl.Map(str(relation))):
        found = each.lexmin()
        if found.domain().is_equal(wanted):
            return found
    raise ArithmeticError(f"isl loses points of {relation}")
