"""Split loops of which operands are read at quotients, so that all accesses are affine.

Where instances d read x[floor(d/4), d mod 4], as an operand whose dimensions are collapsed, those
of two loops, d = 4a + b with 0 <= b < 4, read x[a, b].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import islpy as isl

from lairmake.stages.poly.functions import find_function_in, find_greatest
from lairmake.stages.volumes.operation import Operation

IN, OUT, SET, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div


def split_loops(operation: Operation, ends: Callable[[isl.Map], Iterable[isl.Map]]) -> Operation:
    """Return a computation with more loops, and fewer quotients in what they read, if there are.

    `ends` gives what a read reads in the end, through copies.
    Ensures the same values in the same elements: instances are renamed one to one, and their set is
    a box from zero as before.
    """
    found, count = operation, _count(operation, ends)
    while count:
        better = next(
            ((other, left) for by, dim in sorted(set(_quotients(found, ends)))
             if (other := _split(found, dim, by)) and (left := _count(other, ends)) < count),
            None,
        )
        if better is None:
            break
        found, count = better
    return found


def _split(operation: Operation, dim: int, by: int) -> Operation | None:
    """Return an operation with two loops, a and b, for d = by a + b with 0 <= b < by.

    None where the size of d is no multiple of `by`.
    """
    assert operation.loops is not None
    if (find_greatest(operation.loops, dim).to_python() + 1) % by:
        return None
    count = operation.loops.dim(SET)
    names = [f"d{k}" for k in range(count)]
    new = [*names[:dim], "a", "b", *names[dim + 1:]]
    old = [*names[:dim], f"{by}*a + b", *names[dim + 1:]]
    own = operation.loops.get_tuple_name() or ""
    rename = isl.Map(
        f"{{ {own}[{', '.join(new)}] -> {own}[{', '.join(old)}] : 0 <= b < {by} }}"
    ).intersect_range(operation.loops)
    return replace(
        operation, loops=_plain(rename.domain()),
        reads={label: rename.apply_range(each) for label, each in operation.reads.items()},
        results=tuple(
            replace(each, writes=rename.apply_range(each.writes)) for each in operation.results
        ),
    )


def _plain(loops: isl.Set) -> isl.Set:
    """Return a set without what its other constraints say as well: a = floor(d/4) for a box."""
    return loops.coalesce().detect_equalities().remove_redundancies().coalesce()


def _quotients(
    operation: Operation, ends: Callable[[isl.Map], Iterable[isl.Map]]
) -> Iterator[tuple[int, int]]:
    """Yield divisor and loop of every quotient of a single loop in what is read."""
    for div in _divs(operation, ends):
        loops, nested = (_used(div, kind) for kind in (IN, DIV))
        if len(loops) == 1 and not nested:
            yield div.get_denominator_val().to_python(), loops[0]


def _used(div: isl.Aff, kind: isl.dim_type) -> list[int]:
    """Return the dimensions of a kind that a function depends on."""
    return [k for k in range(div.dim(kind)) if not div.get_coefficient_val(kind, k).is_zero()]


def _count(operation: Operation, ends: Callable[[isl.Map], Iterable[isl.Map]]) -> int:
    return sum(1 for _ in _divs(operation, ends))


def _divs(
    operation: Operation, ends: Callable[[isl.Map], Iterable[isl.Map]]
) -> Iterator[isl.Aff]:
    """Yield the quotients in what is read, each as often as it occurs."""
    assert operation.loops is not None
    for read in operation.reads.values():
        for end in ends(read.intersect_domain(operation.loops)):
            function = find_function_in(end)
            for k in range(function.dim(OUT)):
                for _, aff in function.get_at(k).get_pieces():
                    yield from (aff.get_div(n) for n in range(aff.dim(DIV)))
