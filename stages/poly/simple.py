"""Write a function of the symbolic constants more simply, where only some values matter."""

from __future__ import annotations

import islpy as isl


def simplify(function: isl.PwAff, domain: isl.Set) -> isl.PwAff:
    """Return a function that has the same values on a domain, with simpler pieces; rounded down.

    isl's gist may let pieces overlap off the domain, with several values there: then the function
    is only coalesced. Ensures that `[p] -> { [f(p)] }` has one element for each value of p.
    """
    simple = function.gist(domain).coalesce().floor()
    values = isl.Map.from_range(isl.Set.from_pw_aff(simple))
    return simple if values.is_single_valued() else function.coalesce().floor()
