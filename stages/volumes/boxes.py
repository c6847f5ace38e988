"""Hyperrectangles of a volume whose elements are computed alike.

Source   Friebel et al., IMPACT 2023, Algorithm 1: code for disjoint hyperrectangles
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from stages.poly.dependence import depends_on
from stages.poly.rectangles import slabs
from stages.volumes.operation import Result
from stages.volumes.reached import Variant

IN, SET = isl.dim_type.in_, isl.dim_type.set
SIGNS = {"+=": "{} + {}", "*=": "{} * {}", "max=": "max({}, {})", "min=": "min({}, {})"}


def boxes_of(
    result: Result, domain: isl.Set, found: Sequence[Variant], inits: Sequence[isl.Map],
    facts: Sequence[isl.Set],
) -> list[isl.Set]:
    """Return the hyperrectangles of a result on which all elements are computed alike.

    That is where { [n, r] : instances with the reduction indices r get operands in the nth way } is
    the same. Raises NotRectangularError where there are too many.
    """
    sums = reduced(result)
    ways = isl.Set("{ [-1] }").flat_product(isl.Set(f"{{ [{', '.join(['0'] * len(sums))}] }}"))
    every = _plain(domain).flat_product(ways)
    for n, variant in enumerate(found):
        every = every.union(_numbered(result, variant.instances, n))
    marks = [each.domain() for each in inits] + list(facts)
    for n, mark in enumerate(marks):
        every = every.union(_plain(mark).flat_product(_mark(-2 - n, len(sums))))
    name = domain.get_tuple_name() or ""
    return [box.set_tuple_name(name) for box, _ in slabs(every, domain.dim(SET))]


def _plain(domain: isl.Set) -> isl.Set:
    return domain.reset_tuple_id() if domain.has_tuple_id() else domain


def _mark(number: int, width: int) -> isl.Set:
    """Return { [number, 0, ...] }."""
    return isl.Set(f"{{ [{', '.join([str(number), *['0'] * width])}] }}")


def reduced(result: Result) -> list[int]:
    """Return the dimensions of instances that say nothing of the element that they write."""
    used = set[int]().union(*depends_on(result.writes))
    return [k for k in range(result.writes.dim(IN)) if k not in used]


def _numbered(result: Result, instances: isl.Set, number: int) -> isl.Set:
    """Return { [element, number, r] } for instances of reduction indices r."""
    sums = reduced(result)
    width = result.writes.dim(IN)
    names = [f"d{k}" for k in range(width)]
    keys = ", ".join([str(number), *(names[k] for k in sums)])
    mark = isl.Map(f"{{ [{', '.join(names)}] -> [{keys}] }}")
    mark = mark.set_tuple_name(IN, instances.get_tuple_name() or "")
    both = result.writes.intersect_domain(instances).flat_range_product(mark)
    return both.range()
