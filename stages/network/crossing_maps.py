"""Which element of an input is which element of an output that another part gives it.

Source   reshaping, transposing, slicing, padding and putting together move elements only: a map of
         what crosses says it, and no part is needed for it
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.layer import Tensor
from lairmake.stages.mapping.isl_texts import IslText, parse_map
from lairmake.stages.mapping.network_yaml import End
from lairmake.stages.mapping.relations import find_several_values
from lairmake.stages.poly.canonical import find_example, list_maps
from lairmake.stages.volumes.operation import make_domain

IN, OUT = isl.dim_type.in_, isl.dim_type.out


def read_moves(
    text: IslText | None, source: End, given: Tensor, to: End, taken: Tensor
) -> isl.Map:
    """Return { output[e] -> input[e'] } of the elements that cross, each of which is one element.

    `given` is the output at `source`, `taken` the input at `to`. Without a text every element is
    the one with the same index. Elements that there are none of cross nowhere: so a map says of a
    slice, or of what is around, only where elements go. Raises UserError for another relation, and
    for an element of the input that is two of the output.
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
    """Return the only map of a text, or say what its form should be."""
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
