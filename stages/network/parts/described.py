"""A part as a layer: its LAIR, the slices that its tensors are, and what crosses to it.

Tensors have the same names in all parts, so that those which compute alike are one text: `x`, `x1`,
... arrive, `w`, `w1`, ... are weights, and `y` is the result.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl

from lairmake.stages.lair.tree import make_plain_name
from lairmake.stages.network.parts.dividing import Piece
from lairmake.stages.network.parts.grouping import Group
from lairmake.stages.network.parts.loop_names import name_loops
from lairmake.stages.network.parts.resolving import trace
from lairmake.stages.parts.tile_layer import write_lair
from lairmake.stages.parts.tiling import Slice, Tile
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.functions import find_greatest, find_least
from lairmake.stages.poly.iscc import Told, tell
from lairmake.stages.poly.text import spell_object
from lairmake.stages.volumes.operation import Program

IN, OUT, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
RESULT = "y"
Described = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known of a network: its operations, weights, and parts.

    `numbers` are the volumes that have one value everywhere; `parts` has the parts of each volume
    that is the result of one or of several.
    """

    program: Program
    weights: Collection[str]
    numbers: Mapping[str, float]
    parts: Mapping[str, Sequence[Piece]]


def describe(part: Piece, around: Around) -> Described:
    """Return what parts.yaml says of a part."""
    found, group = part.tile, part.group
    sources = {name: _sources(name, slice_, around) for name, slice_ in found.inputs.items()}
    names = _names(found, group, {n for n, each in sources.items() if _is_weight(each, around)})
    return {
        "why": part.why,
        "operations": [each.name for each in group.operations],
        "output": group.result,
        **({} if part.is_whole else {"piece": _slice(found.output)}),
        "inputs": {names[name]: _slice(slice_) for name, slice_ in found.inputs.items()},
        "arrives": {
            names[name]: _arrival(names[name], each, around)
            for name, each in sources.items() if not _is_weight(each, around)
        },
        "leaves": _in_order(tell(_result(part))),
        "lair": write_lair(found, "part", names, around.program.types, name_loops(found, names)),
    }


def find_chained(described: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return by what maps the tensors come that are made of results of parts, these sources first.

    What else they are made of are volumes: inputs of the network, weights, numbers.
    """
    return {
        tensor: dict(sorted(each["from"].items(), key=lambda source: not is_result(source[0])))
        for tensor, each in described["arrives"].items() if any(map(is_result, each["from"]))
    }


def list_given(described: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the files of what such tensors are made of beside results, each with its volume."""
    return [
        (f"given/{tensor}_{n}.npy", end)
        for tensor, sources in find_chained(described).items()
        for n, end in enumerate(sources) if not is_result(end)
    ]


def is_result(end: str) -> bool:
    """Return whether a source is the result of a part, `conv1.y`."""
    return end.endswith(f".{RESULT}")


def _sources(name: str, slice_: Slice, around: Around) -> dict[str, isl.Map]:
    """Return { name[l] -> v[e] } by volumes that are no copies, of a slice that is called so."""
    at = slice_.at().domain_factor_range().set_tuple_name(IN, name)
    return trace(at, around.program)


def _is_weight(sources: Mapping[str, isl.Map], around: Around) -> bool:
    """Return whether all of a tensor is known."""
    return all(name in around.weights or name in around.numbers for name in sources)


def _names(found: Tile, group: Group, weights: Collection[str]) -> dict[str, str]:
    """Return what a part calls its tensors."""
    names: dict[str, str] = {}
    sources = {each.name: each.source for each in group.operations}
    for name in found.inputs:
        stem = "w" if name in weights else "x"
        count = sum(each.startswith(stem) for each in names.values())
        names[name] = f"{stem}{count or ''}"
    for n, name in enumerate(found.computed):
        source = make_plain_name(sources.get(name, "again").lower())
        names[name] = RESULT if name == group.result else f"{source}_{n}"
    return names


def _arrival(called: str, sources: Mapping[str, isl.Map], around: Around) -> Described:
    """Return how a tensor comes: in which order, from where, and what does not come.

    Of what is known, numbers that are equal do not come; all else does.
    """
    numbers = around.numbers
    known = sorted({numbers[name] for name in sources if name in numbers})[:1]
    moving = {name: each for name, each in sources.items() if numbers.get(name) not in known}
    maps = {name: each.set_tuple_name(IN, called) for name, each in moving.items()}
    found: Described = {
        "order": _order(list(maps.values())),
        "from": {
            end: spell_object(each) for name, moved in maps.items()
            for end, each in _list_ends(name, moved, around)
        },
    }
    return {**found, "otherwise": known[0]} if known else found


def _list_ends(
    volume: str, moved: isl.Map, around: Around
) -> Iterator[tuple[str, isl.Map]]:
    """Yield what a user sees that { x[e] -> volume[e'] } leads to, and which element of it.

    That is the result of a part, of which the first element is at zero, or an input of the network.
    """
    for part in around.parts.get(volume, ()):
        if part.is_whole:
            yield f"{part.name}.{RESULT}", moved
        elif not (inside := moved.intersect_range(part.elements)).is_empty():
            yield f"{part.name}.{RESULT}", inside.apply_range(_from_zero(part.elements)).coalesce()
    if volume not in around.parts:
        yield volume, moved


def _from_zero(box: isl.Set) -> isl.Map:
    """Return { v[e] -> v[e - first] } for the elements of a box."""
    name, first = box.get_tuple_name(), [low for low, _ in bounding_box(box)]
    names = letters(len(first))
    there = ", ".join(f"{each} - {low}" for each, low in zip(names, first, strict=True))
    moved = isl.Map(f"{{ {name}[{', '.join(names)}] -> {name}[{there}] }}")
    return moved.intersect_domain(box)


def _order(maps: list[isl.Map]) -> str:
    """Return { x[e] -> [i, ...] }, the order in which a tensor comes over one lane.

    That is its own, row by row, or that of its source, where this is another one. An element of
    that which is there several times, as one that is reflected, comes as often.
    """
    every = maps[0].domain()
    for each in maps[1:]:
        every = every.union(each.domain())
    if len(maps) == 1 and not _is_ordered(maps[0]) and maps[0].is_injective():
        return str(_without_single(maps[0].reset_tuple_id(OUT)))
    return _in_order(tell(every.coalesce()))


def _is_ordered(moved: isl.Map) -> bool:
    """Return whether a function does not change the order of any two elements."""
    return _keeps_order(tell(_plain(moved)))


@functools.lru_cache(256)
def _keeps_order(moved: Told) -> bool:
    """Return whether { [e] -> [e'] } does not change the order of any two elements."""
    plain: isl.Map = moved.it
    later = isl.Map.lex_lt(plain.domain().get_space())
    pairs = later.intersect_domain(plain.domain())
    image = pairs.apply_domain(plain).apply_range(plain)
    return bool(image.is_subset(isl.Map.lex_lt(image.range().get_space())))


def _plain(relation: isl.Map) -> isl.Map:
    return relation.reset_tuple_id(IN).reset_tuple_id(OUT)


@functools.lru_cache(256)
def _in_order(elements: Told) -> str:
    """Return { x[e] -> [e] }, without the dimensions of one element."""
    space = elements.it.get_space()
    same = isl.Map.identity(space.map_from_set()).intersect_domain(elements.it)
    return str(_without_single(same.reset_tuple_id(OUT)))


def _without_single(order: isl.Map) -> isl.Map:
    """Return an order without the dimensions of which there is one value; one at least is left.

    A tensor that is one number has no dimension, and its order has one with the value 0.
    """
    if order.dim(OUT) == 0:
        return order.insert_dims(OUT, 0, 1).fix_val(OUT, 0, 0)
    for k in reversed(range(order.dim(OUT))):
        values = order.range()
        least, most = find_least(values, k), find_greatest(values, k)
        if least.eq(most) and order.dim(OUT) > 1:
            order = order.project_out(OUT, k, 1)
    return order


def _result(part: Piece) -> isl.Set:
    """Return the elements of the result of a part, as it counts them."""
    elements = part.elements
    if not part.is_whole:
        elements = elements.apply(_from_zero(elements)).coalesce()
    return elements.set_tuple_name(RESULT)


def _slice(found: Slice) -> Described:
    return {
        "volume": found.volume, "offset": str(found.offset),
        "stride": list(found.stride), "size": list(found.size),
    }
