"""Capacity of PEs: a check that the programs of a layer fit into the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.codegen.layout import (
    check_tasks,
)
from lairmake.stages.layer.codegen.model import Model
from lairmake.stages.layer.codegen.program import RoleProgram
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.mapping.machine import check_grid

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.layer_yaml import LayerMapping



@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """What a PE of a role needs in bytes, more than the machine has, and its largest arrays."""

    role: str
    machine: str
    need: int
    memory: int
    grade: str
    code: int
    largest: tuple[tuple[str, int], ...]

    @property
    def said(self) -> str:
        """What is too much."""
        has = f"{self.machine} has {self.memory}{self.grade}"
        return f"a PE of role {self.role} needs {self.need} bytes, {has}"


def find_shortage(programs: list[RoleProgram], profile: Profile) -> Shortage | None:
    """Return the shortage of the largest program; None where all programs have room."""
    program = max(programs, key=lambda each: each.data + each.code)
    need = program.data + program.code
    if need <= profile.memory:
        return None
    largest = sorted(program.locals, key=lambda local: -local.bytes)[:3]
    return Shortage(
        role=program.role, machine=profile.name, need=need, memory=profile.memory,
        grade=note_grade(profile, "memory"), code=program.code,
        largest=tuple((local.name, local.bytes) for local in largest),
    )


def check_machine(
    model: Model, programs: list[RoleProgram], profile: Profile, mapping: LayerMapping
) -> None:
    """Raise UserError if the layer needs more PEs, memory or tasks than the machine has."""
    grid = model.grid
    size = grid.right - grid.left + 1, grid.bottom - grid.top + 1
    check_grid(size, profile, mapping.span("target"))
    for program in programs:
        check_memory(program, profile, mapping)
        check_tasks(program, profile, mapping)


def check_memory(program: RoleProgram, profile: Profile, mapping: LayerMapping) -> None:
    """Raise UserError if a program and its data do not fit in the memory of a PE."""
    lacks = find_shortage([program], profile)
    if lacks is None:
        return
    parts = ", ".join(f"{name} {size}" for name, size in lacks.largest)
    _check_in_step(program, lacks.need, mapping, profile)
    given, described = mapping.tensors, program.model.graph.tensors
    kept = [t for t in described if described[t].kept == "stored" and t in given]
    stored = [t for t in kept if given[t].sparse]
    leaving = [t for t in given if f"{t}_collected_local" in dict(lacks.largest[:1])]
    remedy = "spread the layer over more PEs"
    if leaving:
        remedy = f"let {leaving[0]} leave at more ports, each for other rows or columns"
    elif stored:
        remedy = f"the zeros of {stored[0]} matter, so that it is stored"
    if lacks.code > profile.memory:
        remedy = "the code alone is too large: take a machine with more memory"
    raise UserError(lacks.said, mapping.span("target"), f"code {lacks.code}, {parts}; {remedy}")


def _check_in_step(
    program: RoleProgram, need: int, mapping: LayerMapping, profile: Profile
) -> None:
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
            f"bytes, {profile.name} has {profile.memory}{note_grade(profile, 'memory')}",
            text.place,
            f"let {tensor} and {other} have the same outermost index, in whose order both arrive "
            "and are needed",
        )
