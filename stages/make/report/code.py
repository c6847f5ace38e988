"""The code of stages in words: what a stage reaches, and which definitions of it changed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from lairmake.stages.diagnose import plural
from lairmake.stages.make.core.code import Reach, digest_of_part, lines_of, path_of_unit, reach_of
from lairmake.stages.make.core.key import Part, known_code
from lairmake.stages.make.report.colour import paint

ON_IMPORT = "what runs when it is imported"
WIDTH = 100


def changed_names(stage: str, unit: str, old: str | None, new: str | None) -> list[str]:
    """Return what to call a unit of a stage's code that changed: by its definitions that did.

    Where these are not known any more it is called by its file alone.
    """
    path = path_of_unit(unit)
    before, after = (_part(stage, unit, digest) for digest in (old, new))
    if before is None or after is None:
        return [path]
    every = sorted(before.keys() | after.keys())
    return [f"{path}: {name or ON_IMPORT}" for name in every if before.get(name) != after.get(name)]


def _part(stage: str, unit: str, digest: str | None) -> Part | None:
    """Return the definitions of a module that a stage reached; None for a file of data."""
    if digest is None:
        return {}
    part = reach_of(stage).definitions.get(unit)
    if part is not None and digest_of_part(part) == digest:
        return part
    return known_code().part(digest)


def list_stages() -> list[str]:
    """Return the names of all stages, wing by wing."""
    from lairmake.stages import WINGS

    return [stage for wing in WINGS for stage in wing.STAGES]


def reach_in_words(stage: str) -> Iterator[str]:
    """Yield lines that say what a stage reaches: by module, then files of data."""
    found = reach_of(stage)
    lines = sum(size for part in data_of_reach(found)["modules"].values() for size in part.values())
    count = sum(len(part) for part in found.definitions.values())
    yield (
        f"{paint('bold', stage)} reaches {plural(count, 'definition')} of {lines} lines in "
        f"{plural(len(found.definitions), 'module')}, and {plural(len(found.data), 'file')} of data"
    )
    for own in sorted(found.definitions, key=path_of_unit):
        yield f"  {paint('bold', path_of_unit(own))}"
        names = ", ".join(name or ON_IMPORT for name in sorted(found.definitions[own]))
        yield textwrap.fill(names, WIDTH, initial_indent="    ", subsequent_indent="    ",
                            break_long_words=False)
    yield from (f"  {paint('bold', name)}" for name in sorted(found.data))


def data_of_reach(found: Reach) -> dict[str, Any]:
    """Return what is reached as data for a program: the lines of each definition, by module."""
    modules = {
        path_of_unit(own): {name: lines_of(own, name) for name in sorted(found.definitions[own])}
        for own in sorted(found.definitions, key=path_of_unit)
    }
    return {"modules": modules, "data": sorted(found.data)}
