"""Multiply-adds as a machine has them: if of a vector and a scalar only, d = a * scalar + c.

Any other is a product, which becomes a part, and a sum. So is one whose result stands still along a
dimension: only a sum goes into one element.

Source   CSL Language Guide, Builtins: @fmacs(dest, src1, src2, value), @fmach and @fmachs alike
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf

from lairmake.stages.lair.expressions import Leaf, Operation, Part
from lairmake.stages.machine.types import find_largest_integer, is_integer
from lairmake.stages.poly.box import Shape

SUMS = {"MAC": "ADD", "FMA": "ADD", "FMS": "SUB", "FNMA": "SUB"}


def find_negated(operation: Operation, varies: Callable[[Leaf], bool]) -> int | None:
    """Return which source, turned around, makes an FMA of a difference: one that is a scalar.

    None if there is none.
    """
    turned = {"FNMA": (0, 1), "FMS": (2,)}.get(operation.name, ())
    scalars = [k for k in turned if not varies(operation.sources[k])]
    numbers = [k for k in scalars if not isinstance(operation.sources[k], str | Part)]
    return next(iter([*numbers, *scalars]), None)


def turn(operation: Operation, source: int, negative: Leaf) -> Operation:
    """Return the FMA that a difference is with the negative of a source."""
    sources = list(operation.sources)
    sources[source] = negative
    return replace(operation, name="FMA", sources=tuple(sources))


def take_apart(operation: Operation, target: str, product: Part) -> Iterator[Operation]:
    """Yield the product of a multiply-add, and the sum or difference of it."""
    a, b, *others = operation.sources
    yield Operation(name="MUL", sources=(a, b), to=product)
    sides: Sequence[Leaf] = (product, *others)
    if operation.name in ("MAC", "FNMA"):
        sides = (*(others or [target]), product)
    yield Operation(name=SUMS[operation.name], sources=tuple(sides), to=operation.to)


def negate(leaf: Leaf, computed: str) -> float | None:
    """Return the negative of a number; None if a type has none of it, and of what is no number."""
    if isinstance(leaf, str | Part):
        return None
    least = -find_largest_integer(computed) if is_integer(computed) else leaf
    return -leaf if leaf >= least else None


def pad_rows(shape: Shape, limits: Sequence[int]) -> Shape:
    """Return a shape with rows of such a length that columns are read at the highest rate.

    `limits` are the elements a cycle by stride modulo 8, 0: any. So sums over the elements of rows
    go on in all columns, one after the other.
    """
    *others, row = shape or (1,)
    if not others or row == 1:
        return shape
    lengths = range(row, row + len(limits))
    return (*others, max(lengths, key=lambda n: limits[n % len(limits)] or inf))
