"""Why a fabric stopped, as the engine found it: the circle or chain of waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lairmake.stages.fabric.library import WAITING_KINDS, Outcome

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingStep:
    """Who waits, x and y of a PE, for whom: an arrow. What is outside of the grid is a port.

    `colour` is that on which it waits, if it is one; `kind`, one of WAITING_KINDS, says why; `said`
    is its line of the text, None where that leaves it out. Whoever ends a chain waits for itself.
    """

    waits: Place
    on: Place
    colour: str | None
    kind: str
    said: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The steps, of which `left_out` are missing after the first half, and the cause in words.

    `is_circle`: the last one waits for the first.
    """

    steps: tuple[WaitingStep, ...]
    left_out: int
    is_circle: bool
    cause: str


def read_waiting(outcome: Outcome, colours: Sequence[str]) -> Waiting | None:
    """Return why a run stopped, None if it could not be found."""
    text = outcome.report
    if outcome.steps == 0:
        return None
    return Waiting(
        steps=tuple(
            WaitingStep(
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
