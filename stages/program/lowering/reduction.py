"""The program of reduction PEs, in C: those of the strips, between workers and the control row.

Paper    E Sec. 4.2, Fig. 4
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stages.jinja import template_in
from stages.program.lowering.calls import (
    Called,
    ask,
    find_limit,
    find_most_arguments,
    name_colours,
)
from stages.program.lowering.lowered import REDUCTION, Material, PeProgram
from stages.program.lowering.routines import VECTORS
from stages.program.sections.program import HALT, REDUCE, Procedure, Sections
from stages.program.values.arithmetic import DTYPES
from stages.program.values.sums import STEPS, find_accumulator, find_neutral
from stages.program.vm.colours import (
    ARGS,
    CTRL,
    REDUCTION_1,
    REDUCTION_2,
    REDUCTION_3,
    REDUCTION_4,
    REDUCTION_BROADCAST,
)

DATA = ("templates/shared.c.j2", "templates/reduction.c.j2")
TEMPLATES = Path(__file__).parent / "templates"
VARIABLES = ("farthest", "upper_left", "upper_right", "lower_right", "rows", "columns")
TASKS = ("run", "sent", "took_columns", "took_rows")
FUNCTIONS = 12
"""Those of a program with reductions, of which code is estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """What a procedure adds up: its number, instruction, operands, and the bits it begins with."""

    number: int
    operation: str
    kept: str
    result: str
    neutral: str


def write_reduction(material: Material, conditions: Mapping[str, str]) -> PeProgram:
    """Return the program of reduction PEs; `conditions` are geo-vars, as for workers."""
    procedures = material.sections.procedures
    reductions = tuple(_write(number, each) for number, each in enumerate(procedures)
                       if each.kind == REDUCE)
    wanted = find_results(material.sections)
    colours = (REDUCTION_1, REDUCTION_2, REDUCTION_4, *wanted) if reductions else ()
    names = {REDUCE: "reduce", HALT: "halt"}
    routines = [Called(name=names.get(each.kind, "drop"), procedure=each.name, count=each.count)
                for each in procedures]
    most = find_most_arguments(procedures)
    text = template_in(TEMPLATES, "reduction.c.j2", __name__).render(
        colours=name_colours((CTRL, ARGS, *colours), material.colours), most=most,
        asked=ask(VARIABLES, conditions) if reductions else (), reductions=reductions,
        local=REDUCTION_BROADCAST in wanted, to_executive=REDUCTION_3 in wanted,
        drops=any(each.name == "drop" for each in routines), routines=routines,
        limit=find_limit(procedures, material.profile),
    )
    return PeProgram(
        role=REDUCTION, text=text, data=4 + 2 * (most + 4), tensors={},
        functions=FUNCTIONS if reductions else 4,
        activated=TASKS if reductions else TASKS[:1], vectors=3,
    )


def find_results(sections: Sections) -> tuple[str, ...]:
    """Return the colours on which results of reductions go: to all workers, to the executive."""
    reduced = {number for number, each in enumerate(sections.procedures) if each.kind == REDUCE}
    local = {call.arguments[0] for calls in sections.sections for call in calls
             if call.procedure in reduced}
    return tuple(colour for colour, value in ((REDUCTION_BROADCAST, 1), (REDUCTION_3, 0))
                 if value in local)


def _write(number: int, procedure: Procedure) -> Reduction:
    result, source = procedure.types[0], procedure.types[-1]
    type_ = find_accumulator(procedure.op, source)
    neutral = find_neutral(procedure.op, source).tobytes().ljust(4, b"\0")
    bits = int.from_bytes(neutral, "little", signed=True)
    assert DTYPES[type_].itemsize <= len(neutral)
    return Reduction(
        number=number, operation=VECTORS[STEPS[procedure.op]], kept=f"{type_.upper()}_OPERAND(0)",
        result=f"{result.upper()}_FABRIC", neutral="INT32_MIN" if bits == -(2**31) else str(bits),
    )
