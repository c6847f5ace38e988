"""Which of several sets meet somewhere."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

MOST_PIECES = 64
"""Space is cut into at most so many pieces; then sets may count as meeting that do not."""


def together(sets: Sequence[isl.Set | None]) -> list[frozenset[int]]:
    """Return, for all points [p], which of the sets [p] -> { : ... } it is in, by their numbers.

    None stands for all points. What is a part of another is left out.
    """
    known = {k: elements for k, elements in enumerate(sets) if elements is not None}
    pieces = [isl.Set("{ : }")]
    for elements in known.values():
        if 2 * len(pieces) <= MOST_PIECES:
            cut = [half for p in pieces for half in (p.intersect(elements), p.subtract(elements))]
            pieces = [piece.coalesce() for piece in cut if not piece.is_empty()]
    found = {
        frozenset(k for k in range(len(sets)) if k not in known or not p.is_disjoint(known[k]))
        for p in pieces
    }
    return sorted((f for f in found if not any(f < other for other in found)), key=sorted)
