"""What one doit process knows about the build that it does."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stages.make.action import Result
    from stages.make.folders import LayerFolder
    from stages.make.record import Recorded
    from stages.make.sweep import Sweep


@dataclass(slots=True, kw_only=True)
class Session:
    """The command line of a build, and what became of its tasks so far.

    `arguments` are the tasks asked for, as typed in the folder `start`: None unless the command is
    `run`. `home` is None as long as the dodo file is not ours. `folders` are the layers that have
    tasks, `selected` those of them that are to be built whole, `asked` those that the user named.
    Nothing happened to those that are `clean`, and to as many others as `unchanged` says.
    `code` gives the digests of the units of code of each stage, as far as they are known.
    `interrupted` is the signal that did so, `lost` the one that ended another process of the build.
    """

    arguments: list[str] | None = None
    start: Path = field(default_factory=Path.cwd)
    commands: list[str] = field(default_factory=list)
    always: bool = False
    keep_edits: bool = False
    home: Path | None = None
    default: list[str] = field(default_factory=list)
    sweep: Sweep | None = None
    folders: dict[str, LayerFolder] = field(default_factory=dict)
    selected: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    clean: set[str] = field(default_factory=set)
    unchanged: int = 0
    code: dict[str, Mapping[str, str]] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    reporter: Recorded | None = None
    interrupted: int = 0
    lost: int = 0


@functools.cache
def session() -> Session:
    """Return the one session of this process."""
    return Session()
