"""Program of the workers, with a function for each procedure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lairmake.stages.fabric.layout import LocalTensor
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import BYTES, is_integer
from lairmake.stages.pe.block import Block, Body, count_moves
from lairmake.stages.pe.listing import Function, Kept, Local
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    Call,
    Charge,
    Choice,
    Configure,
    CountCall,
    CountCycles,
    Declare,
    Demand,
    DemandInside,
    Done,
    Element,
    Else,
    Fabric,
    Field,
    For,
    If,
    Join,
    Literal,
    Operand,
    Point,
    Receive,
    RunVector,
    Send,
    SendCommands,
    SendTurning,
    Store,
    Task,
    UnblockColour,
)
from lairmake.stages.poly.expression import Name, Number, Operation, Value, compare, require_all
from lairmake.stages.program.lowering.lowered import (
    ARGUMENT,
    BEGUN,
    CALLED,
    DATA,
    ONE,
    SAME,
    WORKER,
    Arguments,
    Material,
    PeProgram,
    VectorInMemory,
    ask,
    begin,
    count_arguments,
    find_argument,
    find_arguments,
    find_entry,
    find_most_arguments,
    make_listing,
    react,
    write_calls,
)
from lairmake.stages.program.lowering.scalars import count_element, make_literal, operate
from lairmake.stages.program.lowering.tensors import find_filters_address
from lairmake.stages.program.sections.program import (
    ARRAY,
    HALT,
    REDUCE,
    TAKE_GLOBAL,
    TAKE_SUM,
    Procedure,
)
from lairmake.stages.program.values.arithmetic import STEPS, find_accumulator, find_neutral
from lairmake.stages.program.vm.colours import (
    ARGS,
    CHECKER,
    CTRL,
    GLOBAL_BROADCAST,
    REDUCTION_1,
    REDUCTION_BROADCAST,
)

# --- Ring of transfers between neighbours ---------------------------------------------------------
#
# In each state of the ring, PEs take from one side.
#
# Paper    E Sec. 5.3

STATES = ("west", "east", "north", "south")
"""The sides from which PEs take, in the order of states."""

SENDS = ("has_east", "has_west", "has_south", "has_north")
"""The geo-vars for sending in each state: to the neighbour on the opposite side."""

ASKED = ("even", *sorted(SENDS))
"""The geo-vars of a worker that sends to its neighbours."""

ADVANCE, RESET = "ADVANCE", "RESET"
MOST = 3
"""Largest number of states that are passed over."""


@dataclass(frozen=True, slots=True)
class TransferRing:
    """The colours on which a worker sends and takes; `passed` are target states of pass-overs."""

    passed: dict[int, None] = field(default_factory=dict)
    sends_on: Name = field(default=Name("sends_on"))
    takes_on: Name = field(default=Name("takes_on"))

    def name_colours(self) -> dict[str, Value]:
        """Return the colours on which a worker sends and takes."""
        first, second = (Name(each.upper()) for each in CHECKER)
        even = Name("even")
        return {self.sends_on.name: Choice(even, second, first),
                self.takes_on.name: Choice(even, first, second)}

    def leave(self, block: Block, state: int, condition: tuple[Value, ...] = ()) -> None:
        """Append commands that turn this router, and those it sends to, to the next state."""
        sends = Name(SENDS[state % len(STATES)])
        inner = block.nest(If(require_all((*condition, sends))))
        inner.add(SendCommands(self.sends_on, (ADVANCE,)))

    def pass_over(self, state: int, states: Value) -> Call:
        """Return a call that passes over some states, up to `state`."""
        self.passed[state] = None
        return Call(_name(state), (states,))

    def write_functions(self, asked: Mapping[str, Value]) -> Iterator[Function]:
        """Yield the functions that pass over states."""
        for state in sorted(self.passed):
            said = f"take from the {STATES[state]}: at most three."
            body = Body(name=_name(state).name, parameters=("states",),
                        comment=f"Leave some states of the ring, up to that in which PEs {said}")
            body.hold(asked)
            body.block.charge(scalar=1, address=1)
            for k in range(MOST, 0, -1):
                more = compare(Name("states"), ">=", Number(k))
                self.leave(body.block, state - k, (more,))
            yield body.finished()


def _name(state: int) -> Task:
    return Task(f"pass_over_to_{STATES[state]}")

# --- Functions of procedures ----------------------------------------------------------------------
#
# A procedure is a vector instruction where the machine has one that gives the same bits, else a
# loop.
#
# Paper    E Sec. 6.1.4

VECTORS = {
    "copy": "COPY", "add": "ADD", "sub": "SUB", "mul": "MUL", "div": "DIV", "neg": "SUB",
    "maximum": "MAX", "minimum": "MIN", "and": "AND", "or": "OR", "xor": "XOR", "shl": "SLL",
    "shr": "SAR", "shr_logical": "SLR", "cast": "COPY",
}
"""Vector instructions that give the bits of an operation; neg subtracts from a zero."""

NAMES = ("a", "b", "c")
"""Names of the sources in a loop."""

COMPUTING, SENDING = Address(Field("computing")), Address(Field("sending"))
CALLED_PROCEDURE, COMPLETE, SIZE, SENT = (
    Field("called"),
    Task("complete"),
    Name("size"),
    Name("sent"),
)
TARGET, NUMBER = Name("d"), Name("number")
KEPT = "kept_"
"""Prefix of the fields, one for each type, in which a worker adds up."""


@dataclass(slots=True, kw_only=True)
class WorkerWriter:
    """A writer of procedures; `filters` is the number of filters, at least 1.

    `asked` are geo-vars and colours of workers, `procedures` is the number of procedures, and
    `kept` has the types in which a worker adds up.
    """

    profile: Profile
    ring: TransferRing
    asked: Mapping[str, Value]
    filters: int
    procedures: int
    kept: dict[str, None]

    def write(self, procedure: Procedure) -> Function:
        """Return the function of a procedure."""
        forms: Mapping[str, Callable[[Body, Procedure], None]] = {
            "compute": self._compute, "accumulate": self._accumulate, "reduce": self._reduce,
        }
        write = forms.get(procedure.kind)
        if write is not None:
            body = Body(name=procedure.name, comment=_describe(procedure))
            body.hold(self.asked)
            write(body, procedure)
        elif procedure.kind.startswith("take"):
            body = _take(procedure)
        else:
            body = Body(name=procedure.name, comment="End.")
            body.block.add(Done())
        return body.finished()

    def take_part(self, block: Block, arguments: Arguments, name: Name, filter_: int) -> None:
        """Declare the number of elements for this PE: none where its filter is 0."""
        of = find_argument(filter_)
        block.add(Demand(of, self.filters, "filters"))
        size = find_argument(arguments.sizes[0])
        inside = Operation("*", (size, Element(Field("filter"), (of,))))
        block.add(Declare(name.name, "int", inside))

    def keep(self, procedure: Procedure, rank: int) -> VectorInMemory:
        """Return the field that adds up a PE's part of a reduction: the same for all instances."""
        type_ = find_accumulator(procedure.op, procedure.types[-1])
        self.kept[type_] = None
        return VectorInMemory(
            type=type_, place=Address(Field(KEPT + type_)), strides=(SAME,) * rank
        )

    def _compute(self, body: Body, procedure: Procedure) -> None:
        arguments, block = find_arguments(procedure), body.block
        operation = find_instruction(procedure, self.profile)
        if procedure.streamed is not None:
            assert operation is not None, "what is streamed has an instruction"
            self._stream(block, procedure, arguments, operation)
            return
        self.take_part(block, arguments, SIZE, arguments.filter)
        block.charge(**arguments.charged)
        if operation is None:
            _loop(block, procedure, arguments)
        else:
            destination, *sources = arguments.operands
            if procedure.op == "neg":
                type_ = destination.type
                zero = make_literal(0 if is_integer(type_) else -0.0, type_)
                sources.insert(0, _declare_number(block, zero, len(destination.strides)))
            run(block, operation, arguments.begin_sizes(SIZE), destination, *sources)
        block.add(Call(COMPLETE))

    def _stream(
        self, block: Block, procedure: Procedure, arguments: Arguments, operation: str
    ) -> None:
        """Append a procedure that takes a source from a neighbour, and sends its own."""
        destination, *sources = arguments.operands
        assert procedure.streamed is not None, "a source comes from a neighbour"
        sent, state = sources.pop(procedure.streamed), STATES.index(procedure.side)
        self.take_part(block, arguments, SIZE, arguments.filter)
        self.take_part(block, arguments, SENT, arguments.senders)
        counter = Operation("+", (Number(2 * self.procedures), CALLED_PROCEDURE))
        fabric = Fabric(sent.type)
        block.add(
            self.ring.pass_over(state, find_argument(arguments.before)),
            Charge.of(**arguments.charged), Join(COMPLETE),
            Configure(SENDING, counter, "COPY", arguments.begin_sizes(SENT),
                      (fabric, sent.operand)),
            Send(SENDING, self.ring.sends_on, sent.place, COMPLETE),
        )
        self.ring.leave(block, state)
        block.add(
            Configure(COMPUTING, CALLED_PROCEDURE, operation, arguments.begin_sizes(SIZE),
                      (destination.operand, fabric, *(each.operand for each in sources))),
            Receive(COMPUTING, self.ring.takes_on, destination.place, COMPLETE,
                    sources[0].place if sources else None),
            self.ring.pass_over(0, find_argument(arguments.behind)),
        )

    def _accumulate(self, body: Body, procedure: Procedure) -> None:
        """Append a sum over axes in memory; of float16 each is added in float32, then rounded."""
        arguments, block = find_arguments(procedure), body.block
        destination, source = arguments.operands
        sizes = arguments.begin_sizes(SIZE)
        block.charge(**arguments.charged)
        block.charge(scalar=len(sizes))
        self.take_part(block, arguments, SIZE, arguments.filter)
        kept = [Name(f"kept{k}") for k in range(len(sizes))]
        once = (Element(Field("filter"), (find_argument(arguments.filter),)),
                *(Number(1) for _ in sizes[1:]))
        for name, stride, size, one in zip(kept, destination.strides, sizes, once, strict=True):
            block.add(Declare(name.name, "int", Choice(_moves(stride), size, one)))
        neutral, operation = find_beginning(procedure), VECTORS[STEPS[procedure.op]]
        if find_accumulator(procedure.op, source.type) != source.type:
            added = tuple(Choice(_moves(stride), Number(1), size)
                          for stride, size in zip(destination.strides, sizes, strict=True))
            keep = self.keep(procedure, len(sizes))
            block.add(Point(TARGET.name, destination.type, destination.place),
                      Point(NAMES[0], source.type, source.place),
                      DemandInside(sizes, destination.operand, TARGET))
            _widen(block, operation, (destination, source, keep), kept, added, neutral)
        else:
            number = _declare_number(block, neutral, len(sizes))
            run(block, "COPY", tuple(kept), destination, number)
            run(block, operation, sizes, destination, destination, source)
        block.add(Call(COMPLETE))

    def _reduce(self, body: Body, procedure: Procedure) -> None:
        arguments, block = find_arguments(procedure), body.block
        kept = self.keep(procedure, len(arguments.sizes))
        (source,), one = arguments.operands, (Number(1),)
        block.charge(**arguments.charged)
        self.take_part(block, arguments, SIZE, arguments.filter)
        block.add(Assign(Field(KEPT + kept.type), find_beginning(procedure)))
        run(block, VECTORS[STEPS[procedure.op]], arguments.begin_sizes(SIZE), kept, kept, source)
        sent = Operand(kept.type, kept.strides)
        block.add(Configure(SENDING, None, "COPY", one, (Fabric(kept.type), sent)))
        out = Name(REDUCTION_1.upper())
        block.nest(If(Name("farthest"))).add(
            Send(SENDING, out, kept.place, COMPLETE), SendCommands(out, (RESET,)))
        block.nest(Else()).add(SendTurning(SENDING, out, kept.place, COMPLETE))


def run(
    block: Block, operation: str, sizes: tuple[Value, ...], *operands: VectorInMemory
) -> None:
    """Append a vector instruction on memory, the destination first."""
    block.add(
        Configure(
            COMPUTING, CALLED_PROCEDURE, operation, sizes, tuple(each.operand for each in operands)
        ),
        RunVector(COMPUTING, tuple(each.place for each in operands)),
    )


def _moves(stride: Value) -> Value:
    return Operation("!=", (stride, Number(0)))


def _declare_number(block: Block, number: Literal, rank: int) -> VectorInMemory:
    """Append a number as an operand: the same for all instances."""
    block.add(Declare(NUMBER.name, number.type, number))
    return VectorInMemory(type=number.type, place=Address(NUMBER), strides=(SAME,) * rank)


def find_instruction(procedure: Procedure, profile: Profile) -> str | None:
    """Return the vector instruction that gives the bits of a procedure; None if none does."""
    result, *of = procedure.types
    operation = VECTORS.get(procedure.op)
    if operation is None or _truncates(procedure):
        return None
    in_memory = [type_ for type_, kind in zip(of, procedure.sources, strict=True) if kind == ARRAY]
    return operation if profile.find_lanes(operation, result, *in_memory) else None


def _truncates(procedure: Procedure) -> bool:
    """Return whether a procedure cuts floats to integers, which saturate."""
    result, *of = procedure.types
    return procedure.op == "cast" and is_integer(result) and not is_integer(of[0])


def _loop(block: Block, procedure: Procedure, arguments: Arguments) -> None:
    """Append loops that compute element by element."""
    names = [TARGET, *map(Name, NAMES)][: len(arguments.operands)]
    sizes = arguments.begin_sizes(SIZE)
    for name, each in zip(names, arguments.operands, strict=True):
        block.add(Point(name.name, each.type, each.place))
    for name, each in zip(names, arguments.operands, strict=True):
        block.add(DemandInside(sizes, each.operand, name))
    inner, loops = _nest(block, sizes)
    in_memory = [each.is_array for each in arguments.operands]
    inner.charge(**count_element(procedure.op, procedure.types, in_memory))
    target, *elements = (Element(name, (each.find_element(loops),))
                         for name, each in zip(names, arguments.operands, strict=True))
    inner.add(operate(target, procedure.op, procedure.types, elements))


def _nest(block: Block, sizes: Sequence[Value]) -> tuple[Block, list[Name]]:
    """Append loops; return the innermost block, and the variables of the loops."""
    names = [Name(f"i{k}") for k in range(len(sizes))]
    for name, size in zip(names, sizes, strict=True):
        block = block.nest(For(name, Number(0), Operation("<", (name, size))), loop=1)
    return block, names


def _widen(
    block: Block, operation: str, operands: tuple[VectorInMemory, VectorInMemory, VectorInMemory],
    kept: Sequence[Name], added: tuple[Value, ...], neutral: Literal,
) -> None:
    """Append loops that add up each element in a wider type, and round it."""
    destination, source, wide = operands
    block.add(Configure(COMPUTING, CALLED_PROCEDURE, operation, added,
                        (wide.operand, wide.operand, source.operand)))
    inner, loops = _nest(block, kept)
    begins = Address(Element(Name(NAMES[0]), (source.find_element(loops),)))
    field = Field(KEPT + wide.type)
    inner.charge(address=1, **count_moves([], [wide.type]))
    inner.add(Assign(field, neutral), RunVector(COMPUTING, (wide.place, wide.place, begins)))
    # A block of its own: what it is charged for waits for the sum.
    rounded = inner.nest()
    rounded.charge(scalar=1, address=1, **count_moves([wide.type], [destination.type]))
    element = Element(TARGET, (destination.find_element(loops),))
    rounded.add(Store(element, field, destination.type))


def find_beginning(procedure: Procedure) -> Literal:
    """Return the first value of a reduction, in the type in which it adds up."""
    type_ = find_accumulator(procedure.op, procedure.types[-1])
    return make_literal(find_neutral(procedure.op, procedure.types[-1]).item(), type_)


def _take(procedure: Procedure) -> Body:
    is_sum = procedure.kind == TAKE_SUM
    said = "the result of a reduction" if is_sum else "a scalar of the executive"
    colour = REDUCTION_BROADCAST if is_sum else GLOBAL_BROADCAST
    body, type_ = Body(name=procedure.name, comment=f"Take {said}."), procedure.types[0]
    body.block.charge(address=1)
    operands = Operand(type_, (ONE,)), Fabric(type_)
    body.block.add(
        Configure(COMPUTING, CALLED_PROCEDURE, "COPY", (Number(1),), operands),
        Receive(COMPUTING, Name(colour.upper()), find_entry(0), COMPLETE),
    )
    return body


def _describe(procedure: Procedure) -> str:
    """Return a line that describes a procedure, for a comment."""
    result, *of = procedure.types
    whose = [f"the {procedure.side} neighbour's" if k == procedure.streamed else
             "an array" if kind == ARRAY else "a scalar"
             for k, kind in enumerate(procedure.sources)]
    rank = f", rank {procedure.rank}" if procedure.rank else ""
    types = result if set(of) == {result} else f"{result} of {', '.join(of)}"
    return f"{procedure.op} of {' and '.join(whose)}: {types}{rank}."

# --- Program of workers ---------------------------------------------------------------------------
#
# It is the same for every size of the field.
#
# Paper    E Sec. 6.1.4, Listing 7

OF_KINDS = {
    REDUCE: REDUCTION_1, TAKE_SUM: REDUCTION_BROADCAST, TAKE_GLOBAL: GLOBAL_BROADCAST,
}
"""The colours of procedures, by their kinds."""

FUNCTIONS = 6
"""Functions besides those of procedures; an estimate of code counts them."""


def write_worker(
    material: Material, conditions: Mapping[str, Value], tensors: Mapping[str, LocalTensor]
) -> PeProgram:
    """Return the program of workers.

    `conditions` are geo-vars by name as values of a PE; `tensors` lie at the beginning of its
    memory.
    """
    sections, procedures = material.sections, material.sections.procedures
    moves = any(each.streamed is not None for each in procedures)
    ring, kinds = TransferRing(), {each.kind for each in procedures}
    asked = ask((*ASKED, "farthest"), conditions) | ring.name_colours()
    filters, most = max(len(sections.filters), 1), find_most_arguments(procedures)
    writer = WorkerWriter(profile=material.profile, ring=ring, asked=asked, filters=filters,
                    procedures=len(procedures), kept={})
    routines = [writer.write(each) for each in procedures]
    functions = [
        *([_complete(procedures)] if kinds - {HALT} else []),
        *ring.write_functions(asked), *routines,
        *write_calls(procedures, [each.name for each in procedures], material.profile, timed=True),
        react(begin()),
    ]
    address = find_filters_address(sections)
    used = CTRL, ARGS, *(CHECKER if moves else ()), *(OF_KINDS.get(each, CTRL) for each in kinds)
    waits = moves or bool(kinds & set(OF_KINDS))
    return PeProgram(
        role=WORKER, tensors=tensors, functions=len(routines) + FUNCTIONS,
        listing=make_listing(
            WORKER, "which runs the procedures that are called", used, material.colours, functions,
            locals_=_list_locals(address, filters, most, writer.kept),
            fields=(Kept(CALLED.name), *(Kept(each, "vector") for each in (
                "taking", "computing", "sending")),
                Kept(BEGUN.name, "int64", (), "when it was called: no memory of a PE")),
            tables=(count_arguments(procedures),), numbered=3 * len(procedures)),
        data=address + 2 * (filters + most + 1) + sum(BYTES[each] for each in writer.kept),
        activated=("run", *(("complete",) if waits else ())), vectors=3,
    )


def _list_locals(
    address: int, filters: int, most: int, kept: Iterable[str]
) -> list[Local]:
    """Return the memory of a worker: entries and slots, filters, arguments, and sums by type.

    A filter is 1 on workers that take part, else 0.
    """
    found = [Local(DATA.name, "int16", (address // 2,), 0),
             Local("filter", "int16", (filters,), address),
             Local(ARGUMENT.name, "int16", (most,), address + 2 * filters)]
    end = address + 2 * (filters + most)
    for type_ in kept:
        end = -(-end // BYTES[type_]) * BYTES[type_]
        found.append(Local(KEPT + type_, type_, (), end))
        end += BYTES[type_]
    return found


def _complete(procedures: Sequence[Procedure]) -> Function:
    body = Body(name=COMPLETE.name, comment="What was called is complete: count it, its elements "
                "counted already, and its cycles.")
    body.block.charge(scalar=1)
    cycles = Operation("+", (Number(len(procedures)), CALLED))
    body.block.add(CountCall(CALLED), CountCycles(cycles, BEGUN), UnblockColour(Name(CTRL.upper())))
    return body.finished()
