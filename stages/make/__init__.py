"""The Make: doit tasks that run the stages of a layer, and only those that are out of date."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lairmake.stages.make.doit.tasks import (
        layer_config,
        layer_tasks,
        workspace_config,
        workspace_tasks,
    )

__all__ = ["layer_config", "layer_tasks", "workspace_config", "workspace_tasks"]


def __getattr__(name: str) -> Any:
    """Return a name that dodo files import. It is loaded late: no stage needs it.

    Raises AttributeError.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(importlib.import_module("lairmake.stages.make.doit.tasks"), name)
