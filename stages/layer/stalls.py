"""Whether the PEs of a run waited for queues or threads, and a machine with twice as much of these.

Nobody has published how much a router's queue holds, nor on some machines what queues of a PE do,
and how many threads it has. The programs are the same: they run once more where that may matter.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping, Sequence

from lairmake.stages.fabric.engine import STATES
from lairmake.stages.fabric.layout import Layout, Queue, Role
from lairmake.stages.machine.scarcity import is_unpublished, with_figures

if typing.TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun
    from lairmake.stages.machine.profile import Profile

QUEUES = ("queue_depth", "input_queues", "output_queues")
PART = 16
"""Which part of its cycles a run must wait at one PE for that to matter: one of so many."""
MOST_WORDS, DEEPEST = 8192, 4096
"""How much a queue of a PE may hold in a profile, and one of a router."""


def find_awaited(run: FabricRun, profile: Profile) -> tuple[str, ...]:
    """Return the figures that nobody has published for which a PE waited long: a part of the run.

    It waits for queues where it cannot send, or for what stands in those before it: then wavelets
    waited as long on a link.
    """
    cycles = run.activity["cycles"]
    waits = {state: int(cycles[:, n].max(initial=0)) for n, state in enumerate(STATES)}
    stalled = min(waits["no_input"], int(run.links["stalls"].max(initial=0)))
    awaited = {
        **dict.fromkeys(QUEUES, max(waits["no_space"], waits["full_queue"], stalled)),
        "threads": waits["under_way"],
    }
    return tuple(
        figure for figure, longest in awaited.items()
        if PART * longest > run.cycles and is_unpublished(profile, figure)
        and getattr(profile, figure)
    )


def double(
    profile: Profile, layout: Layout, figures: Sequence[str]
) -> tuple[Profile, Layout]:
    """Return a machine with twice as much of some figures, and its layout."""
    twice = {figure: _double(figure, getattr(profile, figure)) for figure in figures}
    other = with_figures(profile, twice)
    roles = {name: _deepen(role, profile, other) for name, role in layout.roles.items()}
    return other, dataclasses.replace(layout, roles=roles)


def _double(figure: str, value: int | tuple[int, ...]) -> int | tuple[int, ...]:
    if isinstance(value, tuple):
        return tuple(min(MOST_WORDS, 2 * words) for words in value)
    return min(DEEPEST, 2 * value) if figure == "queue_depth" else 2 * value


def _deepen(role: Role, profile: Profile, other: Profile) -> Role:
    """Return a role whose queues hold as much more as those of the other machine do."""
    queues = {
        name: dict(_filled(given, getattr(profile, name), getattr(other, name)))
        for name in QUEUES[1:] if (given := getattr(role, name)) is not None
    }
    return dataclasses.replace(role, **queues)  # type: ignore[arg-type]


def _filled(
    queues: Mapping[str, Queue], words: Sequence[int], others: Sequence[int]
) -> Iterator[tuple[str, Queue]]:
    for colour, queue in queues.items():
        holds = queue.holds * others[queue.number] // words[queue.number]
        yield colour, dataclasses.replace(queue, holds=holds)
