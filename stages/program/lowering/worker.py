"""The program of workers, in C: one text whatever the size of the field.

Paper    E Sec. 6.1.4, Listing 7
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stages.fabric.layout_yaml import LocalTensor
from stages.jinja import template_in
from stages.machine.types import BYTES
from stages.program.lowering.arguments import Operand
from stages.program.lowering.calls import (
    Called,
    ask,
    find_limit,
    find_most_arguments,
    name_colours,
)
from stages.program.lowering.lowered import WORKER, Material, PeProgram
from stages.program.lowering.routines import Routine, write_routine
from stages.program.lowering.tensors import find_filters_address
from stages.program.vm.colours import ARGS, CHECKER, CTRL, REDUCTION_1

DATA = ("templates/shared.c.j2", "templates/worker.c.j2")
TEMPLATES = Path(__file__).parent / "templates"
ROUND = ("even", "has_west", "has_east", "has_north", "has_south")
"""What a worker asks that sends to its neighbours."""

FUNCTIONS = 6
"""Those beside the procedures, of which code is estimated."""


def write_worker(
    material: Material, conditions: Mapping[str, str], tensors: Mapping[str, LocalTensor]
) -> PeProgram:
    """Return the program of workers.

    `conditions` are geo-vars by name as expressions in C of a `pe`; `tensors` lie at the beginning
    of its memory.
    """
    sections, procedures = material.sections, material.sections.procedures
    routines = tuple(write_routine(each, material.profile) for each in procedures)
    forms = {each.form for each in routines}
    moves, waits = "side" in forms, bool(forms & {"side", "reduce", "take"})
    address = find_filters_address(sections)
    most, kept = find_most_arguments(procedures), _find_kept(routines)
    asked = (*(ROUND if moves else ()), *(("farthest",) if "reduce" in forms else ()))
    used = (CTRL, ARGS, *(CHECKER if moves else ()), *((REDUCTION_1,) if "reduce" in forms else ()),
            *(each.colour for each in routines))
    text = template_in(TEMPLATES, "worker.c.j2", __name__).render(
        asked=ask(asked, conditions), bytes=address,
        colours=name_colours(used, material.colours), filters=max(len(sections.filters), 1),
        kept=kept, limit=find_limit(procedures, material.profile), most=most, moves=moves,
        completes=bool(forms - {"halt"}),
        takes_part=bool(forms - {"take", "halt"}), routines=routines,
        called=[Called(name=each.name, procedure=each.name, count=each.count)
                for each in procedures],
    )
    words = max(len(sections.filters), 1) + most + 1
    return PeProgram(
        role=WORKER, text=text, tensors=tensors,
        functions=len(routines) + FUNCTIONS,
        data=address + 2 * words + sum(BYTES[each.type] for each in kept),
        activated=("run", *(("complete",) if waits else ())), vectors=3,
    )


def _find_kept(routines: tuple[Routine, ...]) -> tuple[Operand, ...]:
    """Return where a worker adds up what it has, one for each type."""
    found = [Operand(type=each.kept.removeprefix("kept_"), place="") for each in routines
             if each.kept]
    return tuple({each.type: each for each in found}.values())
