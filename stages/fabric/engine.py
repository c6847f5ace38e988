"""Interface of Python to the engine: engine.h in ctypes."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import (
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
)
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from lairmake.stages.machine.types import OPERATIONS, TYPES

# --- Structures of engine.h -----------------------------------------------------------------------

COMPLETE, STUCK, FAILED, OUT_OF_CYCLES = range(4)
MAX_POSITIONS = 4
REPORT_SIZE = 8192
MAX_STEPS = 64
WAITING_KINDS = (
    *("follows", "empty", "receives", "reacts", "lacks space", "not forwarded", "behind"),
    *("headed", "not taken", "blocked", "crowded", "full", "turned", "torn down", "sent all"),
    *("not activated", "is done", "moves", "misses"),
)
"""Reasons to wait, as `enum wait_kind`."""

INLET = np.dtype(
    [
        *(("node", "i4"), ("side", "i4"), ("colour", "i4")),
        *(("first", "i8"), ("count", "i8"), ("total", "i8")),
    ],
    align=True,
)
OUTLET = np.dtype(
    [
        *(("node", "i4"), ("side", "i4"), ("colours", "u4")),
        *(("first", "i8"), ("count", "i8"), ("ends", "i8")),
    ],
    align=True,
)
CHARGES = ("dispatch", "dispatch_next", "start_up", "latency", "configuration", *SCALAR_KINDS)
USAGE = np.dtype(
    [
        ("points", "i8"),
        *((name, "i4") for name in ("busy", "lanes", "rounding", "memory", "streams")),
        *((name, "i4") for name in ("until_last", "last", *CHARGES)),
    ],
    align=True,
)
STATES = ("idle", "busy", "moving", "no_input", "no_space", "under_way", "blocked", "full_queue")
ACTIVE = STATES[1:]
ACTIVITY = np.dtype([
    ("cycles", "i4", len(ACTIVE)),
    *((name, "i4") for name in ("received", "first", "last")),
])
LINK = np.dtype([("wavelets", "i4"), ("stalls", "i4")])
BINS = 1024
SEGMENT = np.dtype([
    (name, "i4") for name in ("node", "begin", "end", "deed", "colour", "name", "computing",
                              "memory", "scalars", "datapath")
])
EVENT = np.dtype([
    (name, "i4") for name in ("node", "begin", "duration", "kind", "colour", "name", "flow")
])
PHASE = np.dtype([("count", "i8"), ("cycles", "i8"), ("begin", "i4"), ("end", "i4")])
BINNED = np.dtype([
    ("width", "i8"), ("cycles", "i8", (len(STATES), BINS)), ("hops", "i8", BINS),
])
PROBE = np.dtype([(name, "i8") for name in ("first", "last", "count")])


class EngineProgram(Structure):
    """A PE program, as `struct program` of pe.h."""

    _fields_: ClassVar[Sequence[Any]] = [
        ("name", c_char_p),
        ("memory", c_size_t),
        ("main", c_void_p),
        ("counters", c_int32),
        ("operands", c_size_t),
    ]


class EngineMachine(Structure):
    """The figures of a profile, as `struct machine`."""

    _fields_: ClassVar[Sequence[Any]] = [
        *((kind, c_int64) for kind in SCALAR_KINDS),
        *((name, c_int64) for name in ("start_up", "latency", "configuration")),
        *((name, c_int64) for name in ("dispatch", "dispatch_next", "fifo")),
        ("lanes", c_int32 * (len(TYPES) ** 2 * len(OPERATIONS))),
        ("stride_limit", c_int32 * 8),
        *((name, c_int32) for name in ("sum_lanes", "mixed_sum_lanes")),
        *((name, c_int32) for name in ("read_banks", "write_latency")),
        *((name, c_int32) for name in ("shared_datapath", "hop", "ramp", "queue_depth")),
        *((name, c_int32) for name in ("threads", "descriptors", "multicast")),
        *((name, c_int32) for name in ("vector_multiply_add", "link_width")),
    ]


class EngineLayout(Structure):
    """What the engine runs, as `struct layout`; arrays are pointers to NumPy memory."""

    _fields_: ClassVar[Sequence[Any]] = [
        ("machine", EngineMachine),
        *((name, c_int32) for name in ("width", "height", "west", "north", "colours", "roles")),
        *((name, c_int32) for name in ("invocations", "inlets", "outlets", "counters")),
        ("cycle_limit", c_int64),
        ("task_limit", c_int64),
        ("visits", c_uint32),
        ("colour_names", POINTER(c_char_p)),
        ("programs", POINTER(c_void_p)),
        ("role", c_void_p),
        ("memory", POINTER(c_void_p)),
        *((name, c_void_p) for name in ("memory_stride", "input_depth", "output_depth")),
        ("origin", c_void_p),
        *((name, c_void_p) for name in ("switches", "routes")),
        ("filter", POINTER(c_void_p)),
        *((name, c_void_p) for name in ("inlet", "outlet", "sent", "sent_control")),
        *((name, c_void_p) for name in ("received", "received_kind", "completed")),
        *((name, c_void_p) for name in ("counter", "usage", "activity", "link", "bins", "record")),
        *((name, c_void_p) for name in ("probe_of", "probe")),
    ]


class EngineRecord(Structure):
    """What is asked of a recorded run, and what it tells, as `struct record` of recorder.h."""

    _fields_: ClassVar[Sequence[Any]] = [
        ("asked", c_void_p),
        *((name, c_int64) for name in ("from", "to")),
        *((name, c_void_p) for name in ("segment", "event", "task", "entered", "left", "name")),
        *((name, c_int64) for name in ("segments", "segment_space", "events", "event_space")),
        *((name, c_int64) for name in ("names", "name_space")),
    ]


class EngineWaitingStep(Structure):
    """A step of the circle or chain of waiting, as `struct waiting_step`."""

    _fields_: ClassVar[Sequence[Any]] = [
        *(("waits", c_int32 * 2), ("on", c_int32 * 2)),
        *((name, c_int32) for name in ("colour", "kind", "at")),
    ]


class Outcome(Structure):
    """What a run gives, as `struct outcome`."""

    _fields_: ClassVar[Sequence[Any]] = [
        *((name, c_int64) for name in ("now", "cycles", "main_cycles", "injected")),
        *((name, c_int64) for name in ("delivered", "hops", "stalls", "tasks", "entered")),
        ("until", c_int64),
        *((name, c_int32) for name in ("steps", "left_out", "circle", "cause")),
        ("step", EngineWaitingStep * MAX_STEPS),
        ("report", c_char * REPORT_SIZE),
    ]


def make_machine(profile: Profile) -> EngineMachine:
    """Return the profile's figures as the engine takes them."""
    return EngineMachine(
        **{kind: profile.find_kind_cost(kind) for kind in SCALAR_KINDS},
        start_up=profile.vector_start_up,
        latency=profile.vector_latency,
        configuration=profile.configuration,
        dispatch=profile.dispatch,
        dispatch_next=profile.find_dispatch_next(),
        fifo=profile.fifo,
        lanes=_make_lanes(profile),
        stride_limit=(c_int32 * 8)(*profile.stride_limits),
        sum_lanes=profile.sum_lanes,
        mixed_sum_lanes=profile.find_mixed_sum_lanes(),
        read_banks=profile.read_banks,
        write_latency=profile.write_latency,
        shared_datapath=profile.shared_datapath,
        hop=profile.hop,
        ramp=profile.ramp,
        queue_depth=profile.queue_depth,
        threads=profile.threads,
        descriptors=profile.descriptors,
        multicast=profile.multicast,
        vector_multiply_add=profile.vector_multiply_add,
        link_width=profile.link_width,
    )


def _make_lanes(profile: Profile) -> Any:
    """Return [type of the result][type of the sources][operation], elements a cycle."""
    rows = itertools.product(TYPES, TYPES, OPERATIONS)
    widths = [profile.find_lanes(operation, to, source) for to, source, operation in rows]
    return (c_int32 * len(widths))(*widths)


@contextmanager
def open_library(path: Path) -> Iterator[ctypes.CDLL]:
    """Load a library for as long as the block runs, so that it may be built again afterwards."""
    import _ctypes

    library = ctypes.CDLL(str(path.resolve()))
    library.fabric_run.argtypes = [POINTER(EngineLayout), POINTER(Outcome)]
    library.fabric_run.restype = c_int32
    expected = c_size_t.in_dll(library, "fabric_layout_size").value
    assert expected == ctypes.sizeof(EngineLayout), "engine.h and engine.py describe two layouts"
    try:
        yield library
    finally:
        _ctypes.dlclose(library._handle)


def find_programs(library: ctypes.CDLL, symbols: Mapping[str, str]) -> list[EngineProgram]:
    """Return the program of each role, by its symbol; it is called as the role is.

    Raises ValueError if the library lacks one.
    """
    try:
        found = [EngineProgram.in_dll(library, symbol) for symbol in symbols.values()]
    except ValueError as error:
        raise ValueError(f"the library lacks a program: {error}") from error
    return [
        EngineProgram(role.encode(), each.memory, each.main, each.counters, each.operands)
        for role, each in zip(symbols, found, strict=True)
    ]


def make_pointers(addresses: Sequence[int | None]) -> Any:
    """Return a C array of pointers; None is NULL."""
    return (c_void_p * max(1, len(addresses)))(*addresses)


def make_strings(texts: Sequence[str]) -> Any:
    """Return a C array of strings."""
    return (c_char_p * max(1, len(texts)))(*(text.encode() for text in texts))


def make_aligned_zeros(size: int) -> NDArray[np.uint8]:
    """Return `size` zero bytes that begin at a multiple of 64."""
    raw = np.zeros(size + 64, dtype=np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + size]

# --- Progress of a long run -----------------------------------------------------------------------
#
# The engine counts where another thread reads.

Tell = Callable[[float], None]
"""A function that is told how much of something is done, from 0 to 1."""

INTERVAL = 0.2
"""Seconds from one report to the next, the first one included."""


def find_share(outcome: Outcome, entering: int, tasks: int) -> float:
    """Return which part of a run is done, from 0 to 1: of the wavelets of ports, the part sent.

    Where nothing enters, it is the part that has run of the least number of tasks, one for each PE
    and invocation.
    """
    done, of = (outcome.entered, entering) if entering else (outcome.tasks, tasks)
    return float(min(done, of) / max(1, of))


@contextmanager
def report_progress(share: Callable[[], float], tell: Tell | None) -> Iterator[None]:
    """Tell from time to time, for as long as the block runs, how much is done; nobody if None."""
    done = threading.Event()
    thread = threading.Thread(target=_report, args=(share, tell, done), daemon=True)
    if tell is not None:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if tell is not None:
            thread.join()


def _report(share: Callable[[], float], tell: Tell, done: threading.Event) -> None:
    while not done.wait(INTERVAL):
        tell(share())
