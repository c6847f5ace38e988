"""Whether a machine has the PEs, the memory and the tasks that the programs of a layer need."""

from __future__ import annotations

import typing

from stages.diagnose import UserError
from stages.layer.pe.needs import check_tasks

if typing.TYPE_CHECKING:
    from stages.layer.pe.model import Model
    from stages.layer.pe.program import Program
    from stages.machine.profile import Profile
    from stages.mapping.layer_yaml import Mapping


def check_machine(
    model: Model, programs: list[Program], profile: Profile, mapping: Mapping
) -> None:
    """Raise UserError if the layer needs more PEs, memory or tasks than the machine has."""
    grid = model.grid
    size = (grid.right - grid.left + 1, grid.bottom - grid.top + 1)
    if size[0] > profile.grid[0] or size[1] > profile.grid[1]:
        raise UserError(
            f"the target is {size[0]} x {size[1]} PEs, "
            f"{profile.name} has {profile.grid[0]} x {profile.grid[1]}",
            mapping.span("target"),
            "make the target smaller, or take a machine with a larger grid",
        )
    for program in programs:
        check_memory(program, profile, mapping)
        check_tasks(program, profile, mapping)


def check_memory(program: Program, profile: Profile, mapping: Mapping) -> None:
    """Raise UserError if a program and its data do not fit in the memory of a PE."""
    code = program.code
    need = program.data + code
    if need <= profile.memory:
        return
    largest = sorted(program.locals, key=lambda local: -local.bytes)[:3]
    parts = ", ".join(f"{local.name} {local.bytes}" for local in largest)
    _check_in_step(program, need, mapping, profile)
    given, described = mapping.tensors, program.model.graph.tensors
    kept = [t for t in described if described[t].kept == "stored" and t in given]
    stored = [t for t in kept if given[t].sparse]
    leaving = [t for t in given if largest and largest[0].name == f"{t}_collected_local"]
    remedy = "spread the layer over more PEs"
    if leaving:
        remedy = f"let {leaving[0]} leave at more ports, each for other rows or columns"
    elif stored:
        remedy = f"the zeros of {stored[0]} matter, so that it is stored"
    if code > profile.memory:
        remedy = "the code alone is too large: take a machine with more memory"
    raise UserError(
        f"a PE of role {program.role} needs {need} bytes, {profile.name} has {profile.memory}",
        mapping.span("target"),
        f"code {code}, {parts}; {remedy}",
    )


def _check_in_step(program: Program, need: int, mapping: Mapping, profile: Profile) -> None:
    """Raise UserError if an arrival takes memory that another one waits for, or needs, whole."""
    arrivals = program.model.graph.arrivals
    for arrival in arrivals.values():
        if program.role != "compute" or arrival.held is None or not arrival.held.others:
            continue
        tensor, other = arrival.tensor, arrivals[arrival.held.others[0]].tensor
        text = mapping.tensors[tensor].arrives
        assert text is not None, "what is held arrives"
        raise UserError(
            f"{tensor} and {other} must arrive in step, but {arrival.held.why}: a PE needs {need} "
            f"bytes, {profile.name} has {profile.memory}",
            text.place,
            f"let {tensor} and {other} have the same outermost index, in whose order both arrive "
            "and are needed",
        )
