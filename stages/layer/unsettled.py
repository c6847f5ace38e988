"""What to say where no candidate of a search can be taken: the nearest, and what it lacks.

Source   design, Placement by search
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.search.against import list_ports
from lairmake.stages.mapping.isl_texts import parse_target

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.codegen.roles import Shortage
    from lairmake.stages.layer.texts.yaml_files import Candidate, Slot
    from lairmake.stages.mapping import layer_yaml

MOST_TOLD = 3
"""How many reasons why slots are refused an error tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the stages say of the candidate in a slot.

    `lacks`, if all but memory is there; `error` is one in a file that a user wrote.
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
    looked: Mapping[str, Looked], candidates: Sequence[Candidate], mapping: layer_yaml.LayerMapping
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
