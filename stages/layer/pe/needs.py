"""What programs need of a machine besides memory: queues, and ids of tasks."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.pe.queues import TooFewQueuesError
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.pe.nodes import Act, Activate, Task, walk

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.pe.program import Program
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.layer_yaml import LayerMapping

WORDS = {"input_queues": "takes what comes on", "output_queues": "sends on"}


def check_tasks(program: Program, profile: Profile, mapping: LayerMapping) -> None:
    """Raise UserError if a program has more tasks than the machine has ids."""
    activated, reacting = list_started(program)
    need = len(activated) + len(reacting)
    if not 0 < profile.task_ids < need:
        return
    also = f", and those that react to {', '.join(reacting)}" if reacting else ""
    raise UserError(
        f"role {program.role} has {need} tasks, {profile.name} has {profile.task_ids} task_ids"
        f"{note_grade(profile, 'task_ids')}: {', '.join(activated)}{also}",
        mapping.key_span("tensors"),
        "let fewer tensors arrive, leave and come back there, or build the graph in parts",
    )


def has_too_many_tasks(program: Program) -> bool:
    """Say whether a program has more tasks than the machine has ids."""
    return 0 < program.profile.task_ids < sum(map(len, list_started(program)))


def list_started(program: Program) -> tuple[list[str], list[str]]:
    """Return the tasks that are activated, and the streams that start others, which need ids."""
    activated = list(dict.fromkeys(_list_activated(program)))
    colours = program.profile.data_tasks == "colours"
    return activated, list(dict.fromkeys(program.reacting)) if colours else []


def _list_activated(program: Program) -> Iterator[str]:
    """Yield the functions that are activated, at once or when a stream is complete."""
    for function in program.functions:
        for node in (node for each in function.statements for node in walk(each)):
            started = node.task if isinstance(node, Activate) else getattr(node, "then", None)
            if isinstance(node, Act) and started is not None:
                yield from (each.name for each in walk(started) if isinstance(each, Task))


def explain_queues(
    error: TooFewQueuesError, profile: Profile, mapping: LayerMapping
) -> UserError:
    """Return the error that says which colours want queues, and where."""
    wanted: Sequence[str] = error.colours
    return UserError(
        f"{error.pe} {WORDS[error.figure]} {len(wanted)} colours, {profile.name} has "
        f"{len(getattr(profile, error.figure))} {error.figure}{note_grade(profile, error.figure)}: "
        f"{', '.join(wanted)}",
        mapping.key_span("tensors"),
        "let fewer tensors arrive, leave or come back there: place statements on other PEs, or "
        "build the graph in parts",
    )
