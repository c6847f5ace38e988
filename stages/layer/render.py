"""Write the PE programs, with vector instructions and with loops only, and the fabric's layout.

Paper    V Sec. 4, 5
Reads    layer.yaml, chosen.yaml, *.lair, lair.isl, schedule.isl, adapted.isl, tasks.yaml,
         routes.isl, instances.isl, compressions.isl, memory.isl, simd.yaml
Writes   build/simd/pe_*.c, build/loops/pe_*.c, build/program.yaml, build/layout.yaml,
         build/multicast/*.c, build/multicast/*.yaml
Assumes  every stream has an instruction (simd).
Ensures  the programs need no more memory, queues and tasks than a PE has; one layout serves both.
"""

from __future__ import annotations

import typing

from stages.fabric.layout_yaml import write_layout
from stages.layer.fitting import check_machine
from stages.layer.memory.checked import check_objects, check_placed
from stages.layer.memory.inside import check_inside
from stages.layer.pe.copied import copy_instead
from stages.layer.pe.listing import Listing
from stages.layer.pe.model import Model
from stages.layer.pe.roles import OBJECTS, lay_out, make_model, make_programs
from stages.layer.pe.speller import spell
from stages.layer.pe.words import check_words
from stages.layer.pe.written import write_programs
from stages.mapping.machine import read_machine

if typing.TYPE_CHECKING:
    from stages.machine.profile import Profile
    from stages.mapping.inputs import LayerInputs
    from stages.mapping.layer_yaml import Mapping

READS = (
    "layer.yaml",
    "chosen.yaml",
    "*.lair",
    "lair.isl",
    "schedule.isl",
    "adapted.isl",
    "tasks.yaml",
    "routes.isl",
    "instances.isl",
    "compressions.isl",
    "memory.isl",
    "simd.yaml",
)
WRITES = (
    "build/simd/pe_*.c",
    "build/loops/pe_*.c",
    "build/program.yaml",
    "build/layout.yaml",
    "build/multicast/*.c",
    "build/multicast/*.yaml",
)
VARIANTS = {"simd": "with vector instructions", "loops": "with loops only"}


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return the programs, in C and as data, and build/layout.yaml."""
    mapping = inputs.mapping()
    tasks, simd = inputs.source("tasks.yaml"), inputs.source("simd.yaml")
    check_words(tasks)
    check_words(simd)
    objects = {name: inputs.objects(name) for name in OBJECTS}
    memory = inputs.source("memory.isl")
    check_objects(objects["memory.isl"], memory)
    model = make_model(inputs.lair(), tasks, simd, objects)
    profile = read_machine(mapping, inputs.further_path)
    check_placed(model, profile, memory)
    check_inside(model)
    texts: dict[str, str] = {}
    listings: dict[str, dict[str, Listing]] = {}
    for variant, described in VARIANTS.items():
        programs = make_programs(model, profile, variant == "simd")
        check_machine(model, programs, profile, mapping)
        listings[variant] = {program.role: program.listing(described) for program in programs}
        texts |= {f"build/{variant}/pe_{r}.c": spell(p) for r, p in listings[variant].items()}
    texts["build/program.yaml"] = write_programs(listings)
    texts["build/layout.yaml"] = write_layout(lay_out(model, programs, mapping))
    return texts | (_copied_texts(model, profile, mapping) if model.graph.copied else {})


def _copied_texts(model: Model, profile: Profile, mapping: Mapping) -> dict[str, str]:
    """Return the programs and the layout for a machine that differs in multicast alone."""
    copied = copy_instead(model)
    programs = make_programs(copied, profile, vectors=True)
    described = "where routers copy what PEs forward"
    return {
        **{f"build/multicast/pe_{p.role}.c": spell(p.listing(described)) for p in programs},
        "build/multicast/layout.yaml": write_layout(lay_out(copied, programs, mapping)),
    }
