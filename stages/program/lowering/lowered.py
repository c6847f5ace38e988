"""The parts of lowered programs: tensors, calls, arguments."""

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

# --- What programs of the virtual machine are made of, and what each of them needs of a PE ------

WORKER, REDUCTION, RESPONSE = "worker", "reduction", "response"
EXECUTIVE, MERGE = "executive", "merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the stages before wrote.

    `colours` has the number of each colour that is used; `roles` the PEs { PE[x, y] } of each;
    `variables` what programs may ask of the place of theirs: such sets, and { PE[x, y] -> [n] }.
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
    """The program of a role, and what it needs of a PE.

    `data` is the bytes of its memory, which begins with `tensors`. `activated` are the tasks
    that are activated, at once or behind a stream; `reacting` the colours to whose wavelets tasks
    react; `functions` all functions, of which code is estimated; `vectors` the descriptors of
    instructions and streams.
    """

    role: str
    listing: Listing
    data: int
    tensors: Mapping[str, LocalTensor]
    functions: int
    activated: tuple[str, ...] = ()
    reacting: tuple[str, ...] = ()
    vectors: int = 0

# --- Where the arguments of a procedure are, and the operands of its instructions ---------------
#
# Paper    E Sec. 6.1.4

ONE, SAME = Number(1), Number(0)
"""Strides: of elements that follow each other, and of what is the same for all instances."""

DATA, ARGUMENT = Field("data"), Field("argument")
"""What a worker keeps: entries, and what is kept besides; and the arguments of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorInMemory:
    """An operand in memory: where it begins, and a stride for each size."""

    type: str
    place: Value
    strides: tuple[Value, ...] = (SAME,)

    @property
    def operand(self) -> Operand:
        """The operand as programs configure it."""
        return Operand(self.type, self.strides)

    @property
    def is_array(self) -> bool:
        """Whether it has an element for each instance."""
        return any(each != SAME for each in self.strides)

    def find_element(self, loops: Sequence[Name]) -> Value:
        """Return the number of its element for some values of loops."""
        terms = tuple(
            loop if stride == ONE else Operation("*", (loop, stride))
            for loop, stride in zip(loops, self.strides, strict=True) if stride != SAME
        )
        return Operation("+", terms) if len(terms) > 1 else terms[0] if terms else Number(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """Numbers of arguments: of the sizes, the filters of who computes and who sends, and turns.

    `operands` are those in the order of their addresses, the destination first, if there is one.
    """

    operands: tuple[VectorInMemory, ...]
    sizes: tuple[int, ...]
    filter: int
    senders: int = 0
    before: int = 0
    behind: int = 0

    @property
    def charged(self) -> tuple[int, int]:
        """The scalar operations and addresses that setting up takes.

        An address each is that of an operand and of a filter. A scalar operation each is a size,
        and a stride that is an argument, of an operand; a product of a size and a filter; and to
        join two streams.
        """
        filters = 2 if self.senders else 1
        strides = sum(each not in (ONE, SAME) for op in self.operands for each in op.strides)
        sizes = len(self.sizes) * len(self.operands)
        return sizes + strides + filters + (filters == 2), len(self.operands) + filters

    def begin_sizes(self, first: Value) -> tuple[Value, ...]:
        """Return the sizes: the first one, and those that are arguments."""
        return first, *map(find_argument, self.sizes[1:])


def find_argument(number: int) -> Value:
    """Return an argument."""
    return Element(ARGUMENT, (Number(number),))


def find_entry(number: int) -> Value:
    """Return what lies at the address that an argument is."""
    return AtWord(DATA, find_argument(number))


def find_arguments(procedure: Procedure) -> Arguments:
    """Return where the arguments are of a procedure that computes, accumulates or reduces."""
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

# --- What programs have in common: colours, and of those that are called procedures by number ---
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
    """Return the program of a role; `colours` are those that it uses, and `numbers` of all."""
    wanted = set(colours)
    named = tuple(Colour(each.upper(), numbers[each]) for each in COLOURS if each in wanted)
    return Listing(
        role=role, layer=MACHINE, variant=does, offset=(), colours=named, counters=(),
        locals=tuple(locals_), fields=tuple(fields), early=tuple(early),
        functions=tuple(functions), tables=tuple(tables), numbered=numbered,
    )


def ask(variables: Iterable[str], conditions: Mapping[str, Value]) -> dict[str, Value]:
    """Return what a program asks of the painting: `conditions`, by name.

    What is not painted is so nowhere: a field of one row has no neighbours to the north.
    """
    return {each: conditions.get(each, Number(0)) for each in variables}


def find_most_arguments(procedures: Sequence[Procedure]) -> int:
    """Return how many arguments a procedure has at most; 1 if none has any."""
    return max((each.count for each in procedures), default=0) or 1


def find_limit(procedures: Sequence[Procedure], profile: Profile) -> int | None:
    """Return the first procedure that has no control task of its own; None if each has one.

    The last control task of a machine looks up all that have none.
    """
    limit = profile.control_tasks
    return limit - 1 if 0 < limit < len(procedures) else None


def count_arguments(procedures: Sequence[Procedure]) -> Table:
    """Return how many arguments each procedure has."""
    return Table(COUNTS.name, "int16", tuple(each.count for each in procedures))


def write_calls(
    procedures: Sequence[Procedure], names: Sequence[str], profile: Profile, *, timed: bool = False
) -> tuple[Function, Function]:
    """Return the function that runs what was called, by the names of functions, and that which
    takes its arguments; it keeps when that was if calls are `timed`.
    """
    run = Body(name=RUN.name, comment="Run what was called: its arguments are here.")
    run.block.charge(address=1)
    switch = run.block.nest(Switch(CALLED))
    for number, (procedure, name) in enumerate(zip(procedures, names, strict=True)):
        switch.nest(Case((number,), "")).add(NowRuns(procedure.name), Call(Task(name)))
    taken = Body(name=ON_CALL.name, comment="Take the arguments of a procedure.", kind="control")
    block = taken.block
    block.add(BlockColour(ON_CONTROL), *([KeepCycle(BEGUN)] if timed else []), Charge(0, 2, 0),
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
    """Return the function that begins, and reacts to what is called."""
    body.block.add(OnControl(ON_CONTROL, ON_CALL))
    return body.finished()


def begin() -> Body:
    """Return the function with which a program begins."""
    return Body(name="pe_main", comment="Say what the PE reacts to.")
