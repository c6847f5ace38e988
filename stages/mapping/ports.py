"""Ports and tensors of layer.yaml, checked: the places where tensors arrive and leave."""

from __future__ import annotations

import math
import typing
from collections.abc import Iterator, Mapping as Named
from typing import Protocol

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.layer import Layer
from lairmake.stages.lair.offsets import suggest_offsets, write_access
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.machine.types import holds
from lairmake.stages.mapping.isl_texts import IslText, parse_map
from lairmake.stages.mapping.layer_yaml import Analysis, LayerMapping, TensorMapping
from lairmake.stages.mapping.relations import find_several_values
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import find_example, list_maps
from lairmake.stages.poly.sides import SIDES, Rectangle, ports

# --- Ports of tensors -----------------------------------------------------------------------------
#
# Paper    V Sec. 4.1.2

LARGEST_INDEX = 65535
"""A sparse wavelet holds an index of 16 bits."""

LARGEST_NUMBER = 2**30
"""Loops count in 32 bits, and may step once more beyond the last index."""

MOST_SEQUENCES = 2**20
"""Every sequence ends with a wavelet of its own, however empty it is."""

Direction = typing.Literal["arrives", "leaves"]


def read_ports(
    mapping: LayerMapping, tensor: str, direction: Direction, elements: isl.Set, target: Rectangle
) -> isl.Map | None:
    """Return { tensor[element] -> [PE[x, y] -> index[i]] }; None if layer.yaml says nothing.

    Raises UserError if the relation is of another form, if a PE is not adjacent to the target,
    or if not every element has one index of its own at a PE.
    """
    text = getattr(mapping.tensors.get(tensor), direction, None)
    if text is None:
        return None
    span = text.place
    relation = _typed(parse_map(text), tensor, direction, elements, span)
    relation = relation.intersect_domain(elements)
    if mapping.tensors[tensor].otherwise is None:
        _check_total(relation, elements, tensor, direction, span)
    _check_adjacent(relation, tensor, direction, target, span)
    _check_once(relation, direction, span)
    _check_distinct(relation, direction, span)
    _check_numbers(relation, f"{tensor} {direction}", span)
    if mapping.tensors[tensor].sparse:
        _check_sequences(relation, tensor, span)
    return relation


def _typed(
    union: isl.UnionMap, tensor: str, direction: str, elements: isl.Set, span: Span
) -> isl.Map:
    """Return the only map of the union, or say what its form should be."""
    rank = elements.dim(isl.dim_type.set)
    maps = list_maps(union)
    if len(maps) == 1 and _is_port_map(maps[0], tensor, rank):
        return maps[0]
    wrong = [m for m in maps if not _is_port_map(m, tensor, rank)]
    names = ", ".join(f"i{k}" for k in range(rank))
    form = f"write {{ {tensor}[{names}] -> [PE[x, y] -> index[...]] }}"
    if not maps:
        raise UserError(f"{tensor} never {direction}", span, form)
    if wrong:
        given = " and ".join(str(m.get_space()).strip("{ }") for m in wrong)
        raise UserError(f"{tensor} {direction} as {given}", span, form)
    lengths = " and ".join(sorted(str(m.range_factor_range().dim(isl.dim_type.out)) for m in maps))
    hint = "at all ports an index has the same number of dimensions"
    raise UserError(f"{tensor} {direction} with indices of {lengths} dimensions", span, hint)


def _is_port_map(m: isl.Map, tensor: str, rank: int) -> bool:
    if m.get_tuple_name(isl.dim_type.in_) != tensor or m.dim(isl.dim_type.in_) != rank:
        return False
    if not m.range_is_wrapping() or m.dim(isl.dim_type.param):
        return False
    pair = m.range().unwrap()
    return (
        pair.get_tuple_name(isl.dim_type.in_) == "PE"
        and pair.dim(isl.dim_type.in_) == 2
        and pair.get_tuple_name(isl.dim_type.out) == "index"
        and pair.dim(isl.dim_type.out) > 0
    )


def _check_total(
    relation: isl.Map, elements: isl.Set, tensor: str, direction: str, span: Span
) -> None:
    missing = elements.subtract(relation.domain()).lexmin()
    if not missing.is_empty():
        hint = f"say where every element of {tensor} {direction}"
        hint += ", or what others are: `otherwise: 0`" if direction == "arrives" else ""
        raise UserError(f"{find_example(missing)} never {direction}", span, hint)


def _check_adjacent(
    relation: isl.Map, tensor: str, direction: str, target: Rectangle, span: Span
) -> None:
    places = relation.range_factor_domain().range()
    for side in SIDES:
        places = places.subtract(ports(side, target))
    if not places.is_empty():
        word = "arrives from" if direction == "arrives" else "leaves to"
        hint = (
            f"the target is PE[{target.left}:{target.right}, {target.top}:{target.bottom}]; "
            "external PEs stand one step outside it"
        )
        raise UserError(
            f"{tensor} {word} {find_example(places)}, which is not adjacent to the target",
            span,
            hint,
        )


def _check_once(relation: isl.Map, direction: str, span: Span) -> None:
    twice = find_several_values(isl.UnionMap.from_map(relation.uncurry()))
    if twice is None:
        return
    pair = isl.Set.from_union_set(twice[0]).unwrap()
    verb = "arrives at" if direction == "arrives" else "leaves at"
    raise UserError(
        f"{find_example(pair.domain())} {verb} {find_example(pair.range())} "
        f"with {twice[1]} and with {twice[2]}",
        span,
        "at one PE every element has one index",
    )


def _check_distinct(relation: isl.Map, direction: str, span: Span) -> None:
    if relation.is_injective():
        return
    twice = relation.reverse()
    place = twice.lexmin().subtract(twice.lexmax()).domain().lexmin()
    point = isl.Set.from_point(place.sample_point())
    first = find_example(twice.lexmin().intersect_domain(point).range())
    second = find_example(twice.lexmax().intersect_domain(point).range())
    pe, index = point.unwrap().domain(), point.unwrap().range()
    verb = "arrive" if direction == "arrives" else "leave"
    raise UserError(
        f"{first} and {second} both {verb} at {find_example(pe)} with {find_example(index)}",
        span,
        "at one PE every element has its own index",
    )


def _check_numbers(relation: isl.Map, what: str, span: Span) -> None:
    for low, high in bounding_box(relation.range_factor_range().range()):
        if low < -LARGEST_NUMBER or high > LARGEST_NUMBER:
            hint = f"indices lie from -{LARGEST_NUMBER} to {LARGEST_NUMBER}"
            raise UserError(f"{what} with indices {low} to {high}", span, hint)


def _check_sequences(relation: isl.Map, tensor: str, span: Span) -> None:
    """Raise UserError unless indices fit in a sparse wavelet, and sequences are not too many."""
    *outer, (low, high) = bounding_box(relation.range_factor_range().range())
    if low < 0 or high > LARGEST_INDEX:
        raise UserError(
            f"{tensor} is sparse and has indices {low} to {high}",
            span,
            f"a sparse wavelet holds an index from 0 to {LARGEST_INDEX}",
        )
    count = math.prod(last - first + 1 for first, last in outer)
    if count > MOST_SEQUENCES:
        raise UserError(
            f"{tensor} is sparse and has {count} sequences, at most {MOST_SEQUENCES} are allowed",
            span,
            "outer indices span a box, and each of its points is a sequence: leave no gaps",
        )

# --- Tensors of layer.yaml, checked against the layer ---------------------------------------------

class Said(Protocol):
    """What is said of where and how a layer runs, and where it is said."""

    @property
    def tensors(self) -> Named[str, TensorMapping]:
        """What is said of tensors."""

    @property
    def placement(self) -> IslText | None:
        """Where instances run."""

    @property
    def search(self) -> list[str]:
        """Statements for which a search finds places."""

    @property
    def schedule(self) -> IslText | None:
        """When instances run."""

    @property
    def moves(self) -> Named[str, str]:
        """How PEs get what others compute, by tensor."""

    @property
    def analysis(self) -> Analysis:
        """The tensors between which the program map goes."""

    def span(self, *path: str | int) -> Span:
        """Return the place of a value."""

    def key_span(self, *path: str | int) -> Span:
        """Return the place of a key."""


def check_tensors(mapping: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error for every tensor of layer.yaml that the layer has not, or not so."""
    inputs = {tensor.name for tensor in layer.inputs}
    outputs = {tensor.name for tensor in layer.outputs}
    for name, tensor in mapping.tensors.items():
        if tensor.sparse:
            yield from _check_sparse(name, mapping, layer)
        place = mapping.key_span("tensors", name)
        if name in layer.tensors and name not in inputs | outputs:
            hint = f"make it an output of {layer.name}, or leave it out here"
            yield UserError(f"{name} goes from statement to statement only", place, hint)
        elif name not in inputs | outputs:
            known = [tensor.name for tensor in (*layer.inputs, *layer.outputs)]
            hint = did_you_mean(name, known, f"tensors of {layer.name}")
            yield UserError(f"unknown tensor {name}", place, hint)
        elif tensor.arrives is not None and name in outputs:
            hint = "outputs leave"
            yield UserError(f"{name} is an output and cannot arrive", place, hint)
        elif tensor.leaves is not None and name in inputs:
            hint = "inputs arrive"
            yield UserError(f"{name} is an input and cannot leave", place, hint)
        if tensor.otherwise is not None and name in inputs:
            yield from _check_otherwise(name, tensor.otherwise, mapping, layer)
        if tensor.next is not None:
            yield from _check_next(name, tensor.next, mapping, layer)


def _check_sparse(name: str, mapping: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error if an output that does not leave, or not of 16 bits, should be sparse."""
    place = mapping.key_span("tensors", name, "sparse")
    if name in {t.name for t in layer.outputs} and mapping.tensors[name].leaves is None:
        hint = "zeros are left out of what moves: say where it leaves, or leave `sparse` out"
        yield UserError(f"{name} is an output that does not leave, and sparse", place, hint)
    type_ = layer.tensors[name].type if name in layer.tensors else None
    if type_ is not None and not type_.endswith("16"):
        hint = "a sparse wavelet holds 16 bits of value and 16 of index: use float16 or int16"
        yield UserError(f"{name} is sparse, and {type_}", place, hint)
    if name in {t.name for t in layer.inputs}:
        yield from _check_views(name, layer)


def _check_views(name: str, layer: Layer) -> Iterator[UserError]:
    """Yield an error for each statement that accesses what comes element by element several times.
    """
    for statement in layer.statements:
        again = next((a for a in statement.reads if a.tensor == name and a.view is not None), None)
        if again is not None:
            instead = suggest_offsets(statement, name)
            hint = f"leave `sparse` out of layer.yaml, or give the statement an input of its own " \
                   f"for {write_access(again)}, with the same values"
            if instead is not None:
                hint = f"sum over the offsets, {instead}; or leave `sparse` out of layer.yaml"
            message = f"{name} is sparse, and accessed in two ways in one statement"
            yield UserError(message, again.span, hint)


def _check_otherwise(
    name: str, value: float, mapping: Said, layer: Layer
) -> Iterator[UserError]:
    """Yield an error for a value that the tensor's type has not, or that is sent where sparse."""
    place, type_ = mapping.span("tensors", name, "otherwise"), layer.tensors[name].type
    if not holds(type_, value):
        hint = "elements that never arrive are values of the tensor's type"
        yield UserError(f"{type_} has no {value:g}", place, hint)
    if mapping.tensors[name].sparse and value != 0:
        hint = "what is left out of a sparse tensor is 0; leave `sparse` out"
        yield UserError(f"{name} is sparse, and otherwise {value:g}", place, hint)


def _check_next(name: str, following: str, mapping: Said, layer: Layer) -> Iterator[UserError]:
    """Yield an error if `following` is no output of the kind of `name`, or if `name` arrives."""
    span = mapping.span("tensors", name, "next")
    outputs = {tensor.name: tensor for tensor in layer.outputs}
    if name in outputs:
        hint = "an input becomes an output: `x: {next: y}`"
        yield UserError(f"{name} is an output and has no next", span, hint)
    elif following not in outputs:
        hint = did_you_mean(following, outputs, "outputs")
        yield UserError(f"{following} is no output", span, hint)
    elif name in layer.tensors:
        old, new = layer.tensors[name], outputs[following]
        if (old.type, old.shape) != (new.type, new.shape):
            hint = "after an invocation the one takes the other's place"
            yield UserError(f"{following} has not the type and shape of {name}", span, hint)
        elif mapping.tensors[name].arrives is not None:
            hint = "leave one of them out: what arrives is given for every invocation"
            yield UserError(f"{name} arrives, and has a next", span, hint)
