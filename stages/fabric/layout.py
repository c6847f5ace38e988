"""Layout.yaml: programs, memory, ports, switch positions."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.diagnose import Source
from lairmake.stages.machine.types import TYPES
from lairmake.stages.mapping.records import Key, as_data, explain, read_record
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.movement.flow import RouterColour
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    evaluate_pw_aff,
    evaluate_set,
    find_function,
)
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

PARAM = isl.dim_type.param

# --- The layout of the fabric that programs run on, as build/layout.yaml has it -----------------

TITLE = "The fabric that the programs run on, in build/simd and in build/loops alike."

Side = Literal["N", "S", "W", "E"]
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMemory:
    """What a program needs of a PE's memory, in bytes."""

    data: Annotated[int, "for its tensors, and what it keeps besides"]
    code: Annotated[int, "for its code, an estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue between a PE and the ramp, of one colour, or of several of which a PE has one."""

    number: Annotated[int, "that of the PE"]
    holds: Annotated[int, "how many wavelets it holds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTensor:
    """A tensor in the memory of each PE of a role."""

    type: Annotated[str, "of its elements"]
    shape: Annotated[tuple[int, ...], "its sizes"]
    address: Annotated[int, "its first byte"]
    tensor: Annotated[str | None, "the global tensor that it is part of"] = None
    transfer: Annotated[
        Literal["in", "out"] | None, "in, if it is put there before the start, or out, at the end"
    ] = None
    stored: Annotated[str | None, Key("map"), "which element of that a local one is"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """The PEs that run a program."""

    at: Annotated[str, "these PEs"]
    origin: Annotated[
        tuple[int, int] | None, "x and y of the PE from which their coordinates count"
    ] = None
    offset: Annotated[tuple[int, int] | None, "x and y of that PE in layer.yaml"] = None
    counters: Annotated[tuple[str, ...] | None, "the tasks that it counts"] = None
    listens: Annotated[tuple[str, ...] | None, "the colours that it hears, or all"] = None
    streams: Annotated[
        Mapping[str, str] | None, "what its part calls colours, by what they are called here"
    ] = None
    input_queues: Annotated[
        Mapping[str, Queue] | None,
        "the queue of each colour that it takes; that of a colour without one holds what a "
        "router's does",
    ] = None
    output_queues: Annotated[
        Mapping[str, Queue] | None,
        "the queue of each colour on which it sends, before its router's",
    ] = None
    memory: Annotated[RoleMemory, "what it needs of a PE, in bytes"]
    tensors: Annotated[Mapping[str, LocalTensor], "its local tensors"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortEntry:
    """How a tensor enters."""

    tensor: Annotated[str, "what enters or leaves"]
    type: Annotated[str, "of its elements"]
    colour: Annotated[str, "on which it enters"]
    side: Annotated[Side, "where that is"]
    sparse: Annotated[bool, "whether zeros are left out"]
    order: Annotated[str, "at which external PE, and in which order"]
    outer: Annotated[
        Box | None, "least and greatest outer indices, each of them a sequence with an end"
    ] = None
    replicas: Annotated[
        str | None,
        "the PEs each of which gets a replica, with a control wavelet that turns its router",
    ] = None
    along: Annotated[str | None, "the adapters that get one, and their ports"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortExit:
    """How a tensor leaves."""

    tensor: Annotated[str, "what enters or leaves"]
    type: Annotated[str, "of its elements"]
    colours: Annotated[tuple[str, ...], "on which it leaves"]
    side: Annotated[Side, "where that is"]
    order: Annotated[str, "at which external PE, and in which order"]
    sparse: Annotated[bool, "whether zeros are left out"] = False
    outer: Annotated[
        Box | None, "least and greatest outer indices, each of them a sequence with an end"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricLayout:
    """What the simulated machine is told of a layer."""

    grid: Annotated[str, "all PEs"]
    roles: Annotated[Mapping[str, Role], "which PEs run which program"]
    colours: Annotated[Mapping[str, RouterColour], "where routers send what they hear"]
    arrivals: Annotated[Mapping[str, PortEntry], "where tensors enter"]
    departures: Annotated[Mapping[str, PortExit], "where tensors leave"]


def read_layout(source: Source) -> FabricLayout:
    """Return a layout. Raises UserErrors where it was edited to be none."""
    return read_record(source, FabricLayout)


def write_layout(layout: FabricLayout, title: str = TITLE) -> str:
    """Return the text of a layout, and at its head a title and what the keys are that occur."""
    return write_document(explain(title, layout), as_data(layout))

# --- Which tensor element a relation gives, for many points at a time ---------------------------

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
DTYPES: dict[str, np.dtype[Any]] = {type_: np.dtype(type_).newbyteorder("<") for type_ in TYPES}
"""The types of tensors, as NumPy has them."""

MOST_OPERATIONS = 10_000
"""How many operations isl may spend on making a function simple."""


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

# --- The numbers of a PE's queues: which colours get which, and how many wavelets those hold ----

def number_queues(
    groups: Sequence[Sequence[str]], words: Mapping[str, int], depths: Sequence[int],
    used: Collection[int], *, is_output: bool,
) -> dict[str, Queue]:
    """Return the queue of each colour; those of a group share one, the first get the deepest.

    `words` are those of 16 bits of a wavelet of each colour, `depths` those that each queue holds.
    Numbers that are `used` come last, for queues of one number share a thread on some machines.
    There are as many depths as groups, or more.
    """
    order = sorted(range(len(depths)), reverse=is_output)
    deepest = sorted(order, key=lambda number: (number in used, -depths[number]))
    return {
        name: Queue(number=deepest[k], holds=depths[deepest[k]] // words[name])
        for k, group in enumerate(groups) for name in group
    }

# --- Switches: what positions the router of a PE has for a colour, and the commands that move it

LAST_BITS, RING, POP = 2, 4, 5
"""The first bits of a switch's parts: `enum switch_bits` of engine.h."""

POP_MODES = ("never", "always", "on an advance", "on an advance, and on nothing")
"""When a router pops the command that it obeys: `enum pop_mode` of engine.h."""

NOP, ADVANCE, RESET = range(3)
"""`enum command` of pe.h."""

FIRST, QUIET, LISTED = 16, 1 << 18, 1 << 19
"""`enum control` of engine.h."""


def encode_quiet(*commands: int) -> int:
    """Return the bits of a control wavelet with these commands that no PE takes."""
    first, *others = commands
    listed = sum(command << 2 * k for k, command in enumerate(others))
    return first << FIRST | QUIET | (LISTED | listed if others else 0)


def find_counts(colour: RouterColour, most: int, x: Ints, y: Ints) -> Ints:
    """Return how many of `most` positions each PE's switch has; it broadcasts as x and y do.

    Raises ValueError for other numbers.
    """
    return _evaluate(colour.counts, "counts", most, (1, most), x, y)


def read_switches(colour: RouterColour, counts: Ints, x: Ints, y: Ints) -> NDArray[np.uint8]:
    """Return a byte for each PE, in position 0; it broadcasts as x and y do.

    Raises ValueError for what a switch cannot be.
    """
    ring = _evaluate(colour.ring, "ring", 1, (0, 1), x, y)
    pop = _evaluate(colour.pop, "pop", 0, (0, len(POP_MODES) - 1), x, y)
    return ((counts - 1) << LAST_BITS | ring << RING | pop << POP).astype(np.uint8)


def _evaluate(
    text: str | None, key: str, otherwise: int, interval: tuple[int, int], x: Ints, y: Ints
) -> Ints:
    """Return n of `{ PE[x, y] -> [n] }`, or `otherwise` where nothing is said."""
    if text is None:
        return np.full((), otherwise, dtype=np.int64)
    function = find_function(bind_domain(isl.Map(text), PE_NAMES))
    coordinates = dict(zip(PE_NAMES, (x, y), strict=True))
    value, defined = evaluate_pw_aff(function.get_pw_aff(0), coordinates)
    result = np.where(defined, value, otherwise)
    wrong = np.flatnonzero((result < interval[0]) | (result > interval[1]))
    if wrong.size:
        number, column, row = (np.broadcast_to(each, result.shape).flat[wrong[0]]
                               for each in (result, x, y))
        raise ValueError(f"{key} is {number} at PE[{column}, {row}]; it is from {interval[0]} to "
                         f"{interval[1]}")
    return result
