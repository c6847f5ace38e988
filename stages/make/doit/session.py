"""What a command of doit knows about the build that it does: made once, and passed on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lairmake.stages.make.core.layers import TaskNames
from lairmake.stages.make.core.stage import PLAIN, BuildOptions

if TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import Stop
    from lairmake.stages.make.core.action import Result
    from lairmake.stages.make.core.key import ActionKey
    from lairmake.stages.make.core.untouched import Units
    from lairmake.stages.make.store.folders import LayerFolder


class Reporter(Protocol):
    """What notes of a build what became of its tasks."""

    def end(self, code: int) -> None:
        """Note the end of the build, with its exit code."""


@dataclass(slots=True, kw_only=True)
class Session:
    """The command line of a build, and what became of its tasks so far.

    `arguments` are the tasks asked for, as typed in the folder `start`: None unless the command is
    `run`; `program` is what was typed before them, as `./do`. `home` is None as long as the dodo
    file has no layers; `loads` holds while its task creators run. Who `asks_for_processes` wants
    all tasks to run in those of doit. `folders` are the layers that have tasks, and `stages` the
    layer and the stage of each of these, by name; `selected` are the layers that are to be built
    whole, `asked` those of them that the user named. Nothing happened to those that are `clean`,
    and to as many others as `unchanged` says. One that `skips` asks which layers nothing
    happened to; one that `lists` asks for the names of layers only, and not for their stages. A
    `verbose` one prints everything. `unknown` are the keys of tasks that the store did not know
    when they were looked at. `failed` is the exit code of the worst that became of a task: 0 as
    long as none failed but for others.
    """

    arguments: list[str] | None = None
    program: str = "doit"
    start: Path = field(default_factory=Path.cwd)
    names: TaskNames = field(default_factory=TaskNames)
    build: BuildOptions = PLAIN
    verbose: bool = False
    asks_for_processes: bool = False
    home: Path | None = None
    units: Units | None = None
    loads: bool = False
    skips: bool = False
    lists: bool = False
    folders: dict[str, LayerFolder] = field(default_factory=dict)
    stages: dict[str, tuple[LayerFolder, str]] = field(default_factory=dict)
    selected: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    clean: set[str] = field(default_factory=set)
    unchanged: int = 0
    failed: int = 0
    results: dict[str, Result] = field(default_factory=dict)
    unknown: dict[str, ActionKey] = field(default_factory=dict)
    reporter: Reporter | None = None
    stops: dict[str, Stop] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)
