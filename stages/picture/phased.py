"""What happened when in a run: tasks by name, and what entered and left, of all PEs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from lairmake.stages.fabric.layout import Layout
from lairmake.stages.picture.figures import Phase

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun

MOST_PHASES = 48
"""Of more phases those that take longest are shown."""
UNNAMED = "a task"


def find_phases(run: FabricRun, layout: Layout) -> tuple[tuple[Phase, ...], int]:
    """Return the phases of a recorded run, in the order in which they begin, and how many more
    there are, all of them shorter."""
    parts = [*_list_tasks(run, tuple(layout.roles)), *_list_streams(run, layout)]
    alike = groupby(sorted(parts, key=_called), key=_called)
    found = [_join(tuple(same)) for _, same in alike]
    longest = sorted(found, key=lambda phase: phase.begin - phase.end)[:MOST_PHASES]
    shown = sorted(longest, key=lambda phase: (phase.begin, phase.end, phase.name))
    return tuple(shown), len(found) - len(shown)


def _list_tasks(run: FabricRun, roles: tuple[str, ...]) -> Iterator[Phase]:
    """Yield a phase for each name of a task in each role: that of a part has its name before."""
    assert run.recorded is not None, "the run was recorded"
    tasks, names = run.recorded.tasks, (UNNAMED, *run.recorded.names)
    for role, name in np.argwhere(tasks["count"] > 0).tolist():
        part, dot, _ = roles[role].rpartition(".")
        each = tasks[role, name]
        yield Phase(
            name=f"{part}{dot}{names[name]}", kind="task", roles=(roles[role],),
            begin=int(each["begin"]), end=int(each["end"]), count=int(each["count"]),
            cycles=int(each["cycles"]),
        )


def _list_streams(run: FabricRun, layout: Layout) -> Iterator[Phase]:
    """Yield a phase for each colour on which something entered or left."""
    assert run.recorded is not None, "the run was recorded"
    entries = [(each.tensor, (each.colour,)) for each in layout.arrivals.values()]
    exits = [(each.tensor, each.colours) for each in layout.departures.values()]
    for kind, phases, ports in (
        ("arrives", run.recorded.entered, entries), ("leaves", run.recorded.left, exits)
    ):
        for at in np.flatnonzero(phases["count"]).tolist():
            tensors = dict.fromkeys(name for name, on in ports if run.colours[at] in on)
            yield Phase(
                name=", ".join(tensors), kind=kind, roles=(),
                begin=int(phases["begin"][at]), end=int(phases["end"][at]),
                count=int(phases["count"][at]), cycles=0,
            )


def _called(phase: Phase) -> tuple[str, str]:
    return phase.kind, phase.name


def _join(same: tuple[Phase, ...]) -> Phase:
    """Return phases of one name as one."""
    return Phase(
        name=same[0].name, kind=same[0].kind,
        roles=tuple(role for each in same for role in each.roles),
        begin=min(each.begin for each in same), end=max(each.end for each in same),
        count=sum(each.count for each in same), cycles=sum(each.cycles for each in same),
    )
