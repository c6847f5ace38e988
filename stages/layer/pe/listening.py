"""What PEs do that forward streams: they listen to one of two colours, and send on the other.

Source   design, The machine; stages/layer/routes/forwarded.py
"""

from __future__ import annotations

import typing
from dataclasses import replace

import islpy as isl

from stages.layer.pe.model import Model, holds
from stages.layer.texts.graph import Forwarding
from stages.pe.statement_nodes import Declare, Forward, PassBy
from stages.pe.value_nodes import Choice, Group, Nothing
from stages.poly.expressed import express
from stages.poly.expression import Name, Value, compare
from stages.poly.extremes import greatest_value, least_value

if typing.TYPE_CHECKING:
    from stages.layer.pe.program import Program


def find_forwarding_pes(model: Model, streams: typing.Iterable[str]) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE forwards one of the streams }."""
    pes = isl.Set("[PE_X, PE_Y] -> { : false }")
    for stream in streams:
        if stream in model.forwarding:
            pes = pes.union(model.pes(stream, "forwarding"))
    return pes


def hear(program: Program, stream: str) -> Name:
    """Return the constant that holds the colour on which a PE hears a stream.

    It is that of the parity of its place, or, if it is nearest to the port, that of the port.
    """
    described = program.model.forwarding[stream]
    line = program.model.pes(stream, "line").intersect(program.pes)
    nearest = program.model.pes(stream, "nearest").intersect(program.pes)
    others = line.subtract(nearest)
    colour: Value = Nothing() if others.is_empty() else _by_parity(program, described, others)
    if not nearest.is_empty():
        first, enters = holds(nearest, line), program.listen(described.enters)
        colour = enters if first is None else Choice(first, enters, Group(colour))
    return _declare(program, f"{stream}_in", colour)


def _declare(program: Program, word: str, colour: Value) -> Name:
    """Let all functions that use it declare a constant that holds a colour."""
    name = program.naming.of(word)
    program.words[name] = Declare(name, "int", colour)
    return Name(name)


def forward_along(program: Program, stream: str) -> None:
    """Let PEs of a role forward what they take of a stream; those that take nothing, all of it."""
    model = program.model
    if stream not in model.forwarding:
        return
    forwarding = model.pes(stream, "forwarding").intersect(program.pes)
    between = model.pes(stream, "between").intersect(program.pes)
    if forwarding.is_empty():
        return
    into = hear(program, stream)
    even, odd = model.forwarding[stream].colours
    described = replace(model.forwarding[stream], colours=(odd, even))
    out = _declare(program, f"{stream}_out", _by_parity(program, described, forwarding, sent=True))
    for passes, pes in ((Forward, forwarding.subtract(between)), (PassBy, between)):
        if not pes.is_empty():
            program.when(program.main.block, pes).add(passes(into, out))


def _by_parity(
    program: Program, described: Forwarding, pes: isl.Set, *, sent: bool = False
) -> Value:
    """Return the first of two colours for places that are even, else the second."""
    name = program.colour if sent else program.listen
    return find_by_parity(described.parity, pes, described.colours, name)


def find_by_parity(
    parity: str, pes: isl.Set, colours: typing.Sequence[str], name: typing.Callable[[str], Name]
) -> Value:
    """Return the colour of each PE by its parity, [PE_X, PE_Y] -> { [0 or 1] } as text.

    `name` gives the enumerators of those colours that occur.
    """
    place = isl.PwAff(parity).intersect_domain(pes).floor()
    if greatest_value(place).eq(least_value(place)):
        return name(colours[0 if greatest_value(place).is_zero() else 1])
    even, odd = map(name, colours)
    return Choice(compare(express(place, pes), "==", 0), even, odd)
