"""Bounds on the rounding errors of the volumes of a program.

Source   N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, Sec. 3.1:
         n roundings move a sum by n u sum|terms| at most; and N. J. Higham and T. Mary, SIAM J.
         Sci. Comput. 41(5), 2019, Theorem 2.8: by 6 sqrt(n) u sum|terms|, but for 2 n in 10^8 sums.
         stages/reference/error_bound.py has what errors of operands do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.tree import Binary, CallSyntax, Expr, walk
from lairmake.stages.parts.evaluation import extents, find_inner, reduce_into
from lairmake.stages.poly.functions import depends_on
from lairmake.stages.reference.error_bound import Rounding, Tolerance, absolute, is_jump, spread
from lairmake.stages.reference.evaluate import TermMeaning, value
from lairmake.stages.reference.strided import OUT, Array, Read, move
from lairmake.stages.volumes.operation import (
    OperationResult,
    VolumeOperation,
    VolumeProgram,
    make_domains,
)

SURE = 6
"""Standard deviations that bound a sum of roundings, except for one in 10^8 sums."""

SAYS = 2.0**-6
"""Largest median of likely errors, as a share of the scale, at which they still count."""

Errors = Mapping[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundingBound:
    """Errors of values: the `worst` case, and a `likely` bound, exceeded once in many millions.

    `scale` is the largest sum of absolute terms of a value, before terms cancel.
    """

    worst: Array
    likely: Array
    scale: float


def bound_rounding(
    program: VolumeProgram, volumes: isl.UnionSet, values: Mapping[str, Array],
    rounding: Callable[[str], Rounding], given: Errors,
) -> dict[str, RoundingBound]:
    """Return the error bound of each output.

    `values` are those of all volumes, `rounding` returns the rounding of a type, and `given` has
    the errors of inputs. Constants in expressions are rounded like results.
    """
    shapes = {name: extents(d, {}) for name, d in make_domains(volumes).items()}
    passes = [
        _Pass(program=program, shapes=shapes, values=values, rounding=rounding, is_sure=sure)
        for sure in (True, False)
    ]
    worst, likely = (each.run(given) for each in passes)
    return {
        n: RoundingBound(worst=worst[n], likely=likely[n], scale=passes[0].find_scale(n))
        for n in program.outputs
    }


def find_allowance(expected: Array, bounds: Sequence[RoundingBound], row: Tolerance) -> Array:
    """Return the allowed error of each value: in no invocation more than its worst case.

    The worst case is weak in a deep network, so the tolerance of the row, or the likely error,
    bounds it further. The likely error does not count where it exceeds the scale of sums, nor
    anywhere if its median exceeds a share of the scale: a comparison with another outcome moves a
    few elements far.
    """
    worst = np.stack([each.worst for each in bounds]).reshape(expected.shape)
    likely = np.stack([each.likely for each in bounds]).reshape(expected.shape)
    finite = np.abs(np.where(np.isfinite(expected), expected, 0).astype(np.float64))
    largest = finite.max(initial=0)
    known = row.relative * finite + row.absolute * largest
    scale = max(largest, *(each.scale for each in bounds))
    if np.median(likely) > SAYS * scale:
        return np.asarray(np.minimum(worst, known))
    more = np.where(likely <= scale, np.maximum(known, likely), known)
    return np.asarray(np.minimum(worst, more))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
    """A walk over all operations that adds up worst cases, or the squares of independent errors."""

    program: VolumeProgram
    shapes: Mapping[str, tuple[int, ...]]
    values: Mapping[str, Array]
    rounding: Callable[[str], Rounding]
    is_sure: bool

    def run(self, given: Errors) -> dict[str, Array]:
        """Return the errors of all volumes."""
        errors: dict[str, Array] = {}
        with np.errstate(all="ignore"):
            for each in self.program.operations:
                if each.kind == "compute":
                    errors |= {r.volume: self._of_result(each, r, errors) for r in each.results}
                else:
                    errors[each.name] = self._of_copy(each, errors, given)
        return errors

    def _of_copy(self, operation: VolumeOperation, errors: Errors, given: Errors) -> Array:
        name = operation.name
        found = np.zeros(self.shapes[name])
        if operation.kind == "constant":
            found[...] = self._rounded(name) * np.abs(self.values[name].astype(np.float64))
        elif name in given:
            found[...] = given[name]
        for copy in operation.copies:
            move(copy, found, errors[copy.get_tuple_name(OUT) or ""], {})
        return found

    def _rounded(self, volume: str) -> float:
        return self.rounding(self.program.types[volume]).unit

    def _of_result(
        self, operation: VolumeOperation, result: OperationResult, errors: Errors
    ) -> Array:
        """Return the error of a result: its own roundings, and the effect of errors of operands.

        An error that is infinite or NaN becomes infinite: nothing is known of the value.
        """
        start = np.zeros(self.shapes[result.volume])
        if result.init is not None:
            start += errors[result.init]
        own, moved = self._own(operation, result), self._moved(operation, result, errors)
        if result.init is not None and result.operator == "*=":
            begun = np.abs(self.values[result.init].astype(np.float64))
            terms = np.abs(self._each(operation, result, self.values, value))
            start, moved = start * (terms + moved), moved * begun
        found = start + own + moved
        return np.asarray(np.nan_to_num(found, nan=np.inf, posinf=np.inf))

    def _own(self, operation: VolumeOperation, result: OperationResult) -> Array:
        """Return n u sum|terms|; n counts an element's terms and the operations of a term."""
        by = self.rounding(self.program.types[result.volume])
        expr = parse_expression(result.value)
        terms = _count_terms(operation, result) if result.operator != "=" else 1
        count = terms + sum(isinstance(e, Binary | CallSyntax) for e in walk(expr)) + 1
        count += result.init is not None
        if not self.is_sure:
            count = min(count, math.ceil(SURE * math.sqrt(count)))
        return np.asarray(count * (by.unit * self._sums(operation, result) + by.smallest))

    def _sums(self, operation: VolumeOperation, result: OperationResult) -> Array:
        """Return sum|terms| of each element, with the value with which it starts."""
        sums = self._each(operation, result, self.values, absolute)
        sums = np.where(np.isinf(sums), 0, sums) if result.operator.startswith("m") else sums
        if result.init is not None:
            begun = np.abs(self.values[result.init].astype(np.float64))
            begun = np.where(np.isinf(begun), 0, begun)
            sums = sums * begun if result.operator == "*=" else sums + begun
        return np.asarray(sums)

    def find_scale(self, volume: str) -> float:
        """Return the largest sum|terms| of a computed volume; 0 for one that is copied or given."""
        for operation in self.program.operations:
            for result in operation.results:
                if result.volume == volume and operation.kind == "compute":
                    with np.errstate(all="ignore"):
                        sums = self._sums(operation, result)
                    return float(sums[np.isfinite(sums)].max(initial=0))
        return 0.0

    def _moved(self, operation: VolumeOperation, result: OperationResult, errors: Errors) -> Array:
        """Return the effect of errors of reads: |w| x' + |x| w' + x' w' of a product."""
        known = {
            label: errors[by.get_tuple_name(OUT) or ""] for label, by in operation.reads.items()
            if errors[by.get_tuple_name(OUT) or ""].any()
        }
        if not known and not any(is_jump(e) for e in walk(parse_expression(result.value))):
            return np.zeros(self.shapes[result.volume])
        beside = {_name(n): by.set_tuple_name(OUT, _name(by.get_tuple_name(OUT) or ""))
                  for n, by in operation.reads.items() if n in known}
        reading = replace(operation, reads={**operation.reads, **beside})
        found = {**self.values, **{_name(n): array for n, array in errors.items()}}

        def near(expr: Expr, read: Read) -> Array:
            return spread(expr, read, known)

        def squared(expr: Expr, read: Read) -> Array:
            return np.asarray(np.square(spread(expr, read, known)))

        if result.operator == "*=":
            return self._of_product(reading, result, found, near)
        if result.operator == "+=" and not self.is_sure:
            return np.asarray(np.sqrt(self._each(reading, result, found, squared)))
        return self._each(reading, result, found, near)

    def _of_product(
        self,
        operation: VolumeOperation,
        result: OperationResult,
        found: Mapping[str, Array],
        near: TermMeaning,
    ) -> Array:
        """Return the product of all |x| + x', less the product of all |x|."""
        def largest(expr: Expr, read: Read) -> Array:
            return np.asarray(np.abs(value(expr, read)) + near(expr, read))

        whole = self._each(operation, result, found, largest)
        return np.asarray(whole - np.abs(self._each(operation, result, found, value)))

    def _each(
        self,
        operation: VolumeOperation,
        result: OperationResult,
        found: Mapping[str, Array],
        meaning: TermMeaning,
    ) -> Array:
        """Return the reduction of instances: their sum, their product, or the largest one."""
        how: Any = {"min=": "max="}.get(result.operator, result.operator)
        empty = {"*=": 1.0}.get(how, 0.0)
        array = np.full(self.shapes[result.volume], empty)
        reduce_into(array, operation, replace(result, operator=how), found, meaning, {})
        return array


def _count_terms(operation: VolumeOperation, result: OperationResult) -> int:
    """Return the largest number of instances that write one element.

    Of iterators that determine an element together, as 2a + b, all but the longest may differ.
    """
    assert operation.loops is not None
    box = extents(operation.loops, {})
    count = math.prod(box[k] for k in find_inner(result))
    for each in depends_on(result.writes):
        count *= math.prod(sorted(box[k] for k in each)[:-1])
    return count


def _name(volume: str) -> str:
    """Return the name of the errors of a volume or a label, as `spread` names them."""
    return f"{volume}'"
