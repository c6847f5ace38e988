"""What programs have in common: colours, and of those that are called procedures by number.

Paper    E Sec. 4.1, 6.1.4
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lairmake.stages.machine.profile import Profile
from lairmake.stages.pe.block import Body
from lairmake.stages.pe.listing import Colour, Function, Kept, Listing, Local, Table
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
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
from lairmake.stages.poly.expression import Name, Number, Value, compare
from lairmake.stages.program.lowering.arguments import ARGUMENT, ONE
from lairmake.stages.program.sections.program import Procedure
from lairmake.stages.program.vm.colours import ARGS, COLOURS, CTRL

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
