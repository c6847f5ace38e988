"""A program of the virtual machine as data: procedures, sections of calls, and states."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TypeAlias

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.interpreter.run import find_bits
from lairmake.stages.program.irg.allocation import Request, place_requests
from lairmake.stages.program.values.arithmetic import round_number

# --- Procedures, calls and states -----------------------------------------------------------------
#
# A section is a straight line of calls. The executive tells the response PEs the number of a
# section, and these send its calls and their arguments. The states between sections are computed by
# the executive itself.
#
# Paper    E Sec. 4.1, 6.1.1, 6.1.2

COMPUTE, ACCUMULATE, REDUCE = "compute", "accumulate", "reduce"
TAKE_SUM, TAKE_GLOBAL, HALT = "take_sum", "take_global", "halt"
KINDS = (COMPUTE, ACCUMULATE, REDUCE, TAKE_SUM, TAKE_GLOBAL, HALT)

ARRAY, SCALAR = "ar", "sc"
"""The kinds of a source: an element for each instance, or one for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """A procedure that all workers, and all reduction PEs, can be told to run: an RPC.

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
    destination. A filter is an index into the filters of workers, each 0 or 1. Turns count the
    states of the ring that are passed over: before a transfer those up to its own, and behind the
    last transfer of a section those up to the first state.

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
    """Number of arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionCall:
    """A call of a procedure, for a node of the graph or for none."""

    procedure: int
    arguments: tuple[int, ...]
    node: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSlot:
    """Memory of a worker behind the entries: `address` and `bytes` are in bytes.

    `name` is `landing_0`..., `constant_0`..., or `global_NAME`, where the value of NAME arrives
    from the executive.
    """

    name: str
    type: str
    address: int
    bytes: int
    value: int | float | None = None
    """Value of a constant."""


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
class ComputeState:
    """Compute a node whose destination is the executive's."""

    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """Begin a loop: its counter is 0."""

    loop: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NextState:
    """Take the next element of a loop and count; if there is none, go to state `otherwise`."""

    loop: str
    otherwise: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GoUnless:
    """Go to a state unless a condition holds: the one of loop, branch or leave `item`."""

    item: int
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """Go to a state."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopState:
    """Stop: the program is at its end, and workers have been told to halt."""


State: TypeAlias = (
    SendSection
    | SendGlobal
    | TakeSum
    | ComputeState
    | Begin
    | NextState
    | GoUnless
    | Go
    | StopState
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """A program for the virtual machine.

    `filters` has, for each filter, the PEs of the field whose value is 1, as in filters.isl.
    `workers` is the number of bytes that entries and slots take on a worker.
    """

    procedures: tuple[Procedure, ...]
    sections: tuple[tuple[SectionCall, ...], ...]
    states: tuple[State, ...]
    slots: tuple[ArgumentSlot, ...] = ()
    filters: tuple[tuple[int, int, int, int], ...] = ()
    workers: int = 0
    responses: int = 1
    """Response PEs on each side."""

    shares: tuple[tuple[int, ...], ...] = field(default=())
    """For each section, the number of calls on each response PE: right 1, left 1, right 2..."""

# --- Procedures by number -------------------------------------------------------------------------
#
# Procedures are numbered in the order of their first calls.
#
# Paper    E Sec. 6.1.2: their names

SPECIAL = {TAKE_SUM: "reduceBroadcast", TAKE_GLOBAL: "globalBroadcast", HALT: "halt"}
WITH_ADDRESSES = (COMPUTE, ACCUMULATE, REDUCE)


@dataclass(slots=True)
class Procedures:
    """The procedures that are called so far, with their numbers."""

    numbers: dict[Procedure, int] = field(default_factory=dict)

    def number(self, procedure: Procedure) -> int:
        """Return the number of a procedure, and give it its name and its number of arguments."""
        return self.numbers.setdefault(finish_procedure(procedure), len(self.numbers))


def finish_procedure(procedure: Procedure) -> Procedure:
    """Return a procedure with its name and its number of arguments."""
    return replace(
        procedure, name=name_procedure(procedure), count=count_arguments(procedure))


def count_strides(procedure: Procedure) -> int:
    """Return the number of operands with strides: arrays, and the destination but of a reduce."""
    return procedure.sources.count(ARRAY) + (procedure.kind != REDUCE)


def count_arguments(procedure: Procedure) -> int:
    """Return the number of arguments of a procedure, as described in Procedure."""
    if procedure.kind not in WITH_ADDRESSES:
        return 0 if procedure.kind == HALT else 1
    shape = max(procedure.rank, 1) + procedure.rank * count_strides(procedure)
    moves = 0 if procedure.side == "center" else 3
    return 1 + len(procedure.sources) + shape + 1 + moves


def name_procedure(procedure: Procedure) -> str:
    """Return a name as `ar_sc_addiii_float32_east0_2d`, with an i for each operand.

    `east0`: source 0 of several comes from the east. `2d`: the procedure has two sizes, and
    strides.
    """
    types = "_".join(_list_types(procedure.types))
    if procedure.kind in SPECIAL:
        return "_".join(filter(None, ("special", SPECIAL[procedure.kind], types)))
    op = {REDUCE: f"reduceGlobal{procedure.op.title()}",
          ACCUMULATE: f"accumulate{procedure.op.title()}"}.get(procedure.kind, procedure.op)
    place = procedure.side
    if procedure.streamed is not None and len(procedure.sources) > 1:
        place += str(procedure.streamed)
    words = [*procedure.sources, op + "i" * (1 + len(procedure.sources)), types, place]
    return "_".join([*words, *([f"{procedure.rank}d"] if procedure.rank else [])])


def _list_types(types: Sequence[str]) -> list[str]:
    """Return the different types, those of sources before that of the destination."""
    return list(dict.fromkeys([*types[1:], *types[:1]]))

# --- Slots of workers -----------------------------------------------------------------------------
#
# Paper    ours

Address: TypeAlias = int | str
"""An address as a word of 16 bits, or the name of a slot that gets its address at the end."""

WIDEST = max(BYTES.values())


@dataclass(slots=True)
class _Use:
    type: str
    bytes: int
    first: int
    last: int
    value: int | float | None = None


@dataclass(slots=True)
class Slots:
    """The slots in use so far."""

    uses: dict[str, _Use] = field(default_factory=dict)
    constants: dict[tuple[str, int], str] = field(default_factory=dict)

    def land(self, number: int, type_: str, count: int) -> str:
        """Return the name of a landing slot, and reserve room for `count` elements in it."""
        name = f"landing_{number}"
        use = self.uses.setdefault(name, _Use(type_, 0, -1, -1))
        use.bytes = max(use.bytes, -(-count * BYTES[type_] // WIDEST) * WIDEST)
        use.type = max(use.type, type_, key=BYTES.__getitem__)
        return name

    def keep_constant(self, value: int | float, type_: str) -> str:
        """Return the name of the slot of a number, rounded to a type; one slot serves all uses."""
        rounded = round_number(value, type_)
        key = type_, int(find_bits(rounded.reshape(1))[0])
        if key not in self.constants:
            name = self.constants[key] = f"constant_{len(self.constants)}"
            self.uses[name] = _Use(type_, BYTES[type_], -1, -1, rounded.item())
        return self.constants[key]

    def take_global(self, name: str, type_: str, node: int) -> str:
        """Return the name of the slot in which a node finds a scalar of the executive."""
        slot = f"global_{name}"
        use = self.uses.setdefault(slot, _Use(type_, BYTES[type_], node, node))
        use.last = max(use.last, node)
        return slot


def place_slots(slots: Slots, start: int, alignment: int) -> tuple[tuple[ArgumentSlot, ...], int]:
    """Return all slots with their addresses in bytes, from `start` on, and the end of the last one.

    Landing slots begin at multiples of `alignment`, other slots at multiples of their own bytes.
    Slots of global scalars may share memory where no node between the first and the last use of one
    uses another.
    """
    start = -(-start // WIDEST) * WIDEST if slots.uses else start
    lasting = [name for name, use in slots.uses.items() if use.first < 0]
    placed, end = {}, start
    for name in sorted(lasting, key=lambda name: not name.startswith("landing")):
        use = slots.uses[name]
        step = max(BYTES[use.type], alignment if name.startswith("landing") else 1)
        placed[name] = end = -(-end // step) * step
        end += use.bytes
    end = -(-end // WIDEST) * WIDEST if len(lasting) < len(slots.uses) else end
    requests = [
        Request(name=name, bytes=use.bytes, alignment=BYTES[use.type], first=use.first,
                last=use.last)
        for name, use in slots.uses.items() if use.first >= 0
    ]
    found, size = place_requests(requests)
    placed |= {name: end + at for name, at in found.items()}
    return tuple(
        ArgumentSlot(name=name, type=slots.uses[name].type, address=placed[name],
             bytes=slots.uses[name].bytes, value=slots.uses[name].value)
        for name in sorted(placed, key=lambda name: (placed[name], slots.uses[name].first))
    ), end + size

# --- Division of calls among response PEs ---------------------------------------------------------
#
# Paper    E Sec. 4.1: as evenly as possible

WORD = 2
TABLE = 4 * WORD
"""Bytes on each response PE for a section: the starts and the counts of its arguments and calls."""

TASKS = 3
"""Approximate number of tasks of a response PE: the start of a section, the ends of both
streams."""

MOST = 2**15 - 1
"""Largest number of words of a vector: the start of a share is a number of 16 bits."""

WIDER = "a wider field: each 2 columns more are one more on each side; or a shorter program: " \
        "loops over `global_range(n)` stay loops"
MORE_MEMORY = "a machine with more `memory`"


def find_most_responses(width: int) -> int:
    """Return the number of response PEs on each side for which the control row has room."""
    return max(0, min(width // 2 - 1, width - width // 2 - 1))


def share_calls(
    sections: Sequence[Sequence[int]], parts: int
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the number of calls of each section on each part, and the bytes of each part.

    `sections` has the bytes of each call. Each part gets the same number of calls, in order. The
    remaining calls go to the parts with the fewest bytes so far, one call each; ties go to the
    first.
    """
    filled = [TABLE * len(sections)] * parts
    shares = []
    for calls in sections:
        each, left = divmod(len(calls), parts)
        more = set(heapq.nsmallest(left, range(parts), key=lambda part: (filled[part], part)))
        share = tuple(each + (part in more) for part in range(parts))
        ends = [0, *accumulate(calls)]
        first = 0
        for part, count in enumerate(share):
            filled[part] += ends[first + count] - ends[first]
            first += count
        shares.append(share)
    return shares, filled


def choose_responses(
    sections: Sequence[Sequence[int]], field: tuple[int, int], machine: Profile,
    given: int | None, span: Span | None,
) -> tuple[int, list[tuple[int, ...]]]:
    """Return the number of response PEs on each side, and the shares of each section.

    The number is `given`, or else the fewest PEs whose memory holds the vectors. Raises UserError
    at `span`, which asks for the number or else is the field, if the control row has fewer PEs, or
    if they do not hold the vectors.
    """
    most = find_most_responses(field[0])
    room = min(machine.memory - machine.code_base - TASKS * machine.code_task, WORD * MOST)
    if given is not None and given > most:
        said = f"{given} response PEs on each side: the control row of {field[0]} PEs has {most}"
        raise UserError(said, span, f"at most {most}, or a wider field")
    total = sum(map(sum, sections))
    table = TABLE * len(sections)
    fewest = max(1, -(-total // (2 * (room - table)))) if room > table else most + 1
    for count in [given] if given is not None else range(fewest, most + 1):
        shares, filled = share_calls(sections, 2 * count)
        if max(filled) <= room:
            return count, shares
    several = "s" if len(sections) > 1 else ""
    said = f"calls and arguments of {len(sections)} section{several} take {total} bytes, and " \
           f"{table} on each response PE to find them"
    if room <= table:
        said += f": {machine.name} has {max(0, room)} beside code"
        raise UserError(said, span, MORE_MEMORY)
    if given is not None:
        said += f": {given} on each side do not hold them, with room for {room} bytes each"
        raise UserError(said, span, f"more, at most {most}, or none given: the fewest that do")
    said += f": the control row has {most} on each side, with room for {room} bytes each"
    raise UserError(said, span, WIDER)
