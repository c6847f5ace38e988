"""What happened on some PEs, as a trace that Perfetto opens: a track for each thing that one does.

Ensures  no work in Python per event; a cycle is a nanosecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.fabric.deadlock import run_as_far
from lairmake.stages.fabric.engine import STATES
from lairmake.stages.fabric.grid import coordinates
from lairmake.stages.fabric.layout import Layout, Role, read_layout
from lairmake.stages.fabric.outcome import KINDS, Asked
from lairmake.stages.mapping.isl_texts import IslText, parse_set
from lairmake.stages.picture import LARGEST_TRACE
from lairmake.stages.picture.perfetto import write_counts, write_head, write_instants, write_slices

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun

Ints = NDArray[Any]
TASKS, VECTORS, WAITS, SENT, STREAMS, QUEUES = 1, 2, 3, 4, 8, 48
"""The places of tracks within those of a PE: the first stream and queue are those of colour 0."""
PLACES = 96
PLAIN = {TASKS: "tasks", VECTORS: "vector instructions", WAITS: "waits", SENT: "sends"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace, and how many events it has; the cycle after which the fabric stopped, if it did."""

    content: bytes
    count: int
    stop: int | None


def trace(
    source: Source, record: Callable[[Asked], FabricRun], pes: str, cycles: tuple[int, int],
    most: int,
) -> Trace:
    """Return the trace of a run, as far as it came.

    `source` is the text of a layout, `record` runs it once more, `pes` is the text of a set, of all
    PEs if it is empty. Raises UserError where that is none, or where there are no events, or more
    than `most`.
    """
    layout = read_layout(source)
    meant = _read_pes(layout, pes) if pes else isl.Set(layout.grid)
    run, stop = run_as_far(record, Asked(pes=meant, begin=cycles[0], end=cycles[1], most=most))
    assert run.recorded is not None, "the run was recorded"
    count = run.recorded.count
    if count > most:
        more = f"; or --most {count}" if count <= LARGEST_TRACE else ""
        raise UserError(
            f"the trace would have {count} events, and may have {most}",
            hint=f"fewer PEs, --pes, or cycles, --cycles{more}",
        )
    if count == 0:
        last = cycles[1] if cycles[1] < run.until else ""
        end = run.cycles if stop is None else stop
        raise UserError(
            f"nothing happens on these PEs in cycles {cycles[0]}:{last}; the run has {end}",
            hint="more PEs, --pes, or other cycles, --cycles",
        )
    return Trace(content=write_trace(run, layout.roles), count=count, stop=stop)


def _read_pes(layout: Layout, text: str) -> isl.Set:
    source, grid = Source(path="--pes", text=text), isl.Set(layout.grid)
    given = IslText(text=text, source=source, offsets=tuple(range(len(text) + 1)))
    found = parse_set(given).intersect(grid.to_union_set())
    if found.is_empty():
        span = Span(source=source, start=0, end=len(text))
        raise UserError("that is no PE of the grid", span, f"the PEs are {layout.grid}")
    return found.extract_set(grid.get_space())


def write_trace(run: FabricRun, roles: Mapping[str, Role]) -> bytes:
    """Return the trace of the events that a run recorded; `roles` are those of its layout."""
    recorded = run.recorded
    assert recorded is not None, "the run was recorded"
    events = recorded.events[np.argsort(recorded.events["begin"], kind="stable")]
    names = [*recorded.names, *run.colours, *STATES, "task"]
    places = _find_places(events)
    tracks = events["node"].astype(np.int64) * PLACES + places + 1
    named = _find_names(events, len(recorded.names), len(run.colours)) + 1
    of = {name: events["kind"] == number for number, name in enumerate(KINDS)}
    slices = of["task"] | of["vector"] | of["stream"] | of["wait"]
    end = events["begin"].astype(np.int64) + events["duration"]
    return b"".join([
        write_head(names, list(_describe_tracks(run, roles, np.unique(tracks - 1)))),
        write_slices(tracks[slices], events["begin"][slices], end[slices], named[slices],
                     events["flow"][slices]),
        write_instants(tracks[of["sent"]], events["begin"][of["sent"]], named[of["sent"]],
                       events["flow"][of["sent"]]),
        write_counts(tracks[of["queue"]], events["begin"][of["queue"]],
                     events["duration"][of["queue"]]),
    ])


def _find_places(events: Ints) -> Ints:
    """Return the place of each event's track within those of its PE."""
    kind, colour = events["kind"], events["colour"].astype(np.int64)
    plain = np.array([TASKS, VECTORS, 0, WAITS, SENT, 0])[kind]
    streamed = np.where(kind == KINDS.index("stream"), STREAMS + colour, plain)
    return np.where(kind == KINDS.index("queue"), QUEUES + colour, streamed)


def _find_names(events: Ints, names: int, colours: int) -> Ints:
    """Return the number of each event's name among those of tasks, colours and states.

    A stream without a name goes by its colour, and a task by `task`, the last one.
    """
    kind, colour = events["kind"], events["colour"].astype(np.int64)
    unnamed = np.where(kind == KINDS.index("task"), names + colours + len(STATES), names + colour)
    found = np.where(events["name"] >= 0, events["name"], unnamed)
    return np.where(kind == KINDS.index("wait"), names + colours + colour, found)


def _describe_tracks(
    run: FabricRun, roles: Mapping[str, Role], tracks: Ints
) -> Iterator[dict[str, Any]]:
    """Yield tracks by number less 1, and before those of a PE the one that they are below.

    Colours have the names that the part of a PE gives them, if it is of one.
    """
    nodes, places = np.divmod(tracks, PLACES)
    names, own = list(roles), [role.streams or {} for role in roles.values()]
    for node in np.unique(nodes).tolist():
        x, y = coordinates(np.array(node), run.grid)
        role = names[run.role[node]] if run.role[node] >= 0 else "router"
        yield {"uuid": node * PLACES + 1, "name": f"PE[{x}, {y}] {role}",
               "sibling_order_rank": node}
    for node, place in zip(nodes.tolist(), places.tolist(), strict=True):
        known = own[run.role[node]] if run.role[node] >= 0 else {}
        if place >= QUEUES:
            name = f"queue {_named(run.colours[place - QUEUES], known)}"
        else:
            name = PLAIN.get(place) or f"stream {_named(run.colours[place - STREAMS], known)}"
        yield {"uuid": node * PLACES + place + 1, "name": name, "sibling_order_rank": place,
               "parent_uuid": node * PLACES + 1, "counter": place >= QUEUES}


def _named(colour: str, own: Mapping[str, str]) -> str:
    return own.get(colour, colour)
