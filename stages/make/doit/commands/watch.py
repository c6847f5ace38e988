"""The command `doit watch`: a build, and a new one whenever something that is read changes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from doit.cmd_base import tasks_and_deps_iter
from doit.control import TaskControl

from lairmake.stages.make.core.action import current_key
from lairmake.stages.make.core.key import NO_INPUTS
from lairmake.stages.make.doit.commands.inert import Inert
from lairmake.stages.make.doit.commands.run import Run
from lairmake.stages.make.doit.loading import real_path
from lairmake.stages.make.doit.session import printing
from lairmake.stages.make.store.folders import (
    NOT_LAYERS,
    PROGRAM,
    LayerFolder,
    files_in,
    further_file,
    mark_of as mark_of_folder,
    user_folder,
)
from lairmake.stages.make.store.state import Mark, mark_of

CALLED = "LAIRMAKE_CALLED"
"""Variable of the environment with what the user typed to start `lairmake`."""
WATCHED = "LAIRMAKE_WATCHED"
"""Variable of the environment with the files, and folders of layers, watched before, as JSON."""
LOOK = 2_000
"""Milliseconds after which files are looked at though no change was told."""


class Watch(Inert):
    """Build tasks again whenever what they read changes."""

    name = "watch"
    runs_stages = True
    doc_purpose = "build, and build again whenever a file that is read changes"
    doc_usage = "[TASK ...]"
    doc_description = (
        "TASK is what a build takes, and so are the options. Watched are what a user writes of "
        "layers, the files that tasks of the dodo file read, and the dodo file itself. Ctrl-C ends "
        "it."
    )
    cmd_options = Run.cmd_options
    execute_tasks = True

    def parse_execute(self, in_args: list[str]) -> Any:
        """Build until an interrupt; where a dodo file became wrong, wait until it changes."""
        try:
            return super().parse_execute(in_args)
        except Exception as error:
            if WATCHED not in os.environ:
                raise
            sys.stderr.write(f"ERROR: {error}\n")
            files, folders = (set(map(Path, n)) for n in json.loads(os.environ[WATCHED]))
            return _begin_anew(self._program(), files, folders, _marks(files, folders))

    def _program(self) -> list[str]:
        """Return what begins this program again: `lairmake` needs no dodo file."""
        if self.session.program == "doit":
            return [sys.executable, "-P", "-m", "doit"]
        os.environ[CALLED] = self.session.program
        return [sys.executable, "-P", "-m", "lairmake"]

    def _execute(self) -> int:
        """Build once, wait for a change, and begin anew: the dodo file may have changed too."""
        control = TaskControl(self.task_list)
        control.process(self.sel_tasks)
        tasks = list(tasks_and_deps_iter(control.tasks, control.selected_tasks))
        stages = [self.session.stages[t.name] for t in tasks if t.name in self.session.stages]
        folders = {folder.path for folder, _ in stages}
        dodo = self.loader.namespace.get("__file__", "dodo.py")
        files = {Path(real_path(dodo)), *_read(tasks, set(control.targets), self.session.stages)}
        before = _marks(files, folders)
        os.environ[WATCHED] = json.dumps([sorted(map(str, each)) for each in (files, folders)])
        words = ["run" if word == self.name else word for word in sys.argv[1:]]
        with contextlib.suppress(KeyboardInterrupt):
            subprocess.run([*self._program(), *words], cwd=user_folder(), check=False)
            return _begin_anew(self._program(), files, folders, before)
        return 0


def _begin_anew(
    program: list[str], files: set[Path], folders: set[Path], before: dict[Path, Mark]
) -> int:
    """Wait until something changed, and run this command again; 0 after an interrupt."""
    try:
        _wait(files, folders, before)
    except KeyboardInterrupt:
        return 0
    os.chdir(user_folder())
    os.execv(sys.executable, [*program, *sys.argv[1:]])


def _read(
    tasks: list[Any], targets: set[str], stages: Mapping[str, tuple[LayerFolder, str]]
) -> Iterator[Path]:
    """Yield the files that tasks read, but those that tasks make."""
    for task in tasks:
        paths = (*task.file_dep, *task.watch)
        yield from (Path(real_path(path)) for path in paths if path not in targets)
        if task.name in stages:
            folder, stage = stages[task.name]
            further = current_key(stage, folder).further
            yield from (further_file(folder, name).resolve() for name in further)


def _marks(files: set[Path], folders: set[Path]) -> dict[Path, Mark]:
    """Return what changes when a file does, for each of some, and those that users write in some
    folders of layers."""
    found: dict[Path, Mark] = {}
    inside = (file for each in folders for place in _places(each) for file in place.glob("*"))
    for path in (*files, *inside):
        if path.name not in NOT_LAYERS and path.is_file():
            found[path] = mark_of(path.stat())
    return found


def _places(folder: Path) -> list[Path]:
    """Return the folders that hold what users write of a layer: of a program, any in its folder."""
    places = [folder, folder / "inputs", folder / "outputs"]
    if mark_of_folder(files_in(folder)) == PROGRAM:
        for place, below, _ in os.walk(folder):
            below[:] = [n for n in below if n[0] != "." and n not in (*NO_INPUTS, "__pycache__")]
            places += [Path(place, name) for name in below]
    return [place for place in places if place.is_dir()]


def _wait(files: set[Path], folders: set[Path], before: dict[Path, Mark]) -> None:
    """Return once something is not as it was."""
    from watchfiles import watch

    places = {path.parent for path in files}.union(*map(_places, folders))
    there = sorted(place for place in places if place.is_dir())
    with printing():
        print(f"watching {len(before)} files; Ctrl-C ends this")
    if _marks(files, folders) != before:
        return
    for _ in watch(
        *there, recursive=False, watch_filter=None, rust_timeout=LOOK, yield_on_timeout=True,
        raise_interrupt=True,
    ):
        if _marks(files, folders) != before:
            return
