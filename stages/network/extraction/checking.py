"""Volumes that cannot be: of values that are none, or of elements of others that are not there.

What is inferred of a graph are the shapes of results. Few operators have their operands checked, so
that these need not fit each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import islpy as isl
import numpy as np

TERM = re.compile(r"(?:(?P<factor>\d+)\*)?d(?P<of>\d+)|(?P<number>\d+)")


class NoVolumeError(ValueError):
    """A volume that cannot be: `reason` says why, and `hint` what to do."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


FITTING = "do its operands and attributes fit each other?"


def cannot_read(reason: str) -> NoVolumeError:
    """Return an error for operands or attributes of an operator that give nothing."""
    return NoVolumeError(f"it cannot be read: {reason}", FITTING)


def check_values(name: str, values: np.ndarray[Any, Any], type_: str) -> None:
    """Raise NoVolumeError for values that are no numbers, or are infinite in a type alone."""
    if not np.issubdtype(values.dtype, np.floating) and values.dtype.name != "bfloat16":
        return
    if np.isnan(values).any():
        raise NoVolumeError(f"{name} holds values that are no numbers (NaN)", "export it anew")
    finite = values[np.isfinite(values)]
    most = float(np.abs(finite).max(initial=0))
    if most > float(np.finfo(type_).max):
        hint = "let `type` in network.yaml be a larger one, or scale the graph"
        raise NoVolumeError(f"{name} holds {most:g}, which no {type_} is", hint)


def write_box(shape: Sequence[int]) -> str:
    """Return 0 <= d0 < size and ..., as isl writes it."""
    bounds = [f"0 <= d{k} < {size}" for k, size in enumerate(shape)]
    return " and ".join(bounds) or "true"


def check_inside(
    volume: str, sizes: Sequence[int], at: Sequence[str], over: Sequence[int], where: str = "true"
) -> None:
    """Raise NoVolumeError where { d -> volume[at] : d in the box of `over`, and where } is beyond.

    So it is with another number of dimensions.
    """
    if len(at) != len(sizes) or not _is_inside(at, sizes, over, where):
        shape = " x ".join(map(str, sizes)) or "one number"
        reason = f"it reads more of {volume} than there is: {shape}"
        raise NoVolumeError(reason, FITTING)


def _is_inside(at: Sequence[str], sizes: Sequence[int], over: Sequence[int], where: str) -> bool:
    """Return whether { [d] -> [at] : d in the box of `over`, and where } are in the box of sizes.

    A sum of iterators is largest for the last instance, which says it for these; isl does for
    others.
    """
    ends = [_find_last(each, over) for each in at]
    if all(end is not None and end < size for end, size in zip(ends, sizes, strict=True)):
        return True
    instance = ", ".join(f"d{k}" for k in range(len(over)))
    read = isl.Map(f"{{ [{instance}] -> [{', '.join(at)}] : {write_box(over)} and ({where}) }}")
    element = ", ".join(f"d{k}" for k in range(len(sizes)))
    return read.range().is_subset(isl.Set(f"{{ [{element}] : {write_box(sizes)} }}"))


def _find_last(expression: str, over: Sequence[int]) -> int | None:
    """Return the largest value of a sum of iterators times numbers; None for another expression."""
    last = 0
    for term in expression.split(" + "):
        found = TERM.fullmatch(term)
        if found is None:
            return None
        of, factor, number = found["of"], found["factor"], found["number"]
        last += int(number) if of is None else int(factor or 1) * (over[int(of)] - 1)
    return last
