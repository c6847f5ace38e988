"""A vector instruction as simd.yaml describes it.

Paper    V Sec. 5
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lairmake.stages.layer.texts import yaml_files
from lairmake.stages.layer.texts.task_graph import AT_RUN_TIME, React
from lairmake.stages.layer.texts.yaml_files import Decision, Local, OperandDecision, Size, Table
from lairmake.stages.layer.vector.candidate import Candidate
from lairmake.stages.layer.vector.memory import Memory
from lairmake.stages.layer.vector.operands import describe, write_value
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.layer.vector.steps import Step, find_parts
from lairmake.stages.layer.vector.tables import Tables
from lairmake.stages.poly.functions import greatest_value, least_value


def instruction(
    decision: Decision,
    situation: Situation,
    candidate: Candidate,
    steps: Sequence[Step],
    memory: Memory,
) -> Decision:
    """Return a decision with sizes, loops, tables and operations.

    For memory as it is after extensions.
    """
    listed = [_step(step, memory, len(candidate.sizes)) for step in steps]
    tables, listed = _tables(situation, candidate, listed)
    found = replace(
        decision,
        sizes=tuple(write_value(size) for size in candidate.sizes),
        least=tuple(write_value(each) for each in candidate.least) if candidate.several else (),
        several=tuple(candidate.several),
        needed=None if candidate.needed is None else str(candidate.needed),
        outer=None if candidate.outer is None else str(candidate.outer),
        extents=_extents(candidate),
        tables=tables,
    )
    if len(listed) == 1:
        return _alone(found, listed[0])
    parts = tuple(part.shown() for part in find_parts(steps))
    return replace(found, parts=parts, steps=tuple(listed))


def _alone(decision: Decision, step: yaml_files.StepDecision) -> Decision:
    """Return a decision with the only step."""
    return replace(
        decision,
        by=step.by or decision.by,
        why=step.why or decision.why,
        operation=step.operation,
        over=step.over,
        operands=step.operands,
    )


def _step(step: Step, memory: Memory, rank: int) -> yaml_files.StepDecision:
    return yaml_files.StepDecision(
        operation=step.operation,
        by="loops" if step.looped else None,
        why=f"{step.operation} is no vector operation" if step.looped else None,
        over=None if step.along == tuple(range(rank)) else step.along,
        operands=tuple(describe(operand, memory, step.along) for operand in step.operands),
    )


def _tables(
    situation: Situation, candidate: Candidate, steps: list[yaml_files.StepDecision]
) -> tuple[dict[str, Table], list[yaml_files.StepDecision]]:
    """Return what an element looks up, and the steps with such constants in bases of operands."""
    if not isinstance(situation.task, React):
        return {}, steps
    tables = Tables(situation)
    if candidate.way in AT_RUN_TIME:
        for k, least in enumerate(situation.exact.minimum):
            tables.holds(f"first{k}", least)
            tables.holds(f"size{k}", candidate.sizes[k])
    placed = [
        replace(step, operands=tuple(_placed(operand, tables) for operand in step.operands))
        for step in steps
    ]
    return tables.found, placed


def _placed(operand: OperandDecision, tables: Tables) -> OperandDecision:
    if not isinstance(operand, Local):
        return operand
    return replace(operand, base=tuple(tables.place(index) for index in operand.base))


def _extents(candidate: Candidate) -> tuple[Size, ...]:
    """Return each size, or its least and greatest value where it is not the same everywhere."""
    domain = candidate.box.params()
    found: list[Size] = []
    for size in candidate.sizes:
        here = size.intersect_params(domain).floor()
        least, greatest = least_value(here).to_python(), greatest_value(here).to_python()
        found.append(least if least == greatest else (least, greatest))
    return tuple(found)
