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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import UserError, UserErrors, headline
from lairmake.stages.layer.codegen.capacity import check_machine, find_shortage
from lairmake.stages.layer.codegen.roles import OBJECTS, lay_out, make_model, make_programs
from lairmake.stages.layer.cycles.predict import predict, read_written
from lairmake.stages.layer.search.problem import list_ports
from lairmake.stages.layer.texts.candidates_yaml import Slot, read_candidates, write_slots
from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.refusals import find_error, why_refused
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

if TYPE_CHECKING:
    from lairmake.stages.layer.codegen.capacity import Shortage
    from lairmake.stages.layer.texts.candidates_yaml import Candidate
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping import layer_yaml
    from lairmake.stages.mapping.inputs import LayerInputs

# --- Errors where no candidate can be taken -------------------------------------------------------
#
# They tell the nearest candidate, and what it lacks.
#
# Source   design, Placement by search

MOST_TOLD = 3
"""The most reasons for refused slots that an error tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledSlot:
    """The findings of the stages on the candidate in a slot.

    `lacks` is there if memory alone is missing; `error` is one in a file that a user wrote.
    """

    slot: Slot
    lacks: Shortage | None = None
    error: UserError | None = None


def nothing_to_try(candidates: Sequence[Candidate], mapping: layer_yaml.LayerMapping) -> UserError:
    """Return the error where all candidates fell out before any stage, the nearest one first."""
    first, others = candidates[0], ""
    span, remedy = mapping.span("placement" if mapping.placement else "target"), ""
    for tensor, way, text in list_ports(mapping):
        if first.against == f"tensors.{tensor}.{way}":
            verb = "arrive" if way == "arrives" else "leave"
            span, remedy = text.place, f"let {tensor} {verb} anywhere, `{way}: true`, or "
    if len(candidates) > 1:
        others = f"; candidates.yaml has all {len(candidates)}"
    return UserError(
        f"no placement is found that works; the nearest one: {first.refused}", span,
        f"it is {first.placement}; {remedy}make the target larger{others}",
    )


def nothing_works(
    looked: Mapping[str, SettledSlot],
    candidates: Sequence[Candidate],
    mapping: layer_yaml.LayerMapping,
) -> UserError:
    """Return the error where the stages refuse what was tried in all slots.

    What all of them meet at one place of a file is told there. Else the nearest one is that which
    needs least memory; where memory is not the matter, the first.
    """
    common = _find_common([each.error for each in looked.values()])
    if common is not None:
        return common
    span = mapping.key_span("placement" if mapping.placement else "target")
    lacking = {n: each.lacks for n, each in looked.items() if each.lacks is not None}
    tried = f"none of the {len(looked)} placements that were tried works"
    if lacking:
        name = min(lacking, key=lambda each: lacking[each].need)
        return UserError(
            f"{tried}; the smallest: {looked[name].slot.refused}", span,
            f"{_say_shortage(lacking[name], mapping)}; it is {_placement_of(name, candidates)}",
        )
    first, *reasons = dict.fromkeys(each.slot.refused for each in looked.values())
    also = "".join(f"; {each} in another one" for each in reasons[: MOST_TOLD - 1])
    return UserError(
        f"{tried}; the best: {first}", span,
        f"it is {_placement_of(next(iter(looked)), candidates)}{also}; "
        + ("give a placement, or a larger target" if reasons else "so it is with all others"),
    )


def _find_common(errors: Sequence[UserError | None]) -> UserError | None:
    """Return the error at a place that candidates have in common; None if one has another."""
    first = errors[0]
    if first is None or first.span is None:
        return None
    if any(e is None or (e.message, e.span) != (first.message, first.span) for e in errors):
        return None
    also = f"it is so with all {len(errors)} placements that were tried" if errors[1:] else None
    hint = "; ".join(filter(None, (first.hint, also)))
    return UserError(first.message, first.span, hint or None)


def _placement_of(name: str, candidates: Sequence[Candidate]) -> str | None:
    return next((each.placement for each in candidates if f"slot{each.slot}" == name), None)


def _say_shortage(lacks: Shortage, mapping: layer_yaml.LayerMapping) -> str:
    """Return what needs the memory, and how many PEs would have room."""
    parts = ", ".join(f"{name} {size}" for name, size in lacks.largest)
    if lacks.code >= lacks.memory:
        remedy = "the code alone is too large: take a machine with more memory"
    else:
        width, height = parse_target(mapping.target)
        pes = width * height * -(-(lacks.need - lacks.code) // (lacks.memory - lacks.code))
        remedy = f"a target of some {pes} PEs would have room"
    return f"code {lacks.code}, {parts}; {remedy}"

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
"""Figures in the order of comparison, by the goal of layer.yaml."""
MOST_OPERATIONS = 10_000_000
"""Operations that isl may spend on a slot, as in each stage before: a harder slot is not taken."""


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


def _look_at(slot: LayerInputs, inputs: LayerInputs, profile: Profile) -> SettledSlot:
    """Return what the stages say of the candidate in a slot, and whether the machine has room."""
    text = slot.text("simd.yaml")
    if (why := why_refused(text)) is not None:
        now = inputs.unnoted()
        written = {name: now.source(name) for name in ("layer.yaml", *now.names("*.lair"))}
        return SettledSlot(slot=Slot(refused=why), error=find_error(text, written))
    try:
        with limit_operations(MOST_OPERATIONS):
            return _measure(slot, inputs, profile)
    except (UserError, UserErrors) as error:
        first = error.errors[0] if isinstance(error, UserErrors) else error
        return SettledSlot(slot=Slot(refused=f"render: {first.message}"), error=first)
    except TooManyOperations as error:
        return SettledSlot(slot=Slot(refused=f"render: {error}"))
    except OSError:
        raise
    except Exception as error:  # a bug of ours is no reason not to take another candidate
        return SettledSlot(slot=Slot(refused=f"render: {headline(error)}"))


def _measure(slot: LayerInputs, inputs: LayerInputs, profile: Profile) -> SettledSlot:
    """Return what a candidate takes. Raises UserError where the machine has not what it needs."""
    tasks, simd = slot.source("tasks.yaml"), slot.source("simd.yaml")
    objects = {name: slot.objects(name) for name in OBJECTS}
    model, mapping = make_model(inputs.lair(), tasks, simd, objects), slot.mapping()
    programs = make_programs(model, profile, vectors=True)
    try:
        check_machine(model, programs, profile, mapping)
    except UserError as error:
        lacks = find_shortage(programs, profile)
        return SettledSlot(slot=Slot(refused=f"render: {error.message}"), lacks=lacks)
    lay_out(model, programs, mapping)
    read = read_written(
        slot.source, slot.objects, profile,
        invocations=mapping.invocations, density=mapping.data.density,
    )
    found = predict(read)
    memory = max(program.data + program.code for program in programs)
    return SettledSlot(slot=Slot(cycles=found.cycles, area=found.area, memory=memory))
