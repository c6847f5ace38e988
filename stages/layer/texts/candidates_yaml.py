"""Candidates.yaml and slots.yaml: placements that a search tried, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from lairmake.stages.diagnose import Source
from lairmake.stages.mapping.candidates import Ports
from lairmake.stages.mapping.records import (
    as_data,
    explain,
    read_record,
)
from lairmake.stages.mapping.yaml_text import write_document

CANDIDATES_TITLE = (
    "Placements that were thought of, the best first, with what a closed form predicts of them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A placement, and ports of tensors left open, with what is predicted of it."""

    slot: Annotated[int | None, "in which slot it goes through the stages"] = None
    refused: Annotated[str | None, "why it fell out"] = None
    against: Annotated[str | None, "the key of layer.yaml that is in its way"] = None
    cycles: Annotated[int | None, "predicted"] = None
    memory: Annotated[int | None, "in bytes, on the fullest PE"] = None
    area: Annotated[int | None, "in PEs that work"] = None
    placement: Annotated[str | None, "the PE of each instance, as in layer.yaml"] = None
    tensors: Annotated[
        Mapping[str, Ports], "how those arrive and leave of which layer.yaml does not say it"
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All that were thought of, the best first."""

    candidates: Annotated[tuple[Candidate, ...], "what was thought of, the best first"]


def write_candidates(candidates: Candidates) -> str:
    """Return candidates.yaml, and at its head what the keys are that occur."""
    return write_document(explain(CANDIDATES_TITLE, candidates), as_data(candidates))


def read_candidates(source: Source) -> tuple[Candidate, ...]:
    """Return what candidates.yaml says. Raises UserErrors where it was edited to say nothing."""
    return read_record(source, Candidates).candidates


SLOTS_TITLE = "What the stages found of the candidates that were tried, each in its slot."


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What the stages found of one candidate; `refused` by one of them, nothing else is known."""

    taken: Annotated[bool, "whether it is the one that is built"] = False
    refused: Annotated[str | None, "the stage that refused it, and why"] = None
    cycles: Annotated[int, "expected of the programs"] = 0
    memory: Annotated[int, "in bytes, of data and code on the fullest PE"] = 0
    area: Annotated[int, "in PEs that take part"] = 0


def write_slots(slots: Mapping[str, Slot], best: str) -> str:
    """Return slots.yaml, in which the best one is taken."""
    said = {name: replace(slot, taken=name == best) for name, slot in slots.items()}
    return write_document(explain(SLOTS_TITLE, said), as_data(said))

