"""What tools a build is made with, and which of them are not as they were in the last one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from lairmake.stages.fabric.compiler import WHEEL, State
from lairmake.stages.make.core.key import versions
from lairmake.stages.make.core.known_code import compiler
from lairmake.stages.make.store.state import state_of


def news(state: Path) -> dict[str, Any]:
    """Return the `tools` that changed since this was last asked, from what to what.

    Nothing is returned the first time, and where nothing did.
    """
    old, new = state_of(state).get("made", "with"), _tools()
    if new != old:
        state_of(state).keep("made", {"with": new})
    if not old:
        return {}
    tools = {n: [old.get(n), new.get(n)] for n in {**old, **new} if old.get(n) != new.get(n)}
    return {"tools": tools} if tools else {}


def _tools() -> dict[str, str]:
    """Return the version of each tool; of the C compiler its words, and where its programs are."""
    python = ".".join(map(str, sys.version_info[:3]))
    packages = {name: version for name, version in versions().items() if version is not None}
    return {"python": python, **packages, "C compiler": _shown(compiler())}


def _shown(state: State) -> str:
    words, programs, wheel = state
    marks = [f"{path} {size} {time}" for path, size, time in programs]
    return ", ".join([" ".join(words), *marks, *([f"{WHEEL} {wheel}"] if wheel else [])])
