"""Which instances a task has on one PE, and which its box hull adds, as a picture of points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl
import numpy as np

from lairmake.stages.poly.box import find_extents
from lairmake.stages.poly.cardinality import bind_constants
from lairmake.stages.poly.functions import PARAM, bind_set, evaluate_set

MOST = 64
"""So many points are drawn along a dimension."""
INSTANCE, HULL = 1, 2
SET = isl.dim_type.set


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The instances of a task for one value of each symbolic constant, and of its outer dimensions.

    `rows` has a digit for each point of a box from `least` on, in the two innermost dimensions: 1
    for an instance, 2 for one of the hull only, 3 for what is in both, else 0. Where the box is cut
    `sizes` are larger than that.
    """

    constants: Mapping[str, int]
    outer: Mapping[str, int]
    dimensions: tuple[str, ...]
    least: tuple[int, ...]
    sizes: tuple[int, ...]
    rows: tuple[str, ...]


def sample(instances: isl.Set, hull: isl.Set | None) -> Sampled | None:
    """Return a picture of instances `[p] -> { [i] }`, and of a hull `[p] -> { [i] }` around them.

    The symbolic constants are the first, in lexicographic order, for which there are instances,
    and others in the hull, if there are any such. None where there is nothing to draw.
    """
    around = instances if hull is None else instances.union(hull)
    extra = around.subtract(instances)
    constants = instances.params()
    both = constants.intersect(extra.params())
    names, values = _first(constants if both.is_empty() else both)
    drawn = [instances] if hull is None else [instances, around]
    here = [_fixed(each, names, values) for each in drawn]
    return None if not here[0].dim(SET) or here[0].is_empty() else _drawn(here, names, values)


def _first(constants: isl.Set) -> tuple[list[str], list[int]]:
    """Return the names and the first values of symbolic constants."""
    points = bind_constants(constants)
    first = points.lexmin() if points.is_bounded() else points
    point = first.sample_point()
    values = [point.get_coordinate_val(SET, k).to_python() for k in range(points.dim(SET))]
    return list(constants.get_var_names_not_none(PARAM)), values


def _fixed(elements: isl.Set, names: list[str], values: list[int]) -> isl.Set:
    """Return { [i] } of `[p] -> { [i] }` for values of its symbolic constants."""
    for name, value in zip(names, values, strict=True):
        at = elements.find_dim_by_name(PARAM, name)
        if at >= 0:
            elements = elements.fix_val(PARAM, at, value).project_out(PARAM, at, 1)
    return elements


def _drawn(here: list[isl.Set], names: list[str], values: list[int]) -> Sampled | None:
    first = here[0].lexmin().sample_point()
    count = here[0].dim(SET)
    outer = [first.get_coordinate_val(SET, k).to_python() for k in range(count)][:-2]
    said = [here[0].get_dim_name(SET, k) or f"i{k}" for k in range(count)]
    slices = [_at(each, outer) for each in here]
    box = find_extents(slices[-1])
    if box is None:
        return None
    axes = [np.arange(low, min(high, low + MOST - 1) + 1, dtype=np.int64) for low, high in box]
    return Sampled(
        constants=dict(zip(names, values, strict=True)),
        outer=dict(zip(said, outer, strict=False)),
        dimensions=tuple(said[len(outer) :]),
        least=tuple(low for low, _ in box),
        sizes=tuple(high - low + 1 for low, high in box),
        rows=_rows(slices, axes),
    )


def _at(elements: isl.Set, outer: list[int]) -> isl.Set:
    """Return { [i, j] } of { [o..., i, j] } for values of what is outer."""
    for at, value in enumerate(outer):
        elements = elements.fix_val(SET, at, value)
    return elements.project_out(SET, 0, len(outer)).reset_tuple_id()


def _rows(slices: list[isl.Set], axes: list[np.ndarray]) -> tuple[str, ...]:
    """Return the digits of the points whose coordinates the axes are."""
    shape = tuple(map(len, axes))
    names = [f"d{k}" for k in range(len(axes))]
    points = dict(zip(names, np.meshgrid(*axes, indexing="ij"), strict=True))
    digits = np.full(shape, ord("0"), dtype=np.uint8)
    for bit, elements in zip((INSTANCE, HULL), slices, strict=False):
        digits += evaluate_set(bind_set(elements, names), points).astype(np.uint8) * np.uint8(bit)
    return tuple(row.tobytes().decode("ascii") for row in digits.reshape(-1, shape[-1]))
