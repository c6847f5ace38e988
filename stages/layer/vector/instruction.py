"""A vector instruction as simd.yaml describes it.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from stages.layer.streams.tasks import AT_RUN_TIME
from stages.layer.vector.candidate import Candidate
from stages.layer.vector.memory import Memory
from stages.layer.vector.operands import described, value_of
from stages.layer.vector.situation import Description, Situation
from stages.layer.vector.steps import Step, parts_of
from stages.layer.vector.tables import Tables


def instruction(
    situation: Situation, candidate: Candidate, steps: Sequence[Step], memory: Memory
) -> Description:
    """Return sizes, loops, tables and operations, for memory as it is after extensions."""
    found: Description = {"sizes": [value_of(s) for s in candidate.sizes]}
    if candidate.several:
        found["least"] = [value_of(least) for least in candidate.least]
        found["several"] = list(candidate.several)
    if candidate.needed is not None:
        found["needed"] = str(candidate.needed)
    if candidate.outer is not None:
        found["outer"] = str(candidate.outer)
    found["extents"] = _extents(situation, candidate.sizes)
    listed = [_step(step, memory, len(candidate.sizes)) for step in steps]
    found |= _tables(situation, candidate, [o for step in listed for o in step["operands"]])
    if len(listed) == 1:
        return found | listed[0]
    return found | {"parts": [part.shown() for part in parts_of(steps)], "steps": listed}


def _step(step: Step, memory: Memory, rank: int) -> Description:
    found: Description = {"operation": step.operation}
    if step.looped:
        found["by"] = "loops"
        found["why"] = f"{step.operation} is no vector operation"
    if len(step.along) < rank:
        found["over"] = list(step.along)
    return found | {"operands": [described(o, memory, step.along) for o in step.operands]}


def _tables(
    situation: Situation, candidate: Candidate, operands: Sequence[Description]
) -> Description:
    """Return what an element looks up, if anything; the bases of operands become such constants."""
    if situation.task["kind"] != "react":
        return {}
    tables = Tables(situation)
    if candidate.way in AT_RUN_TIME:
        for k, least in enumerate(situation.exact.minimum):
            tables.holds(f"first{k}", least)
            tables.holds(f"size{k}", candidate.sizes[k])
    for operand in operands:
        if "base" in operand:
            operand["base"] = [tables.place(index) for index in operand["base"]]
    return {"tables": tables.found} if tables.found else {}


def _extents(situation: Situation, sizes: Sequence[isl.PwAff]) -> list[int | list[int]]:
    """Return each size, or its least and greatest value where it is not the same everywhere."""
    domain = situation.elements.params()
    found: list[int | list[int]] = []
    for size in sizes:
        here = size.intersect_params(domain).floor()
        least, greatest = here.min_val().to_python(), here.max_val().to_python()
        found.append(least if least == greatest else [least, greatest])
    return found
