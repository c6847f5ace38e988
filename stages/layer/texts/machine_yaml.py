"""Machine.yaml: a machine with more of figures that nobody has published."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.machine.profile import KNOWN, Profile
from lairmake.stages.machine.scarcity import with_figures
from lairmake.stages.mapping.records import (
    as_data,
    explain,
    read_record,
)
from lairmake.stages.mapping.yaml_text import write_document

LIMITS, ENOUGH = "build/limits/", "build/enough/"
"""Folders of texts, and of programs, for such a machine."""
GRAPH = f"{LIMITS}graph/"
"""Folder of the texts from which its instructions are chosen, if its task graph is another one."""
MACHINE = "machine.yaml"
LIMITS_TITLE = (
    "A machine that has enough of what tasks need more of than the one that was asked for."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLimits:
    """How much such a machine has."""

    enough: Annotated[Mapping[str, int], "its figures, by their keys in a profile"]


def write_limits(enough: Mapping[str, int]) -> str:
    """Return machine.yaml: figures of which nothing needs more."""
    limits = MachineLimits(enough=enough)
    return write_document(explain(LIMITS_TITLE, limits), as_data(limits))


def read_limits(source: Source) -> Mapping[str, int]:
    """Return the figures that machine.yaml has. Raises UserErrors where it was edited wrongly."""
    return read_record(source, MachineLimits).enough


def with_enough(profile: Profile, source: Source) -> Profile:
    """Return a machine with the figures of machine.yaml. Raises UserErrors where these are none."""
    enough = read_limits(source)
    with contextlib.suppress(ValueError):  # of a figure that is no such number
        if set(enough) <= set(KNOWN):
            return with_figures(profile, enough)
    span = Span(source=source, start=0, end=1)
    raise UserError(f"these are no figures of {profile.name}", span, "undo the edit")
