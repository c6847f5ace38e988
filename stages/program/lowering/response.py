"""The program of response PEs, and their tables: the part that each has of every section.

Paper    E Sec. 4.1, 6.1.2: the oscillating systolic drain
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lairmake.stages.pe.block import Body
from lairmake.stages.pe.listing import Function, Kept, Local
from lairmake.stages.pe.nodes import (
    Address,
    AtWord,
    BlockColour,
    Charge,
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
    OnData,
    Send,
    SendCommands,
    Task,
    UnblockColour,
    WaveletValue,
    make_operand,
)
from lairmake.stages.poly.expression import Name, Number, Value
from lairmake.stages.program.lowering.calls import begin, make_listing
from lairmake.stages.program.lowering.conditions import find_geo_condition
from lairmake.stages.program.lowering.lowered import RESPONSE, Material, PeProgram
from lairmake.stages.program.lowering.neighbours import ADVANCE, RESET
from lairmake.stages.program.lowering.tensors import list_response_tensors
from lairmake.stages.program.sections.program import SectionCall, Sections
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.vm.colours import ARGS_DIST, CTRL_COORD, CTRL_DIST

OUTERMOST = "outermost"
SECTION, CONTROL, ARGUMENT_STREAM = "section", "control", "argument"
"""What a response PE keeps: of each section the first argument, how many there are, the first
procedure, how many; and these."""

RESPONSE_VECTORS = ("arguments", "procedures")
COORD, THROUGH, LOOK_UP = Name(CTRL_COORD.upper()), Task("through"), Task("look_up")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What response PEs hold, int16, by part: right 1, left 1, right 2...

    `sections` [part][section] has four numbers: where its arguments begin, how many there are,
    where its procedures begin in `control`, how many. All have the room that the longest needs.
    """

    sections: Array
    control: Array
    arguments: Array


def lay_tables(sections: Sections) -> Tables:
    """Return the tables of all response PEs. Offsets are of 16 bits, without a sign."""
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
    return Tables(sections=found.view(np.int16), control=_align(control),
                  arguments=_align(arguments))


def cut_calls(calls: Sequence[SectionCall], shares: Sequence[int]) -> list[Sequence[SectionCall]]:
    """Return the calls of each part of a section."""
    ends = np.cumsum([0, *shares]).tolist()
    return [calls[first:last] for first, last in pairwise(ends)]


def _align(lists: Sequence[Sequence[int]]) -> Array:
    """Return lists as rows of int16; what is missing in one is 0."""
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
              Demand(number, sections, "sections"), BlockColour(COORD), Charge(0, 0, 6))
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
    """Return a word of 16 bits without its sign."""
    return Computed("unsigned", (word,), "int16")
