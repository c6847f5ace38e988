"""Over which lanes the result of a part may cross to those that take it.

One lane is always possible. Several have blocks of one dimension, one below the other, as many as
there are rows of PEs at most: a port then has so much less to carry, and what arrives may be where
it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import islpy as isl

from lairmake.stages.network.parts.described import RESULT, is_result
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import letters

Lanes = isl.Map
"""{ y[e] -> [lane] }"""


def find_source(end: str) -> str | None:
    """Return the part of which a result is, `conv1` of `conv1.y`; None for what is none."""
    return end.removesuffix(f".{RESULT}") if is_result(end) else None


def find_takers(parts: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the parts that take the result of each, by its name.

    What somebody puts together of several crosses over one lane, so that nobody is told for these.
    """
    found: dict[str, list[str]] = {name: [] for name in parts}
    for name, described in parts.items():
        for each in described["arrives"].values():
            for source in filter(None, map(find_source, each["from"])):
                if len(each["from"]) > 1:
                    found.pop(source, None)
                elif source in found:
                    found[source].append(name)
    return {name: takers for name, takers in found.items() if takers}


def find_most_lanes(elements: isl.Set, rows: int) -> Lanes | None:
    """Return the lanes with blocks of the dimension that gives most of them, of the outermost such.

    `elements` are those of the result, { y[e] }, and `rows` is how many lanes there may be. None
    where there is only one.
    """
    names, most, best = letters(elements.dim(isl.dim_type.set)), 1, None
    for name, (low, high) in zip(names, bounding_box(elements), strict=True):
        size = high - low + 1
        block = -(-size // rows)
        if (count := -(-size // block)) > most:
            most, best = count, f"({name} - {low})//{block}"
    if best is None:
        return None
    return isl.Map(f"{{ {RESULT}[{', '.join(names)}] -> [{best}] }}").intersect_domain(elements)


def count_lanes(lanes: Lanes) -> int:
    """Return how many lanes there are."""
    ((low, high),) = bounding_box(lanes.range())
    return high - low + 1
