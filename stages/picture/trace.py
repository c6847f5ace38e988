"""Trace of the events of PEs, for Perfetto."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import islpy as isl
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from numpy.typing import NDArray

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.fabric.deadlock import run_as_far
from lairmake.stages.fabric.engine import STATES
from lairmake.stages.fabric.grid import coordinates
from lairmake.stages.fabric.layout import FabricLayout, Role, read_layout
from lairmake.stages.fabric.outcome import KINDS, RunRequest
from lairmake.stages.mapping.isl_texts import IslText, parse_set
from lairmake.stages.picture import LARGEST_TRACE

if TYPE_CHECKING:
    from lairmake.stages.fabric.outcome import FabricRun

# --- Trace in the format of Perfetto --------------------------------------------------------------
#
# A trace has messages of protobuf; events are rows of bytes of one length. Protobuf allows a number
# to have more bytes than it needs: so a million events are arrays.
#
# Source   perfetto, protos/perfetto/trace/{trace,trace_packet}.proto and
#          track_event/{track_event,track_descriptor,counter_descriptor}.proto: names and numbers

Bytes = NDArray[np.uint8]
Ints = NDArray[Any]
PACKAGE = "lairmake.perfetto"
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDED = 1, 2
"""Flags of a sequence of packets: its names are new, and a packet needs them."""

MESSAGES: Mapping[str, str] = {
    "Trace": "1 packet TracePacket*",
    "TracePacket": """
        8 timestamp uint64; 10 trusted_packet_sequence_id uint32; 11 track_event TrackEvent;
        12 interned_data InternedData; 13 sequence_flags uint32; 60 track_descriptor TrackDescriptor
        """,
    "TrackEvent": """
        9 type uint32; 10 name_iid uint64; 11 track_uuid uint64; 30 counter_value int64;
        47 flow_ids fixed64*; 48 terminating_flow_ids fixed64*; 52 correlation_id uint64
        """,
    "InternedData": "2 event_names EventName*",
    "EventName": "1 iid uint64; 2 name string",
    "TrackDescriptor": """
        1 uuid uint64; 2 name string; 5 parent_uuid uint64; 8 counter CounterDescriptor;
        11 child_ordering uint32; 12 sibling_order_rank int32
        """,
    "CounterDescriptor": "3 unit uint32",
}
"""The fields of each message that are used here: number, name and type; `*` for repeated."""


def _describe() -> Mapping[str, Any]:
    """Return the class of each message."""
    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="lairmake/perfetto.proto", package=PACKAGE, syntax="proto3"
    )
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, label, type_ in (each.split() for each in fields.split(";")):
            plain = type_.rstrip("*")
            field = message.field.add(name=label, number=int(number))
            field.label = kind.LABEL_REPEATED if "*" in type_ else kind.LABEL_OPTIONAL
            if plain in MESSAGES:
                field.type, field.type_name = kind.TYPE_MESSAGE, f".{PACKAGE}.{plain}"
            else:
                field.type = getattr(kind, f"TYPE_{plain.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name in MESSAGES
    }


CLASSES = _describe()


def write_head(names: Sequence[str], tracks: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the packets that describe the tracks, and give names numbers from 1 on.

    A track has the fields of a TrackDescriptor; `counter` says whether it counts.
    """
    trace = CLASSES["Trace"]()
    first = trace.packet.add(trusted_packet_sequence_id=1, sequence_flags=CLEARED)
    for number, name in enumerate(names, 1):
        first.interned_data.event_names.add(iid=number, name=name)
    for track in tracks:
        given = {key: value for key, value in track.items() if key != "counter"}
        packet = trace.packet.add(trusted_packet_sequence_id=1)
        packet.track_descriptor.CopyFrom(CLASSES["TrackDescriptor"](**given))
        if track.get("counter"):
            packet.track_descriptor.counter.unit = 0
    content: bytes = trace.SerializeToString()
    return content


def _number(values: Ints, size: int) -> Bytes:
    """Return numbers as varints of `size` bytes each, [event][byte]."""
    shifts = np.arange(size, dtype=np.int64) * 7
    parts = (values.astype(np.int64)[:, None] >> shifts) & 0x7F
    parts[:, :-1] |= 0x80
    return parts.astype(np.uint8)


def _fixed(values: Ints) -> Bytes:
    """Return numbers of eight bytes each, [event][byte]."""
    return np.ascontiguousarray(values, dtype="<u8").view(np.uint8).reshape(-1, 8)


def _tag(count: int, number: int, wire: int) -> Bytes:
    """Return the tag of a field, as often as there are events."""
    key, parts = number << 3 | wire, []
    while key > 0x7F:
        parts.append(key & 0x7F | 0x80)
        key >>= 7
    return np.broadcast_to(np.array([*parts, key], np.uint8), (count, len(parts) + 1))


def _packed(count: int, number: int, inside: Sequence[Bytes]) -> list[Bytes]:
    """Return the parts of a message of at most 127 bytes that is a field."""
    size = sum(part.shape[1] for part in inside)
    assert size <= 0x7F
    return [_tag(count, number, 2), _number(np.full(count, size), 1), *inside]


def _packets(cycles: Ints, event: Sequence[Bytes]) -> Bytes:
    """Return packets [event][byte] of track events; a cycle is told as a nanosecond."""
    count = len(cycles)
    packet = [
        _tag(count, 8, 0), _number(cycles, 5), _tag(count, 10, 0), _number(np.ones(count), 1),
        _tag(count, 13, 0), _number(np.full(count, NEEDED), 1), *_packed(count, 11, event),
    ]
    return np.concatenate(_packed(count, 1, packet), axis=1)


def _event(kind: int, tracks: Ints) -> list[Bytes]:
    count = len(tracks)
    return [
        _tag(count, 9, 0), _number(np.full(count, kind), 1),
        _tag(count, 11, 0), _number(tracks, 5),
    ]


def _name_entry(names: Ints) -> list[Bytes]:
    return [_tag(len(names), 10, 0), _number(names, 3)]


def write_slices(tracks: Ints, begin: Ints, end: Ints, names: Ints, flows: Ints) -> bytes:
    """Return slices, each from its first cycle to before its last, in the order of their begin.

    Where `flows` is not 0, an arrow with this number ends at a slice. Other slices have as many
    bytes there: the numbers of their names, by which they correlate.
    """
    has_flow = (flows > 0)[:, None]
    arrow = np.concatenate([_tag(len(flows), 48, 1), _fixed(flows)], axis=1)
    other = np.concatenate([_tag(len(flows), 52, 0), _number(names, 8)], axis=1)
    first = _packets(
        begin, [*_event(BEGIN, tracks), *_name_entry(names), np.where(has_flow, arrow, other)]
    )
    rows = np.concatenate([first, _packets(end, _event(END, tracks))], axis=1)
    return rows.tobytes()


def write_instants(tracks: Ints, cycles: Ints, names: Ints, flows: Ints) -> bytes:
    """Return events without duration, at each of which an arrow begins."""
    arrow = [_tag(len(flows), 47, 1), _fixed(flows)]
    return _packets(cycles, [*_event(INSTANT, tracks), *_name_entry(names), *arrow]).tobytes()


def write_counts(tracks: Ints, cycles: Ints, counts: Ints) -> bytes:
    """Return the counts of tracks, from cycles on."""
    count = [_tag(len(counts), 30, 0), _number(counts, 4)]
    return _packets(cycles, [*_event(COUNTER, tracks), *count]).tobytes()

# --- Events of PEs as tracks ----------------------------------------------------------------------
#
# A PE has a track for each kind of thing that it does.
#
# Ensures  no work in Python per event; a cycle is a nanosecond.

TASKS, VECTORS, WAITS, SENT, STREAMS, QUEUES = 1, 2, 3, 4, 8, 48
"""Places of tracks within those of a PE; those of streams and queues are for colour 0."""
PLACES = 96
PLAIN = {TASKS: "tasks", VECTORS: "vector instructions", WAITS: "waits", SENT: "sends"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTrace:
    """A trace, its number of events, and the cycle after which the fabric stopped, if it did."""

    content: bytes
    count: int
    stop: int | None


def trace(
    source: Source, record: Callable[[RunRequest], FabricRun], pes: str, cycles: tuple[int, int],
    most: int,
) -> EventTrace:
    """Return the trace of a run, as far as the run came.

    `source` is the text of a layout, and `record` runs it once more. `pes` is the text of a set of
    PEs, or empty for all. Raises UserError where `pes` is no such set, or where there are no
    events, or more than `most`.
    """
    layout = read_layout(source)
    meant = _read_pes(layout, pes) if pes else isl.Set(layout.grid)
    run, stop = run_as_far(record, RunRequest(pes=meant, begin=cycles[0], end=cycles[1], most=most))
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
    return EventTrace(content=write_trace(run, layout.roles), count=count, stop=stop)


def _read_pes(layout: FabricLayout, text: str) -> isl.Set:
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
    known, number = np.unique(np.array(recorded.names, str), return_inverse=True)
    events = _in_order(recorded.events)
    names = [*known.tolist(), *run.colours, *STATES, "task"]
    places = _find_places(events)
    tracks = events["node"].astype(np.int64) * PLACES + places + 1
    named = _find_names(events, number, len(known), len(run.colours)) + 1
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


def _in_order(events: Ints) -> Ints:
    """Return events in the order of cycles and PEs, with arrows numbered in that of their tasks.

    That order does not depend on which PE was looked at first in a cycle. Those of one PE keep
    their order, but for what it sent: who takes that tells of it.
    """
    found = events.copy()
    flow, sent = found["flow"], found["kind"] == KINDS.index("sent")
    order = [np.where(sent, 1 + found["colour"].astype(np.int64), 0), found["node"], found["begin"]]
    rows = np.lexsort(order)
    ends = flow[rows[(flow > 0)[rows] & ~sent[rows]]]
    ended = np.concatenate([ends, flow[rows[sent[rows] & ~np.isin(flow[rows], ends)]]])
    numbers = np.zeros(int(flow.max(initial=0)) + 1, flow.dtype)
    numbers[ended] = np.arange(1, len(ended) + 1)
    found["flow"] = numbers[flow]
    return found[np.lexsort([np.where(sent, found["flow"], 0), *order])]


def _find_places(events: Ints) -> Ints:
    """Return the place of each event's track within those of its PE."""
    kind, colour = events["kind"], events["colour"].astype(np.int64)
    plain = np.array([TASKS, VECTORS, 0, WAITS, SENT, 0])[kind]
    streamed = np.where(kind == KINDS.index("stream"), STREAMS + colour, plain)
    return np.where(kind == KINDS.index("queue"), QUEUES + colour, streamed)


def _find_names(events: Ints, number: Ints, names: int, colours: int) -> Ints:
    """Return the number of each event's name among those of tasks, colours and states.

    `number` has that of each name that was recorded, of which `names` differ. A stream without a
    name goes by its colour, and a task by `task`, the last one.
    """
    kind, colour = events["kind"], events["colour"].astype(np.int64)
    unnamed = np.where(kind == KINDS.index("task"), names + colours + len(STATES), names + colour)
    recorded = np.append(number, 0)[events["name"]]
    found = np.where(events["name"] >= 0, recorded, unnamed)
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
