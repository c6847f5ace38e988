"""Calls of procedures that compute a node of the graph."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TypeAlias

import yaml

from lairmake.stages.diagnose import Source, Span, UserError, plural
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import BYTES, is_integer
from lairmake.stages.program.irg.addresses import (
    FEWER,
    SHOWN,
    WORKERS,
    Addresses,
    find_constructor,
    find_peak,
)
from lairmake.stages.program.irg.graph import GraphEntry, GraphNode, ProgramGraph
from lairmake.stages.program.irg.graph_yaml import Reading
from lairmake.stages.program.irg.regions import RegionAccess, RegionAccesses
from lairmake.stages.program.sections.hops import (
    CENTER,
    RING,
    Box,
    Hop,
    Hops,
    find_participants,
    is_over_pes,
)
from lairmake.stages.program.sections.program import (
    ACCUMULATE,
    ARRAY,
    COMPUTE,
    HALT,
    MORE_MEMORY,
    REDUCE,
    SCALAR,
    WITH_ADDRESSES,
    Address,
    ArgumentSlot,
    Procedure,
    Procedures,
    SectionCall,
    Slots,
)
from lairmake.stages.program.values.forms import GLOBAL_SCALAR, ON_PES, REDUCTIONS, UNIFORM

# --- Elements in memory as sizes and strides ------------------------------------------------------
#
# Paper    ours; E Sec. 6.1.4 has one length for an operation

Strides: TypeAlias = tuple[int, ...]
"""Elements from one instance to the next along each axis of memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Axes of a node's instances in memory, as few as all operands allow, the outermost first.

    `rank` is the number of axes; rank 0 is one run of `sizes[0]` elements, all with stride 1.
    `strides` has the strides of each operand.
    """

    rank: int
    sizes: tuple[int, ...]
    strides: tuple[Strides, ...]


def pack_strides(sizes: Sequence[int]) -> Strides:
    """Return the strides of elements that lie one after another."""
    return tuple(math.prod(sizes[k + 1 :]) for k in range(len(sizes)))


def join_axes(sizes: Sequence[int], strides: Sequence[Strides]) -> Runs:
    """Return the axes without those of size 1, with axes joined that all operands pass in one run.

    Neighbours a and b are joined where the stride along a is the stride along b times the size of
    b. The order of the instances stays.
    """
    joined: list[tuple[int, Strides]] = []
    for k, size in enumerate(sizes):
        along = tuple(each[k] for each in strides)
        if size == 1:
            continue
        if joined and joined[-1][1] == tuple(stride * size for stride in along):
            joined[-1] = joined[-1][0] * size, along
        else:
            joined.append((size, along))
    if not joined or (len(joined) == 1 and all(stride == 1 for stride in joined[0][1])):
        return Runs(rank=0, sizes=(math.prod(sizes),), strides=())
    return Runs(
        rank=len(joined), sizes=tuple(size for size, _ in joined),
        strides=tuple(zip(*(along for _, along in joined), strict=True)),
    )

# --- Calls for one node ---------------------------------------------------------------------------
#
# Paper    E Sec. 4.3, 6.1.4

STREAMS = {"copy": (0,), "add": (0, 1), "mul": (0, 1), "sub": (0,), "maximum": (0,),
           "minimum": (0,), "and": (0, 1), "or": (0, 1), "xor": (0, 1)}
"""The sources that each operation may take as a stream, without memory."""

FIRST = 0
"""The number of the state of the ring in which each section begins and ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDraft:
    """A call whose arguments may still be names of slots."""

    procedure: int
    arguments: tuple[Address, ...]
    node: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOperand:
    """An operand in the memory of a worker: an element for each instance, or one for all.

    `strides` counts elements along the axes of the node's instances in memory.
    """

    kind: str
    type: str
    address: Address
    strides: Strides = ()


@dataclass(slots=True, kw_only=True)
class Caller:
    """A maker of calls for nodes; `state` is the state of the ring behind the last call."""

    graph: ProgramGraph
    regions: Mapping[int, RegionAccesses]
    addresses: Addresses
    hops: Hops
    filters: Mapping[Box, int]
    procedures: Procedures = field(default_factory=Procedures)
    slots: Slots = field(default_factory=Slots)
    state: int = FIRST

    def special(
        self, kind: str, type_: str = "", arguments: tuple[Address, ...] = (),
        node: int | None = None,
    ) -> CallDraft:
        """Return a call that belongs to no operation."""
        procedure = Procedure(name="", kind=kind, types=(type_,) if type_ else ())
        return CallDraft(
            procedure=self.procedures.number(procedure), arguments=arguments, node=node)

    def turn_back(self, calls: list[CallDraft]) -> None:
        """Let the last transfer of a section turn the ring back to its first state."""
        if self.state == FIRST:
            return
        procedures = list(self.procedures.numbers)
        last = max(n for n, each in enumerate(calls) if procedures[each.procedure].side != CENTER)
        *before, _ = calls[last].arguments
        turns = count_turns(self.state, RING[FIRST])
        calls[last] = replace(calls[last], arguments=(*before, turns))
        self.state = FIRST

    def call(self, node: GraphNode) -> Iterator[CallDraft]:
        """Yield the calls of a node; a reduction over PEs only sends, its result comes later."""
        accesses = self.regions[node.id]
        whole = accesses.src[0] if node.op in REDUCTIONS else accesses.dst
        assert whole is not None
        on_pes = self.graph.entries[node.dst].kind in ON_PES or node.op in REDUCTIONS
        sizes = whole.sizes[2:] if on_pes else ()
        who = find_participants(node, accesses, self.graph)
        sources = [self.source(node, k, sizes) for k in range(len(node.src))]
        if is_over_pes(node, self.graph.entries):
            yield self.reduce(node, sources[0], sizes, who)
            return
        dst = self.operand(self.graph.entries[node.dst], accesses.dst, sizes, has_each=True)
        streamed, landing = self.plan(node, sources, dst)
        held: list[str] = []
        for k in landing:
            hops = self.hops.get((node.id, k), ())
            sources[k] = yield from self.land(node, sources[k], hops, sizes, who, held)
        hop = None
        if streamed is not None:
            *before, hop = self.hops[node.id, streamed]
            if before:
                sources[streamed] = yield from self.land(
                    node, sources[streamed], before, sizes, who, held)
        yield self.compute(node, dst, sources, sizes, who, streamed, hop)

    def plan(
        self, node: GraphNode, sources: list[CallOperand], dst: CallOperand
    ) -> tuple[int | None, tuple[int, ...]]:
        """Return the source that is taken as a stream, or None, and the sources that land in slots.

        A source lands if the node overwrites it before it has read it all: a sum first writes its
        neutral element. Of all orders, the one with the fewest turns of the ring is taken.
        """
        moved = [k for k in range(len(sources)) if (node.id, k) in self.hops]
        crossed = [
            k for k, each in enumerate(sources) if node.src[k] == node.dst and k not in moved
            and (node.op in REDUCTIONS
                 or (each.address, each.strides) != (dst.address, dst.strides))
        ]
        streams: list[int | None] = [k for k in moved if self.may_stream(node, k, sources[k])]
        best: tuple[int, int | None, tuple[int, ...]] | None = None
        for streamed in streams or [None]:
            landing = [k for k in moved if k != streamed]
            for order in permutations(landing):
                turns = self.count_all_turns(node.id, [*order, streamed])
                if best is None or turns < best[0]:
                    best = turns, streamed, order
        assert best is not None
        return best[1], (*crossed, *best[2])

    def may_stream(self, node: GraphNode, k: int, source: CallOperand) -> bool:
        """Return whether source k, which lies on other PEs, may be taken as a stream."""
        allowed = STREAMS.get(node.op, ())
        if node.op in ("maximum", "minimum") and is_integer(source.type):
            allowed = (0, 1)
        is_sent_entry = len(self.hops[node.id, k]) == 1 and node.src[k] == node.dst
        return k in allowed and source.kind == ARRAY and not is_sent_entry

    def count_all_turns(self, node: int, order: list[int | None]) -> int:
        """Return the number of ring states that the hops of some sources pass over."""
        state, total = self.state, 0
        for k in order:
            for hop in self.hops[node, k] if k is not None else ():
                total += count_turns(state, hop.side)
                state = find_next(hop.side)
        return total

    def land(
        self,
        node: GraphNode,
        source: CallOperand,
        hops: Sequence[Hop],
        sizes: tuple[int, ...],
        who: Box,
        held: list[str],
    ) -> Generator[CallDraft, None, CallOperand]:
        """Yield the calls that bring a source into a slot, and return the operand in the slot."""
        inner = sizes if source.kind == ARRAY else ()
        for hop in hops or (None,):
            number = next(n for n in range(len(held) + 2) if f"landing_{n}" not in (
                *held, source.address))
            slot = self.slots.land(number, source.type, math.prod(inner))
            to = CallOperand(
                kind=ARRAY, type=source.type, address=slot, strides=pack_strides(inner)
            )
            of = replace(source, kind=ARRAY, strides=source.strides[: len(inner)])
            yield self.compute(replace(node, op="copy"), to, [of], inner, who,
                               None if hop is None else 0, hop)
            source = replace(to, kind=source.kind)
        held.append(str(source.address))
        return source

    def compute(
        self, node: GraphNode, dst: CallOperand, sources: list[CallOperand], sizes: tuple[int, ...],
        who: Box, streamed: int | None, hop: Hop | None,
    ) -> CallDraft:
        """Return the call of an operation on the PEs `who`, or on the takers of a hop."""
        arrays = [each.strides for each in (dst, *sources) if each.kind == ARRAY or each is dst]
        runs = join_axes(sizes, arrays)
        types = (dst.type, *(each.type for each in sources))
        procedure = Procedure(
            name="", kind=ACCUMULATE if node.op in REDUCTIONS else COMPUTE,
            op="copy" if node.op == "cast" and len({*types}) == 1 else node.op, types=types,
            sources=tuple(each.kind for each in sources), rank=runs.rank,
            side=CENTER if hop is None else hop.side, streamed=streamed,
        )
        arguments = [dst.address, *(each.address for each in sources), *runs.sizes]
        arguments += [stride for strides in runs.strides for stride in strides]
        arguments.append(self.filters[who if hop is None else hop.takers])
        if hop is not None:
            arguments += [self.filters[hop.senders], count_turns(self.state, hop.side), 0]
            self.state = find_next(hop.side)
        return CallDraft(procedure=self.procedures.number(procedure), arguments=tuple(arguments),
                     node=node.id)

    def reduce(
        self, node: GraphNode, source: CallOperand, sizes: tuple[int, ...], who: Box
    ) -> CallDraft:
        """Return the call that sends a worker's part of a sum over all workers."""
        result = self.graph.entries[node.dst]
        runs = join_axes(sizes, [source.strides])
        procedure = Procedure(
            name="", kind=REDUCE, op=node.op, types=(result.type, source.type),
            sources=(ARRAY,), rank=runs.rank)
        strides = [stride for each in runs.strides for stride in each]
        arguments = (int(result.kind == UNIFORM), source.address, *runs.sizes, *strides,
                     self.filters[who])
        return CallDraft(procedure=self.procedures.number(procedure), arguments=arguments,
                     node=node.id)

    def source(self, node: GraphNode, k: int, sizes: tuple[int, ...]) -> CallOperand:
        """Return source k of a node as an operand of a worker."""
        operand, access = node.src[k], self.regions[node.id].src[k]
        if access is None or not isinstance(operand, str):
            assert not isinstance(operand, str)
            type_ = self.find_number_type(node)
            slot = self.slots.keep_constant(operand, type_)
            return CallOperand(kind=SCALAR, type=type_, address=slot)
        entry = self.graph.entries[operand]
        if entry.kind == GLOBAL_SCALAR:
            slot = self.slots.take_global(operand, entry.type, node.id)
            return CallOperand(kind=SCALAR, type=entry.type, address=slot)
        return self.operand(entry, access, sizes, has_each=node.op in REDUCTIONS)

    def find_number_type(self, node: GraphNode) -> str:
        """Return the type of the numbers among a node's sources."""
        valued = node.src[1:] if node.op == "where" else node.src
        named = [each for each in valued if isinstance(each, str)]
        return self.graph.entries[named[0] if named else node.dst].type

    def operand(
        self, entry: GraphEntry, access: RegionAccess, sizes: tuple[int, ...], *, has_each: bool
    ) -> CallOperand:
        """Return an entry of workers as an operand, with `has_each` never one for all."""
        at = self.addresses.places[entry.name].address // 2
        if entry.kind not in ON_PES:
            return CallOperand(
                kind=ARRAY if has_each else SCALAR, type=entry.type, address=at,
                strides=(0,) * len(sizes))
        strides, offset = [0] * len(sizes), 0
        rows = pack_strides(entry.shape[2:])
        for k, row in enumerate(rows, 2):
            offset += access.start[k] * row
            axis = access.axes[k]
            if axis is not None:
                strides[axis - 2] = access.step[k] * row
        is_one = not has_each and math.prod(sizes) > 1 and not any(strides)
        return CallOperand(kind=SCALAR if is_one else ARRAY, type=entry.type,
                       address=at + offset * BYTES[entry.type] // 2, strides=tuple(strides))


def count_turns(state: int, side: str) -> int:
    """Return the number of ring states to pass over from a state to the transfer from a side."""
    return (RING.index(side) - state) % len(RING)


def find_next(side: str) -> int:
    """Return the state of the ring behind a transfer from a side."""
    return (RING.index(side) + 1) % len(RING)

# --- Validity of calls and sections ---------------------------------------------------------------
#
# Paper    E Sec. 6.1.4

SMALLEST, LARGEST = -(2**15), 2**15 - 1
"""The range of an argument: 16 bits."""


def check_call(
    reading: Reading,
    at: yaml.Node,
    call: SectionCall,
    procedure: Procedure,
    workers: int,
    filters: int,
) -> None:
    """Raise UserError for a call whose arguments do not suit its procedure.

    `workers` is the memory of workers in bytes, `filters` the number of filters.
    """
    name, arguments = procedure.name, call.arguments
    if len(arguments) != procedure.count:
        said = f"{len(arguments)} arguments of {name}, which has {procedure.count}"
        raise reading.error(at, said)
    if any(not SMALLEST <= each <= LARGEST for each in arguments):
        raise reading.error(at, f"an argument of {name} has more than 16 bits")
    if procedure.kind == HALT:
        return
    is_operation = procedure.kind in WITH_ADDRESSES
    of_addresses = 1 + len(procedure.sources) if is_operation else 1
    addresses = arguments[procedure.kind == REDUCE : of_addresses]
    if any(not 0 <= 2 * each < workers for each in addresses):
        raise reading.error(at, f"an address of {name} is not in the {workers} bytes of workers")
    if not is_operation:
        return
    if procedure.kind == REDUCE and arguments[0] not in (0, 1):
        raise reading.error(at, f"{name} is for all (1), or for the executive (0)")
    if any(each < 1 for each in arguments[of_addresses:][: max(procedure.rank, 1)]):
        raise reading.error(at, f"a size of {name} is not positive")
    last = arguments[-4:] if procedure.side != CENTER else (*arguments[-1:], 0, 0, 0)
    if any(not 0 <= each < filters for each in last[:2]):
        raise reading.error(at, f"{name} has a filter beyond the {filters} that are there")
    for turns in last[2:]:
        if not 0 <= turns < len(RING):
            raise reading.error(at, f"{turns} turns of a ring of {len(RING)}")


def check_section(
    reading: Reading, at: yaml.Node, calls: Sequence[SectionCall], procedures: Sequence[Procedure]
) -> None:
    """Raise UserError for a section that leaves the ring turned, or goes on after a halt."""
    state = FIRST
    for n, call in enumerate(calls):
        procedure = procedures[call.procedure]
        if procedure.kind == HALT and n < len(calls) - 1:
            raise reading.error(at, "calls behind one that halts")
        if procedure.side == CENTER:
            continue
        *_, before, behind = call.arguments
        turns = count_turns(state, procedure.side)
        if before != turns:
            said = f"call {n} turns the ring {before} times: from {RING[state]} to " \
                   f"{procedure.side} it is {turns}"
            raise reading.error(at, said)
        state = (find_next(procedure.side) + behind) % len(RING)
    if state != FIRST:
        said = f"the section ends with the ring at {RING[state]}, and begins at {RING[FIRST]}"
        raise reading.error(at, said)

# --- Memory of the workers ------------------------------------------------------------------------
#
# Paper    E Sec. 4

def check_workers(
    addresses: Addresses, slots: Sequence[ArgumentSlot], filters: int, end: int, machine: Profile,
    source: Source | None,
) -> None:
    """Raise UserError where entries, slots (up to byte `end`) and filters exceed the memory.

    The error names the largest entries and slots, and has the place in `source` that makes the
    largest entry.
    """
    needed, room = end + 2 * filters, machine.memory - machine.code_base
    if needed <= room:
        return
    live = find_peak(p for p in addresses.places.values() if p.space == WORKERS)[:SHOWN]
    largest = sorted([*((p.name, p.bytes) for p in live), *((s.name, s.bytes) for s in slots)],
                     key=lambda each: -each[1])[:SHOWN]
    listed = ", ".join(f"{name} ({size} bytes)" for name, size in largest)
    said = f"a worker needs {needed} bytes, with what lands on it, constants and {filters} " \
           f"filters, and has {max(0, room)} beside its code"
    span = next(filter(None, (find_constructor(source, p.name) for p in live)), None)
    remedy = FEWER if room > 0 else MORE_MEMORY
    raise UserError(said, span, f"the largest: {listed}; {remedy}")

# --- Least width of a field -----------------------------------------------------------------------
#
# Paper    E Sec. 4

NARROWEST = 4
"""Columns of the smallest field: merge PE, executive, and a response PE on each side."""

FIELD = re.compile(r"^[ \t]*((?:\w+\.)*field\([^()\n]*\))", re.M)


def check_width(graph: ProgramGraph, source: Source | None) -> None:
    """Raise UserError for a field that is too narrow for the control row."""
    columns, rows = graph.field
    if columns >= NARROWEST:
        return
    said = f"the field has {plural(columns, 'column')}: the row that controls it needs " \
           f"{NARROWEST}, for the executive, the merge PE, and a response PE on each side"
    hint = f"write `field({NARROWEST}, {rows})` once, before sums: arrays may be smaller than it"
    raise UserError(said, find_field(graph, source), hint)


def find_field(graph: ProgramGraph, source: Source | None) -> Span | None:
    """Return the place of `field(...)` in a source, or that of the first of the widest objects.

    Where the source spells both in other ways, the place is the first line.
    """
    if source is None:
        return None
    found = FIELD.search(source.text)
    if found:
        return Span(source=source, start=found.start(1), end=found.end(1))
    widest = (entry.name for entry in graph.entries.values()
              if entry.kind in ON_PES and entry.shape[0] == graph.field[0])
    begins = Span(source=source, start=0, end=len(source.text.partition("\n")[0]))
    return next(filter(None, (find_constructor(source, name) for name in widest)), begins)
