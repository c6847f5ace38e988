"""A copy of a set that shares nothing with it.

isl describes a set anew in place where that looks like the same set, and copies share what they are
made of.  `detect_equalities` of a copy has been seen to drop constraints of the original that way
(islpy 2026.2.2); it is called on detached copies.
"""

from __future__ import annotations

import islpy as isl


def detach(elements: isl.Set) -> isl.Set:
    """Return an equal set, read from the text of the set."""
    return isl.Set(str(elements))
