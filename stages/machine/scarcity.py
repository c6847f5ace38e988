"""Scarcity: limits of a machine that nobody has published, and tasks that need more."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Shortages of figures of a machine ------------------------------------------------------------

_NOTED: ContextVar[set[str] | None] = ContextVar("_NOTED", default=None)


@contextlib.contextmanager
def noted_shortages() -> Iterator[set[str]]:
    """Yield the set of figures that `note_shortage` is told of as long as the context lasts."""
    noted = set[str]()
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def note_shortage(figure: str) -> None:
    """Note that a figure of a machine is too small for a choice that would be made otherwise.

    Whoever compares a need with a figure calls this where the need is larger. A figure that nobody
    notes changes nothing, however much more of it there is.
    """
    noted = _NOTED.get()
    if noted is not None:
        noted.add(figure)

# --- Figures that nobody has published ------------------------------------------------------------

UNPUBLISHED = ("C", "chosen")
"""Grades of figures that nobody has published: they are worked out, or chosen."""


def is_unpublished(profile: Profile, figure: str) -> bool:
    """Say whether no source has a figure; one that a user gave counts as known."""
    return profile.grades.get(figure) in UNPUBLISHED


def note_grade(profile: Profile, figure: str) -> str:
    """Return the remark behind a figure that nobody has published, else an empty text."""
    return " (not published)" if is_unpublished(profile, figure) else ""

# --- Least values of unpublished figures that suffice ---------------------------------------------

T = TypeVar("T")


def with_figures(profile: Profile, figures: Mapping[str, int | tuple[int, ...]]) -> Profile:
    """Return a machine that differs in some figures. Raises ValueError where these are none."""
    return dataclasses.replace(profile, **figures)  # type: ignore[arg-type]


def find_enough(
    profile: Profile, figures: Iterable[str], here: T, make: Callable[[Profile], T],
    is_same: Callable[[T, T], bool],
) -> Mapping[str, int]:
    """Return the unpublished limits that change a result, each with the least value that suffices.

    `here` is what `make` gives for the machine. Of the `figures` only those that nobody has
    published count. With the values returned, and no lower ones, `make` gives what it gives without
    these limits. It may raise for a machine with less than that what it raises for the first one.
    """
    from lairmake.stages.machine.profile import MOST

    chosen = [figure for figure in figures if is_unpublished(profile, figure)]
    richer = with_figures(profile, dict.fromkeys(chosen, MOST))
    if not chosen or is_same(wanted := make(richer), here):
        return {}
    for figure in chosen:
        richer = _with_least(richer, figure, getattr(profile, figure),
                             MOST, lambda other: is_same(make(other), wanted))
    enough = {figure: getattr(richer, figure) for figure in chosen}
    return {f: count for f, count in enough.items() if count != getattr(profile, f)}


def _with_least(
    profile: Profile, figure: str, least: int, limit: int, is_enough: Callable[[Profile], bool]
) -> Profile:
    """Return a machine with the least of a figure that is enough, from `least` to `limit`.

    It is looked for in steps that double, and then between the last two.
    """
    def having(count: int) -> Profile:
        return with_figures(profile, {figure: count})

    below, most = least - 1, least
    while most < limit and not is_enough(having(most)):
        below, most = most, min(limit, most + max(1, most - below) * 2)
    while most - below > 1:
        middle = (below + most) // 2
        below, most = (below, middle) if is_enough(having(middle)) else (middle, most)
    return having(most)
