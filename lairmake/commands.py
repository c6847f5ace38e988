"""Commands by their classes, as the entry points of doit name them."""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
from typing import Any

COLLECT = 50_000, 20, 20
"""Thresholds of Python's search for objects that only hold each other. The commands make few of
these. To look at all that imports make, and at the end at everything, took a tenth of a build of a
small layer."""


def __getattr__(name: str) -> Any:
    """Return a command of the compiler, from a module of its name, or from that of doit's own."""
    if name.startswith("_"):
        raise AttributeError(name)
    from lairmake.stages.shipped import STAGES

    _spare_collector()
    own = STAGES / "make" / "doit" / "commands" / f"{name.lower()}.py"
    place = name.lower() if own.is_file() else "inert"
    return getattr(importlib.import_module(f"lairmake.stages.make.doit.commands.{place}"), name)


@functools.cache
def _spare_collector() -> None:
    """Let the collector of Python look seldom, and not at all when the process ends."""
    gc.set_threshold(*COLLECT)
    atexit.register(gc.disable)
