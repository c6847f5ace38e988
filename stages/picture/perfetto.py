"""A trace as Perfetto reads it: messages of protobuf, and events as rows of bytes of one length.

Protobuf allows a number to have more bytes than it needs: so a million events are arrays.

Source   perfetto, protos/perfetto/trace/{trace,trace_packet}.proto and
         track_event/{track_event,track_descriptor,counter_descriptor}.proto: names and numbers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[Any]
PACKAGE = "lairmake.perfetto"
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDED = 1, 2
"""Of a sequence of packets: that its names are new, and that a packet needs them."""

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
    """Return the packets that say what the tracks are, and what names are called: from 1 on.

    A track has the fields of a TrackDescriptor; `counter` is whether it counts.
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

    Where `flows` is not 0 an arrow with this number ends at a slice: it takes as many bytes as what
    else slices have, their names as what they correlate by.
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
    """Return what is counted, from cycles on."""
    count = [_tag(len(counts), 30, 0), _number(counts, 4)]
    return _packets(cycles, [*_event(COUNTER, tracks), *count]).tobytes()
