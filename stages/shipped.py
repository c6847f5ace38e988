"""Folders beside the code: templates, and the projects that new layers are made like.

These folders lie beside `stages/`: at the top of a checkout, in the package of a wheel. A module of
ours that reads a file there names the file in its `DATA`, since keys of stages follow nothing else.
It names the file in its `INPUTS` instead if only the stage that asks for it has it as an input, as
a profile. A process that runs stages looks at every file that Python opens, from before it loads
any stage.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

STAGES = Path(__file__).resolve().parent
"""The folder of the stages; in a checkout the package that they are of has a link to it."""
PACKAGES = Path(__file__).parents[1].resolve().parent
"""The folder where Python finds the package `lairmake`."""

OURS = f"{__package__}."
HANDS_ON = (f"{OURS}templates", f"{OURS}make.store.files", __name__)
"""Modules that read what others name, and keep nothing of it that they would give to others."""
LOOKS_ON = f"{OURS}make."
"""The Make reads all code, to make keys of it, and what stages declare."""
NO_READERS = ("importlib.", "_frozen_importlib", "linecache")
"""Imports say what code a stage is; lines of it are in messages only."""


def shipped(name: str) -> Path:
    """Return the folder `templates` or `projects`, wherever this code is installed."""
    return STAGES.parent / name


def compiled(folder: Path | str) -> Path:
    """Return where Python keeps what it compiles of the modules in a folder."""
    return Path(importlib.util.cache_from_source(os.path.join(folder, "__init__.py"))).parent


def users_cache() -> Path | None:
    """Return the folder of this user for what may be made anew; None for one others may change.

    It is never part of a workspace: so whoever runs linked code has compiled it, and nobody else
    says what the code is.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "lairmake"
    try:
        folder = folder.expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
    except (OSError, RuntimeError):
        return None
    return folder if state.st_uid == os.getuid() and not state.st_mode & 0o022 else None


class UndeclaredDataError(Exception):
    """A module reads a file of ours that no key would follow: a bug, whatever the layer.

    A build would take an old result for the right one.
    """

    def __init__(self, file: str, module: str, stage: str, is_reached: bool) -> None:
        super().__init__(file, module, stage, is_reached)
        self.file, self.module, self.stage, self.is_reached = file, module, stage, is_reached

    def __str__(self) -> str:
        """Return what is wrong, and what whoever edits Lairmake does about it."""
        file, module = (os.path.relpath(each, STAGES.parent) for each in (self.file, self.module))
        name = os.path.relpath(self.file, os.path.dirname(self.module))
        reads = f"{module} reads {file}" if not self.stage else (
            f"stage {self.stage} reads {file}, in {module}")
        what, remedy = f"DATA of {module} does not name it", f"add {name!r} to DATA of {module}"
        if self.is_reached:
            what = "DATA of no module that the stage imports names it"
            remedy = f"import {module} where the stage uses it"
        return (
            f"error: {reads}, but {what}: no edit of that file would be seen\n"
            f"hint: this is a fault of Lairmake, and not of what it builds: who edits Lairmake has "
            f"to {remedy}; see docs/stages.md\n"
        )


class _Run:
    """A stage that runs: `knows` says which files are its code, `fault` what it read besides."""

    def __init__(self, stage: str = "", knows: Callable[[str], bool] = bool) -> None:
        self.stage, self.knows = stage, knows
        self.fault: UndeclaredDataError | None = None


_RUNS = [_Run()]


@contextlib.contextmanager
def looked_at(stage: str, knows: Callable[[str], bool]) -> Iterator[None]:
    """Run a stage; `knows` says whether a file, by its path, is part of the stage's code.

    Raises UndeclaredDataError where the stage reads another file of ours, even if somebody caught
    that error meanwhile.
    """
    _RUNS.append(run := _Run(stage, knows))
    try:
        yield
    except Exception:
        if run.fault is None:
            raise
    finally:
        _RUNS.pop()
    if run.fault is not None:
        raise run.fault


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    """Look at a file that Python is about to open. Raises UndeclaredDataError."""
    if event != "open" or isinstance(arguments[0], int):
        return
    path = os.fsdecode(arguments[0])
    if path.endswith(".pyc"):  # nearly every one of a command: what Python imports
        return
    if path[:1] != "/" or "/../" in path:
        with contextlib.suppress(OSError):
            path = os.path.abspath(path)
    is_read = arguments[2] & os.O_ACCMODE != os.O_WRONLY
    if is_read and path.startswith(_PLACES) and "/__pycache__/" not in path:
        reader = _reader(sys._getframe(1))
        if reader is not None:
            _check(os.path.realpath(path), reader.f_globals)


def _reader(frame: FrameType | None) -> FrameType | None:
    """Return where a module of ours reads a file; None where none does so for a stage."""
    while frame is not None:
        name = frame.f_globals.get("__name__") or ""
        if name.startswith(NO_READERS):
            return None
        if name.startswith(OURS) and name not in HANDS_ON:
            return None if name.startswith(LOOKS_ON) else frame
        frame = frame.f_back
    return None


def _check(file: str, module: dict[str, Any]) -> None:
    """Check that a module declares a file, and that the stage that runs reaches the module."""
    path, run = os.path.realpath(module["__file__"]), _RUNS[-1]
    patterns = (*module.get("DATA", ()), *module.get("INPUTS", ()))
    declared = os.path.dirname(path), patterns
    is_declared = file in _files_of(*declared) or file in _files_of.__wrapped__(*declared)
    if not is_declared or not (run.knows(file) or not run.stage):
        run.fault = UndeclaredDataError(file, path, run.stage, is_declared)
        raise run.fault


@functools.cache
def _files_of(folder: str, patterns: tuple[str, ...]) -> frozenset[str]:
    """Return the files that patterns stand for, which start from a folder."""
    import glob

    names = (name for pattern in patterns for name in glob.glob(pattern, root_dir=folder))
    return frozenset(os.path.realpath(os.path.join(folder, name)) for name in names)


_PLACES = tuple(
    os.path.join(place, "") for place in
    {STAGES, Path(__file__).parents[1], shipped("templates")}
)


@functools.cache
def watch_files() -> None:
    """Look at every file that Python opens from here on, in this process and those forked from it.

    Where nothing is built, that is not worth its time: a thousand layers are five thousand folders.
    """
    sys.addaudithook(_look)
