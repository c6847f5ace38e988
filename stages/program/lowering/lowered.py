"""Lowered programs as data: their roles, operands and common functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.fabric.layout import LocalTensor
from lairmake.stages.machine.profile import Profile
from lairmake.stages.pe.block import Body
from lairmake.stages.pe.listing import Colour, Function, Kept, Listing, Local, Table
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    AtWord,
    BlockColour,
    Call,
    Case,
    Charge,
    Configure,
    Demand,
    Element,
    Fabric,
    Field,
    If,
    KeepCycle,
    NowRuns,
    OnControl,
    Operand,
    Receive,
    Switch,
    Task,
    WaveletArgument,
)
from lairmake.stages.poly.expression import Name, Number, Operation, Value, compare
from lairmake.stages.program.irg.addresses import (
    Addresses,
)
from lairmake.stages.program.irg.graph import ProgramGraph
from lairmake.stages.program.irg.regions import RegionAccesses
from lairmake.stages.program.sections.hops import CENTER
from lairmake.stages.program.sections.program import ARRAY, COMPUTE, REDUCE, Procedure, Sections
from lairmake.stages.program.vm.colours import ARGS, COLOURS, CTRL
from lairmake.stages.program.vm.geometry import Geometry

# --- Programs and their needs ---------------------------------------------------------------------

WORKER, REDUCTION, RESPONSE = "worker", "reduction", "response"
EXECUTIVE, MERGE = "executive", "merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The results of earlier stages that programs are made of.

    `colours` has the number of each colour in use, and `roles` the set { PE[x, y] } of each role.
    `variables` are the geo-vars of programs: such sets, and maps { PE[x, y] -> [n] }.
    """

    graph: ProgramGraph
    accesses: Mapping[int, RegionAccesses]
    addresses: Addresses
    sections: Sections
    geometry: Geometry
    profile: Profile
    colours: Mapping[str, int]
    variables: Mapping[str, isl.Set | isl.Map]
    roles: Mapping[str, isl.Set] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeProgram:
    """The program of a role, and its needs of a PE.

    `data` is the size of its memory in bytes, which begins with `tensors`. `activated` are the
    tasks that are activated, at once or behind a stream; `reacting` the colours that start tasks by
    wavelets. `functions` counts all functions, for an estimate of code; `vectors` the descriptors
    of instructions and streams.
    """

    role: str
    listing: Listing
    data: int
    tensors: Mapping[str, LocalTensor]
    functions: int
    activated: tuple[str, ...] = ()
    reacting: tuple[str, ...] = ()
    vectors: int = 0

# --- Arguments and operands of procedures ---------------------------------------------------------
#
# Paper    E Sec. 6.1.4

ONE, SAME = Number(1), Number(0)
"""Strides of adjacent elements, and of one element for all instances."""

DATA, ARGUMENT = Field("data"), Field("argument")
"""Fields of a worker: its memory of entries, slots and more, and the arguments of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorInMemory:
    """An operand in memory: its first place, and a stride for each size."""

    type: str
    place: Value
    strides: tuple[Value, ...] = (SAME,)

    @property
    def operand(self) -> Operand:
        """Return the operand as programs configure it."""
        return Operand(self.type, self.strides)

    @property
    def is_array(self) -> bool:
        """Return whether it has an element for each instance."""
        return any(each != SAME for each in self.strides)

    def find_element(self, loops: Sequence[Name]) -> Value:
        """Return the index of its element for some values of loop variables."""
        terms = tuple(
            loop if stride == ONE else Operation("*", (loop, stride))
            for loop, stride in zip(loops, self.strides, strict=True) if stride != SAME
        )
        return Operation("+", terms) if len(terms) > 1 else terms[0] if terms else Number(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """Indices of arguments: of sizes, of the filters of computing and sending PEs, and of turns.

    `operands` are in the order of their addresses, with the destination first if there is one.
    """

    operands: tuple[VectorInMemory, ...]
    sizes: tuple[int, ...]
    filter: int
    senders: int = 0
    before: int = 0
    behind: int = 0

    @property
    def charged(self) -> Mapping[str, int]:
        """Return the operations that setting up takes, by kind.

        Each operand and each filter takes an address. A scalar operation is taken by each size of
        an operand, each stride that is an argument, each product of a size and a filter, and the
        join of two streams.
        """
        filters = 2 if self.senders else 1
        strides = sum(each not in (ONE, SAME) for op in self.operands for each in op.strides)
        sizes = len(self.sizes) * len(self.operands)
        return {"scalar": sizes + strides + filters + (filters == 2),
                "address": len(self.operands) + filters}

    def begin_sizes(self, first: Value) -> tuple[Value, ...]:
        """Return the sizes: `first`, and the others as arguments."""
        return first, *map(find_argument, self.sizes[1:])


def find_argument(number: int) -> Value:
    """Return an argument as a value."""
    return Element(ARGUMENT, (Number(number),))


def find_entry(number: int) -> Value:
    """Return the place in memory whose address is an argument."""
    return AtWord(DATA, find_argument(number))


def find_arguments(procedure: Procedure) -> Arguments:
    """Return the indices of the arguments of a procedure that computes, accumulates or reduces."""
    reduces = procedure.kind == REDUCE
    kinds = procedure.sources if reduces else (ARRAY, *procedure.sources)
    types = procedure.types[1:] if reduces else procedure.types
    first, rank = int(reduces), max(procedure.rank, 1)
    sizes = tuple(range(first + len(kinds), first + len(kinds) + rank))
    at = sizes[-1] + 1
    operands = []
    for k, (kind, type_) in enumerate(zip(kinds, types, strict=True)):
        strides: tuple[Value, ...] = (ONE if kind == ARRAY else SAME,) * rank
        if kind == ARRAY and procedure.rank:
            strides = tuple(find_argument(at + i) for i in range(rank))
            at += rank
        operands.append(VectorInMemory(type=type_, place=find_entry(first + k), strides=strides))
    found = Arguments(operands=tuple(operands), sizes=sizes, filter=at)
    if procedure.kind == COMPUTE and procedure.side != CENTER:
        return Arguments(operands=found.operands, sizes=sizes, filter=at, senders=at + 1,
                         before=at + 2, behind=at + 3)
    return found

# --- Functions and tables that programs share -----------------------------------------------------
#
# Paper    E Sec. 4.1, 6.1.4

MACHINE = "the virtual machine"
CALLED, BEGUN, TAKING = Field("called"), Field("begun"), Address(Field("taking"))
COUNTS, RUN, ON_CALL, ON_CONTROL = Name("counts"), Task("run"), Task("on_call"), Name(CTRL.upper())


def make_listing(
    role: str, does: str, colours: Iterable[str], numbers: Mapping[str, int],
    functions: Sequence[Function], *, locals_: Sequence[Local] = (), fields: Sequence[Kept] = (),
    early: Sequence[str] = (), tables: Sequence[Table] = (), numbered: int = 0,
) -> Listing:
    """Return the program of a role; `colours` are those in use, `numbers` those of all colours."""
    wanted = set(colours)
    named = tuple(Colour(each.upper(), numbers[each]) for each in COLOURS if each in wanted)
    return Listing(
        role=role, layer=MACHINE, variant=does, offset=(), colours=named, counters=(),
        locals=tuple(locals_), fields=tuple(fields), early=tuple(early),
        functions=tuple(functions), tables=tuple(tables), numbered=numbered,
    )


def ask(variables: Iterable[str], conditions: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of the geo-vars that a program asks for, by name.

    A geo-var that is not painted is 0: a field of one row has no neighbours to the north.
    """
    return {each: conditions.get(each, Number(0)) for each in variables}


def find_most_arguments(procedures: Sequence[Procedure]) -> int:
    """Return the largest number of arguments of a procedure; 1 if none has any."""
    return max((each.count for each in procedures), default=0) or 1


def find_limit(procedures: Sequence[Procedure], profile: Profile) -> int | None:
    """Return the first procedure without a control task of its own; None if each has one.

    The last control task of a machine looks up all procedures without one.
    """
    limit = profile.control_tasks
    return limit - 1 if 0 < limit < len(procedures) else None


def count_arguments(procedures: Sequence[Procedure]) -> Table:
    """Return the table with the number of arguments of each procedure."""
    return Table(COUNTS.name, "int16", tuple(each.count for each in procedures))


def write_calls(
    procedures: Sequence[Procedure], names: Sequence[str], profile: Profile, *, timed: bool = False
) -> tuple[Function, Function]:
    """Return the function that runs the called procedure, and the one that takes its arguments.

    `names` are the functions of the procedures. With `timed`, the cycle of each call is kept.
    """
    run = Body(name=RUN.name, comment="Run what was called: its arguments are here.")
    run.block.charge(address=1)
    switch = run.block.nest(Switch(CALLED))
    for number, (procedure, name) in enumerate(zip(procedures, names, strict=True)):
        switch.nest(Case((number,), "")).add(NowRuns(procedure.name), Call(Task(name)))
    taken = Body(name=ON_CALL.name, comment="Take the arguments of a procedure.", kind="control")
    block = taken.block
    block.add(BlockColour(ON_CONTROL), *([KeepCycle(BEGUN)] if timed else []), Charge.of(scalar=2),
              Assign(CALLED, WaveletArgument()), Demand(CALLED, len(procedures), "procedures"))
    limit = find_limit(procedures, profile)
    if limit is not None:
        block.nest(If(compare(CALLED, ">=", limit))).charge(scalar=1, address=1)
    operands = Operand("int16", (ONE,)), Fabric("int16")
    block.add(
        Configure(TAKING, None, "COPY", (Element(COUNTS, (CALLED,)),), operands),
        Receive(TAKING, Name(ARGS.upper()), ARGUMENT, RUN),
    )
    return run.finished(), taken.finished()


def react(body: Body) -> Function:
    """Return the main function, which sets the reaction to calls."""
    body.block.add(OnControl(ON_CONTROL, ON_CALL))
    return body.finished()


def begin() -> Body:
    """Return the body of the main function of a program."""
    return Body(name="pe_main", comment="Say what the PE reacts to.")
