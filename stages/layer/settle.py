"""Take the best of the candidates that went through the stages.

Paper    not in the paper, which is given placements
Reads    layer.yaml, *.lair, candidates.yaml, */layer.yaml, */chosen.yaml, */lair.isl,
         */placement.isl, */schedule.isl, */adapted.isl, */tasks.yaml, */routes.isl,
         */instances.isl, */compressions.isl, */memory.isl, */simd.yaml
Writes   slots.yaml     what the stages found of each candidate
         chosen.yaml    the best one, in the form of what a user writes
Assumes  what is tried leaves nothing open.
Ensures  chosen.yaml is that of a slot, to the byte: the stages after it have run on it already.
         The machine has room for its programs.
"""

from __future__ import annotations

import typing

from lairmake.stages.diagnose import UserError, UserErrors, headline
from lairmake.stages.layer.codegen.roles import (
    OBJECTS,
    check_machine,
    find_shortage,
    lay_out,
    make_model,
    make_programs,
)
from lairmake.stages.layer.cycles.predict import predict, read_written
from lairmake.stages.layer.texts.yaml_files import Slot, read_candidates, write_slots
from lairmake.stages.layer.unsettled import Looked, nothing_to_try, nothing_works
from lairmake.stages.mapping.candidates import find_error, why_refused
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping import layer_yaml
    from lairmake.stages.mapping.inputs import LayerInputs

READS = (
    "layer.yaml: lair, top, sizes, types, delays, tensors.*.next",
    "layer.yaml: tensors, target, placement, machine, goal, invocations, data.density",
    "*.lair",
    "candidates.yaml",
    "*/layer.yaml: tensors, invocations, data.density",
    "*/chosen.yaml",
    "*/lair.isl",
    "*/placement.isl",
    "*/schedule.isl",
    "*/adapted.isl",
    "*/tasks.yaml",
    "*/routes.isl",
    "*/instances.isl",
    "*/compressions.isl",
    "*/memory.isl",
    "*/simd.yaml",
)
WRITES = ("slots.yaml", "chosen.yaml")
ORDERS = {
    "cycles": ("cycles", "memory", "area"),
    "memory": ("memory", "cycles", "area"),
    "area": ("area", "cycles", "memory"),
}
"""What is compared first, and then, by the goal of layer.yaml."""
MOST_OPERATIONS = 10_000_000
"""How much isl may work on each slot, as in each stage before: what is so hard is not taken."""


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return slots.yaml and chosen.yaml. Raises UserError where all slots are refused."""
    mapping = inputs.mapping()
    profile = read_machine(mapping, inputs)
    names = [name.partition("/")[0] for name in inputs.names("*/chosen.yaml")]
    used = [n for n in names if not why_refused(inputs.part(n).text("chosen.yaml"))]
    looked = {name: _look_at(inputs.part(name), inputs, profile) for name in used}
    slots = {name: each.slot for name, each in looked.items()}
    possible = [name for name, slot in slots.items() if slot.refused is None]
    if not possible:
        candidates = read_candidates(inputs.source("candidates.yaml"))
        if not slots:
            raise nothing_to_try(candidates, mapping)
        raise nothing_works(looked, candidates, mapping)
    best = min(possible, key=lambda name: _rank(slots[name], mapping.goal))
    return {
        "slots.yaml": write_slots(slots, best),
        "chosen.yaml": inputs.part(best).text("chosen.yaml"),
    }


def _rank(slot: Slot, goal: layer_yaml.Goal) -> tuple[int, ...]:
    return tuple(getattr(slot, figure) for figure in ORDERS[goal])


def _look_at(slot: LayerInputs, inputs: LayerInputs, profile: Profile) -> Looked:
    """Return what the stages say of the candidate in a slot, and whether the machine has room."""
    text = slot.text("simd.yaml")
    if (why := why_refused(text)) is not None:
        now = inputs.unnoted()
        written = {name: now.source(name) for name in ("layer.yaml", *now.names("*.lair"))}
        return Looked(slot=Slot(refused=why), error=find_error(text, written))
    try:
        with limit_operations(MOST_OPERATIONS):
            return _measure(slot, inputs, profile)
    except (UserError, UserErrors) as error:
        first = error.errors[0] if isinstance(error, UserErrors) else error
        return Looked(slot=Slot(refused=f"render: {first.message}"), error=first)
    except TooManyOperations as error:
        return Looked(slot=Slot(refused=f"render: {error}"))
    except OSError:
        raise
    except Exception as error:  # a bug of ours is no reason not to take another candidate
        return Looked(slot=Slot(refused=f"render: {headline(error)}"))


def _measure(slot: LayerInputs, inputs: LayerInputs, profile: Profile) -> Looked:
    """Return what a candidate takes. Raises UserError where the machine has not what it needs."""
    tasks, simd = slot.source("tasks.yaml"), slot.source("simd.yaml")
    objects = {name: slot.objects(name) for name in OBJECTS}
    model, mapping = make_model(inputs.lair(), tasks, simd, objects), slot.mapping()
    programs = make_programs(model, profile, vectors=True)
    try:
        check_machine(model, programs, profile, mapping)
    except UserError as error:
        lacks = find_shortage(programs, profile)
        return Looked(slot=Slot(refused=f"render: {error.message}"), lacks=lacks)
    lay_out(model, programs, mapping)
    read = read_written(
        slot.source, slot.objects, profile,
        invocations=mapping.invocations, density=mapping.data.density,
    )
    found = predict(read)
    memory = max(program.data + program.code for program in programs)
    return Looked(slot=Slot(cycles=found.cycles, area=found.area, memory=memory))
