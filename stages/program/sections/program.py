"""Procedures of workers, calls of them in sections, and the states of the executive.

A section is a straight line of calls. The executive tells the response PEs its number, and these
send its calls and their arguments; what stands between sections the executive does by itself.

Paper    E Sec. 4.1, 6.1.1, 6.1.2
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

COMPUTE, ACCUMULATE, REDUCE = "compute", "accumulate", "reduce"
TAKE_SUM, TAKE_GLOBAL, HALT = "take_sum", "take_global", "halt"
KINDS = (COMPUTE, ACCUMULATE, REDUCE, TAKE_SUM, TAKE_GLOBAL, HALT)

ARRAY, SCALAR = "ar", "sc"
"""What a source is: an element for each instance, or one for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What all workers, and all reduction PEs, can be told to do: an RPC.

    kind      arguments, each a word of 16 bits, in this order
    compute   addresses of destination and sources, without that of a streamed source's landing;
              sizes; strides; filter of who computes; if `side` is one: filter of who sends, turns
              before and behind
    accumulate  addresses of destination and source, sizes, strides, filter: over axes in memory,
              along which the destination has stride 0
    reduce    1 if all workers get the result, 0 for the executive; address of the source, sizes,
              strides, filter: over all workers
    take_sum, take_global  address of where it goes
    halt      none

    Addresses count words of 16 bits. `rank` 0: one size, and no strides, for all are 1. Else `rank`
    sizes, the outermost first, and then for the destination and for each source that is an array
    in memory on some PE (also the streamed one) `rank` strides in elements; a reduce has no
    destination. A filter is an index into the filters of workers, each 0 or 1. Turns are how
    many states of the ring are passed over: before a transfer up to its own, and behind the last
    one of a section up to the first.

    `types` are those of the destination and of the sources, of a reduce that of the result and of
    its source, of take_sum and take_global that of the value alone. `streamed` is the source that
    comes from `side`, as it is computed with.
    """

    name: str
    kind: str
    op: str = ""
    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    rank: int = 0
    side: str = "center"
    streamed: int | None = None
    count: int = 0
    """How many arguments it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionCall:
    """A call of a procedure, for a node of the graph or for none."""

    procedure: int
    arguments: tuple[int, ...]
    node: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Memory of a worker behind that of the entries: `address` and `bytes` are in bytes.

    `name` is `landing_0`..., `constant_0`..., or `global_NAME`, to which NAME of the executive
    comes.
    """

    name: str
    type: str
    address: int
    bytes: int
    value: int | float | None = None
    """Of a constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendSection:
    """Tell the response PEs the number of a section."""

    section: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SendGlobal:
    """Send the value of a global scalar to all workers."""

    entry: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeSum:
    """Wait for the result of reduction node `node` and keep it in its destination."""

    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute:
    """Compute a node whose destination is the executive's."""

    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """Begin a loop: its counter is 0."""

    loop: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """Take what the loop runs over at its counter, and count; if no more is there, go to a state.
    """

    loop: str
    otherwise: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GoUnless:
    """Go to a state unless a condition holds: that of loop, branch or leave `item` of the graph."""

    item: int
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """Go to a state."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The program is at its end: workers have been told to halt."""


State: TypeAlias = (
    SendSection | SendGlobal | TakeSum | Compute | Begin | Next | GoUnless | Go | Stop
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """A program for the virtual machine.

    `filters` has for each filter the PEs of the field whose value is 1, as in filters.isl.
    `workers` is how many bytes entries and slots take on a worker.
    """

    procedures: tuple[Procedure, ...]
    sections: tuple[tuple[SectionCall, ...], ...]
    states: tuple[State, ...]
    slots: tuple[Slot, ...] = ()
    filters: tuple[tuple[int, int, int, int], ...] = ()
    workers: int = 0
    responses: int = 1
    """Response PEs on each side."""

    shares: tuple[tuple[int, ...], ...] = field(default=())
    """Of each section, how many of its calls each response PE has: right 1, left 1, right 2..."""
