"""Write the PE programs, with vector instructions and with loops only, and the fabric's layout.

Paper    V Sec. 4, 5
Reads    layer.yaml, *.lair, lair.isl, schedule.isl, adapted.isl, tasks.yaml, routes.isl,
         instances.isl, compressions.isl, memory.isl, simd.yaml
Writes   build/simd/pe_*.c, build/loops/pe_*.c, build/program.yaml, build/layout.yaml,
         build/multicast/*.c, build/multicast/*.yaml
Assumes  every stream has an instruction (simd).
Ensures  the programs need no more memory, queues and tasks than a PE has; one layout serves both.
"""

from __future__ import annotations

import typing

from stages.diagnose import UserError
from stages.fabric.layout_yaml import write_layout
from stages.layer.pe.adapter import make_adapter_programs
from stages.layer.pe.banks import spread_over_banks
from stages.layer.pe.compute import compute_program
from stages.layer.pe.copied import copy_instead
from stages.layer.pe.layout import make_layout
from stages.layer.pe.listing import Listing
from stages.layer.pe.model import Model
from stages.layer.pe.needs import check_tasks, explain_queues
from stages.layer.pe.program import Program
from stages.layer.pe.queues import TooFewQueuesError
from stages.layer.pe.speller import spell
from stages.layer.pe.words import check_words
from stages.layer.pe.written import write_programs
from stages.layer.routes.feedback import apply_feedback, apply_feedback_to_layer, find_fed_back
from stages.layer.texts.adapted_text import read_adapted
from stages.layer.texts.decisions import read_decisions
from stages.layer.texts.graph import read_graph
from stages.layer.texts.routes_text import Routing
from stages.layer.texts.tasks_text import Compressions, Instances
from stages.mapping.machine import read_machine
from stages.skewing.elements import read_lair

if typing.TYPE_CHECKING:
    from stages.machine.profile import Profile
    from stages.mapping.inputs import LayerInputs
    from stages.mapping.layer_yaml import Mapping

READS = (
    "layer.yaml",
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
    mapping, model = inputs.mapping(), _model(inputs)
    profile = read_machine(mapping, inputs.further_path)
    texts: dict[str, str] = {}
    listings: dict[str, dict[str, Listing]] = {}
    for variant, described in VARIANTS.items():
        programs = _programs(model, profile, variant == "simd")
        check_machine(model, programs, profile, mapping)
        listings[variant] = {program.role: program.listing(described) for program in programs}
        texts |= {f"build/{variant}/pe_{r}.c": spell(p) for r, p in listings[variant].items()}
    texts["build/program.yaml"] = write_programs(listings)
    texts["build/layout.yaml"] = _layout(model, programs, mapping)
    return texts | (_copied_texts(model, profile, mapping) if model.graph.copied else {})


def _layout(model: Model, programs: list[Program], mapping: Mapping) -> str:
    """Return the text of the layout. Raises UserError where a PE has too few queues."""
    try:
        return write_layout(make_layout(model, programs))
    except TooFewQueuesError as error:
        raise explain_queues(error, programs[0].profile, mapping) from error


def _copied_texts(model: Model, profile: Profile, mapping: Mapping) -> dict[str, str]:
    """Return the programs and the layout for a machine that differs in multicast alone."""
    copied = copy_instead(model)
    programs = _programs(copied, profile, vectors=True)
    described = "where routers copy what PEs forward"
    return {
        **{f"build/multicast/pe_{p.role}.c": spell(p.listing(described)) for p in programs},
        "build/multicast/layout.yaml": _layout(copied, programs, mapping),
    }


def _model(inputs: LayerInputs) -> Model:
    """Return the layer as the stages before wrote it."""
    tasks, simd = inputs.source("tasks.yaml"), inputs.source("simd.yaml")
    check_words(tasks)
    check_words(simd)
    memory, adapted = inputs.objects("memory.isl"), read_adapted(inputs.objects("adapted.isl"))
    lair = apply_feedback(read_lair(inputs.objects("lair.isl")), adapted)
    return Model(
        graph=read_graph(tasks),
        layer=apply_feedback_to_layer(inputs.lair(), lair, find_fed_back(adapted)),
        simd=read_decisions(simd),
        lair=lair,
        schedule=inputs.objects("schedule.isl")["schedule"],
        adapted=adapted,
        routes=Routing(inputs.objects("routes.isl")),
        instances=Instances(inputs.objects("instances.isl")),
        compressed=Compressions(inputs.objects("compressions.isl")),
        local=memory["local"],
        allocation=memory["to_local"],
    )


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


def _programs(model: Model, profile: Profile, vectors: bool) -> list[Program]:
    adapters = make_adapter_programs(model, profile, vectors)
    programs = [compute_program(model, profile, vectors), *adapters]
    for program in programs:
        spread_over_banks(program)
    return programs
