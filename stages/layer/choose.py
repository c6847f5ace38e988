"""Think of placements where layer.yaml gives none, or directions only, and of what they cost.

Paper    V Sec. 4.1.2, the placement direction (j, i)
Reads    layer.yaml, *.lair, lair.isl
Writes   candidates.yaml    what was thought of, the best first
Assumes  nothing of the layer's text.
Ensures  the same layer gives the same candidates, in the same order.
"""

from __future__ import annotations

import typing

from stages.layer.search.proposal import Proposal, propose
from stages.layer.texts.candidates import Candidate, Candidates, write_candidates
from stages.mapping.machine import read_machine
from stages.skewing.elements import read_lair

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import LayerInputs

READS = ("layer.yaml", "*.lair", "lair.isl")
WRITES = ("candidates.yaml",)


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return candidates.yaml."""
    mapping, lair = inputs.mapping(), read_lair(inputs.objects("lair.isl"))
    profile = read_machine(mapping, inputs.further_path)
    proposals = propose(mapping, inputs.lair(), lair, profile)
    found = Candidates(candidates=tuple(map(_candidate, proposals)))
    return {"candidates.yaml": write_candidates(found)}


def _candidate(proposal: Proposal) -> Candidate:
    return Candidate(
        refused=proposal.refused, cycles=proposal.cycles, memory=proposal.memory,
        area=proposal.area, placement=proposal.placement or None, tensors=proposal.tensors,
    )
