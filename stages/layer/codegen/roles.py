"""Roles of PEs: their programs, and the layout on which these run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lairmake.stages.fabric.coordinates import to_layer
from lairmake.stages.layer.codegen.adapter import make_adapter_programs
from lairmake.stages.layer.codegen.compute import compute_program
from lairmake.stages.layer.codegen.layout import (
    TooFewQueuesError,
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
from lairmake.stages.layer.texts.simd_yaml import read_decisions
from lairmake.stages.layer.texts.task_graph import read_graph
from lairmake.stages.skewing.elements import read_lair

if TYPE_CHECKING:
    from lairmake.stages.diagnose import Source
    from lairmake.stages.fabric.layout import FabricLayout
    from lairmake.stages.lair.layer import Layer
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping import layer_yaml
    from lairmake.stages.poly.text import Objects

# --- Programs of a layer by role ------------------------------------------------------------------

OBJECTS = (
    "lair.isl",
    "schedule.isl",
    "adapted.isl",
    "routes.isl",
    "instances.isl",
    "compressions.isl",
    "memory.isl",
)
"""The isl texts from which a model is made."""


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
    """Return the programs of computing PEs and of adapters, with addresses of what they keep."""
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

