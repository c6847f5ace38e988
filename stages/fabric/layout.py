"""Records of layout.yaml: programs, memory, ports, switch positions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import islpy as isl

from lairmake.stages.diagnose import Source
from lairmake.stages.mapping.records import Key, as_data, explain, read_record
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.movement.flow import RouterColour

PARAM = isl.dim_type.param

# --- Layout of the fabric -------------------------------------------------------------------------

TITLE = "The fabric that the programs run on, in build/simd and in build/loops alike."

Side = Literal["N", "S", "W", "E"]
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMemory:
    """What a program needs of a PE's memory, in bytes."""

    data: Annotated[int, "for its tensors, and what it keeps besides"]
    code: Annotated[int, "for its code, an estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue between a PE and the ramp, of one colour, or of several of which a PE has one."""

    number: Annotated[int, "that of the PE"]
    holds: Annotated[int, "how many wavelets it holds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTensor:
    """A tensor in the memory of each PE of a role."""

    type: Annotated[str, "of its elements"]
    shape: Annotated[tuple[int, ...], "its sizes"]
    address: Annotated[int, "its first byte"]
    tensor: Annotated[str | None, "the global tensor that it is part of"] = None
    transfer: Annotated[
        Literal["in", "out"] | None, "in, if it is put there before the start, or out, at the end"
    ] = None
    stored: Annotated[str | None, Key("map"), "which element of that a local one is"] = None
    buffers: Annotated[
        int | None, "its first size, if it takes turns with so many buffers: after each invocation "
        "it is in the next one; `map` is of the first invocation"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """The PEs that run a program."""

    at: Annotated[str, "these PEs"]
    origin: Annotated[
        tuple[int, int] | None, "x and y of the PE from which their coordinates count"
    ] = None
    offset: Annotated[tuple[int, int] | None, "x and y of that PE in layer.yaml"] = None
    counters: Annotated[tuple[str, ...] | None, "the tasks that it counts"] = None
    listens: Annotated[tuple[str, ...] | None, "the colours that it hears, or all"] = None
    streams: Annotated[
        Mapping[str, str] | None, "what its part calls colours, by what they are called here"
    ] = None
    input_queues: Annotated[
        Mapping[str, Queue] | None,
        "the queue of each colour that it takes; that of a colour without one holds what a "
        "router's does",
    ] = None
    output_queues: Annotated[
        Mapping[str, Queue] | None,
        "the queue of each colour on which it sends, before its router's",
    ] = None
    memory: Annotated[RoleMemory, "what it needs of a PE, in bytes"]
    tensors: Annotated[Mapping[str, LocalTensor], "its local tensors"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortEntry:
    """How a tensor enters."""

    tensor: Annotated[str, "what enters or leaves"]
    type: Annotated[str, "of its elements"]
    colour: Annotated[str, "on which it enters"]
    side: Annotated[Side, "where that is"]
    sparse: Annotated[bool, "whether zeros are left out"]
    order: Annotated[str, "at which external PE, and in which order"]
    outer: Annotated[
        Box | None, "least and greatest outer indices, each of them a sequence with an end"
    ] = None
    replicas: Annotated[
        str | None,
        "the PEs each of which gets a replica, with a control wavelet that turns its router",
    ] = None
    along: Annotated[str | None, "the adapters that get one, and their ports"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortExit:
    """How a tensor leaves."""

    tensor: Annotated[str, "what enters or leaves"]
    type: Annotated[str, "of its elements"]
    colours: Annotated[tuple[str, ...], "on which it leaves"]
    side: Annotated[Side, "where that is"]
    order: Annotated[str, "at which external PE, and in which order"]
    sparse: Annotated[bool, "whether zeros are left out"] = False
    outer: Annotated[
        Box | None, "least and greatest outer indices, each of them a sequence with an end"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricLayout:
    """What the simulated machine is told of a layer."""

    grid: Annotated[str, "all PEs"]
    roles: Annotated[Mapping[str, Role], "which PEs run which program"]
    colours: Annotated[Mapping[str, RouterColour], "where routers send what they hear"]
    arrivals: Annotated[Mapping[str, PortEntry], "where tensors enter"]
    departures: Annotated[Mapping[str, PortExit], "where tensors leave"]


def read_layout(source: Source) -> FabricLayout:
    """Return a layout. Raises UserErrors where the text was edited so that it is none any more."""
    return read_record(source, FabricLayout)


def write_layout(layout: FabricLayout, title: str = TITLE) -> str:
    """Return the text of a layout, and at its head a title and what the keys are that occur."""
    return write_document(explain(title, layout), as_data(layout))

# --- Numbers of a PE's queues ---------------------------------------------------------------------

def number_queues(
    groups: Sequence[Sequence[str]], words: Mapping[str, int], depths: Sequence[int],
    used: Collection[int], *, is_output: bool,
) -> dict[str, Queue]:
    """Return the queue of each colour; those of a group share one, the first get the deepest.

    `words` are those of 16 bits of a wavelet of each colour, `depths` those that each queue holds.
    Numbers that are `used` come last, for queues of one number share a thread on some machines.
    There are as many depths as groups, or more.
    """
    order = sorted(range(len(depths)), reverse=is_output)
    deepest = sorted(order, key=lambda number: (number in used, -depths[number]))
    return {
        name: Queue(number=deepest[k], holds=depths[deepest[k]] // words[name])
        for k, group in enumerate(groups) for name in group
    }

