"""Elements of tensors that a relation gives, for many points at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.layout import PARAM
from lairmake.stages.machine.types import TYPES
from lairmake.stages.poly.arrays import evaluate_pw_aff, evaluate_set
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.functions import bind_domain, find_function
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
DTYPES: dict[str, np.dtype[Any]] = {type_: np.dtype(type_).newbyteorder("<") for type_ in TYPES}
"""The types of tensors, as NumPy has them."""

MOST_OPERATIONS = 10_000
"""Operations that isl may spend on making a function simple."""


def number_elements(
    relation: isl.Map, coordinates: Sequence[Ints], shape: Sequence[int]
) -> tuple[Ints, Bools]:
    """Return the C-order number of the element that `relation` gives at each point, and where.

    `relation` is `{ [PE[x, y] -> T[a...]] -> W[...] }`; `coordinates` holds an array for each
    dimension of its domain, which broadcast against each other; `shape` is that of `W`. A point
    has an element if it is in the domain and the element inside the shape; else the number is 0.

    Raises ValueError if a point has several elements.
    """
    constants = tuple(f"d{i}" for i in range(len(coordinates)))
    function, domain = _function(str(relation), constants, tuple(shape))
    values = dict(zip(constants, coordinates, strict=True))
    defined = evaluate_set(domain, values)
    number = np.zeros((1,) * defined.ndim, dtype=np.int64)
    for i, extent in enumerate(shape):
        number = number * extent + _coordinate(function.get_at(i), domain, values)
    return np.where(defined, number, 0), defined


@lru_cache
def _function(
    text: str, constants: tuple[str, ...], shape: tuple[int, ...]
) -> tuple[isl.PwMultiAff, isl.Set]:
    """Return `[constants] -> { [a...] }` of a relation inside a shape, and where it is defined.

    The programs of a layer, and its bound, all ask for the same. Raises ValueError as above.
    """
    relation = isl.Map(text)
    if not relation.is_single_valued():
        raise ValueError(f"{relation} gives a point several elements")
    inside = relation.flatten_domain().intersect_range(_shape_box(relation, shape))
    bound = bind_domain(inside, constants)
    return find_function(bound), bound.params()


def find_tensor_shape(elements: isl.Set) -> tuple[int, ...]:
    """Return the smallest shape that holds the elements; 0 in every dimension if there are none.

    Raises ValueError if an element has a negative coordinate or there is no bound.
    """
    if elements.is_empty():
        return (0,) * elements.dim(isl.dim_type.set)
    box = bounding_box(elements)
    if any(low < 0 for low, _ in box):
        raise ValueError(f"{elements} has negative coordinates")
    return tuple(high + 1 for _, high in box)


def open_mesh(axes: Sequence[Ints]) -> list[Ints]:
    """Return one array per axis, of as many dimensions as there are axes, that broadcast."""
    return [
        axis.reshape((1,) * i + (-1,) + (1,) * (len(axes) - i - 1)) for i, axis in enumerate(axes)
    ]


def _shape_box(relation: isl.Map, shape: Sequence[int]) -> isl.Set:
    box = isl.Set.universe(relation.range().space)
    if box.dim(isl.dim_type.set) != len(shape):
        raise ValueError(f"{relation} does not give elements of a tensor of shape {list(shape)}")
    for i, extent in enumerate(shape):
        box = box.lower_bound_val(isl.dim_type.set, i, 0)
        box = box.upper_bound_val(isl.dim_type.set, i, extent - 1)
    return box


def _simplified(function: isl.PwAff, domain: isl.Set) -> isl.PwAff | None:
    """Return the function as simple as its domain allows.

    None where isl needs long for that, or makes it rational.
    """
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        simple = function.gist(domain)
        if all(aff.get_denominator_val().is_one() for _, aff in simple.get_pieces()):
            return simple
    return None


def _coordinate(function: isl.PwAff, domain: isl.Set, values: Mapping[str, Ints]) -> Ints:
    """Return the function's values on its domain, in the smallest shape that tells them apart."""
    simple = _simplified(function, domain)
    if simple is None:
        return evaluate_pw_aff(function, values)[0]
    ones = (1,) * len(next(iter(values.values())).shape)
    used = {
        name: value
        for name, value in values.items()
        if (at := simple.find_dim_by_name(PARAM, name)) >= 0
        and simple.involves_dims(PARAM, at, 1)
    }
    return evaluate_pw_aff(simple, {"": np.zeros(ones, dtype=np.int64), **used})[0]
