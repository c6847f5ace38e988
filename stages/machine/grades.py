"""Figures that nobody has published, by their grades, and what is said of one."""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

UNPUBLISHED = ("C", "chosen")
"""Grades of what nobody has published: it is worked out, or chosen."""


def is_unpublished(profile: Profile, figure: str) -> bool:
    """Say whether no source has a figure; one that a user gave counts as known."""
    return profile.grades.get(figure) in UNPUBLISHED


def note_grade(profile: Profile, figure: str) -> str:
    """Return what is said behind a figure that nobody has published, else nothing."""
    return " (not published)" if is_unpublished(profile, figure) else ""
