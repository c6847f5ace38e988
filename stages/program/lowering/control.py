"""Programs of the reduction PEs, the response PEs and the merge PE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.listing import Function, Kept, Local
from lairmake.stages.pe.nodes import (
    Activate,
    Address,
    Assign,
    AtWord,
    BlockColour,
    Call,
    Case,
    Charge,
    Combine,
    Computed,
    Configure,
    Declare,
    Demand,
    Done,
    Element,
    Else,
    Fabric,
    Field,
    If,
    Join,
    Literal,
    Nothing,
    OnData,
    Operand,
    PassAsControl,
    PassBy,
    Receive,
    Return,
    Send,
    SendCommands,
    SendTurning,
    Switch,
    Task,
    UnblockColour,
    WaveletValue,
    make_operand,
)
from lairmake.stages.poly.expression import Name, Number, Value, compare
from lairmake.stages.program.lowering.c import find_geo_condition
from lairmake.stages.program.lowering.lowered import (
    ARGUMENT,
    CALLED,
    MERGE,
    ON_CONTROL,
    REDUCTION,
    RESPONSE,
    RUN,
    Material,
    PeProgram,
    ask,
    begin,
    count_arguments,
    find_most_arguments,
    make_listing,
    react,
    write_calls,
)
from lairmake.stages.program.lowering.tensors import list_response_tensors
from lairmake.stages.program.lowering.worker import ADVANCE, KEPT, RESET, VECTORS, find_beginning
from lairmake.stages.program.sections.program import HALT, REDUCE, Procedure, SectionCall, Sections
from lairmake.stages.program.values.arithmetic import STEPS, Array, find_accumulator
from lairmake.stages.program.vm.colours import (
    ARGS,
    ARGS_DIST,
    CTRL,
    CTRL_COORD,
    CTRL_DIST,
    REDUCTION_1,
    REDUCTION_2,
    REDUCTION_3,
    REDUCTION_4,
    REDUCTION_BROADCAST,
)

# --- Program of reduction PEs ---------------------------------------------------------------------
#
# The reduction PEs of the strips lie between workers and the control row.
#
# Paper    E Sec. 4.2, Fig. 4

VARIABLES = ("farthest", "upper_left", "upper_right", "lower_right", "rows", "columns")
BEGIN, SENT, FINISH = Task("begin"), Task("sent"), Task("finish")
TOOK_ROWS, TOOK_COLUMNS = Task("took_rows"), Task("took_columns")
TASKS = (RUN.name, SENT.name, TOOK_COLUMNS.name, TOOK_ROWS.name)
FUNCTIONS = 12
"""Functions of a program with reductions; an estimate of code counts them."""

REDUCING, WAITS, IS_LOCAL = Field("reducing"), Field("waits"), Field("is_local")
ADDING, SENDING = Address(Field("adding")), Address(Field("sending"))
NONE = Number(-1)
"""The number of no procedure, for `reducing` while no reduction is under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """A reduction of one or more procedures: its instruction, first value, and type of result."""

    operation: str
    neutral: Literal
    result: str

    @property
    def kept(self) -> Field:
        """Return the field of memory that adds up the values."""
        return Field(KEPT + self.neutral.type)

    @property
    def operand(self) -> Operand:
        """Return this field as an operand."""
        return make_operand(self.neutral.type, (0,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlWriter:
    """A writer of the functions of reductions: `reductions` has the numbers of their procedures.

    `asked` are geo-vars, `results` the colours of results.
    """

    reductions: Mapping[Reduction, Sequence[int]]
    asked: Mapping[str, Value]
    results: Sequence[str]

    def write(self) -> list[Function]:
        """Return the functions, each behind those that it uses, but for uses of `begin`."""
        return [write() for write in (
            self._sent, self._finish, self._took_columns, self._took_rows, self._begin,
            self._reduce)]

    def by_reduction(self, block: Block, write: Callable[[Block, Reduction], None]) -> None:
        """Append statements for the reduction that is under way."""
        if len(self.reductions) == 1:
            write(block, *self.reductions)
            return
        switch = block.nest(Switch(REDUCING))
        for reduction, numbers in self.reductions.items():
            said = f"{reduction.operation} of {reduction.neutral.type}"
            write(switch.nest(Case(tuple(numbers), said)), reduction)

    def add(self, block: Block, colour: str, count: Value, then: Value) -> None:
        """Append statements that add up `count` values from a colour, and then start a task."""
        def write(block: Block, reduction: Reduction) -> None:
            kept, place = reduction.operand, Address(reduction.kept)
            block.add(Configure(ADDING, None, reduction.operation, (count,), (kept, kept, kept)),
                      Receive(ADDING, Name(colour.upper()), place, then, place))

        self.by_reduction(block, write)

    def send(self, block: Block, colour: str, stays: Value) -> None:
        """Append statements that send the value, and turn this router to let others pass.

        Where the position `stays`, the router does not turn: the control wavelet that follows turns
        it.
        """
        def write(block: Block, reduction: Reduction) -> None:
            kept = reduction.operand
            given = SENDING, Name(colour.upper()), Address(reduction.kept), SENT
            block.add(Configure(SENDING, None, "COPY", (Number(1),), (kept, kept)))
            block.nest(If(stays)).add(Send(*given))
            block.nest(Else()).add(SendTurning(*given))

        self.by_reduction(block, write)

    def _body(self, task: Task, comment: str) -> Body:
        body = Body(name=task.name, comment=comment)
        body.hold(self.asked)
        return body

    def _sent(self) -> Function:
        body = self._body(SENT, "This PE has sent its value: the next reduction may begin.")
        body.block.charge(scalar=1)
        body.block.add(Assign(REDUCING, NONE))
        body.block.nest(If(WAITS)).add(Call(BEGIN))
        return body.finished()

    def _finish(self) -> Function:
        """Return the function that adds up the values of all four inner PEs, and sends the result.

        Workers get the result in its own type.
        """
        body = self._body(FINISH, "Add up the values of all inner PEs, and send the result.")
        body.block.charge(scalar=1)
        self.add(body.block, REDUCTION_4, Number(2), Nothing())
        if len(self.results) > 1:
            self._send_result(body.block.nest(If(IS_LOCAL)), REDUCTION_BROADCAST)
            self._send_result(body.block.nest(Else()), REDUCTION_3)
        else:
            self._send_result(body.block, *self.results)
        return body.finished()

    def _send_result(self, block: Block, colour: str) -> None:
        def write(block: Block, reduction: Reduction) -> None:
            kept, type_ = reduction.operand, reduction.neutral.type
            sent = Fabric(reduction.result if colour == REDUCTION_BROADCAST else type_)
            block.add(
                Configure(SENDING, None, reduction.operation, (Number(1),), (sent, kept, kept)),
                Combine(SENDING, Name(colour.upper()), Name(REDUCTION_4.upper()),
                        Address(reduction.kept), SENT))

        self.by_reduction(block, write)

    def _took_columns(self) -> Function:
        body = self._body(TOOK_COLUMNS, "The values of this half of the strip are here: inner PEs "
                          "send theirs to the upper right one.")
        block, out = body.block, Name(REDUCTION_4.upper())
        block.nest(If(Name("upper_right"))).add(Call(FINISH), Return())
        lower_right = Name("lower_right")
        self.send(block, REDUCTION_4, compare(lower_right, "==", 0))
        inner = block.nest(If(compare(lower_right, "==", 0)))
        inner.nest(If(Name("upper_left"))).add(SendCommands(out, (ADVANCE,)))
        inner.nest(Else()).add(SendCommands(out, (RESET,)))
        return body.finished()

    def _took_rows(self) -> Function:
        body = self._body(TOOK_ROWS, "The values of this half of the column are here.")
        block, columns, farthest = body.block, Name("columns"), Name("farthest")
        inner = block.nest(If(compare(columns, ">", 0)))
        self.add(inner, REDUCTION_2, columns, TOOK_COLUMNS)
        inner.add(Return())
        self.send(block, REDUCTION_2, farthest)
        block.nest(If(farthest)).add(SendCommands(Name(REDUCTION_2.upper()), (RESET,)))
        return body.finished()

    def _begin(self) -> Function:
        body = self._body(
            BEGIN, "Take part in the reduction that was called, and take further calls.")
        block, rows = body.block, Name("rows")
        block.charge(address=1)
        block.add(Assign(REDUCING, CALLED), Assign(IS_LOCAL, Element(ARGUMENT, (Number(0),))),
                  Assign(WAITS, Number(0)))
        self.by_reduction(block, lambda block, each: block.add(Assign(each.kept, each.neutral)))
        self.add(block.nest(If(compare(rows, ">", 0))), REDUCTION_1, rows, TOOK_ROWS)
        block.nest(Else()).add(Activate(TOOK_ROWS))
        block.add(UnblockColour(ON_CONTROL))
        return body.finished()

    def _reduce(self) -> Function:
        body = self._body(
            Task("reduce"), "A reduction is called: it waits for the one that is under way.")
        body.block.charge(scalar=1)
        body.block.add(Assign(WAITS, compare(REDUCING, "!=", NONE.value)))
        body.block.nest(If(compare(WAITS, "==", 0))).add(Call(BEGIN))
        return body.finished()


def write_reduction(material: Material, conditions: Mapping[str, Value]) -> PeProgram:
    """Return the program of reduction PEs; `conditions` are geo-vars, as for workers."""
    procedures = material.sections.procedures
    reductions: dict[Reduction, list[int]] = {}
    for number, each in enumerate(procedures):
        if each.kind == REDUCE:
            reductions.setdefault(_find_reduction(each), []).append(number)
    results = find_results(material.sections)
    colours = (REDUCTION_1, REDUCTION_2, REDUCTION_4, *results) if reductions else ()
    names = [{REDUCE: "reduce", HALT: "halt"}.get(each.kind, "drop") for each in procedures]
    writer = ControlWriter(reductions=reductions, asked=ask(VARIABLES, conditions), results=results)
    most, main = find_most_arguments(procedures), begin()
    if reductions:
        main.block.add(Assign(REDUCING, NONE))
    functions = [
        *(writer.write() if reductions else ()), *_write_others(set(names)),
        *write_calls(procedures, names, material.profile), react(main),
    ]
    return PeProgram(
        role=REDUCTION, tensors={}, data=4 + 2 * (most + 4), vectors=3,
        functions=FUNCTIONS if reductions else 4, activated=TASKS if reductions else TASKS[:1],
        listing=make_listing(
            REDUCTION, "which takes part in sums, maxima and minima, and drops all else that is "
            "called, also while one of these is under way", (CTRL, ARGS, *colours),
            material.colours, functions, locals_=_list_locals(reductions, most),
            fields=_list_fields(bool(reductions)), early=[BEGIN.name] if reductions else [],
            tables=[count_arguments(procedures)]),
    )


def _list_locals(reductions: Mapping[Reduction, Sequence[int]], most: int) -> list[Local]:
    """Return the memory of a program: arguments, and one field for each type that is added up."""
    kept = {each.kept.name: each.neutral.type for each in reductions}
    return [*(Local(name, type_, (), 0) for name, type_ in kept.items()),
            Local(ARGUMENT.name, "int16", (most,), 4 if kept else 0)]


def _list_fields(reduces: bool) -> list[Kept]:
    called, taking = Kept(CALLED.name), Kept("taking", "vector")
    return [called, taking] if not reduces else [
        called,
        Kept(REDUCING.name, comment="the procedure of the reduction under way, or -1"),
        Kept(WAITS.name, comment="whether another one waits for its end"),
        Kept(IS_LOCAL.name, comment="whether all workers want the result"),
        taking, Kept("adding", "vector"), Kept("sending", "vector"),
    ]


def _write_others(names: set[str]) -> list[Function]:
    """Return the functions of procedures that concern only workers, and of the end."""
    drop, halt = (Body(name=name, comment=comment) for name, comment in (
        ("drop", "It concerns workers alone."), ("halt", "End.")))
    drop.block.add(UnblockColour(ON_CONTROL))
    halt.block.add(Done())
    return [each.finished() for each in (drop, halt) if each.name in names]


def find_results(sections: Sections) -> tuple[str, ...]:
    """Return the colours that results of reductions use: to all workers, to the executive."""
    reduced = {number for number, each in enumerate(sections.procedures) if each.kind == REDUCE}
    local = {call.arguments[0] for calls in sections.sections for call in calls
             if call.procedure in reduced}
    return tuple(colour for colour, value in ((REDUCTION_BROADCAST, 1), (REDUCTION_3, 0))
                 if value in local)


def _find_reduction(procedure: Procedure) -> Reduction:
    type_ = find_accumulator(procedure.op, procedure.types[-1])
    neutral = find_beginning(procedure)
    assert neutral.type == type_
    return Reduction(operation=VECTORS[STEPS[procedure.op]], neutral=neutral,
                     result=procedure.types[0])

# --- Program and tables of response PEs -----------------------------------------------------------
#
# Paper    E Sec. 4.1, 6.1.2: the oscillating systolic drain

OUTERMOST = "outermost"
SECTION, CONTROL, ARGUMENT_STREAM = "section", "control", "argument"
"""Fields of a response PE: its entries of sections, its procedures, and its arguments."""

RESPONSE_VECTORS = ("arguments", "procedures")
COORD, THROUGH, LOOK_UP = Name(CTRL_COORD.upper()), Task("through"), Task("look_up")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTables:
    """Tables of response PEs in int16, by part: right 1, left 1, right 2...

    `sections` [part][section] has four numbers: the start and the count of its arguments, then the
    start and the count of its procedures in `control`. Each table has the length of the longest
    part.
    """

    sections: Array
    control: Array
    arguments: Array


def lay_tables(sections: Sections) -> ControlTables:
    """Return the tables of all response PEs. Offsets are unsigned numbers of 16 bits."""
    parts = 2 * sections.responses
    control: list[list[int]] = [[] for _ in range(parts)]
    arguments: list[list[int]] = [[] for _ in range(parts)]
    found = np.zeros((parts, max(1, len(sections.sections)), 4), np.uint16)
    for number, calls in enumerate(sections.sections):
        for part, share in enumerate(cut_calls(calls, sections.shares[number])):
            given = [each for call in share for each in call.arguments]
            found[part, number] = (len(arguments[part]), len(given), len(control[part]), len(share))
            control[part] += [call.procedure for call in share]
            arguments[part] += given
    return ControlTables(sections=found.view(np.int16), control=_align(control),
                  arguments=_align(arguments))


def cut_calls(calls: Sequence[SectionCall], shares: Sequence[int]) -> list[Sequence[SectionCall]]:
    """Return the calls of each part of a section."""
    ends = np.cumsum([0, *shares]).tolist()
    return [calls[first:last] for first, last in pairwise(ends)]


def _align(lists: Sequence[Sequence[int]]) -> Array:
    """Return lists as rows of int16, filled with zeros to one length."""
    found = np.zeros((len(lists), max(1, *map(len, lists))), np.uint16)
    for row, each in zip(found, lists, strict=True):
        row[: len(each)] = np.array(each, np.int64).astype(np.uint16)
    return found.view(np.int16)


def write_response(material: Material) -> PeProgram:
    """Return the program of response PEs."""
    tables = lay_tables(material.sections)
    sections, control, arguments = (
        each.shape[1] for each in (tables.sections, tables.control, tables.arguments))
    tensors = list_response_tensors(material.geometry, sections, control, arguments)
    outermost = {OUTERMOST: find_geo_condition(material, OUTERMOST, RESPONSE)}
    main = begin()
    main.block.add(Join(THROUGH), OnData(COORD, LOOK_UP), Done())
    locals_ = [Local(field, each.type, each.shape, each.address) for field, each in zip(
        (SECTION, CONTROL, ARGUMENT_STREAM), tensors.values(), strict=True)]
    return PeProgram(
        role=RESPONSE, tensors=tensors, functions=3, activated=(THROUGH.name,),
        reacting=(CTRL_COORD,), vectors=2, data=2 * (4 * sections + control + arguments),
        listing=make_listing(
            RESPONSE, "which sends its part of the section whose number comes",
            (CTRL_COORD, ARGS_DIST, CTRL_DIST), material.colours,
            [_through(), _look_up(sections, outermost), main.finished()], locals_=locals_,
            fields=[Kept(each, "vector") for each in RESPONSE_VECTORS]),
    )


def _through() -> Function:
    body = Body(name=THROUGH.name,
                comment="Both streams are through: the next section may be looked up.")
    body.block.charge(scalar=2)
    body.block.add(Join(THROUGH), UnblockColour(COORD))
    return body.finished()


def _look_up(sections: int, outermost: Mapping[str, Value]) -> Function:
    body = Body(name=LOOK_UP.name, kind="data", comment="Look up a section, and send its arguments "
                "and its procedures. Behind both those pass that lie further out, and the merge PE "
                "turns; the outermost one lets all begin.")
    body.hold(outermost)
    block, number = body.block, Name("number")
    block.add(Declare(number.name, "int", _read(WaveletValue("int16"))),
              Demand(number, sections, "sections"), BlockColour(COORD), Charge.of(address=6))
    for vector, field, colour, at in zip(
        RESPONSE_VECTORS, (ARGUMENT_STREAM, CONTROL), (ARGS_DIST, CTRL_DIST), (0, 2), strict=True
    ):
        first, count = (Element(Field(SECTION), (number, Number(k))) for k in (at, at + 1))
        out, stream = Name(colour.upper()), Address(Field(vector))
        operands = Fabric("int16"), make_operand("int16", (1,))
        block.add(Configure(stream, None, "COPY", (_read(count),), operands),
                  Send(stream, out, AtWord(Field(field), first), THROUGH))
        block.nest(If(Name(OUTERMOST))).add(SendCommands(out, (RESET, ADVANCE)))
        block.nest(Else()).add(SendCommands(out, (ADVANCE, ADVANCE)))
    return body.finished()


def _read(word: Value) -> Value:
    """Return a word of 16 bits as an unsigned number."""
    return Computed("unsigned", (word,), "int16")

# --- Program of the merge PE ----------------------------------------------------------------------
#
# The merge PE has neither tasks nor memory.
#
# Paper    E Sec. 4.1, 6.1: nothing in it varies but the numbers of colours

def write_merge(material: Material) -> PeProgram:
    """Return the program of the merge PE."""
    body, colours = begin(), (ARGS_DIST, CTRL_DIST, ARGS, CTRL)
    arguments, procedures, to_args, to_ctrl = (Name(each.upper()) for each in colours)
    body.block.add(PassBy(arguments, to_args), PassAsControl(procedures, to_ctrl), Done())
    does = "which passes on to all workers what comes in turn from both sides"
    listing = make_listing(MERGE, does, colours, material.colours, [body.finished()])
    return PeProgram(role=MERGE, listing=listing, data=0, tensors={}, functions=1)
