"""Maps of crossings: the elements of an input as elements of outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.layer import Layer, Tensor
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.isl_texts import IslText, parse_map
from lairmake.stages.mapping.network_yaml import End, Network
from lairmake.stages.mapping.relations import find_several_values
from lairmake.stages.poly.canonical import find_example, list_maps
from lairmake.stages.reference.strided import Array, move
from lairmake.stages.volumes.operation import make_domain

IN, OUT = isl.dim_type.in_, isl.dim_type.out

# --- Maps of elements that cross ------------------------------------------------------------------
#
# Source   reshaping, transposing, slicing, padding and putting together move elements only: a map
#          of what crosses says it, and no part is needed for it

def read_moves(
    text: IslText | None, source: End, given: Tensor, to: End, taken: Tensor
) -> isl.Map:
    """Return { output[e] -> input[e'] } of the elements that cross, each from one element.

    `given` is the output at `source`, `taken` the input at `to`. Without a text, elements keep
    their indices. Elements outside of either tensor do not cross, so the map of a slice, or of a
    tensor with padding, need not exclude them. Raises UserError for another relation, and for an
    element of the input that is two elements of the output.
    """
    elements, others = (domain_of(tensor) for tensor in (given, taken))
    if text is None:
        return isl.Map.identity(elements.get_space().map_from_set()).intersect_domain(
            elements
        ).set_tuple_name(OUT, taken.name)
    relation = _typed(text, source, given, to, taken)
    relation = relation.intersect_domain(elements).intersect_range(others)
    if relation.is_empty():
        raise UserError(
            f"nothing of {source} is an element of {to}", text.place,
            f"{given.name} has the sizes {sizes_of(given)}, and {taken.name} {sizes_of(taken)}",
        )
    _check_one(relation, source, to, text.place)
    return relation


def domain_of(tensor: Tensor) -> isl.Set:
    """Return { tensor[element] }."""
    return make_domain(tensor.name, [str(size) for size in tensor.shape], [])


def sizes_of(tensor: Tensor) -> str:
    """Return the sizes of a tensor as LAIR has them: `[8][2]`."""
    return "".join(f"[{size}]" for size in tensor.shape) or "of one number"


def _typed(text: IslText, source: End, given: Tensor, to: End, taken: Tensor) -> isl.Map:
    """Return the only map of a text. Raises UserError, with the right form, for other texts."""
    maps = list_maps(parse_map(text))
    names = [_indices("i", given), _indices("j", taken)]
    form = f"write {{ {given.name}[{names[0]}] -> {taken.name}[{names[1]}] }}"
    wrong = [m for m in maps if not _is_between(m, given, taken)]
    if wrong or not maps:
        found = str(wrong[0].get_space()).strip("{ }") if wrong else "nothing"
        raise UserError(f"the map from {source} to {to} has {found}", text.place, form)
    return maps[0]


def _indices(letter: str, tensor: Tensor) -> str:
    return ", ".join(f"{letter}{k}" for k in range(len(tensor.shape)))


def _is_between(m: isl.Map, given: Tensor, taken: Tensor) -> bool:
    """Return whether a map goes from elements of one tensor to elements of another."""
    ends = ((IN, m.domain_is_wrapping(), given), (OUT, m.range_is_wrapping(), taken))
    return all(
        not is_pair and m.has_tuple_name(kind) and m.get_tuple_name(kind) == tensor.name
        and m.dim(kind) == len(tensor.shape)
        for kind, is_pair, tensor in ends
    )


def _check_one(moves: isl.Map, source: End, to: End, span: Span) -> None:
    """Raise UserError if an element of the input is two of the output."""
    twice = find_several_values(isl.UnionMap.from_map(moves.reverse()))
    if twice is not None:
        element, first, second = find_example(twice[0]), *twice[1:]
        raise UserError(
            f"{to.part}.{element} is {source.part}.{first} and {source.part}.{second}", span,
            "each element that a part takes is one that another gives",
        )

# --- Inputs made of outputs -----------------------------------------------------------------------

def carry(tensor: Tensor, otherwise: float, given: Sequence[tuple[isl.Map, Array]]) -> Array:
    """Return an input, in its type, made of outputs by { output[e] -> input[e'] }.

    Outputs with one axis more have a value for each invocation, all the same number; then the input
    has that axis, too, and outputs without it are the same in each. Other elements are `otherwise`.
    """
    counts = {a.shape[:1] for each, a in given if a.ndim > each.dim(IN)} or {()}
    (count,) = counts
    made = np.full((*count, *tensor.shape), otherwise, tensor.type)
    for each, array in given:
        back = each.reverse()
        values = np.broadcast_to(array, (*count, *array.shape[array.ndim - each.dim(IN):]))
        move(_at_each(back) if count else back, made, values, {})
    return made


def _at_each(back: isl.Map) -> isl.Map:
    """Return { input[n, e'] -> output[n, e] } of { input[e'] -> output[e] }."""
    names = [(kind, back.get_tuple_name(kind)) for kind in (IN, OUT)]
    for kind, _ in names:
        back = back.insert_dims(kind, 0, 1)
    for kind, name in names:
        back = back.set_tuple_name(kind, name)
    return back.equate(IN, 0, OUT, 0)

# --- Ends of crossings ----------------------------------------------------------------------------

def list_unknown_ends(network: Network, layers: Mapping[str, Layer]) -> Iterator[UserError]:
    """Yield an error for each end of a crossing that its part does not have.

    `layers` are the layers of those parts that can be read.
    """
    for crossing in network.crossings:
        ends = [(crossing.to, "input", crossing.span)]
        ends += [(each.end, "output", each.span) for each in crossing.given]
        for end, kind, span in ends:
            layer = layers.get(end.part)
            if layer is None:
                continue
            tensors = layer.inputs if kind == "input" else layer.outputs
            names = [tensor.name for tensor in tensors]
            if end.tensor not in names:
                hint = did_you_mean(end.tensor, names, f"{kind}s")
                yield UserError(f"{end.part} has no {kind} {end.tensor}", span, hint)
