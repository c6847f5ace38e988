"""The commands, as the entry points of doit name them: by their classes."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a command of the compiler: it is in a module of its name, or with those of doit."""
    if name.startswith("_"):
        raise AttributeError(name)
    from lairmake.stages.shipped import STAGES

    own = STAGES / "make" / "doit" / "commands" / f"{name.lower()}.py"
    place = name.lower() if own.is_file() else "inert"
    return getattr(importlib.import_module(f"lairmake.stages.make.doit.commands.{place}"), name)
