"""Workers that do what they are told by calls, on memory of bytes."""

from collections import deque

import numpy as np

from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.sections.hops import RING, STEPS
from lairmake.stages.program.sections.program import WITH_ADDRESSES
from lairmake.stages.program.values.arithmetic import (
    INNER,
    STEPS as OPERATIONS,
    add_in_memory,
    cast,
    compute,
    find_accumulator,
    find_neutral,
    order_columns,
    order_rows,
    round_number,
)
from tests.program.simulated_ring import SimulatedRing

MOST_SUMS = 2
"""How many results have room that nobody has taken."""


class SimulatedWorkers:
    """The memory of all workers, the calls that they have still to run, sums and globals."""

    def __init__(self, sections, field):
        self.sections, self.field = sections, field
        self.memory = np.full((*field, -(-sections.workers // 4) * 4 + 4), 0xA5, np.uint8)
        self.ring = SimulatedRing(*field)
        self.calls, self.globals, self.results = deque(), deque(), deque()
        self.ran = self.halted = 0
        for slot in sections.slots:
            if slot.value is not None:
                self.write(self.whole(), slot.address // 2, np.zeros(1, int), slot.type,
                           round_number(slot.value, slot.type))

    def whole(self):
        return np.s_[0 : self.field[0], 0 : self.field[1]]

    def box(self, filter_):
        left, right, top, bottom = self.sections.filters[filter_]
        return np.s_[left : right + 1, top : bottom + 1]

    def read(self, pes, address, offsets, type_):
        """Return elements at offsets from an address in words: shape (w, h, elements)."""
        at = (2 * address + offsets * BYTES[type_])[:, None] + np.arange(BYTES[type_])
        assert at.min() >= 0 and at.max() < self.sections.workers
        return np.ascontiguousarray(self.memory[pes][:, :, at]).view(type_)[..., 0]

    def write(self, pes, address, offsets, type_, values):
        at = (2 * address + offsets * BYTES[type_])[:, None] + np.arange(BYTES[type_])
        assert at.min() >= 0 and at.max() < self.sections.workers
        shape = (*self.memory[pes].shape[:2], len(offsets))
        values = np.ascontiguousarray(np.broadcast_to(np.asarray(values, type_), shape))
        self.memory[pes][:, :, at] = values[..., None].view(np.uint8)

    def run(self):
        """Run calls until there are none, or one waits for what is not there yet."""
        while self.calls:
            call = self.calls[0]
            procedure = self.sections.procedures[call.procedure]
            if procedure.kind == "take_global" and not self.globals:
                return
            if procedure.kind == "reduce" and len(self.results) == MOST_SUMS:
                return
            assert not self.halted
            self.calls.popleft()
            self.ran += 1
            if procedure.kind in WITH_ADDRESSES:
                self.operation(procedure, call.arguments)
            else:
                self.special(procedure, call.arguments)

    def special(self, procedure, arguments):
        if procedure.kind == "halt":
            self.halted += 1
        else:
            values = self.globals if procedure.kind == "take_global" else self.results
            is_local, value = values.popleft() if procedure.kind == "take_global" else next(
                self.pick(True))
            assert is_local and value.dtype.name == procedure.types[0]
            self.write(self.whole(), arguments[0], np.zeros(1, int), procedure.types[0], value)

    def pick(self, is_local):
        """Yield the first result for all workers, or for the executive, and take it away."""
        for each in list(self.results):
            if each[0] == is_local:
                self.results.remove(each)
                yield each

    def operation(self, procedure, arguments):
        given = deque(arguments)
        is_reduce = procedure.kind == "reduce"
        is_local = bool(given.popleft()) if is_reduce else False
        kinds = (*([] if is_reduce else ["ar"]), *procedure.sources)
        types = procedure.types[is_reduce:]
        addresses = [given.popleft() for _ in kinds]
        sizes = [given.popleft() for _ in range(max(procedure.rank, 1))]
        grid = np.indices(sizes).reshape(len(sizes), -1)
        offsets = []
        for kind in kinds:
            strides = [given.popleft() for _ in sizes] if kind == "ar" and procedure.rank else [1]
            offsets.append(np.tensordot(strides, grid, 1) if kind == "ar" else np.zeros(1, int))
        operands = list(zip(addresses, offsets, types, strict=True))
        pes = self.box(given.popleft())
        if is_reduce:
            self.reduce(procedure, is_local, operands[0], pes)
        elif procedure.kind == "accumulate":
            self.accumulate(procedure, operands, pes)
        else:
            self.compute(procedure, operands, pes, list(given))
        assert len(given) == (3 if procedure.side != "center" else 0)

    def compute(self, procedure, operands, pes, moves):
        dst, *sources = operands
        sent = None
        if procedure.side != "center":
            senders, before, behind = moves
            state, (dx, dy) = RING.index(procedure.side), STEPS[procedure.side]
            self.ring.turn(state, before)
            box = self.box(senders)
            (left, right), (top, bottom) = ((each.start, each.stop) for each in pes)
            assert box == np.s_[left + dx : right + dx, top + dy : bottom + dy]
            assert (self.ring.sending[box] == state).all()
            assert (self.ring.taking[pes] == state).all()
            sent = self.read(box, *sources[procedure.streamed])
            assert not meets(dst, sources[procedure.streamed], is_same=False)
            self.ring.advance(state)
            self.ring.turn(0, behind)
        values = []
        for k, source in enumerate(sources):
            assert k == procedure.streamed or not meets(dst, source, is_same=True)
            values.append(sent if k == procedure.streamed else self.read(pes, *source))
        if procedure.op == "cast":
            found = cast(values[0], dst[2])
        else:
            found = compute(procedure.op, procedure.types[-1], *values)
        assert found.dtype.name == dst[2]
        self.write(pes, *dst, found)

    def accumulate(self, procedure, operands, pes):
        dst, source = operands
        assert not meets(dst, source, is_same=False)
        values, found = self.read(pes, *source), []
        kept = list(dict.fromkeys(dst[1].tolist()))
        for offset in kept:
            found.append(add_in_memory(procedure.op, values[..., dst[1] == offset]))
        with np.errstate(all="ignore"):
            self.write(pes, dst[0], np.array(kept), dst[2], np.stack(found, -1).astype(dst[2]))

    def reduce(self, procedure, is_local, source, pes):
        """Add up as columns, strips and inner PEs do, those that have no part as well.

        What arrives is the first operand.
        """
        op, type_ = OPERATIONS[procedure.op], find_accumulator(procedure.op, source[2])
        values = np.full(self.field, find_neutral(procedure.op, source[2]))
        values[pes] = add_in_memory(procedure.op, self.read(pes, *source))
        inner = {}
        for half, rows in order_rows(self.field[1]).items():
            strip = np.full(self.field[0], find_neutral(procedure.op, source[2]))
            for row in rows:
                strip = compute(op, type_, values[:, row], strip)
            for side, columns in order_columns(self.field[0]).items():
                found = find_neutral(procedure.op, source[2])
                for column in columns:
                    found = compute(op, type_, strip[column], found)
                inner[half, side] = found
        result = inner[INNER[0]]
        for place in INNER[1:]:
            result = compute(op, type_, inner[place], result)
        with np.errstate(all="ignore"):
            self.results.append((is_local, np.asarray(result).astype(procedure.types[0])))


def meets(dst, source, is_same):
    """Whether an element of a source is one of a destination, but for the same at the same time."""
    spans = [2 * address + offsets * BYTES[type_] for address, offsets, type_ in (dst, source)]
    if is_same and dst[2] == source[2] and np.array_equal(*spans):
        return False
    first, second = (
        {int(each) + k for each in span for k in range(BYTES[type_])}
        for span, (_, _, type_) in zip(spans, (dst, source), strict=True))
    return bool(first & second)
