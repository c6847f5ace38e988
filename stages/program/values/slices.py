"""Which elements of an object a subscript means.

Paper    E Sec. 5.3: slices of axes 0 and 1 say which PEs take part
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any

from lairmake.stages.program.values.errors import ProgramError
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    Form,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The elements of one axis: `size` of them from `start` on. An index `drops` its axis."""

    start: int
    size: int
    step: int = 1
    drops: bool = False

    @property
    def key(self) -> slice | int:
        """The subscript of NumPy that means these elements."""
        if self.drops:
            return self.start
        stop = self.start + self.size * self.step
        return slice(self.start, stop if stop >= 0 else None, self.step)


Region = tuple[Axis, ...]
"""One axis of the object each."""


def whole_region(shape: Sequence[int]) -> Region:
    """Return all elements."""
    return tuple(Axis(start=0, size=size) for size in shape)


def find_region(form: Form, key: Any) -> tuple[Form, Region]:
    """Return the form of `x[key]`, and its elements. Raises ProgramError."""
    given = key if isinstance(key, tuple) else (key,)
    keys = _spread(form, given)
    axes = tuple(_axis(form, n, each) for n, each in enumerate(keys))
    kept = tuple(axis.size for axis in axes if not axis.drops)
    if form.kind == GLOBAL_ARRAY and not kept:
        return Form(kind=GLOBAL_SCALAR, type=form.type), axes
    if not form.is_on_pes:
        return replace(form, shape=kept), axes
    origin = (form.origin[0] + axes[0].start, form.origin[1] + axes[1].start)
    kind = LOCAL_ARRAY if len(kept) > 2 else LOCAL_SCALAR
    return Form(kind=kind, type=form.type, shape=kept, origin=origin), axes


def take_region(region: Region, inner: Region) -> Region:
    """Return the elements that a subscript of a slice means: `inner` counts the axes kept."""
    given = iter(inner)
    return tuple(axis if axis.drops else _within(axis, next(given)) for axis in region)


def _within(axis: Axis, inner: Axis) -> Axis:
    return Axis(
        start=axis.start + axis.step * inner.start, size=inner.size,
        step=axis.step * inner.step, drops=inner.drops,
    )


def _spread(form: Form, given: tuple[Any, ...]) -> list[Any]:
    """Return a subscript for each axis: `...`, and what is left out, stand for whole axes."""
    for each in given:
        if each is None:
            raise ProgramError("np.newaxis: objects get no further axes")
        if not isinstance(each, (slice, EllipsisType)) and not _is_index(each):
            raise ProgramError("a subscript that is neither a slice nor an integer",
                               "masks and lists of indices are not there: `np.where(mask, a, b)`")
    dots = [n for n, each in enumerate(given) if each is Ellipsis]
    rank = len(form.shape)
    if len(dots) > 1 or len(given) - len(dots) > rank:
        raise ProgramError(f"{len(given)} subscripts for a {form.kind} of rank {rank}")
    at = dots[0] if dots else len(given)
    before, after = list(given[:at]), list(given[at + 1 :])
    return [*before, *[slice(None)] * (rank - len(before) - len(after)), *after]


def _is_index(key: Any) -> bool:
    try:
        operator.index(key)
    except TypeError:
        return False
    return not isinstance(key, bool)


def _axis(form: Form, n: int, key: Any) -> Axis:
    size, is_pe = form.shape[n], form.is_on_pes and n < 2
    if not isinstance(key, slice):
        at = operator.index(key)
        if is_pe:
            said = f"index {at} of axis {n}: axes 0 and 1 are PEs, which stay apart"
            stop = at + 1 if at != -1 else None
            raise ProgramError(said, f"write {at}:{'' if stop is None else stop}")
        if not -size <= at < size:
            raise ProgramError(f"index {at} of axis {n}, which has {size} elements")
        return Axis(start=at % size, size=1, drops=True)
    try:
        start, stop, step = key.indices(size)
    except TypeError:
        said = f"slice of axis {n} has an end that is no integer"
        raise ProgramError(said, "`x[1:-1]`; a quotient of integers is `n // 2`") from None
    except ValueError:
        raise ProgramError(f"slice of axis {n} has a step of 0") from None
    count = len(range(start, stop, step))
    if is_pe and step != 1:
        raise ProgramError(f"a step of {step} in axis {n}, which is one of PEs",
                           "slices of PEs have no steps yet; those in memory have")
    if not count:
        raise ProgramError(f"slice {_spell(key)} of axis {n} is empty: it has {size} elements")
    return Axis(start=start, size=count, step=step)


def _spell(key: slice) -> str:
    parts = ["" if each is None else str(each) for each in (key.start, key.stop)]
    return ":".join([*parts, *([] if key.step is None else [str(key.step)])])
