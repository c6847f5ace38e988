"""Whether adapters find room on the borders, and sums a place: errors for users.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.layer.routes.adaptation import Adaptation, find_streams
from lairmake.stages.layer.routes.demand import (
    Demand,
    describe_border,
    find_border,
    find_computed,
    find_needed,
    find_span,
    is_in_the_way,
)
from lairmake.stages.layer.routes.feedback import find_astray
from lairmake.stages.poly.canonical import find_example, from_domain


def check_room(adaptation: Adaptation) -> None:
    """Raise UserError where adapters have no room, or sums stay on several PEs."""
    demand, ways = adaptation.demand, adaptation.ways
    for back in ways:
        _check_return(back, adaptation)
    for tensor, spread in adaptation.spread.items():
        for side in spread if tensor not in ways else ():
            span = find_span(tensor, "arrives", demand)
            _check_border(f"spread {tensor}", side, span, demand)
            find_streams(tensor, side, adaptation)
    for tensor, sides in adaptation.collected.items():
        for side in sides if tensor not in ways else ():
            straight = f", or let {tensor} leave straight from the PEs that sum it"
            span = find_span(tensor, "leaves", demand)
            _check_border(f"collect {tensor}", side, span, demand, straight)
    for tensor in adaptation.kept:
        _check_whole(tensor, demand)


def _check_border(
    task: str, side: str, span: Span, demand: Demand, otherwise: str = ""
) -> None:
    """Raise UserError if instances run where adapters must stand to spread or collect."""
    border = isl.UnionSet.from_set(find_border(side, demand))
    used = demand.placement.intersect_range(border)
    if not used.is_empty():
        line = describe_border(side)
        raise UserError(
            f"adapters must {task} on the {line} of the target, "
            f"where {find_example(used.domain())} runs",
            span,
            f"make the target one {line.split()[1]} larger and keep the placement off its "
            f"{line}{otherwise}",
        )


def _check_return(back: str, adaptation: Adaptation) -> None:
    """Raise UserError if instances run where adapters must stand to bring a tensor back."""
    way, demand = adaptation.ways[back], adaptation.demand
    sides = dict.fromkeys(() if way.straight else (way.leaves, way.comes))
    lines = [describe_border(s) for s in sides if is_in_the_way(s, demand)]
    if lines:
        raise _refused_return(back, lines, demand)


def _refused_return(back: str, lines: list[str], demand: Demand) -> UserError:
    """Return the error that says which element is computed on another PE than it is needed."""
    feedback = from_domain(demand.feedback, back)
    needed = isl.UnionMap.from_map(find_needed(back, demand))
    computed = isl.UnionMap.from_map(find_computed(back, demand))
    one = isl.Map.from_union_map(find_astray(computed, needed).apply_domain(feedback))
    one = one.intersect_domain(one.domain().lexmin()).lexmin()
    element, both = one.domain(), one.range().unwrap()
    other, here = both.domain(), both.range()
    tensor = element.get_tuple_name()
    places = find_computed(tensor, demand).intersect_domain(element)
    partly = not places.intersect_range(here).is_empty()
    where = f"{find_example(here)} and {find_example(other)}" if partly else find_example(other)
    return UserError(
        f"{find_example(element)} is computed on {where}, "
        f"but {find_example(here)} needs {'all of ' if partly else ''}it",
        demand.mapping.span("placement"),
        f"place what computes an element of {tensor}, all of it, on the PE that reads it; or "
        f"make the target larger and keep the placement off its {' and '.join(lines)}, for the "
        f"adapters that bring {tensor} there",
    )


def _check_whole(tensor: str, demand: Demand) -> None:
    """Raise UserError if an output that stays in memory is spread over several PEs."""
    computed = find_computed(tensor, demand)
    if computed.is_single_valued():
        return
    twice = computed.lexmin().subtract(computed.lexmax()).domain()
    element = isl.Set.from_point(twice.sample_point())
    here = computed.intersect_domain(element)
    raise UserError(
        f"{find_example(element)} is summed on {find_example(here.lexmin().range())} "
        f"and {find_example(here.lexmax().range())}, and stays in their memory",
        _key(tensor, demand),
        f"say where {tensor} leaves, or place each of its elements on one PE",
    )


def _key(tensor: str, demand: Demand) -> Span:
    """Return the place of what layer.yaml says of a tensor, or of all tensors."""
    mapping = demand.mapping
    path = ("tensors", tensor) if tensor in mapping.tensors else ("tensors",)
    return mapping.key_span(*path)
