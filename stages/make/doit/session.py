"""The session of a command: the build that it is at, the action of a task, interrupts."""

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

# --- What a command of doit knows about the build that it does: made once, and passed on --------

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
    results: dict[str, ActionResult] = field(default_factory=dict)
    unknown: dict[str, ActionKey] = field(default_factory=dict)
    reporter: Reporter | None = None
    stops: dict[str, FabricStop] = field(default_factory=dict)
    drawn: set[str] = field(default_factory=set)

# --- The action of the task of a stage, as doit calls it: what is wrong fails the task ----------

_ONE = threading.RLock()
"""Held while a stage runs: isl counts what it does, and threads of `doit -P thread` share it."""


class StageFailed(TaskFailed):  # type: ignore[misc]
    """A stage found something wrong in a layer folder; its message is for the user.

    `stop` is what a page draws of a fabric that stopped, if that is why.
    """

    def __init__(self, said: str, stop: FabricStop | None = None) -> None:
        super().__init__(said)
        self.stop = stop


class StageError(TaskError):  # type: ignore[misc]
    """A stage met a fault of ours that is understood: it reads what its key does not follow, or
    refuses what another stage wrote. The message says so; who builds a layer can do nothing."""


def build_stage(stage: str, folder: LayerFolder, how: BuildOptions, task: Any) -> Any:
    """Build a task, as its doit action, and return its values.

    What is wrong fails it, for the reporter to print.
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
    """Return the values of a task that a process builds, or how it failed, when it is done."""
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

# --- What is printed, whether or not anybody reads it -------------------------------------------

LAST = 2
"""The number of stderr: what is opened later must not have it, nor that of stdout."""


def open_streams() -> None:
    """Let what is printed go nowhere where there is no stdout or stderr: `doit fc >&-`.

    A letter that stdout has not is printed as stderr prints it, `\\xfc`.
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
    """Print to a stream, stdout by default, at once; nobody reading any more is no error.

    Then what follows goes nowhere. Raises UserError where there is no room for it, or a file cannot
    be read or written.
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
    """Let what is printed to a stream from here on be lost."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()

# --- Signals that interrupt a command: all end it as Ctrl-C does, and it says so ----------------

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 128
"""What is added to the number of a signal, for an exit code."""


@contextlib.contextmanager
def handled(interrupt: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call a function for each signal that interrupts; but who began with nohup asked for no end.

    It is a plain function: `signal` prints the one before it, to find out what it is, and a partial
    one prints all that it holds: every task of the build.
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

    But not a second SIGHUP: where a terminal is closed, both the system and the shell send one.
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
