"""The machine that a file of a user asks for: a profile by name, or a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lairmake.stages.diagnose import Span, UserError, UserErrors, source_of
from lairmake.stages.machine.profile import (
    KNOWN,
    Profile,
    ProfileError,
    hint_at,
    list_files,
    load_profile,
    write_figures,
)
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.mapping.yaml_text import find_top_key


class Machines(Protocol):
    """Where profiles are found, and where is noted which of them is read."""

    def further_path(self, given: str, span: Span) -> tuple[Path, str]:
        """Return the file that a user names at `span`, and its path as they would write it.

        Raises UserError where there is none.
        """

    def note_figures(
        self, given: str, files: Iterable[Path], write: Callable[[], str]
    ) -> None:
        """Note that the figures of a profile are read, which a user calls as `given`.

        They are in `files`, and `write` gives them as one text.
        """


class Asking(Protocol):
    """What names a machine, and says where."""

    @property
    def machine(self) -> str | dict[str, Any]:
        """A profile's name, a path, or figures with a `profile`."""

    def span(self, *path: str | int) -> Span:
        """Return the place of a value."""

    def key_span(self, *path: str | int) -> Span:
        """Return the place of a key."""


def read_machine(asking: Asking, machines: Machines) -> Profile:
    """Return the figures of the machine that a file is `asking` for: those of the profile count as
    read.

    Raises UserError where that names none that is known, or a figure that is none, UserErrors where
    several figures are none.
    """
    given = asking.machine
    figures = {"profile": given} if isinstance(given, str) else dict(given)
    said = name = shown = str(figures.pop("profile"))
    unknown = {str(f): asking.key_span("machine", f) for f in figures if f not in KNOWN}
    if len(unknown) > 1:
        raise UserErrors(
            UserError(f"unknown figure {figure}", unknown[figure], hint_at("figure", figure, KNOWN))
            for figure in sorted(unknown, key=lambda each: unknown[each].start))
    if name.endswith(".yaml"):
        path, shown = machines.further_path(name, asking.span("machine"))
        name = str(path)
    try:
        machines.note_figures(said, list_files(name), partial(write_figures, name))
        return load_profile(name, figures)
    except ProfileError as error:
        message = error.message.replace(name, shown)
        span, file = asking.key_span("machine", error.figure or ""), Path(name)
        if error.figure and error.figure not in figures and file.is_file():
            span = find_top_key(source_of(shown, file.read_bytes()), error.figure) or span
        raise UserError(message, span, error.hint) from error


def check_grid(size: tuple[int, int], profile: Profile, span: Span) -> None:
    """Raise UserError if a target of a width and a height, asked for at `span`, is larger than the
    machine."""
    if size[0] > profile.grid[0] or size[1] > profile.grid[1]:
        raise UserError(
            f"the target is {size[0]} x {size[1]} PEs, "
            f"{profile.name} has {profile.grid[0]} x {profile.grid[1]}"
            f"{note_grade(profile, 'grid')}",
            span,
            "make the target smaller, or take a machine with a larger grid",
        )
