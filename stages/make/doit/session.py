"""Session of a command: its build, the action of a task, output and interrupts."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Protocol

from doit.exceptions import TaskError, TaskFailed

from lairmake.stages.diagnose import OurFault, UserError, UserErrors
from lairmake.stages.make.core.layers import TaskNames
from lairmake.stages.make.core.pipeline import values_of
from lairmake.stages.make.core.stage import PLAIN, BuildOptions
from lairmake.stages.make.core.workers import Apart, Lost, TooLong, apart, workers
from lairmake.stages.make.store.folders import LayerFolder
from lairmake.stages.shipped import UndeclaredDataError

if TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import FabricStop
    from lairmake.stages.make.core.action import ActionResult
    from lairmake.stages.make.core.key import ActionKey
    from lairmake.stages.make.core.untouched import Units

# --- Session: state of a command and its build ----------------------------------------------------

class Reporter(Protocol):
    """Log of the results of the tasks of a build."""

    def end(self, code: int) -> None:
        """Note the end of the build, with its exit code."""


@dataclass(slots=True, kw_only=True)
class Session:
    """The command line of a build, and the results of its tasks so far.

    The command line: `arguments` are the tasks asked for, as typed in the folder `start`; they are
    None unless the command is `run`. `program` is what was typed before them, as `./do`. With
    `asks_for_processes` all tasks run in processes of doit. A `verbose` session prints everything,
    one that `lists` asks for names of layers only, and not for their stages, and one that `skips`
    asks which layers nothing happened to.

    The dodo file: `home` is None as long as it has no layers, and `loads` holds while its task
    creators run. `folders` are the layers that have tasks, by name, and `stages` the layer and the
    stage of each task. `selected` are the layers to be built as a whole, `asked` those of them that
    the user named.

    Results: nothing happened to the layers that are `clean`, nor to `unchanged` others. `unknown`
    has the keys of tasks that the store did not know when they were looked at. `failed` is the exit
    code of the worst failure: 0 as long as no task failed, except because of others.
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
    results: dict[str, ActionResult] = field(default_factory=dict)
    unknown: dict[str, ActionKey] = field(default_factory=dict)
    reporter: Reporter | None = None
    stops: dict[str, FabricStop] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)

# --- Action of the task of a stage ----------------------------------------------------------------

_ONE = threading.RLock()
"""Held while a stage runs: isl counts operations, and threads of `doit -P thread` share that."""


class StageFailed(TaskFailed):  # type: ignore[misc]
    """A stage found something wrong in a layer folder; its message is for the user.

    `stop` is what a page draws of a fabric that stopped, if that is the reason.
    """

    def __init__(self, said: str, stop: FabricStop | None = None) -> None:
        super().__init__(said)
        self.stop = stop


class StageError(TaskError):  # type: ignore[misc]
    """A stage met a fault of ours, which its message explains; a user can do nothing about it.

    The stage reads a file that its key does not follow, or refuses what another stage wrote.
    """


def build_stage(stage: str, folder: LayerFolder, how: BuildOptions, task: Any) -> Any:
    """Build a task, as its doit action, and return its values.

    An error of the user's folder fails the task, for the reporter to print.
    """
    with _ONE:
        ask(apart(), stage, folder, how)
        return outcome(apart(), stage, folder, task)


def ask(
    process: Apart,
    stage: str,
    folder: LayerFolder,
    how: BuildOptions,
    seen: ActionKey | None = None,
) -> None:
    """Let a process build a task, as `build` does with what was `seen` of it.

    Raises KeyboardInterrupt where something else ended the process.
    """
    from lairmake.stages.make.core.action import build

    try:
        process.ask(build, stage, folder, how, seen)
    except Lost as error:
        workers().lose(signal.SIGKILL)
        raise KeyboardInterrupt from error


def outcome(process: Apart, stage: str, folder: LayerFolder, task: Any) -> Any:
    """Return the values of a task when its process is done with it, or the error that failed it."""
    try:
        with workers().acting():
            task.meta = {"result": process.answer()}
    except (OurFault, UndeclaredDataError) as error:
        return StageError(str(error))
    except (UserError, UserErrors) as error:
        return StageFailed(str(error), getattr(error, "stop", None))
    except OSError as error:
        from lairmake.stages.make.core.faults import is_refusal, refusal

        if not is_refusal(error):
            raise
        return StageFailed(str(refusal(f"{folder.name}:{stage}", error)))
    except TooLong:
        from lairmake.stages.make.core.faults import too_hard

        return StageFailed(str(too_hard(stage, folder, "isl works for more than ten minutes")))
    except Lost as error:
        workers().lose(signal.SIGKILL)
        raise KeyboardInterrupt from error
    return values_of(folder, stage)

# --- Output, whether or not anybody reads it ------------------------------------------------------

LAST = 2
"""Number of stderr: a file that is opened later must not have it, nor the number of stdout."""


def open_streams() -> None:
    """Let output go nowhere where there is no stdout or stderr: `doit fc >&-`.

    A letter that stdout does not have is printed as stderr prints it, `\\xfc`.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            file = os.open(os.devnull, os.O_RDWR)
            while file < LAST:
                file = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(file, "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def printing(stream: IO[str] | None = None) -> Iterator[None]:
    """Print to a stream, stdout by default, at once; it is no error if nobody reads any more.

    Then all that follows goes nowhere. Raises UserError where there is no room for output, or a
    file cannot be read or written.
    """
    stream = stream or sys.stdout
    try:
        yield
        stream.flush()
    except BrokenPipeError:
        go_nowhere(stream)
    except OSError as error:
        if error.filename is None:
            go_nowhere(stream)
        place = "stdout" if error.filename is None else error.filename
        raise UserError(f"{place}: {error.strerror or error}") from error


def go_nowhere(stream: IO[str]) -> None:
    """Let all that is printed to a stream from here on be lost."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()

# --- Signals that interrupt a command, as Ctrl-C does ---------------------------------------------

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 128
"""Exit code of an interrupt, less the number of its signal."""


@contextlib.contextmanager
def handled(interrupt: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call a function for each signal that interrupts, but not for SIGHUP behind nohup.

    `interrupt` is a plain function: `signal` prints the handler before it, to find out what it is,
    and a partial function would print all that it holds: every task of the build.
    """
    asked = [n for n in SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in asked}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def raise_interrupt() -> None:
    """Raise KeyboardInterrupt, once: a second signal ends the process at once.

    A second SIGHUP does not: where a terminal is closed, both the system and the shell send one.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGHUP else signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and _is_gone(stream):
            go_nowhere(stream)
    raise KeyboardInterrupt


def _is_gone(stream: IO[str]) -> bool:
    """Return whether a stream is a terminal that was closed: what is printed there fails."""
    with contextlib.suppress(OSError, ValueError):
        file = stream.fileno()
        return stat.S_ISCHR(os.fstat(file).st_mode) and not os.isatty(file)
    return False


@contextlib.contextmanager
def interruptible() -> Iterator[list[int]]:
    """Let signals raise KeyboardInterrupt; yields a list, to which the first is added."""
    caught: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        raise_interrupt()

    with handled(interrupt):
        yield caught


def say_interrupted(more: str = "") -> None:
    """Say that a command was interrupted."""
    sys.stderr.write(f"interrupted{more}\n")
