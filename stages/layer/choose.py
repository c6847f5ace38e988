"""Think of placements where layer.yaml leaves them open, and take the best few to be tried.

Paper    V Sec. 4.1.2, the placement direction (j, i)
Reads    layer.yaml, *.lair, lair.isl
Writes   candidates.yaml    what was thought of, the best first
         slot1/chosen.yaml, slot2/chosen.yaml, slot3/chosen.yaml, slot4/chosen.yaml,
         slot5/chosen.yaml, slot6/chosen.yaml, slot7/chosen.yaml, slot8/chosen.yaml    what is tried
Assumes  nothing of the layer's text.
Ensures  the same layer gives the same candidates, in the same order. Where all fell out, what was
         thought of is still told, and no slot has any.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.search.proposal import Proposal, propose
from lairmake.stages.layer.texts.candidates_yaml import Candidate, Candidates, write_candidates
from lairmake.stages.mapping.candidates import ChosenCandidate, write_chosen
from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.mapping.machine import check_grid, read_machine
from lairmake.stages.mapping.refusals import refusal_text
from lairmake.stages.skewing.elements import read_lair

if TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: tensors, moves, target, placement, search, goal, machine, data.density",
    "*.lair",
    "lair.isl",
)
WRITES = (
    "candidates.yaml",
    "slot1/chosen.yaml",
    "slot2/chosen.yaml",
    "slot3/chosen.yaml",
    "slot4/chosen.yaml",
    "slot5/chosen.yaml",
    "slot6/chosen.yaml",
    "slot7/chosen.yaml",
    "slot8/chosen.yaml",
)
UNUSED = "there are not so many candidates"


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return candidates.yaml, and what the slots try."""
    mapping, layer = inputs.mapping(), inputs.lair()
    lair = read_lair(inputs.objects("lair.isl"))
    profile = read_machine(mapping, inputs)
    check_grid(parse_target(mapping.target), profile, mapping.span("target"))
    proposals = propose(mapping, layer, lair, profile)
    if not proposals:
        raise UserError(
            f"the target {mapping.target.text} has no room for any placement",
            mapping.span("target"), "make it larger",
        )
    found = Candidates(candidates=tuple(_candidates(proposals)))
    tried = [_chosen(each) for each in proposals if each.refused is None]
    texts = itertools.chain(tried, itertools.repeat(refusal_text(UNUSED)))
    slots = dict(zip(WRITES[1:], texts, strict=False))
    return {"candidates.yaml": write_candidates(found), **slots}


def _chosen(proposal: Proposal) -> str:
    """Return what a slot tries, as chosen.yaml has it."""
    return write_chosen(ChosenCandidate(placement=proposal.placement, tensors=proposal.tensors))


def _candidates(proposals: list[Proposal]) -> Iterator[Candidate]:
    """Yield what is said of each proposal; those that are tried are numbered."""
    numbers = itertools.count(1)
    for each in proposals:
        slot = next(numbers) if each.refused is None else len(WRITES)
        yield Candidate(
            slot=slot if slot < len(WRITES) else None, refused=each.refused,
            against=each.against, cycles=each.cycles, memory=each.memory, area=each.area,
            placement=each.placement or None, tensors=each.tensors,
        )
