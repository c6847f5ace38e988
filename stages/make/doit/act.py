"""The action of the task of a stage, as doit calls it: what is wrong fails the task."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

from doit.exceptions import TaskError, TaskFailed

from lairmake.stages.diagnose import OurFault, UserError, UserErrors
from lairmake.stages.make.core.pipeline import values_of
from lairmake.stages.make.core.stage import BuildOptions
from lairmake.stages.make.core.workers import Apart, Lost, TooLong, apart, workers
from lairmake.stages.make.store.folders import LayerFolder
from lairmake.stages.shipped import UndeclaredDataError

if TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import Stop
    from lairmake.stages.make.core.key import ActionKey

_ONE = threading.RLock()
"""Held while a stage runs: isl counts what it does, and threads of `doit -P thread` share it."""


class StageFailed(TaskFailed):  # type: ignore[misc]
    """A stage found something wrong in a layer folder; its message is for the user.

    `stop` is what a page draws of a fabric that stopped, if that is why.
    """

    def __init__(self, said: str, stop: Stop | None = None) -> None:
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
