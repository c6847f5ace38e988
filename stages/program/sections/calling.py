"""The calls that let workers compute a node: hops of what lies on other PEs, then the operation.

Paper    E Sec. 4.3, 6.1.4
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from lairmake.stages.machine.types import BYTES, is_integer
from lairmake.stages.program.irg.addresses import Addresses
from lairmake.stages.program.irg.graph import Entry, Graph, Node
from lairmake.stages.program.irg.regions import Access, Accesses
from lairmake.stages.program.sections.finding import Hops, find_participants, is_over_pes
from lairmake.stages.program.sections.hops import CENTER, RING, Box, Hop
from lairmake.stages.program.sections.procedures import Procedures
from lairmake.stages.program.sections.program import (
    ACCUMULATE,
    ARRAY,
    COMPUTE,
    REDUCE,
    SCALAR,
    Procedure,
)
from lairmake.stages.program.sections.runs import Strides, join_axes, pack_strides
from lairmake.stages.program.sections.slots import Address, Slots
from lairmake.stages.program.values.forms import GLOBAL_SCALAR, ON_PES, REDUCTIONS, UNIFORM

STREAMS = {"copy": (0,), "add": (0, 1), "mul": (0, 1), "sub": (0,), "maximum": (0,),
           "minimum": (0,), "and": (0, 1), "or": (0, 1), "xor": (0, 1)}
"""The sources with which an operation may compute as they come."""

FIRST = 0
"""The number of the state of the ring in which a section begins and ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A call, some of whose arguments may be names of slots."""

    procedure: int
    arguments: tuple[Address, ...]
    node: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """An operand in the memory of a worker: an element for each instance, or one for all.

    `strides` counts elements along the axes of the node's instances in memory.
    """

    kind: str
    type: str
    address: Address
    strides: Strides = ()


@dataclass(slots=True, kw_only=True)
class Caller:
    """Turns nodes into calls; `state` is that of the ring behind the last of them."""

    graph: Graph
    regions: Mapping[int, Accesses]
    addresses: Addresses
    hops: Hops
    filters: Mapping[Box, int]
    procedures: Procedures = field(default_factory=Procedures)
    slots: Slots = field(default_factory=Slots)
    state: int = FIRST

    def special(
        self, kind: str, type_: str = "", arguments: tuple[Address, ...] = (),
        node: int | None = None,
    ) -> Draft:
        """Return a call that is of no operation."""
        procedure = Procedure(name="", kind=kind, types=(type_,) if type_ else ())
        return Draft(
            procedure=self.procedures.number(procedure), arguments=arguments, node=node)

    def turn_back(self, calls: list[Draft]) -> None:
        """Let the last transfer of a section turn the ring to its first state behind itself."""
        if self.state == FIRST:
            return
        procedures = list(self.procedures.numbers)
        last = max(n for n, each in enumerate(calls) if procedures[each.procedure].side != CENTER)
        *before, _ = calls[last].arguments
        turns = count_turns(self.state, RING[FIRST])
        calls[last] = replace(calls[last], arguments=(*before, turns))
        self.state = FIRST

    def call(self, node: Node) -> Iterator[Draft]:
        """Yield the calls of a node; a reduction over PEs is sent, and comes later."""
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
        self, node: Node, sources: list[Operand], dst: Operand
    ) -> tuple[int | None, tuple[int, ...]]:
        """Return the source that is computed with as it comes, if one may be, and those that land.

        What a node writes before it has read all of it lands: a sum begins by writing what is
        neutral. Of all orders that with the fewest turns of the ring is taken.
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

    def may_stream(self, node: Node, k: int, source: Operand) -> bool:
        """Whether source k, which lies on other PEs, may be computed with as it comes."""
        allowed = STREAMS.get(node.op, ())
        if node.op in ("maximum", "minimum") and is_integer(source.type):
            allowed = (0, 1)
        is_sent_entry = len(self.hops[node.id, k]) == 1 and node.src[k] == node.dst
        return k in allowed and source.kind == ARRAY and not is_sent_entry

    def count_all_turns(self, node: int, order: list[int | None]) -> int:
        """Return how many states of the ring are passed over in some hops."""
        state, total = self.state, 0
        for k in order:
            for hop in self.hops[node, k] if k is not None else ():
                total += count_turns(state, hop.side)
                state = find_next(hop.side)
        return total

    def land(
        self, node: Node, source: Operand, hops: Sequence[Hop], sizes: tuple[int, ...], who: Box,
        held: list[str],
    ) -> Generator[Draft, None, Operand]:
        """Yield the calls that bring a source into a slot, and return it there."""
        inner = sizes if source.kind == ARRAY else ()
        for hop in hops or (None,):
            number = next(n for n in range(len(held) + 2) if f"landing_{n}" not in (
                *held, source.address))
            slot = self.slots.land(number, source.type, math.prod(inner))
            to = Operand(kind=ARRAY, type=source.type, address=slot, strides=pack_strides(inner))
            of = replace(source, kind=ARRAY, strides=source.strides[: len(inner)])
            yield self.compute(replace(node, op="copy"), to, [of], inner, who,
                               None if hop is None else 0, hop)
            source = replace(to, kind=source.kind)
        held.append(str(source.address))
        return source

    def compute(
        self, node: Node, dst: Operand, sources: list[Operand], sizes: tuple[int, ...],
        who: Box, streamed: int | None, hop: Hop | None,
    ) -> Draft:
        """Return the call of an operation on PEs `who`, or on those that take in a hop."""
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
        return Draft(procedure=self.procedures.number(procedure), arguments=tuple(arguments),
                     node=node.id)

    def reduce(self, node: Node, source: Operand, sizes: tuple[int, ...], who: Box) -> Draft:
        """Return the call that sends what a worker has of a sum over all of them."""
        result = self.graph.entries[node.dst]
        runs = join_axes(sizes, [source.strides])
        procedure = Procedure(
            name="", kind=REDUCE, op=node.op, types=(result.type, source.type),
            sources=(ARRAY,), rank=runs.rank)
        strides = [stride for each in runs.strides for stride in each]
        arguments = (int(result.kind == UNIFORM), source.address, *runs.sizes, *strides,
                     self.filters[who])
        return Draft(procedure=self.procedures.number(procedure), arguments=arguments,
                     node=node.id)

    def source(self, node: Node, k: int, sizes: tuple[int, ...]) -> Operand:
        """Return source k of a node as it lies on a worker."""
        operand, access = node.src[k], self.regions[node.id].src[k]
        if access is None or not isinstance(operand, str):
            assert not isinstance(operand, str)
            type_ = self.find_number_type(node)
            slot = self.slots.keep_constant(operand, type_)
            return Operand(kind=SCALAR, type=type_, address=slot)
        entry = self.graph.entries[operand]
        if entry.kind == GLOBAL_SCALAR:
            slot = self.slots.take_global(operand, entry.type, node.id)
            return Operand(kind=SCALAR, type=entry.type, address=slot)
        return self.operand(entry, access, sizes, has_each=node.op in REDUCTIONS)

    def find_number_type(self, node: Node) -> str:
        """Return the type of the numbers among a node's sources."""
        valued = node.src[1:] if node.op == "where" else node.src
        named = [each for each in valued if isinstance(each, str)]
        return self.graph.entries[named[0] if named else node.dst].type

    def operand(
        self, entry: Entry, access: Access, sizes: tuple[int, ...], *, has_each: bool
    ) -> Operand:
        """Return an entry of workers as an operand; one that `has_each` is never one for all."""
        at = self.addresses.places[entry.name].address // 2
        if entry.kind not in ON_PES:
            return Operand(
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
        return Operand(kind=SCALAR if is_one else ARRAY, type=entry.type,
                       address=at + offset * BYTES[entry.type] // 2, strides=tuple(strides))


def count_turns(state: int, side: str) -> int:
    """Return how many states of the ring are passed over up to that of a side."""
    return (RING.index(side) - state) % len(RING)


def find_next(side: str) -> int:
    """Return the state of the ring behind a transfer from a side."""
    return (RING.index(side) + 1) % len(RING)
