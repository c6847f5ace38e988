"""Checks of crossings between parts of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import Span, UserError, plural
from lairmake.stages.lair.layer import Tensor
from lairmake.stages.mapping.network_yaml import End
from lairmake.stages.network.maps import domain_of, sizes_of
from lairmake.stages.poly.canonical import find_example
from lairmake.stages.poly.functions import find_least
from lairmake.stages.poly.sides import SIDES, Rectangle, on_side, turn

# --- Agreement of a departure and an arrival ------------------------------------------------------
#
# { output[e] -> input[e'] } says which elements cross, and which element each becomes at the other
# end. The two rectangles of PEs stand side by side, so that the ports of one are the border PEs of
# the other, and wavelets go straight on. Hence a departure and an arrival agree if, for the
# elements that cross:
#
# - all leave on one side, and arrive on the opposite one;
# - with the first ports next to each other, every element arrives on the lanes on which it leaves;
# - on every lane elements arrive in the order in which they leave, and as often. The values of the
#   index need not be the same: the part that takes the elements counts its own, also those that
#   a sparse arrival needs.
#
# A tensor that stays in memory on both ends is read back after the one part, and lies in memory
# before the start of the other. These checks look at one pair of ends alone. Whether all rectangles
# fit on a wafer, and whether several parts give one input, is checked elsewhere.
#
# Paper    V Sec. 4.1.2: an index gives the order of what passes a port

@dataclass(frozen=True, slots=True, kw_only=True)
class CrossingStop:
    """A tensor where it leaves one part or arrives at another.

    `order` is { tensor[element] -> [PE[x, y] -> index[i]] }, None for one that stays in memory;
    `times` is how often the part runs.
    """

    end: End
    tensor: Tensor
    order: isl.Map | None
    target: Rectangle
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lanes:
    """A stop on the only side that it uses: `order` is { [element] -> [lane, index...] }.

    Lanes count from the first port of the tensor, `ports` is { [lane] -> PE[x, y] }.
    """

    end: End
    side: str
    order: isl.Map
    ports: isl.Map


def check_crossing(
    leaving: CrossingStop, moves: isl.Map, arriving: CrossingStop, span: Span
) -> str:
    """Return the means by which elements cross: `memory`, or `4 ports, east to west`.

    `moves` is { output[e] -> input[e'] }, single-valued in reverse. Raises UserError where the two
    ends do not agree; the error names the first element that does not.
    """
    _check_types(leaving, arriving, span)
    if leaving.order is None or arriving.order is None:
        _check_memory(leaving, arriving, span)
        return "memory"
    _check_times(leaving, arriving, span)
    out = _lanes(leaving, leaving.order.intersect_domain(moves.domain()), "leaves on", span)
    into = _lanes(arriving, arriving.order.intersect_domain(moves.range()), "arrives from", span)
    _check_sides(out, into, span)
    plain = moves.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
    _check_lanes(out, plain, into, span)
    _check_order(out, plain, into, span)
    ports = _lane_of(out).range().count_val().to_python()
    return f"{plural(ports, 'port')}, {SIDES[out.side].word} to {SIDES[into.side].word}"


def check_sizes(leaving: CrossingStop, arriving: CrossingStop, span: Span) -> None:
    """Raise UserError where an output crosses unchanged to an input of other sizes."""
    one, other = leaving.tensor, arriving.tensor
    if one.shape != other.shape:
        raise UserError(
            f"{leaving.end} has the sizes {sizes_of(one)}, but {arriving.end} {sizes_of(other)}",
            span, "a tensor that crosses without a map has the same sizes in both parts",
        )


def _check_types(leaving: CrossingStop, arriving: CrossingStop, span: Span) -> None:
    one, other = leaving.tensor, arriving.tensor
    if one.type != other.type:
        raise UserError(
            f"{leaving.end} is {one.type}, but {arriving.end} is {other.type}",
            span, "a tensor that crosses has the same type in both parts",
        )


def _check_memory(leaving: CrossingStop, arriving: CrossingStop, span: Span) -> None:
    """Raise UserError unless both ends stay in memory."""
    if leaving.order is not None:
        hint = f"say how {arriving.end.tensor} arrives, or let {leaving.end.tensor} stay resident"
        raise UserError(
            f"{leaving.end} leaves, but {arriving.end} is resident and never arrives", span, hint
        )
    if arriving.order is not None:
        hint = f"say how {leaving.end.tensor} leaves, or let {arriving.end.tensor} be resident"
        raise UserError(
            f"{arriving.end} arrives, but {leaving.end} is resident and never leaves", span, hint
        )


def _check_times(leaving: CrossingStop, arriving: CrossingStop, span: Span) -> None:
    if leaving.times != arriving.times:
        one, other = (
            f"{s.end.part} runs {plural(s.times, 'time')}" for s in (leaving, arriving)
        )
        hint = "give both the same `invocations`"
        raise UserError(f"{one}, but {other}", span, hint)


def _lanes(stop: CrossingStop, order: isl.Map, way: str, span: Span) -> _Lanes:
    """Return the elements that cross at a stop, in their order, by lanes.

    Raises UserError, with the first elements, for a tensor that uses two sides.
    """
    used = {s: here for s in SIDES if not (here := on_side(order, s, stop.target)).is_empty()}
    if len(used) > 1:
        firsts = [(_first(here.domain()), SIDES[side].word) for side, here in used.items()]
        one, other = (f"{stop.end.part}.{element} {way} the {word}" for element, word in firsts[:2])
        hint = f"what crosses to one part does so on one side: change {stop.end.tensor}"
        raise UserError(f"{one}, but {other}", span, hint)
    ((side, here),) = used.items()
    lane = turn(side, stop.target).intersect_range(isl.Set("{ [lane, -1] }"))
    lane = lane.project_out(isl.dim_type.out, 1, 1)
    first = find_least(here.range_factor_domain().apply_range(lane).range(), 0).to_python()
    lane = lane.apply_range(isl.Map(f"{{ [l] -> [l - ({first})] }}"))
    return _Lanes(end=stop.end, side=side, order=_by_lane(here, lane), ports=lane.reverse())


def _by_lane(order: isl.Map, lane: isl.Map) -> isl.Map:
    """Return { [e] -> [lane, index...] } of { t[e] -> [PE -> index] } and { PE -> [lane] }."""
    keep = isl.Map.identity(order.range().unwrap().range().get_space().map_from_set())
    flat = order.apply_range(lane.product(keep)).flatten_range()
    return flat.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)


def _lane_of(stop: _Lanes) -> isl.Map:
    """Return { [e] -> [lane] }."""
    return stop.order.project_out(isl.dim_type.out, 1, stop.order.dim(isl.dim_type.out) - 1)


def _check_sides(out: _Lanes, into: _Lanes, span: Span) -> None:
    opposite = SIDES[out.side].far
    if into.side != opposite:
        word = SIDES[opposite].word
        raise UserError(
            f"{_named(out, out.order.domain())} leaves on the {SIDES[out.side].word}, but "
            f"{_named(into, into.order.domain())} arrives from the {SIDES[into.side].word}",
            span, f"side by side, what leaves on the {SIDES[out.side].word} arrives from the {word}"
        )


def _check_lanes(out: _Lanes, moves: isl.Map, into: _Lanes, span: Span) -> None:
    """Raise UserError unless { [e] -> [lane] } is the same on both ends."""
    leaves, taken = _lane_of(out), _lane_of(into)
    arrives = moves.apply_range(taken)
    gone, new = leaves.subtract(arrives), arrives.subtract(leaves)
    astray = gone.domain().union(new.domain())
    if astray.is_empty():
        return
    element = astray.lexmin()
    wrong = moves.reverse().apply_range(new).intersect(taken)
    others = element.apply(moves)
    first = wrong.domain().intersect(others)
    other = (others if first.is_empty() else first).lexmin()
    from_, to = _at(out, gone, leaves, element), _at(into, wrong, taken, other)
    raise UserError(
        f"{_named(out, element)} leaves at {from_}, but {_named(into, other)} arrives at {to}",
        span, "lanes count from the first port of what crosses, and are the same on both ends",
    )


def _at(stop: _Lanes, wrong: isl.Map, lanes: isl.Map, element: isl.Set) -> str:
    """Return the PE and lane of the port of an element: of a wrong one, if there is one."""
    found = wrong.intersect_domain(element)
    lane = (lanes.intersect_domain(element) if found.is_empty() else found).range().lexmin()
    return f"{find_example(lane.apply(stop.ports))}, lane {find_least(lane, 0).to_python()}"


def _check_order(out: _Lanes, moves: isl.Map, into: _Lanes, span: Span) -> None:
    """Raise UserError unless elements arrive on every lane in the order in which they leave.

    Let M = { [lane, index] -> [lane, index'] } lead from departures to arrivals of the same
    elements. Then M is single-valued, and no p < q on a lane have M(p) > M(q).
    """
    moved = out.order.reverse().apply_range(moves).apply_range(into.order)
    moved = moved.intersect(_same_lane(moved))
    _check_once(out, moved, into, span)
    late = isl.Map.lex_gt(moved.range().get_space())
    swapped = moved.apply_range(late).apply_range(moved.reverse())
    swapped = swapped.intersect(isl.Map.lex_lt(moved.domain().get_space()))
    swapped = swapped.intersect(_same_lane(swapped))
    if swapped.is_empty():
        return
    first = swapped.domain().lexmin()
    then = swapped.intersect_domain(first).range().lexmin()
    (one, other), (early, before) = (
        [place.apply(back) for place in (first, then)]
        for back in (out.order.reverse(), moved.apply_range(into.order.reverse()))
    )
    raise UserError(
        f"on lane {find_least(first, 0).to_python()} {_named(out, one)} leaves before "
        f"{_named(out, other)}, but {_named(into, early)} arrives after {_named(into, before)}",
        span, "what leaves first arrives first: change the index of one of the two ends",
    )


def _check_once(out: _Lanes, moved: isl.Map, into: _Lanes, span: Span) -> None:
    """Raise UserError for an element that leaves once on a lane, and arrives more than once."""
    places, last = moved.lexmin(), moved.lexmax()
    twice = places.subtract(last).domain()
    if twice.is_empty():
        return
    place = twice.lexmin()
    one, other = (place.apply(each).apply(into.order.reverse()) for each in (places, last))
    raise UserError(
        f"on lane {find_least(place, 0).to_python()} "
        f"{_named(out, place.apply(out.order.reverse()))} leaves once, but arrives as "
        f"{_named(into, one)} and as {_named(into, other)}",
        span, "let it arrive once, and be read several times",
    )


def _same_lane(relation: isl.Map) -> isl.Map:
    """Return the universe of the relation's space, with the first dimensions equal."""
    universe = isl.Map.universe(relation.get_space())
    return universe.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0)


def _named(stop: _Lanes, elements: isl.Set) -> str:
    return f"{stop.end.part}.{_first(elements.set_tuple_name(stop.end.tensor))}"


def _first(elements: isl.Set) -> str:
    return find_example(elements.lexmin())

# --- Completeness of an input ---------------------------------------------------------------------
#
# Every element of an input must be given exactly once by the parts before, except elements that
# never arrive: these have the value `otherwise` of layer.yaml, and no part may give them.

def check_given(
    arriving: CrossingStop, given: Sequence[tuple[End, isl.Map, Span]], span: Span
) -> None:
    """Raise UserError unless each element of an input, arriving or in memory, is given once.

    `given` has { output[e] -> input[e'] } for each output of which the input is made, with its
    place in network.yaml; `span` is the place of the input.
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
