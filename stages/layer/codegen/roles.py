"""The programs of a layer, and whether they fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import UserError
from lairmake.stages.fabric.grid import to_layer
from lairmake.stages.layer.codegen.adapter import make_adapter_programs
from lairmake.stages.layer.codegen.compute import compute_program
from lairmake.stages.layer.codegen.layout import (
    TooFewQueuesError,
    check_tasks,
    explain_queues,
    make_layout,
)
from lairmake.stages.layer.codegen.model import Model
from lairmake.stages.layer.codegen.program import RoleProgram
from lairmake.stages.layer.routes.feedback import (
    apply_feedback,
    apply_feedback_to_layer,
    find_fed_back,
)
from lairmake.stages.layer.texts.isl_files import (
    Compressions,
    Instances,
    Routing,
    read_adapted,
    read_placed,
)
from lairmake.stages.layer.texts.task_graph import read_graph
from lairmake.stages.layer.texts.yaml_files import read_decisions
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.mapping.machine import check_grid
from lairmake.stages.skewing.elements import read_lair

if TYPE_CHECKING:
    from lairmake.stages.diagnose import Source
    from lairmake.stages.fabric.layout import FabricLayout
    from lairmake.stages.lair.layer import Layer
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping import layer_yaml
    from lairmake.stages.mapping.layer_yaml import LayerMapping
    from lairmake.stages.poly.text import Objects

# --- The programs of a layer, one for each role of a PE, from what its stages wrote -------------

OBJECTS = (
    "lair.isl",
    "schedule.isl",
    "adapted.isl",
    "routes.isl",
    "instances.isl",
    "compressions.isl",
    "memory.isl",
)
"""The isl texts that a model is made of."""


def make_model(
    layer: Layer, tasks: Source, simd: Source, objects: Mapping[str, Objects]
) -> Model:
    """Return a layer as its stages wrote it: tasks.yaml, simd.yaml, and OBJECTS by their names.

    Raises UserErrors where a text was edited so that it is none any more.
    """
    memory, adapted = objects["memory.isl"], read_adapted(objects["adapted.isl"])
    lair = apply_feedback(read_lair(objects["lair.isl"]), adapted)
    return Model(
        graph=read_graph(tasks),
        layer=apply_feedback_to_layer(layer, lair, find_fed_back(adapted)),
        simd=read_decisions(simd),
        lair=lair,
        schedule=objects["schedule.isl"]["schedule"],
        adapted=adapted,
        routes=Routing(objects["routes.isl"]),
        instances=Instances(objects["instances.isl"]),
        compressed=Compressions(objects["compressions.isl"]),
        local=memory["local"],
        allocation=memory["to_local"],
        placed=read_placed(memory),
    )


def make_programs(model: Model, profile: Profile, vectors: bool) -> list[RoleProgram]:
    """Return the programs of computing PEs and of adapters, what they keep at its addresses."""
    adapters = make_adapter_programs(model, profile, vectors)
    return [compute_program(model, profile, vectors), *adapters]


def lay_out(
    model: Model, programs: list[RoleProgram], mapping: layer_yaml.LayerMapping
) -> FabricLayout:
    """Return the layout of the fabric, in the coordinates of layer.yaml.

    Raises UserError where a PE has too few queues.
    """
    try:
        return to_layer(make_layout(model, programs), model.adapted.offset)
    except TooFewQueuesError as error:
        raise explain_queues(error, programs[0].profile, mapping) from error

# --- Whether a machine has the PEs, the memory and the tasks that the programs of a layer need ---

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
    """Return what the largest program lacks; None where all programs have room."""
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
