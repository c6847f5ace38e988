"""Whether every element of an input of a part is given once by the parts before.

Elements that never arrive are what layer.yaml says, `otherwise`: nothing may give them.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.mapping.network_yaml import End
from lairmake.stages.network.crossing import Stop
from lairmake.stages.network.crossing_maps import domain_of
from lairmake.stages.poly.canonical import find_example


def check_given(
    arriving: Stop, given: Sequence[tuple[End, isl.Map, Span]], span: Span
) -> None:
    """Raise UserError unless what arrives at a part, or lies in its memory, is given once.

    `given` has, for each output of which the input is made, { output[e] -> input[e'] } and its
    place in network.yaml; `span` is that of the input.
    """
    here = domain_of(arriving.tensor) if arriving.order is None else arriving.order.domain()
    known: list[tuple[End, isl.Map]] = []
    rest = here
    for end, moves, place in given:
        for other, before in known:
            _check_apart(arriving.end, (other, before), (end, moves), place)
        _check_taken(arriving.end, here, end, moves, place)
        rest = rest.subtract(moves.range())
        known.append((end, moves))
    if not rest.is_empty():
        element = f"{arriving.end.part}.{find_example(rest.lexmin())}"
        if arriving.order is None:
            hint = "give it in network.yaml; what others are that do not arrive, `otherwise` says"
            raise UserError(f"{element} lies in memory, and nothing gives it", span, hint)
        hint = "give it in network.yaml, or let it not arrive, and be `otherwise: 0`"
        raise UserError(f"{element} arrives, and nothing gives it", span, hint)


def _check_apart(
    to: End, one: tuple[End, isl.Map], other: tuple[End, isl.Map], span: Span
) -> None:
    """Raise UserError for an element that two outputs give."""
    twice = one[1].range().intersect(other[1].range())
    if twice.is_empty():
        return
    element = twice.lexmin()
    first, second = (f"{end.part}.{_source(moves, element)}" for end, moves in (one, other))
    raise UserError(
        f"{to.part}.{find_example(element)} is {first} and {second}", span,
        "each element that a part takes is one that another gives",
    )


def _check_taken(to: End, here: isl.Set, end: End, moves: isl.Map, span: Span) -> None:
    """Raise UserError for an element that is given, but never arrives."""
    astray = moves.range().subtract(here)
    if astray.is_empty():
        return
    element = astray.lexmin()
    raise UserError(
        f"{to.part}.{find_example(element)} never arrives, but is "
        f"{end.part}.{_source(moves, element)}", span,
        "say where it arrives, or leave it out of the map",
    )


def _source(moves: isl.Map, element: isl.Set) -> str:
    return find_example(moves.intersect_range(element).domain())
