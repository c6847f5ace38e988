"""Deadlocks: who waits for whom where nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.fabric.engine import WAITING_KINDS, Outcome
from lairmake.stages.fabric.grid import find_place
from lairmake.stages.fabric.outcome import FabricFailure
from lairmake.stages.fabric.usage import find_usage, write_usage

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun, RunRequest

# --- Circle or chain of waiting -------------------------------------------------------------------
#
# The engine finds it where a fabric stopped.

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockStep:
    """A PE that waits for another one, each as x and y; outside of the grid they are ports.

    `colour` is that on which it waits, if it is one; `kind`, one of WAITING_KINDS, says why; `said`
    is its line of the text, None where that leaves it out. Whoever ends a chain waits for itself.
    """

    waits: Place
    on: Place
    colour: str | None
    kind: str
    said: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPe:
    """The steps, of which `left_out` are missing after the first half, and the cause in words.

    `is_circle`: the last one waits for the first.
    """

    steps: tuple[DeadlockStep, ...]
    left_out: int
    is_circle: bool
    cause: str


def read_waiting(outcome: Outcome, colours: Sequence[str]) -> WaitingPe | None:
    """Return why a run stopped, None if it could not be found."""
    text = outcome.report
    if outcome.steps == 0:
        return None
    return WaitingPe(
        steps=tuple(
            DeadlockStep(
                waits=(step.waits[0], step.waits[1]),
                on=(step.on[0], step.on[1]),
                colour=None if step.colour < 0 else colours[step.colour],
                kind=WAITING_KINDS[step.kind],
                said=None if step.at < 0 else _read_line(text, step.at),
            )
            for step in outcome.step[: outcome.steps]
        ),
        left_out=outcome.left_out,
        is_circle=bool(outcome.circle),
        cause=_read_line(text, outcome.cause).removeprefix("so: "),
    )


def _read_line(text: bytes, at: int) -> str:
    return text[at:].split(b"\n", 1)[0].decode().strip()

# --- Runs that stop, as errors --------------------------------------------------------------------
#
# The driver raises such an error, and so does the stage that let the programs run.

PROGRAMS = {
    "simd": "with vector instructions", "loops": "with loops only",
    "multicast": "with vector instructions, where routers copy",
    "enough": "with vector instructions, and enough of what limits them",
    "vm": "of the virtual machine",
}
"""Descriptions of programs, by their folder of `build/`."""


class FabricStuck(Exception):  # noqa: N818
    """The fabric can no longer move, or reached the cycle limit; the text says who waits, and why.

    `is_endless`: it reached the limit. `waiting` is the circle or chain of waiting, if there is
    one. `run` is what happened until then: its outputs are the tensors that are read from memory,
    as they were.
    """

    def __init__(
        self, said: str, is_endless: bool = False, waiting: WaitingPe | None = None,
        run: FabricRun | None = None,
    ) -> None:
        super().__init__(said)
        self.is_endless = is_endless
        self.waiting = waiting
        self.run = run


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricStop:
    """What a page draws of a run that stopped.

    `layout` is the text of the layout, `programs` the folder of those that ran, `said` all that the
    fabric said, and `further` what else is known of how far it came. `usage` is a usage.npz of the
    cycles until then.
    """

    layout: Source
    programs: str
    said: str
    further: str = ""
    waiting: WaitingPe | None = None
    usage: bytes = b""


class FabricStopped(UserError):  # noqa: N818
    """A fabric that stopped, as the error of a stage; `stop` is for whoever draws it.

    It is raised from the FabricStuck, whose run it does not carry from one process to another.
    """

    def __init__(
        self, message: str, span: Span | None = None, hint: str | None = None,
        stop: FabricStop | None = None,
    ) -> None:
        super().__init__(message, span, hint)
        self.stop = stop


def error_of(
    error: FabricFailure | FabricStuck, layout: Source, programs: str, hint: str,
    message: str | None = None, further: str = "",
) -> UserError:
    """Return the error of a stage for a run that did not end well, at its place in the layout.

    `programs` is the folder of the programs that ran; `message` is told instead of all that the
    fabric says.
    """
    if isinstance(error, FabricFailure):
        span = find_place(layout, error.place) if error.place else None
        return UserError(message or f"the fabric stopped: {error}", span, hint)
    ran = f"the fabric stopped, running the programs {PROGRAMS[programs]}: {error}"
    return FabricStopped(message or ran, None, hint, FabricStop(
        layout=layout, programs=programs, said=str(error), further=further, waiting=error.waiting,
        usage=b"" if error.run is None else write_usage(find_usage(error.run)),
    ))


def run_as_far(
    record: Callable[[RunRequest], FabricRun], asked: RunRequest
) -> tuple[FabricRun, int | None]:
    """Return a run that is complete or stops, and the cycle after which it stops, if it does."""
    try:
        return record(asked), None
    except FabricStopped as error:
        stuck = error.__cause__
        assert isinstance(stuck, FabricStuck) and stuck.run is not None, "it ran"
        return stuck.run, stuck.run.until - (not stuck.is_endless)
