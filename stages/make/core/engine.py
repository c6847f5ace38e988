"""The engine of the fabric, compiled by processes of its own while other stages run.

It takes longer than all stages of a small layer before the one that runs on it. Who needs it then
compiles what nobody is at, waits for the rest, and says what is wrong: nothing is said here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection

from lairmake.stages.make.core.apart import Apart, Lost, apart
from lairmake.stages.make.core.key import code_units

PLAIN, RECORDED = False, True
ON_FABRIC = {"simulate": (PLAIN, RECORDED), "operate": (PLAIN,), "execute": (PLAIN,)}
"""The stages that run programs, and which engines they do so with: some record runs."""
MOST_HELPERS = 4
COMPILER = "compiler"
"""What the key of a stage has that starts the C compiler."""


def engines_of(layer: str, tasks: Collection[str]) -> list[bool]:
    """Return which engines those of some tasks need that are a layer's."""
    found = (
        kinds for stage, kinds in ON_FABRIC.items()
        if f"{layer}:{stage}" in tasks and COMPILER in code_units(stage)
    )
    return list(dict.fromkeys(kind for kinds in found for kind in kinds))


def begin_engines(kinds: Collection[bool], first: int, count: int) -> list[Apart]:
    """Return so many processes that compile engines, numbered from `first`; none if there is
    nothing to compile."""
    from lairmake.stages.fabric.compiler import compile_engine, keeps_engine

    missing = [kind for kind in kinds if not keeps_engine(recorded=kind)]
    helpers = [apart(first + at) for at in range(min(count, MOST_HELPERS))] if missing else []
    with contextlib.suppress(Lost):
        for each in helpers:
            each.ask(compile_engine, *missing)
    return helpers
