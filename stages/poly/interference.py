"""Extra instances of an approximated instance set, and whether they interfere.

Paper    V Sec. 5.3, (35)-(41), Ex. 5.9
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.bind import find_index_constants, project_names
from lairmake.stages.poly.extents import find_extents

SET = isl.dim_type.set


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """A local tensor's `size` per dimension, and the index `shift` of its first element.

    Local index l of the allocation before the extension is l - shift in the extended one.
    """

    size: tuple[int, ...]
    shift: tuple[int, ...]


def extra_instances(approximated: isl.Set, proper: isl.Set) -> isl.Set:
    """Return `approximated - proper`: what the approximation runs in vain, V (36)."""
    return approximated.subtract(proper).coalesce()


def accessed_by(access: isl.Map, instances: isl.Set, free: Sequence[str]) -> isl.Set:
    """Return the elements that the instances access for any value of `free`, V (38)-(41).

    `access` is `{ [i0, ...] -> y_local[...] }`; `free` are the index symbolic constants, which
    are projected out (none: what a single invocation accesses). Its equalities are found first:
    where some are only implied, `coalesce` of isl may wrap a constraint around one that is parallel
    to it, and follows a null pointer (isl_set_wrap_facet).
    """
    accessed = project_names(instances.apply(access), free)
    return accessed.detect_equalities().coalesce()


def find_conflict(access: isl.Map, instances: isl.Set, used: isl.Set) -> isl.Set:
    """Return the elements that the instances write while others use them, V (40).

    For any value of the index symbolic constants, but for those on which it depends what is `used`.
    """
    free = set(find_index_constants(instances)) - set(find_index_constants(used))
    return accessed_by(access, instances, sorted(free)).intersect(used)


def extend_allocation(size: Sequence[int], accessed_by_extra: isl.Set) -> Extension | None:
    """Return the local tensor that has room for the extra instances as well, V Ex. 5.9.

    In every dimension the interval from 0 to size - 1 is extended to the least and the greatest
    index that an extra instance accesses on any PE.  None if there is no greatest or least.

    Raises ValueError if the dimensions of tensor and accessed elements differ.
    """
    if accessed_by_extra.dim(SET) != len(size):
        raise ValueError(f"{accessed_by_extra} has not {len(size)} dimensions")
    if accessed_by_extra.is_empty():
        return Extension(size=tuple(size), shift=(0,) * len(size))
    found = find_extents(accessed_by_extra)
    if found is None:
        return None
    least = tuple(min(0, low) for low, _ in found)
    sizes = (max(n - 1, high) for n, (_, high) in zip(size, found, strict=True))
    grown = tuple(last - first + 1 for last, first in zip(sizes, least, strict=True))
    return Extension(size=grown, shift=least)
