"""Proposals of placements and ports."""

from __future__ import annotations

import itertools
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.lair.layer import Layer
from lairmake.stages.layer.routes.adaptation import check_room, choose_adaptation, find_demand
from lairmake.stages.layer.search.beam import Search
from lairmake.stages.layer.search.closed_form import (
    SearchState,
    are_free,
    choose_different,
    place_all,
)
from lairmake.stages.layer.search.coordinates import count_elements
from lairmake.stages.layer.search.problem import AXES, Question, ask, find_against
from lairmake.stages.machine.profile import Profile
from lairmake.stages.mapping.candidates import ChosenCandidate, Ports, overlay, write_chosen
from lairmake.stages.mapping.layer_yaml import Goal, LayerMapping
from lairmake.stages.poly.box import bounding_box, find_shape
from lairmake.stages.poly.canonical import letters, list_sets
from lairmake.stages.poly.cardinality import count as count_points
from lairmake.stages.poly.text import spell_object
from lairmake.stages.skewing.elements import Lair

if TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.lair.tree import AccessSyntax

IN, OUT = isl.dim_type.in_, isl.dim_type.out

# --- Ports at the ends of lanes -------------------------------------------------------------------
#
# Indices count from the first element of a port. First come the dimensions that results have in
# common with what arrives, or else the other dimensions of what arrives. Elements that arrive
# though nothing uses them do so beside those that are used.
#
# Paper    V Sec. 4.1.2; which orders are good is not in the paper

First = typing.Literal["results", "sums"]
"""The dimensions of an arrival that come first: those of results, or those that are summed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The statements that read, or write, a tensor { T[e] }, with their accesses.

    What arrives may be of use to none.
    """

    tensor: str
    arrives: bool
    elements: isl.Set
    by: tuple[tuple[Statement, AccessSyntax], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedWay:
    """The axis whose lanes a tensor takes, its sides, and how many elements each carries.

    Where no lane has all parts of a sum, adapters on the border of the side `collect` it.
    """

    axis: int
    sides: tuple[str, ...]
    load: int
    collect: bool = False


def find_order(
    use: Use, way: ProposedWay, state: SearchState, question: Question, first: First
) -> isl.Map:
    """Return { T[e] -> [PE -> index] } of a tensor that takes a way."""
    return _order_ports(
        _find_ports(use, way, state, question), _outermost_first(use, question, first)
    )


def find_used(use: Use, axis: int, state: SearchState, question: Question) -> isl.Map:
    """Return { T[e] -> [c] } of the lanes of an axis on which elements are used."""
    accesses = question.reads if use.arrives else question.writes
    result = isl.Map.from_domain_and_range(use.elements, isl.Set("{ [c] : false }"))
    for statement, _ in use.by:
        at = state.places[statement.name].axes[axis].at.relation
        result = result.union(accesses[statement.name, use.tensor].reverse().apply_range(at))
    return result.coalesce()


def _complete(lanes: isl.Map, elements: isl.Set) -> isl.Map:
    """Return { T[e] -> [c] } of all elements: those that no lane uses are on some of these as well.

    Those beyond what is used are where the nearest one is that is used, which leaves boxes boxes;
    others on the lane that the function of the others gives, or else on the first.
    """
    pieces: list[isl.MultiAff] = []
    lanes.lexmin_pw_multi_aff().foreach_piece(lambda _, function: pieces.append(function))
    known = isl.Set("{ [0] }") if lanes.is_empty() else lanes.range()
    lanes = lanes.union(_extend(lanes, elements.subtract(lanes.domain())))
    missing = elements.subtract(lanes.domain())
    for piece in pieces:
        more = isl.Map.from_multi_aff(piece).intersect_domain(missing).intersect_range(known)
        lanes, missing = lanes.union(more), missing.subtract(more.domain())
    return lanes.union(isl.Map.from_domain_and_range(missing, known.lexmin())).coalesce()


def _extend(lanes: isl.Map, missing: isl.Set) -> isl.Map:
    """Return { T[e] -> [c] } of those of the missing elements that are beyond what lanes use."""
    used = lanes.domain()
    if missing.is_empty() or used.is_empty():
        return lanes.intersect_domain(missing)
    sizes = bounding_box(used)
    names = letters(len(sizes))
    nearest = " and ".join(
        f"{name}1 = max({low}, min({high}, {name}))"
        for name, (low, high) in zip(names, sizes, strict=True)
    )
    tensor = used.get_tuple_name()
    moved = ", ".join(f"{name}1" for name in names)
    clamp = isl.Map(f"{{ {tensor}[{', '.join(names)}] -> {tensor}[{moved}] : {nearest} }}")
    return clamp.intersect_domain(missing).apply_range(lanes)


def _find_ports(use: Use, way: ProposedWay, state: SearchState, question: Question) -> isl.Map:
    """Return { T[e] -> PE[x, y] } of the ports at the ends of its lanes."""
    lanes = _complete(find_used(use, way.axis, state, question), use.elements)
    low, high = AXES[way.axis]
    extent = question.target.bottom if way.axis == 0 else question.target.right
    ends = {low: -1, high: extent + 1}
    shown = {s: _at(way.axis, end) for s, end in ends.items()}
    if way.collect:
        lanes = lanes.lexmin()
    if len(way.sides) == 1:
        return lanes.apply_range(shown[way.sides[0]])
    across = find_used(use, 1 - way.axis, state, question)
    ((first, last),) = bounding_box(across.range())
    nearer = across.intersect_range(isl.Set(f"{{ [c] : 2c <= {first + last} }}")).domain()
    near = lanes.intersect_domain(nearer).apply_range(shown[low])
    return near.union(lanes.subtract_domain(nearer).apply_range(shown[high]))


def _at(axis: int, end: int) -> isl.Map:
    """Return { [c] -> PE } of the port of a lane."""
    return isl.Map(f"{{ [c] -> PE[{f'c, {end}' if axis == 0 else f'{end}, c'}] }}")


def _order_ports(ports: isl.Map, dimensions: Sequence[int]) -> isl.Map:
    """Return { T[e] -> [PE -> index] }: each dimension from the first element of a port on."""
    rank = ports.dim(IN)
    if rank == 0:
        index = isl.Map.from_domain_and_range(ports.wrap(), isl.Set("{ index[0] }"))
        return index.curry()
    least = _find_least(ports.reverse(), rank)
    pairs = ports.domain_map().flat_range_product(ports.range_map().apply_range(least))
    element, offset = letters(rank), [f"{name}0" for name in letters(rank)]
    moved = [f"{element[k]} - {offset[k]}" for k in dimensions]
    listed = ", ".join((*element, *offset))
    index = pairs.apply_range(isl.Map(f"{{ [{listed}] -> index[{', '.join(moved)}] }}"))
    return index.curry().coalesce()


def _find_least(at: isl.Map, rank: int) -> isl.Map:
    """Return { PE -> [o] } with the least value of each dimension of { PE -> T[e] }."""
    parts = [
        at.project_out(OUT, k + 1, rank - k - 1).project_out(OUT, 0, k).lexmin()
        for k in range(rank)
    ]
    result = parts[0]
    for each in parts[1:]:
        result = result.flat_range_product(each)
    return result


def _outermost_first(use: Use, question: Question, first: First) -> list[int]:
    """Return the dimensions of a tensor, those that come first before the others.

    Results come in the order of what arrives either way.
    """
    if not use.by:
        return list(range(use.elements.dim(isl.dim_type.set)))
    statement, access = use.by[0]
    others: Sequence[AccessSyntax] = (statement.target,)
    if not use.arrives:
        others = [a for a in statement.reads if _comes(a.tensor, question)]
    shared = {name for other in others for row in other.rows for name, _ in row.coefficients}
    own = [{name for name, _ in row.coefficients} for row in access.rows]
    later = use.arrives and first == "sums"
    return sorted(range(len(own)), key=lambda k: (bool(own[k] & shared) == later, k))


def _comes(tensor: str, question: Question) -> bool:
    traffic: Mapping[str, object] = question.traffic
    return tensor in question.arriving or tensor in traffic

# --- Ports for tensors that may go anywhere -------------------------------------------------------
#
# layer.yaml lets these tensors arrive or leave anywhere. They arrive on the lanes that need them,
# and leave on those that compute them, so that nothing needs adapters, but for sums of which no
# lane has all parts: these leave behind a border that is free, where adapters collect them. Tensors
# come from both sides, or go to both, if each half of a lane has elements of its own. Streams take
# the sides that have least to carry so far.
#
# Paper    V Sec. 4.1.2; which sides and orders are good is not in the paper

BETWEEN = 16
"""Elements of a lane from which on a stream comes from both sides, or goes to both."""


def open_ports(state: SearchState, question: Question, first: First) -> dict[str, Ports]:
    """Return the ports of all tensors of which layer.yaml does not say them, in an order."""
    loads = {(side, arrives): 0 for side in "NSWE" for arrives in (True, False)}
    for traffic in question.traffic.values():
        for side in traffic.at:
            loads[side, traffic.arrives] += traffic.wavelets
    found: dict[str, Ports] = {}
    for use in list_uses(question):
        ways = list(_list_ways(use, state, question))
        assert ways, f"a border is free to collect {use.tensor}"
        ahead = {side: loads[side, use.arrives] for side in "NSWE"}
        way = min(ways, key=lambda each: max(ahead[side] + each.load for side in each.sides))
        for side in way.sides:
            loads[side, use.arrives] += way.load
        text = spell_object(find_order(use, way, state, question, first))
        found[use.tensor] = Ports(arrives=text) if use.arrives else Ports(leaves=text)
    return found


def list_uses(question: Question) -> Iterator[Use]:
    """Yield the uses of the tensors that may arrive or leave anywhere."""
    elements = {each.get_tuple_name(): each for each in list_sets(question.lair.tensors)}
    for tensor in question.arriving:
        by = [(s, a) for s in question.statements for a in s.reads if a.tensor == tensor]
        yield Use(tensor=tensor, arrives=True, elements=elements[tensor], by=tuple(by))
    for tensor in question.leaving:
        by = [(s, s.target) for s in question.statements if s.target.tensor == tensor]
        yield Use(tensor=tensor, arrives=False, elements=elements[tensor], by=tuple(by))


def _list_ways(use: Use, state: SearchState, question: Question) -> Iterator[ProposedWay]:
    """Yield the ways of a tensor: what leaves needs one lane, and may be a sum along it."""
    places = [state.places[statement.name] for statement, _ in use.by]
    summed = [
        not use.arrives and any(use.tensor in p.axes[axis].along.sums for p in places)
        for axis in (0, 1)
    ]
    for axis, sides in enumerate(AXES):
        if summed[axis] and not all(summed):
            continue
        load = max(
            (
                count_elements(access, statement, place.axes[axis].at.spans)
                for (statement, access), place in zip(use.by, places, strict=True)
            ),
            default=prod(find_shape(use.elements)),
        )
        if all(summed):
            free = [side for side in sides if _is_free(side, state, question)]
            yield from (ProposedWay(axis=axis, sides=(s,), load=load, collect=True) for s in free)
            continue
        yield from (
            ProposedWay(axis=axis, sides=(side,), load=load) for side in _favour(sides, use)
        )
        across = find_used(use, 1 - axis, state, question)
        if load >= BETWEEN and across.is_single_valued() and not across.range().is_singleton():
            yield ProposedWay(axis=axis, sides=sides, load=-(-load // 2))


def _is_free(side: str, state: SearchState, question: Question) -> bool:
    """Say whether adapters have room on the border of a side."""
    assert state.used is not None, "a state has statements"
    extents = question.target.right + 1, question.target.bottom + 1
    return are_free([side], state.used, extents)


def _favour(sides: tuple[str, str], use: Use) -> tuple[str, ...]:
    """Return the sides of an axis: what leaves does so behind what arrives, if all is equal."""
    return sides if use.arrives else sides[::-1]

# --- Proposals of placements and ports ------------------------------------------------------------
#
# They are for what layer.yaml leaves open.
#
# Paper    V Sec. 4.1.2, the placement direction (j, i)

MOST_PROPOSALS = 16
"""The most placements that are looked at more closely."""

ORDERS: tuple[First, ...] = ("results", "sums")
"""The orders in which arrivals are tried: which is better shows only in the programs."""

FEWEST = 4
"""The number of placements that are not refused for their cycles, if they can be."""

SLOW = 2.0
"""The factor on the cycles of the first that others may take: predictions may be that far off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A placement, as layer.yaml has it, of all statements, and ports for tensors left open.

    `cycles`, `memory` in bytes on the busiest PE, and `area` in PEs are predicted; `refused` says
    why it falls out, None where nothing is known against it, and `against` the key of layer.yaml
    that is in the way, if one is.
    """

    placement: str
    tensors: Mapping[str, Ports] = field(default_factory=dict)
    cycles: int
    memory: int
    area: int
    refused: str | None = None
    against: str | None = None


def propose(
    mapping: LayerMapping, layer: Layer, lair: Lair, profile: Profile
) -> list[Proposal]:
    """Return proposals for what layer.yaml leaves open: the best first, refused ones last.

    Raises UserErrors where layer.yaml asks for what there is not.
    """
    question = ask(mapping, layer, lair, profile)
    states = Search(question).run() or Search(question, strict=False).run()
    chosen = choose_different(states, MOST_PROPOSALS, mirrored=_is_symmetric(question))
    found = list(itertools.islice(_propose_all(chosen, question), MOST_PROPOSALS))
    found.sort(key=lambda each: _order(each, mapping.goal, profile))
    if mapping.goal == "cycles":
        found[FEWEST:] = [_drop_slow(each, found[0].cycles) for each in found[FEWEST:]]
    return found


def _is_symmetric(question: Question) -> bool:
    """Say whether columns and rows may change places: no port and no direction tells them apart."""
    told = question.traffic or question.given or question.directions
    return not told and question.target.right == question.target.bottom


def _propose_all(states: Sequence[SearchState], question: Question) -> Iterator[Proposal]:
    """Yield proposals of each state; where tensors may arrive anywhere, in each of the orders."""
    for state in states:
        first = propose_state(state, question, ORDERS[0])
        yield first
        for order in ORDERS[1:] if question.arriving else ():
            other = propose_state(state, question, order)
            if other.tensors != first.tensors:
                yield other


def _drop_slow(proposal: Proposal, least: int) -> Proposal:
    """Return a proposal, refused if it takes many times the least cycles."""
    if proposal.refused is not None or proposal.cycles <= SLOW * least:
        return proposal
    times = proposal.cycles / max(1, least)
    return replace(proposal, refused=f"takes {times:.1f} times the cycles of the first")


def _order(proposal: Proposal, goal: Goal, profile: Profile) -> tuple[bool, int, int, int]:
    """Return what comes first: what may be, or nearly so, then by the goal, then cycles."""
    wanted = {"cycles": proposal.cycles, "memory": proposal.memory, "area": proposal.area}
    then = proposal.memory if goal == "cycles" else proposal.cycles
    lacking = max(0, proposal.memory - profile.memory)
    return proposal.refused is not None, lacking, wanted[goal], then


def propose_state(state: SearchState, question: Question, first: First = ORDERS[0]) -> Proposal:
    """Return a placement with its ports, and whether it is possible."""
    placement = place_all(state)
    text, tensors = spell_object(placement), open_ports(state, question, first)
    refused, against = None, None
    try:
        _check(ChosenCandidate(placement=text, tensors=tensors), placement, question)
        refused = _refuse(state, question)
    except UserError as error:
        refused, against = error.message, find_against(error.span, question.mapping)
    return Proposal(
        placement=text, tensors=tensors, cycles=state.cycles, memory=state.memory,
        area=count_points(isl.Set.from_union_set(placement.range())), refused=refused,
        against=against,
    )


def _check(chosen: ChosenCandidate, placement: isl.UnionMap, question: Question) -> None:
    """Raise UserError where data cannot flow."""
    mapping = question.mapping
    if chosen.tensors:
        mapping = overlay(mapping, Source(path="chosen.yaml", text=write_chosen(chosen)))
    demand = find_demand(mapping, question.lair, placement, question.target)
    check_room(choose_adaptation(demand))


def _refuse(state: SearchState, question: Question) -> str | None:
    """Return why a placement cannot fit in memory; None if it may.

    Only inputs that are there from the start count, and of these boxes: streams may roll.
    """
    most, kept = question.profile.memory, _find_resident(state, question)
    if sum(kept.values()) <= most:
        return None
    largest = sorted(kept, key=lambda tensor: -kept[tensor])[:2]
    parts = ", ".join(f"{tensor} {kept[tensor]}" for tensor in largest)
    target = question.target
    pes = (target.right + 1) * (target.bottom + 1) * -(-sum(kept.values()) // most)
    return (
        f"needs {sum(kept.values())} bytes on a PE ({parts}), {question.profile.name} has {most}; "
        f"a target of some {pes} PEs would have room"
    )


def _find_resident(state: SearchState, question: Question) -> dict[str, int]:
    """Return the bytes on a PE of inputs that are there from the start."""
    moving = {*question.traffic, *question.arriving}
    resident = {each.name for each in question.layer.inputs} - moving
    cut = {
        tensor for statement, tensor in question.reads
        if not question.instances[statement].is_box()
    }
    return {tensor: n for tensor, n in state.kept.items() if tensor in resident - cut}
