"""What a machine has too little of by a figure that nobody has published, and how much would do."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from lairmake.stages.machine.grades import is_unpublished
from lairmake.stages.machine.profile import MOST

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

T = TypeVar("T")


def with_figures(profile: Profile, figures: Mapping[str, int | tuple[int, ...]]) -> Profile:
    """Return a machine that differs in some figures. Raises ValueError where these are none."""
    return dataclasses.replace(profile, **figures)  # type: ignore[arg-type]


def find_enough(
    profile: Profile, figures: Iterable[str], here: T, make: Callable[[Profile], T],
    is_same: Callable[[T, T], bool],
) -> Mapping[str, int]:
    """Return the limits that made something else than a machine without them, and what is enough.

    `here` is what `make` gives for the machine. Those of the `figures` count that nobody has
    published: with each of them as high as is said here, and no lower, `make` gives what it does
    without them. It may raise for a machine with less than that what it raises for the first one.
    """
    chosen = [figure for figure in figures if is_unpublished(profile, figure)]
    richer = with_figures(profile, dict.fromkeys(chosen, MOST))
    if not chosen or is_same(wanted := make(richer), here):
        return {}
    for figure in chosen:
        richer = _with_least(richer, figure, getattr(profile, figure),
                             lambda other: is_same(make(other), wanted))
    enough = {figure: getattr(richer, figure) for figure in chosen}
    return {f: count for f, count in enough.items() if count != getattr(profile, f)}


def _with_least(
    profile: Profile, figure: str, least: int, is_enough: Callable[[Profile], bool]
) -> Profile:
    """Return a machine with the least of a figure that is enough, at least so much.

    It is looked for in steps that double, and then between the last two.
    """
    def having(count: int) -> Profile:
        return with_figures(profile, {figure: count})

    below, most = least - 1, least
    while most < MOST and not is_enough(having(most)):
        below, most = most, min(MOST, most + max(1, most - below) * 2)
    while most - below > 1:
        middle = (below + most) // 2
        below, most = (below, middle) if is_enough(having(middle)) else (middle, most)
    return having(most)
