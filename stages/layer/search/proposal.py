"""Proposals for what layer.yaml leaves open: a placement, and where tensors arrive and leave.

Paper    V Sec. 4.1.2, the placement direction (j, i)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.lair.layer import Layer
from lairmake.stages.layer.routes.adaptation import check_room, choose_adaptation, find_demand
from lairmake.stages.layer.search.against import find_against
from lairmake.stages.layer.search.beam import Search
from lairmake.stages.layer.search.ending import First
from lairmake.stages.layer.search.opening import open_ports
from lairmake.stages.layer.search.question import Question, ask
from lairmake.stages.layer.search.state import State, choose_different, place_all
from lairmake.stages.machine.profile import Profile
from lairmake.stages.mapping.candidates import Chosen, Ports, overlay, write_chosen
from lairmake.stages.mapping.layer_yaml import Goal, LayerMapping
from lairmake.stages.poly.cardinality import count as count_points
from lairmake.stages.poly.text import spell_object
from lairmake.stages.skewing.elements import Lair

MOST_PROPOSALS = 16
"""How many placements are looked at more closely."""

ORDERS: tuple[First, ...] = ("results", "sums")
"""In which order what arrives is tried: which is better shows only in the programs."""

FEWEST = 4
"""How many are not refused for their cycles, if they can be."""

SLOW = 2.0
"""How many times the cycles of the first others may take; what is predicted may be that far off."""


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


def _propose_all(states: Sequence[State], question: Question) -> Iterator[Proposal]:
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


def propose_state(state: State, question: Question, first: First = ORDERS[0]) -> Proposal:
    """Return a placement with its ports, and whether it can be."""
    placement = place_all(state)
    text, tensors = spell_object(placement), open_ports(state, question, first)
    refused, against = None, None
    try:
        _check(Chosen(placement=text, tensors=tensors), placement, question)
        refused = _refuse(state, question)
    except UserError as error:
        refused, against = error.message, find_against(error.span, question.mapping)
    return Proposal(
        placement=text, tensors=tensors, cycles=state.cycles, memory=state.memory,
        area=count_points(isl.Set.from_union_set(placement.range())), refused=refused,
        against=against,
    )


def _check(chosen: Chosen, placement: isl.UnionMap, question: Question) -> None:
    """Raise UserError where data cannot flow."""
    mapping = question.mapping
    if chosen.tensors:
        mapping = overlay(mapping, Source(path="chosen.yaml", text=write_chosen(chosen)))
    demand = find_demand(mapping, question.lair, placement, question.target)
    check_room(choose_adaptation(demand))


def _refuse(state: State, question: Question) -> str | None:
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


def _find_resident(state: State, question: Question) -> dict[str, int]:
    """Return the bytes on a PE of inputs that are there from the start."""
    moving = {*question.traffic, *question.arriving}
    resident = {each.name for each in question.layer.inputs} - moving
    cut = {
        tensor for statement, tensor in question.reads
        if not question.instances[statement].is_box()
    }
    return {tensor: n for tensor, n in state.kept.items() if tensor in resident - cut}
