"""Hyperrectangles of a volume whose elements are computed alike.

Source   F Alg. 1: code for disjoint hyperrectangles
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from lairmake.stages.parts.reached import Variant
from lairmake.stages.poly.box import list_slabs, split_into_rectangles
from lairmake.stages.poly.functions import depends_on
from lairmake.stages.volumes.operation import Result

IN, SET = isl.dim_type.in_, isl.dim_type.set
SIGNS = {"+=": "{} + {}", "*=": "{} * {}", "max=": "max({}, {})", "min=": "min({}, {})"}


def find_boxes(
    result: Result, domain: isl.Set, found: Sequence[Variant], inits: Sequence[isl.Map],
    facts: Sequence[isl.Set],
) -> list[isl.Set]:
    """Return the hyperrectangles of a result on which all elements are computed alike.

    That is where { [n, r] : instances with the reduction indices r get operands in the nth way } is
    the same. Raises NotRectangularError where there are too many.
    """
    sums = find_reduced(result)
    ways = isl.Set("{ [-1] }").flat_product(isl.Set(f"{{ [{', '.join(['0'] * len(sums))}] }}"))
    every = _plain(domain).flat_product(ways)
    for n, variant in enumerate(found):
        every = every.union(_numbered(result, variant.instances, n))
    marks = [each.domain() for each in inits] + list(facts)
    for n, mark in enumerate(marks):
        every = every.union(_plain(mark).flat_product(_mark(-2 - n, len(sums))))
    name = domain.get_tuple_name() or ""
    boxes = [box.set_tuple_name(name) for box, _ in list_slabs(every, domain.dim(SET))]
    return [part for box in boxes for part in _rectangular(result, found, box)]


def _rectangular(result: Result, found: Sequence[Variant], box: isl.Set) -> Iterator[isl.Set]:
    """Yield the parts of a hyperrectangle that a hyperrectangle of instances writes each.

    Where loops were split, a box of elements may be several of these: { x[i] : 1 <= i <= 4 } of
    i = 2a + b is one for a = 0, a = 1 and a = 2. The terms of a reduction are added up instead.
    """
    pieces: list[isl.Set] = []
    if result.operator not in SIGNS:
        writers = result.writes.intersect_range(box).domain()
        met = (writers.intersect(way.instances) for way in found)
        pieces = [r for each in met for r in split_into_rectangles(each)]
    if len(pieces) <= 1:
        yield box
        return
    every = isl.Set.empty(_plain(box).flat_product(_mark(0, 0)).space)
    for n, piece in enumerate(pieces):
        own = _plain(result.writes.intersect_domain(piece).range())
        every = every.union(own.flat_product(_mark(n, 0)))
    for part, _ in list_slabs(every, box.dim(SET)):
        yield from _rectangular(result, found, part.set_tuple_name(box.get_tuple_name() or ""))


def _plain(domain: isl.Set) -> isl.Set:
    return domain.reset_tuple_id() if domain.has_tuple_id() else domain


def _mark(number: int, width: int) -> isl.Set:
    """Return { [number, 0, ...] }."""
    return isl.Set(f"{{ [{', '.join([str(number), *['0'] * width])}] }}")


def find_reduced(result: Result) -> list[int]:
    """Return the dimensions of instances that say nothing of the element that they write."""
    used = set[int]().union(*depends_on(result.writes))
    return [k for k in range(result.writes.dim(IN)) if k not in used]


def _numbered(result: Result, instances: isl.Set, number: int) -> isl.Set:
    """Return { [element, number, r] } for instances of reduction indices r."""
    sums = find_reduced(result)
    width = result.writes.dim(IN)
    names = [f"d{k}" for k in range(width)]
    keys = ", ".join([str(number), *(names[k] for k in sums)])
    mark = isl.Map(f"{{ [{', '.join(names)}] -> [{keys}] }}")
    mark = mark.set_tuple_name(IN, instances.get_tuple_name() or "")
    both = result.writes.intersect_domain(instances).flat_range_product(mark)
    return both.range()
