"""Build folders that no dodo file has tasks for, as a build does: what is refused ends no other.

What runs is told on stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doit.cmd_base import TaskLoader2
from doit.exceptions import UnmetDependency

from lairmake.stages.make.core.untouched import unit_of
from lairmake.stages.make.core.workers import workers
from lairmake.stages.make.doit.commands.run import Run
from lairmake.stages.make.doit.reporter import StageReporter
from lairmake.stages.make.doit.session import INTERRUPTED, StageFailed
from lairmake.stages.make.doit.tasks import Layers
from lairmake.stages.make.store.folders import LayerFolder, wholes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """How a build of folders ended: doit's exit code if it was interrupted, or a bug of ours ended
    a stage, else 0; and, by the names of folders, what a stage refused there, in full."""

    code: int
    refused: Mapping[str, str]


class FoldersLoader(TaskLoader2):  # type: ignore[misc]
    """Loads the tasks of some folders, with the configuration of a dodo file, or more than that."""

    def __init__(
        self, folders: Sequence[LayerFolder], dodo: Mapping[str, Any], **more: Any
    ) -> None:
        super().__init__()
        self._folders = folders
        self._config = {**{k: v for k, v in dodo.items() if k != "default_tasks"}, **more}

    def load_doit_config(self) -> dict[str, Any]:
        """Return the configuration."""
        return self._config

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> list[Any]:
        """Return what stands for the tasks of each folder."""
        return [Layers(each.home, unit_of(each), each.name) for each in self._folders]


class FoldersReporter(StageReporter):
    """Keeps what stages refuse, by folder, and whether there was a bug."""

    shows_results = False

    def __init__(self, outstream: Any, options: Mapping[str, Any]) -> None:
        super().__init__(outstream, options)
        self.refused: dict[str, str] = {}
        self.has_bug = False

    def tell_refusal(self, task: str, text: str) -> None:
        """Keep what a stage found wrong."""
        folder = task.rpartition(":")[0]
        whole = wholes_of(self.session.folders.values()).get(folder, folder)
        self.refused.setdefault(whole, text)

    def add_failure(self, task: Any, fail: Any) -> None:
        """Print a bug."""
        self.has_bug |= not isinstance(fail, StageFailed | UnmetDependency)
        super().add_failure(task, fail)


class FoldersRun(Run):
    """Runs the tasks of folders, and tells of them on stderr."""

    def execute(self, params: Any, args: list[str]) -> int:
        """Return doit's exit code."""
        params["outfile"] = sys.stderr
        return super().execute(params, args)


def build_folders(
    folders: Sequence[LayerFolder], words: Sequence[str], dodo: Mapping[str, Any],
    made_of: Mapping[str, Any],
) -> Built:
    """Build folders with the configuration of a dodo file.

    `words` are options of a build, and commands of doit are `made_of` this, besides a loader.
    """
    loader = FoldersLoader(folders, dodo, reporter=FoldersReporter)
    run = FoldersRun(task_loader=loader, **made_of)
    code = int(run.parse_execute(["--continue", *words]) or 0)
    reporter = run.session.reporter
    if not isinstance(reporter, FoldersReporter):
        return Built(code=code, refused={})
    is_whole = code < INTERRUPTED and not (reporter.has_bug or workers().lost)
    return Built(code=0 if is_whole else code, refused=reporter.refused)
