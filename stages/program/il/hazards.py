"""Whether a node that writes its results at once would read some of them.

Elements of other PEs arrive by moves, which have read all before the node writes; those of the same
PE are read one after the other. There, the same element may be read and written, in one place; an
element that another instance writes may not be read: the results need a place of their own.

Paper    ours
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from lairmake.stages.program.il.records import Part, Source
from lairmake.stages.program.values.forms import Axis


def is_hazard(sources: Iterable[Source], target: Part) -> bool:
    """Whether one of the sources has elements of the target's PE that another instance writes."""
    return any(
        isinstance(each, Part) and each.cell is target.cell and _is_crossed(each, target)
        for each in sources
    )


def _is_crossed(source: Part, target: Part) -> bool:
    pes = 2 if target.cell.form.is_on_pes else 0
    moved = any(a.start != b.start for a, b in _pairs(source, target, 0, pes))
    memory = list(_pairs(source, target, pes, len(target.region)))
    same = all(a == b or (a.size == b.size == 1 and a.start == b.start) for a, b in memory)
    return not moved and not same and all(_meet(a, b) for a, b in memory)


def _pairs(source: Part, target: Part, start: int, stop: int) -> Iterable[tuple[Axis, Axis]]:
    return zip(source.region[start:stop], target.region[start:stop], strict=True)


def _meet(a: Axis, b: Axis) -> bool:
    """Whether two axes may share an element: their ranges overlap, and their steps allow it."""
    last_a, last_b = a.start + (a.size - 1) * a.step, b.start + (b.size - 1) * b.step
    first, last = max(min(a.start, last_a), min(b.start, last_b)), min(
        max(a.start, last_a), max(b.start, last_b))
    return first <= last and (b.start - a.start) % gcd(a.step, b.step) == 0
