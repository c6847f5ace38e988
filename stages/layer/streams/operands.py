"""Arrivals as operands of instructions."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.lair.expressions import Leaf, VectorOperation, list_operations
from lairmake.stages.lair.layer import Statement
from lairmake.stages.layer.estimate.guess import guess_operated
from lairmake.stages.layer.routes.lines import find_forwarded, find_leaving, find_summed_elements
from lairmake.stages.layer.routes.placement import Streams
from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.machine.types import OPERATIONS
from lairmake.stages.poly.canonical import from_domain, to_range
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.chunks import IndexBox, find_index_box, list_cuts
from lairmake.stages.poly.compression import fit, keeps_order
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, bind_set
from lairmake.stages.poly.lattices import linear_form
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import at_pe

if TYPE_CHECKING:
    from lairmake.stages.layer.texts.task_graph import Departure

# --- Operations of the fabric on a stream ---------------------------------------------------------
#
# A statement is such an operation if its source that arrives can come first.
#
# Source   CSL Language Guide, Builtins: fabric DSDs are operands of what computes, not of copies
#          only

EITHER_WAY = frozenset({"ADD", "MUL", "MAX", "MIN", "MAC"})
"""Operations whose factors, or terms, may change places."""

MOST_SOURCES = 2
"""The most sources of an operation on a stream, besides what MAC adds to."""


def order_sources(
    operations: Sequence[VectorOperation], tensor: str
) -> tuple[str, tuple[Leaf, ...]] | None:
    """Return the operation of a statement on a stream, and its sources, what arrives first.

    None where there are several operations, or one that is none on a stream.
    """
    if len(operations) != 1:
        return None
    (operation,) = operations
    name, sources = operation.name, operation.sources
    if name not in OPERATIONS or len(sources) > MOST_SOURCES or sources.count(tensor) != 1:
        return None
    if sources[0] != tensor and name not in EITHER_WAY:
        return None
    return name, (tensor, *(leaf for leaf in sources if leaf != tensor))

# --- Arrivals that need no memory -----------------------------------------------------------------
#
# Each element is the operand of an instruction as it comes. A statement that uses each element of a
# dense stream once, in the order in which they come, is one instruction on the stream. If its
# results leave in that order, too, from PEs that are alone on their lanes, they are on their way as
# they are computed, and in no memory either.
#
# That holds nobody up for ever. The instruction is there from the start of an invocation, as one
# that receives the stream would be, and needs nothing else that comes, or is computed, later. It
# takes an element whenever there is one. Where it sends, only the port takes its results, whatever
# other PEs do (streams/rings.py). Results that wait for other PEs, or for a turn, are sent from
# memory.
#
# Paper    V Sec. 4.2

MOST_OPERATIONS = 500_000
"""Operations that isl may spend on an arrival: half a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operated:
    """The statement that takes an arrival as it comes, and the departure that it gives, if any.

    `cycles` are expected until the statement has run, and its results have left, if they leave
    gradually otherwise.
    """

    statement: str
    departure: str | None
    cycles: int


def find_operated(
    streams: Streams, flows: Flows, waits: Mapping[str, Sequence[str]], in_place: Mapping[str, str]
) -> dict[str, Operated]:
    """Return, by arrival, what takes it as it comes; nothing where another way is preferred.

    `waits` are the statements for which one waits, tensors `in_place` share memory.
    """
    found: dict[str, Operated] = {}
    if streams.placed.mapping.simd.prefer not in (None, "exact"):
        return found
    carries = streams.placed.layer.carries
    shared = {*in_place, *in_place.values()}
    shared |= {c.source for c in carries} | {c.tensor for c in carries}
    for name in streams.arrivals:
        statement = _find_reader(name, streams, shared)
        if statement is None or waits.get(statement.name):
            continue
        asked = _Asked(name=name, statement=statement, streams=streams, flows=flows)
        with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
            operated = asked.answer()
            found |= {} if operated is None else {name: operated}
    return found


def _find_reader(name: str, streams: Streams, shared: Collection[str]) -> Statement | None:
    """Return the statement that may take an arrival as it comes, before looking at any element.

    It needs nothing else that comes or is computed, and no other statement needs what it does.
    """
    arrival, layer = streams.arrivals[name], streams.placed.layer
    if arrival.sparse or arrival.feedback is not None or arrival.replicas:
        return None
    if arrival.otherwise is not None:  # some elements never come
        return None
    reading = [s for s in layer.statements if arrival.tensor in _read(s)]
    if len(reading) != 1 or any(access.view is not None for access in reading[0].reads):
        return None
    (statement,) = reading
    moving = [a.tensor for a in streams.arrivals.values() if a.tensor in _read(statement)]
    written = {s.target.tensor for s in layer.statements}
    needed = {t for s in layer.statements for t in _read(s)}
    target = statement.target.tensor
    if moving != [arrival.tensor] or written & {*_read(statement)} or target in needed:
        return None
    return None if {arrival.tensor, target} & {*shared} else statement


def _read(statement: Statement) -> list[str]:
    return [access.tensor for access in statement.reads]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Whether an arrival may be an operand of the only statement that reads it."""

    name: str
    statement: Statement
    streams: Streams
    flows: Flows

    @property
    def tensor(self) -> str:
        return self.streams.arrivals[self.name].tensor

    @property
    def target(self) -> str:
        return self.statement.target.tensor

    @cached_property
    def passing(self) -> isl.Map:
        """{ t[e] -> [PE -> index] } of all that reaches the PEs that take some of it."""
        return self.flows.passing(self.name)

    @cached_property
    def instances(self) -> isl.Map:
        """{ S[i] -> [PE -> index] }, what each instance takes."""
        return self.flows.indices(self.statement.name, self.name)

    def answer(self) -> Operated | None:
        """Return what takes the arrival, None if nothing does."""
        expression = self.statement.expr
        operations = list_operations(self.target, self.statement.op, expression)
        ordered, box = order_sources(operations, self.tensor), find_index_box(self.passing)
        if ordered is None or box is None or not self._is_each_used_once():
            return None
        name, sources = ordered
        dimensions = self.streams.placed.profile.dimensions
        if sum(size > 1 for size in box.sizes) > dimensions:
            return None
        departure = self._find_departure(name)
        kept = [leaf for leaf in sources[1:] if isinstance(leaf, str)]
        kept += [self.target] if departure is None else []
        if not all(self._is_linear(tensor) for tensor in kept):
            return None
        if not self._has_instruction(name, sources[1:]):
            return None
        return Operated(
            statement=self.statement.name, departure=departure, cycles=self._guess(box, departure)
        )

    def _is_each_used_once(self) -> bool:
        """Say whether all that reaches a PE is taken there, by one instance."""
        taken = self.flows.taken(self.name)
        if not self.passing.range_factor_domain().is_equal(taken):
            return False
        return bool(
            self.instances.is_injective()
            and self.instances.range().is_equal(self.passing.range())
        )

    def _is_linear(self, tensor: str) -> bool:
        """Say whether elements of memory are used in strides, in the order of the stream."""
        placed = self.streams.placed
        relation = placed.computed if tensor == self.target else placed.needed
        kept = from_domain(relation, tensor)
        if tensor == self.target:
            kept = kept.union(find_summed_elements(
                tensor, self.streams.departures, placed.adapted, self.streams.routed.said
            ))
        here = bind_domain(isl.Map.from_union_map(kept.reverse()), PE_NAMES)
        _, local = fit(here, f"{tensor}_local")
        return linear_form(self._at(tensor).apply_range(local), self._pes) is not None

    @property
    def _pes(self) -> isl.Set:
        return bind_set(self.passing.range().unwrap().domain(), PE_NAMES)

    def _at(self, tensor: str) -> isl.Map:
        """Return [PE_X, PE_Y] -> { index[i] -> T[e] }, what is used with each index."""
        lair, name = self.streams.placed.lair, self.statement.name
        accesses = from_domain(lair.reads.union(lair.writes), name)
        return at_pe(self.instances).apply_range(
            isl.Map.from_union_map(to_range(accesses, tensor))
        )

    def _has_instruction(self, name: str, others: Sequence[Leaf]) -> bool:
        """Say whether the machine has such an instruction, of these types.

        A multiply-add may be by a scalar only, and sum nothing into one element then.
        """
        profile, tensors = self.streams.placed.profile, self.streams.placed.layer.tensors
        vectors = [t for t in others if isinstance(t, str) and self._varies(t)]
        sums = bool(vectors) or not self._at(self.target).is_injective()
        if name == "MAC" and sums and not profile.vector_multiply_add:
            return False
        types = [tensors[tensor].type for tensor in (self.tensor, *vectors)]
        return profile.find_lanes(name, tensors[self.target].type, *types) > 0

    def _varies(self, tensor: str) -> bool:
        """Say whether a PE uses several elements of a tensor."""
        return not self._at(tensor).range().is_singleton()

    def _find_departure(self, operation: str) -> str | None:
        """Return the departure that results are as they are computed, None if they are kept."""
        departures = self.streams.departures
        found = [name for name, each in departures.items() if each.tensor == self.target]
        if len(found) != 1 or self.statement.op != "=":
            return None
        (name,) = found
        departure, tensors = departures[name], self.streams.placed.layer.tensors
        same = tensors[self.tensor].type == tensors[self.target].type
        if operation == "COPY" and not same:
            return None
        colour = self.streams.arrivals[self.name].colour
        if colour in self.streams.routed.forwarding or self._has_turns(name):
            return None
        return name if self._leaves_in_order(name, departure) else None

    def _has_turns(self, name: str) -> bool:
        """Say whether a departure waits, or is waited for, or goes on from adapters."""
        departures, departure = self.streams.departures, self.streams.departures[name]
        if departure.waits or any(name in each.waits for each in departures.values()):
            return True
        if departure.sequences is not None or departure.in_turn is not None:
            return True
        on_its_way = departure.feedback, departure.out
        forwarded = name in find_forwarded(self.streams.collections)
        return departure.collected or forwarded or on_its_way != (None, None)

    def _leaves_in_order(self, name: str, departure: Departure) -> bool:
        """Say whether PEs that are alone on their lanes send all that they give in its order."""
        said = self.streams.routed.said
        chain = said.pes(name, "chain")
        alone = chain.is_equal(said.pes(name, "first"))
        if not alone or not chain.is_equal(self.flows.taken(self.name).range()):
            return False
        leaving = find_leaving(self.streams.placed.adapted, departure, chain)
        sent = self._at(self.target).apply_range(at_pe(leaving).reverse())
        every = at_pe(self.passing).domain()
        if not (sent.is_single_valued() and sent.is_injective()):
            return False
        covers = sent.domain().is_equal(every) and sent.range().is_equal(at_pe(leaving).domain())
        return covers and keeps_order(sent, every)

    def _guess(self, box: IndexBox, departure: str | None) -> int:
        """Return the expected cycles, with results that would leave while others are computed."""
        results = 0
        if departure is None and self._leaves_gradually(box):
            computed = from_domain(self.streams.placed.computed, self.target)
            here = bind_domain(isl.Map.from_union_map(computed.reverse()), PE_NAMES)
            results = bound_points(here)
        profile = self.streams.placed.profile
        return guess_operated(profile, prod(box.sizes), results, kept=departure is None)

    def _leaves_gradually(self, box: IndexBox) -> bool:
        """Say whether a part of the stream completes results that leave."""
        leaving = {each.tensor for each in self.streams.departures.values()}
        halves = next(list_cuts([box], len(box.sizes)), None)
        if self.target not in leaving or halves is None:
            return False
        return self.flows.is_gradual(self.statement.name, {self.name: halves[0].of})
