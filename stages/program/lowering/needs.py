"""What programs need of a machine: memory, ids of tasks, descriptors.

Paper    ours
"""

from __future__ import annotations

from math import prod

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.irg.addresses import (
    EXECUTIVE as OF_EXECUTIVE,
    FEWER,
    ONE_PE,
    SHOWN,
    WORKERS as OF_WORKERS,
    find_constructor,
    find_peak,
)
from lairmake.stages.program.lowering.lowered import (
    EXECUTIVE,
    RESPONSE,
    WORKER,
    Material,
    PeProgram,
)

SPACES = {WORKER: OF_WORKERS, EXECUTIVE: OF_EXECUTIVE}


def count_code(program: PeProgram, profile: Profile) -> int:
    """Return the bytes of code of a program, an estimate."""
    return profile.code_base + profile.code_task * program.functions


def check_needs(program: PeProgram, material: Material, source: Source | None) -> None:
    """Raise UserError where a PE has less memory, ids of tasks or descriptors than are needed.

    `source` is that of the program, to show where it makes what is largest.
    """
    profile = material.profile
    _check_memory(program, material, source)
    reacting = program.reacting if profile.data_tasks == "colours" else ()
    need = len(program.activated) + len(reacting)
    if 0 < profile.task_ids < need:
        also = f", and those that react to {', '.join(reacting)}" if reacting else ""
        raise UserError(
            f"role {program.role} has {need} tasks, {profile.name} has {profile.task_ids} "
            f"task_ids{note_grade(profile, 'task_ids')}: {', '.join(program.activated)}{also}",
            hint=f"a machine with `task_ids: {need}`, or 0: as many as are wanted")
    if program.vectors > profile.descriptors:
        raise UserError(
            f"role {program.role} has {program.vectors} instructions, {profile.name} has "
            f"{profile.descriptors} descriptors{note_grade(profile, 'descriptors')}",
            hint=f"a machine with `descriptors: {program.vectors}`")


def _check_memory(program: PeProgram, material: Material, source: Source | None) -> None:
    profile, code = material.profile, count_code(program, material.profile)
    need = program.data + code
    if need <= profile.memory:
        return
    largest: dict[str, int] = {}
    if program.role in SPACES:
        space = SPACES[program.role]
        live = find_peak(p for p in material.addresses.places.values() if p.space == space)
        largest = {p.name: p.bytes for p in live}
        if program.role == WORKER:
            largest |= {slot.name: slot.bytes for slot in material.sections.slots}
            largest["filters"] = 2 * len(material.sections.filters)
    else:
        largest = {name: prod(each.shape) * BYTES[each.type]
                   for name, each in program.tensors.items()}
    ordered = sorted(largest, key=lambda name: -largest[name])[:SHOWN]
    spans = (find_constructor(source, name) for name in ordered)
    raise UserError(
        f"a PE of role {program.role} needs {need} bytes, {profile.name} has {profile.memory}"
        f"{note_grade(profile, 'memory')}",
        next(filter(None, spans), None),
        f"code {code}, {', '.join(f'{name} {largest[name]}' for name in ordered)}; "
        f"{_find_remedy(program, code, profile)}",
    )


def _find_remedy(program: PeProgram, code: int, profile: Profile) -> str:
    if code > profile.memory:
        return "a machine with more `memory`, or fewer kinds of operations: each has its own code"
    if program.role == RESPONSE:
        return "`control: {responses: n}` with a larger n"
    return ONE_PE if program.role == EXECUTIVE else FEWER
