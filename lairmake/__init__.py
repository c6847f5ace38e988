"""Python interface of the Make for mappings: builds, their results, and texts of stages."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lairmake.building import build
    from lairmake.error import Error
    from lairmake.outcome import Bound, Check, Cycles, Files, Results, Task, results
    from lairmake.reading import read

__all__ = [
    "Bound", "Check", "Cycles", "Error", "Files", "Results", "Task", "build", "read", "results",
]
PLACES = {"build": "building", "read": "reading", "Error": "error"}


def __dir__() -> list[str]:
    """Return all names of this module, also those that nobody asked for yet."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Return a name that is imported when it is first asked for: commands of doit need none."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"lairmake.{PLACES.get(name, 'outcome')}"), name)
