"""Figures of a machine that cannot both be true."""

from __future__ import annotations

import typing
from dataclasses import dataclass

if typing.TYPE_CHECKING:
    from stages.machine.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """What is wrong between `figures`, given by their keys, and what can be done."""

    figures: tuple[str, ...]
    message: str
    remedy: str


def find_contradiction(profile: Profile) -> Contradiction | None:
    """Return the first pair of figures of a profile that contradict each other, if one does."""
    return _of_queues(profile) or _of_threads(profile) or _of_tasks(profile)


def _of_queues(profile: Profile) -> Contradiction | None:
    """Say if a PE's queues are limited one way only."""
    if bool(profile.input_queues) == bool(profile.output_queues):
        return None
    some, none = ("input", "output") if profile.input_queues else ("output", "input")
    return Contradiction(
        figures=(f"{none}_queues", f"{some}_queues"),
        message=f"{none}_queues is [], as many as are wanted, and {some}_queues is not",
        remedy=f"give {none}_queues depths, or let {some}_queues be [], too",
    )


def _of_threads(profile: Profile) -> Contradiction | None:
    """Say if there are queues of which no thread can make use."""
    queues = {"input_queues": profile.input_queues, "output_queues": profile.output_queues}
    longest = max(queues, key=lambda name: len(queues[name]))
    if len(queues[longest]) <= profile.threads:
        return None
    return Contradiction(
        figures=("threads", longest),
        message=f"threads is {profile.threads}, and each of {len(queues[longest])} {longest} "
        "needs one while it is in use",
        remedy=f"raise threads, or give {longest} fewer depths; []: as many as are wanted",
    )


def _of_tasks(profile: Profile) -> Contradiction | None:
    """Say if what reacts to colours takes ids, or queues, that there are not."""
    if profile.data_tasks == "queues" and not profile.input_queues:
        return Contradiction(
            figures=("data_tasks", "input_queues"),
            message="data_tasks is queues, and input_queues is []",
            remedy="give input_queues depths, or let data_tasks be colours",
        )
    if profile.data_tasks == "colours" and 0 < profile.task_ids < profile.colours:
        return Contradiction(
            figures=("task_ids", "colours"),
            message=f"task_ids is {profile.task_ids}, and data_tasks take those of "
            f"{profile.colours} colours",
            remedy="raise task_ids, or lower colours; task_ids 0: as many as are wanted",
        )
    return None
