"""Write the PE programs, with vector instructions and with loops only, and the fabric's layout.

Paper    V Sec. 4, 5
Reads    layer.yaml, chosen.yaml, *.lair, lair.isl, schedule.isl, adapted.isl, tasks.yaml,
         routes.isl, instances.isl, compressions.isl, memory.isl, simd.yaml, build/limits/*.yaml,
         build/limits/*.isl, build/limits/graph/*.yaml, build/limits/graph/*.isl
Writes   build/simd/pe_*.c, build/loops/pe_*.c, build/program.yaml, build/layout.yaml,
         build/multicast/*.c, build/multicast/*.yaml, build/enough/*.c, build/enough/*.yaml
Assumes  every stream has an instruction (simd).
Ensures  the programs need no more memory, queues and tasks than a PE has; one layout serves both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.fabric.layout import write_layout
from lairmake.stages.layer.codegen.capacity import check_machine
from lairmake.stages.layer.codegen.layout import list_started
from lairmake.stages.layer.codegen.model import Model, check_words
from lairmake.stages.layer.codegen.roles import OBJECTS, lay_out, make_model, make_programs
from lairmake.stages.layer.memory.checks import check_inside, check_objects, check_placed
from lairmake.stages.layer.routes.arrivals import name_positions
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import Instances, Routing, named
from lairmake.stages.layer.texts.machine_yaml import (
    ENOUGH,
    GRAPH,
    LIMITS,
    MACHINE,
    read_limits,
    with_enough,
    write_limits,
)
from lairmake.stages.machine.scarcity import is_unpublished, with_figures
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.pe.listing import Listing
from lairmake.stages.pe.speller import spell
from lairmake.stages.pe.yaml import write_programs
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, find_index_constants

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.inputs import LayerInputs
    from lairmake.stages.mapping.layer_yaml import LayerMapping

# --- Programs for routers that copy ---------------------------------------------------------------
#
# The layer and its machine are the same otherwise, which shows what multicast is worth. Nothing is
# forwarded, and routers drop what their PEs do not want.
#
# Source   design, The machine

def copy_instead(model: Model) -> Model:
    """Return the model of a layer whose streams are forwarded, with routes that copy instead."""
    routes, arrivals = dict(model.routes.objects), model.graph.arrivals
    for stream in {end for a in arrivals.values() for end in (a.colour, a.source)}:
        routes[stream] = routes.pop(named(stream, "copied"))
        for position in name_positions(stream)[1:]:
            routes.pop(position, None)
        interval = routes.pop(named(stream, "copied_filter"), None)
        if interval is not None:
            routes[named(stream, "filter")] = interval
    graph = replace(
        model.graph,
        forwarding={},
        copied=(),
        colours=model.graph.copied,
        arrivals={n: replace(a, replicas=()) for n, a in arrivals.items()},
    )
    routing = Routing(routes)
    return replace(model, graph=graph, routes=routing, instances=_filtered(model, routing))


def _filtered(model: Model, routes: Routing) -> Instances:
    """Return instances.isl with T_known as routers hand on what tasks react to, V (15)."""
    instances = model.instances
    for name, task in model.tasks.items():
        if not isinstance(task, task_graph.Relay | task_graph.React | task_graph.StoreTask):
            continue
        arrival = model.graph.arrivals[task.arrival]
        colour = arrival.source if isinstance(task, task_graph.Relay) else arrival.colour
        if routes.has(colour, "filter"):
            interval = routes.relation(colour, "filter")
            known = _between(model.known(name), interval)
            instances = instances.invoked_where(name, known)
    return instances


def _between(known: isl.Set, interval: isl.Map) -> isl.Set:
    """Return [PE_X, PE_Y, index...] -> { : least <= index <= greatest at PE }."""
    inner = find_index_constants(known)[-1]
    here = bind_domain(interval, PE_NAMES)
    passes = isl.Set(f"[{inner}] -> {{ [least, greatest] : least <= {inner} <= greatest }}")
    return known.intersect(here.intersect(passes).params())

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: tensors, machine",
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
    "build/limits/*.yaml",
    "build/limits/*.isl",
    "build/limits/graph/*.yaml",
    "build/limits/graph/*.isl",
)
WRITES = (
    "build/simd/pe_*.c",
    "build/loops/pe_*.c",
    "build/program.yaml",
    "build/layout.yaml",
    "build/multicast/*.c",
    "build/multicast/*.yaml",
    "build/enough/*.c",
    "build/enough/*.yaml",
)
OF_GRAPH = ("routes.isl", "instances.isl", "compressions.isl")
"""Texts that are made with tasks.yaml, or from it."""
VARIANTS = {"simd": "with vector instructions", "loops": "with loops only"}


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return the programs, in C and as data, and build/layout.yaml."""
    mapping = inputs.mapping()
    profile = read_machine(mapping, inputs)
    model = _read_model(inputs, profile)
    texts: dict[str, str] = {}
    listings: dict[str, dict[str, Listing]] = {}
    for variant, described in VARIANTS.items():
        programs = make_programs(model, profile, variant == "simd")
        check_machine(model, programs, profile, mapping)
        listings[variant] = {program.role: program.listing(described) for program in programs}
        texts |= {f"build/{variant}/pe_{r}.c": spell(p) for r, p in listings[variant].items()}
    texts["build/program.yaml"] = write_programs(listings)
    texts["build/layout.yaml"] = write_layout(lay_out(model, programs, mapping))
    texts |= _copied_texts(model, profile, mapping) if model.graph.copied else {}
    return texts | _texts_with_enough(inputs, profile, mapping, model)


def _read_model(inputs: LayerInputs, profile: Profile, at: str = "", graph: str = "") -> Model:
    """Return what the stages wrote: simd.yaml and memory.isl in the folder `at`, and tasks.yaml
    and what is made of it in the folder `graph`.

    Raises UserErrors where one of the texts was edited so that it is none any more.
    """
    tasks, simd = inputs.source(f"{graph}tasks.yaml"), inputs.source(f"{at}simd.yaml")
    check_words(tasks)
    check_words(simd)
    places = {"memory.isl": at} | dict.fromkeys(OF_GRAPH, graph)
    objects = {name: inputs.objects(f"{places.get(name, '')}{name}") for name in OBJECTS}
    memory = inputs.source(f"{at}memory.isl")
    check_objects(objects["memory.isl"], memory)
    model = make_model(inputs.lair(), tasks, simd, objects)
    check_placed(model, profile, memory)
    check_inside(model)
    return model


def _texts_with_enough(
    inputs: LayerInputs, given: Profile, mapping: LayerMapping, here: Model
) -> dict[str, str]:
    """Return the programs and the layout for a machine that has enough of what is limited.

    There are none where nothing is, and where these programs need more than it has of something
    else. `here` is the model for the machine as it is.
    """
    enough, model = dict[str, int](), here  # of ids only where nothing else is limited
    if inputs.names(f"{LIMITS}*.yaml"):
        source = inputs.source(f"{LIMITS}{MACHINE}")
        enough, profile = dict(read_limits(source)), with_enough(given, source)
        other = inputs.names(f"{GRAPH}*.yaml")
        model = _read_model(inputs, profile, LIMITS, GRAPH if other else "")
    elif is_unpublished(given, "task_ids"):
        enough = _find_enough_ids(here, given)
    if not enough:
        return {}
    profile = with_figures(given, enough)
    programs = make_programs(model, profile, vectors=True)
    try:
        check_machine(model, programs, profile, mapping)
        layout = lay_out(model, programs, mapping)
    except UserError:
        return {}
    described = "with vector instructions, and enough of what limits them"
    return {
        **{f"{ENOUGH}pe_{p.role}.c": spell(p.listing(described)) for p in programs},
        f"{ENOUGH}layout.yaml": write_layout(layout),
        f"{ENOUGH}{MACHINE}": write_limits(enough),
    }


def _find_enough_ids(model: Model, profile: Profile) -> dict[str, int]:
    """Return how many ids each statement needs to have a task of its own, if the machine has fewer.
    """
    if not any(program.in_turn for program in make_programs(model, profile, vectors=True)):
        return {}
    programs = make_programs(model, with_figures(profile, {"task_ids": 0}), vectors=True)
    return {"task_ids": max(sum(map(len, list_started(program))) for program in programs)}


def _copied_texts(model: Model, profile: Profile, mapping: LayerMapping) -> dict[str, str]:
    """Return the programs and the layout for a machine that differs in multicast alone."""
    copied = copy_instead(model)
    programs = make_programs(copied, profile, vectors=True)
    described = "where routers copy what PEs forward"
    return {
        **{f"build/multicast/pe_{p.role}.c": spell(p.listing(described)) for p in programs},
        "build/multicast/layout.yaml": write_layout(lay_out(copied, programs, mapping)),
    }
