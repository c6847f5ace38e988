"""A candidate: how one way would turn a task into a vector instruction.

Paper    V Sec. 5, conditions 1 to 4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.poly.cardinality import bound_points, count
from lairmake.stages.poly.functions import (
    PE_NAMES,
    find_function,
    is_affine_function,
    project_names,
)


class NotPossibleError(Exception):
    """Why a task cannot become a vector instruction in some way."""


class RankError(NotPossibleError):
    """A vector instruction has not so many dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A box that a vector instruction would run, [p] -> { [k] : origin <= k < origin + sizes }.

    `box` is that set, all of it or the part that has instances, and `change` is { [k] -> [i] },
    from it to the compressed instance set; None where the two are one. `outer` is [p] -> { [o] }:
    the instruction runs once for each of its elements, and depends on them as symbolic constants
    outer0, ...; None where it runs once. `least` and `several` are the least size and the number
    of sizes, each with a configuration of its own; empty where there is one size. `needed` are
    those that occur, [PE_X, PE_Y] -> { [size - least] }. `touched` are the [PE_X, PE_Y] ->
    { T_local[l] } for which memory must have room. `shapes` are those of local tensors that must
    not become others, since dimensions were merged. `each_call`: it is configured before each call.
    """

    way: str
    why: str
    sizes: tuple[isl.PwAff, ...]
    origin: tuple[isl.PwAff, ...]
    box: isl.Set
    change: isl.Map | None = None
    outer: isl.Set | None = None
    least: tuple[isl.PwAff, ...] = ()
    several: tuple[int, ...] = ()
    needed: isl.Set | None = None
    touched: tuple[isl.Set, ...] = ()
    each_call: bool = False
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def components(point: isl.Set) -> tuple[isl.PwAff, ...]:
    """Return the functions f of [p] -> { [f(p)] }, rounded down off their domain."""
    function = find_function(point)
    return tuple(function.get_pw_aff(k).floor() for k in range(point.dim(isl.dim_type.set)))


def firsts(least: Sequence[isl.PwAff], context: isl.Set) -> tuple[isl.PwAff, ...]:
    """Return the least value of each dimension: affine functions, others found at run time.

    The latter are symbolic constants first0, ...
    """
    return tuple(
        value
        if is_affine_function(value, context)
        else isl.PwAff(f"[first{k}] -> {{ [(first{k})] }}")
        for k, value in enumerate(least)
    )


def configurations(candidate: Candidate) -> int:
    """Return how many configurations a PE keeps, at most: one for each size that occurs."""
    if candidate.needed is None:
        return 1
    anywhere = project_names(candidate.needed, PE_NAMES)
    return min(count(anywhere), bound_points(candidate.needed))
