"""Compare what programs computed with the reference, value by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.layer.texts.yaml_files import Check
from lairmake.stages.machine.types import is_integer
from lairmake.stages.reference.error_bound import sum_of_absolutes
from lairmake.stages.reference.evaluate import Arrays


def check(
    values: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    allowed: Sequence[np.ndarray],
) -> Check:
    """Compare one output with the reference: of every invocation, or of the last one.

    Exact data must agree bit for bit (-0 equals 0); else each error must lie within what is
    `allowed`: the bound of stages/reference/error_bound.py, with what errors of other results add to
    it. Where that is 0, as for integers that wrap, all must agree bit for bit as well.
    """
    pairs = list(zip(values, expected[-len(values) :], strict=True))
    bounds = allowed[-len(values) :]
    with np.errstate(invalid="ignore"):
        errors = [np.abs(v.astype(np.float64) - e.astype(np.float64)) for v, e in pairs]
    right = [agree(v, e) for v, e in pairs]
    finite = (np.nan_to_num(e, posinf=np.inf) for e in errors)
    largest = max((float(e.max(initial=0)) for e in finite), default=0.0)
    if bounds:
        right = [r | (e <= b) for r, e, b in zip(right, errors, bounds, strict=True)]
    return Check(
        exact=not any(bound.any() for bound in bounds),
        right=all(bool(r.all()) for r in right),
        max_abs_error=largest,
    )


def agree(values: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return where two arrays hold the same: -0 is 0, and NaN is NaN."""
    same: np.ndarray = (values == expected) | (np.isnan(values) & np.isnan(expected))
    return same


def worst(checks: Sequence[Check]) -> Check:
    """Return the check of a tensor over all variants: right only if all are."""
    return Check(
        exact=all(check.exact for check in checks),
        right=all(check.right for check in checks),
        max_abs_error=max(check.max_abs_error for check in checks),
    )


def check_overflow(
    layer: Layer,
    outputs: Sequence[Mapping[str, Sequence[np.ndarray]]],
    expected: Sequence[Arrays],
) -> None:
    """Raise UserError where a sum is not finite in some order: then no value is the right one.

    A value that is not finite in any order, as 1 / 0, is compared like others.
    """
    writers = {statement.target.tensor: statement for statement in layer.statements}
    for name in (tensor.name for tensor in layer.outputs if not is_integer(tensor.type)):
        for values in (each[name] for each in outputs):
            for value, tensors in zip(values, expected[-len(values) :], strict=True):
                reference = tensors[name]
                finite = np.isfinite(value) & np.isfinite(reference)
                places = np.argwhere(~agree(value, reference) & ~finite)
                if len(places):
                    with np.errstate(all="ignore"):
                        sums = sum_of_absolutes(writers[name], layer, tensors)
                    _refuse_overflow(writers[name], reference.dtype, places[0], sums)


def _refuse_overflow(
    writer: Statement, dtype: np.dtype, place: np.ndarray, sums: np.ndarray
) -> None:
    reached = float(np.nan_to_num(sums[tuple(place)], nan=np.inf, posinf=np.inf))
    limit = float(np.finfo(dtype).max)
    if reached > limit:
        index = "".join(f"[{k}]" for k in place)
        raise UserError(
            f"{writer.target.tensor}{index} overflows {dtype}: its terms reach {reached:.6g} "
            f"together, {dtype} ends at {limit:.6g}",
            writer.target.span,
            hint="make the values of the inputs smaller",
        )
