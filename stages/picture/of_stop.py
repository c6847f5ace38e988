"""The page of a fabric that stopped: its grid, and the circle or chain of waiting as arrows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from lairmake.stages.fabric.deadlock import PROGRAMS
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.picture.of_fabric import FabricOnPage, describe_fabric
from lairmake.stages.picture.of_run import read_usage, record_again
from lairmake.stages.picture.page import write_page
from lairmake.stages.picture.tasked import describe_programs

if TYPE_CHECKING:
    import islpy as isl

    from lairmake.stages.fabric.deadlock import Stop, Waiting
    from lairmake.stages.fabric.outcome import Asked, FabricRun


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOnPage:
    """An arrow from who waits, x and y, to whom, which may be a port beside the grid, or itself.

    `number` counts the steps from 1, those left out too; `says` is the line of the text, if there
    is one, and `kind` one of WAITING_KINDS.
    """

    number: int
    waits: tuple[int, int]
    on: tuple[int, int]
    kind: str
    colour: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOnPage:
    """All that the page of a fabric that stopped shows; `else_said` is what else the fabric said.

    `left_out` steps are missing in the middle. Of a circle the last step waits for the first.
    """

    kind: ClassVar[Literal["stop"]] = "stop"
    title: str
    says: str
    headline: str
    further: str
    else_said: str
    texts: Mapping[str, str]
    fabric: FabricOnPage
    cause: str = ""
    steps: tuple[StepOnPage, ...] = ()
    left_out: int = 0
    is_circle: bool = False


def report_stop(
    stop: Stop, title: str, says: str, programs: Mapping[tuple[str, str], str],
    texts: Mapping[str, str], record: Callable[[Asked], FabricRun],
    to_local: isl.UnionMap | None = None,
) -> str:
    """Return the page of a fabric that stopped, as HTML.

    `says` what it is of; `programs` are C by role and variant, `texts` what a reader wants to see
    as it is, and `to_local` what `describe_grid` takes. `record` runs it once more, until it stops.
    """
    layout, waiting = read_layout(stop.layout), stop.waiting
    usage = read_usage(stop.usage) if stop.usage else None
    recorded = None if usage is None else record_again(layout, usage, record, waiting)
    return write_page(title, StopOnPage(
        title=title, says=f"{says}; it ran the programs {PROGRAMS[stop.programs]}",
        headline=stop.said.partition("\n")[0], further=stop.further, texts=texts,
        else_said=find_rest(stop.said, waiting),
        fabric=describe_fabric(
            layout, describe_programs(programs), usage, recorded, to_local
        ),
        cause=waiting.cause if waiting else "",
        steps=tuple(_list_steps(waiting)) if waiting else (),
        left_out=waiting.left_out if waiting else 0,
        is_circle=waiting.is_circle if waiting else False,
    ))


def find_rest(said: str, waiting: Waiting | None) -> str:
    """Return what a fabric said beside its first line, the circle or chain, and the cause."""
    rest = said.splitlines()[1:]
    if waiting is not None:
        first = next(at for at, line in enumerate(rest) if line.startswith("it waits "))
        del rest[first : rest.index(f"so: {waiting.cause}") + 1]
    return "\n".join(rest)


def _list_steps(waiting: Waiting) -> Iterator[StepOnPage]:
    """Yield the steps with their numbers: what is left out comes after the first half."""
    half = len(waiting.steps) // 2
    for at, step in enumerate(waiting.steps):
        yield StepOnPage(
            number=at + 1 + (waiting.left_out if at >= half else 0), waits=step.waits, on=step.on,
            kind=step.kind, colour=step.colour or "", says=step.said or "",
        )
