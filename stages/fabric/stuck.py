"""A run that stops, as errors: of the driver, and of the stage that let the programs run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.fabric.gathered import FabricFailure
from lairmake.stages.fabric.layout_texts import find_place
from lairmake.stages.fabric.usage import find_usage, write_usage
from lairmake.stages.fabric.waiting import Waiting

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun
    from lairmake.stages.fabric.recorded import Asked


PROGRAMS = {
    "simd": "with vector instructions", "loops": "with loops only",
    "multicast": "with vector instructions, where routers copy",
    "enough": "with vector instructions, and enough of what limits them",
    "vm": "of the virtual machine",
}
"""What programs in a folder of `build/` are called."""


class FabricStuck(Exception):  # noqa: N818
    """The fabric can no longer move, or reached the cycle limit; the text says who waits, and why.

    `is_endless`: it reached the limit. `waiting` is the circle or chain of waiting, if there is
    one. `run` is what happened until then: its outputs are the tensors that are read from memory,
    as they were.
    """

    def __init__(
        self, said: str, is_endless: bool = False, waiting: Waiting | None = None,
        run: FabricRun | None = None,
    ) -> None:
        super().__init__(said)
        self.is_endless = is_endless
        self.waiting = waiting
        self.run = run


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What a page draws of a run that stopped.

    `layout` is the text of the layout, `programs` the folder of those that ran, `said` all that the
    fabric said, and `further` what else is known of how far it came. `usage` is a usage.npz of the
    cycles until then.
    """

    layout: Source
    programs: str
    said: str
    further: str = ""
    waiting: Waiting | None = None
    usage: bytes = b""


class FabricStopped(UserError):  # noqa: N818
    """A fabric that stopped, as the error of a stage; `stop` is for whoever draws it.

    It is raised from the FabricStuck, whose run it does not carry from one process to another.
    """

    def __init__(
        self, message: str, span: Span | None = None, hint: str | None = None,
        stop: Stop | None = None,
    ) -> None:
        super().__init__(message, span, hint)
        self.stop = stop


def error_of(
    error: FabricFailure | FabricStuck, layout: Source, programs: str, hint: str,
    message: str | None = None, further: str = "",
) -> UserError:
    """Return a run that did not end well as the error of a stage, at its place in the layout.

    `programs` is the folder of those that ran; `message` what is said instead of all that the
    fabric says.
    """
    if isinstance(error, FabricFailure):
        span = find_place(layout, error.place) if error.place else None
        return UserError(message or f"the fabric stopped: {error}", span, hint)
    ran = f"the fabric stopped, running the programs {PROGRAMS[programs]}: {error}"
    return FabricStopped(message or ran, None, hint, Stop(
        layout=layout, programs=programs, said=str(error), further=further, waiting=error.waiting,
        usage=b"" if error.run is None else write_usage(find_usage(error.run)),
    ))


def run_as_far(
    record: Callable[[Asked], FabricRun], asked: Asked
) -> tuple[FabricRun, int | None]:
    """Return a run, until it is complete or stops, and the cycle after which it stops."""
    try:
        return record(asked), None
    except FabricStopped as error:
        stuck = error.__cause__
        assert isinstance(stuck, FabricStuck) and stuck.run is not None, "it ran"
        return stuck.run, stuck.run.until - (not stuck.is_endless)
