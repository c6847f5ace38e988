"""The Make: doit tasks that run the stages of a layer, and only those that are out of date."""

from stages.make.tasks import layer_config, layer_tasks, workspace_config, workspace_tasks

__all__ = ["layer_config", "layer_tasks", "workspace_config", "workspace_tasks"]
