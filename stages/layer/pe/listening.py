"""What PEs do that pass on streams: they listen to one of two colours, and send on the other.

Source   design, The machine; stages/layer/routes/passed_on.py
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.layer.pe.model import Description, Model, holds
from stages.poly.ast import c_expression, held

if typing.TYPE_CHECKING:
    from stages.layer.pe.program import Program


def passing_pes(model: Model, streams: typing.Iterable[str]) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE passes on one of the streams }."""
    pes = isl.Set("[PE_X, PE_Y] -> { : false }")
    for stream in streams:
        if stream in model.passing:
            pes = pes.union(model.pes(f"{stream}_passing"))
    return pes


def hear(program: Program, stream: str) -> str:
    """Return the C constant that holds the colour on which a PE hears a stream.

    It is that of the parity of its place, or, if it is nearest to the port, that of the port.
    """
    described = program.model.passing[stream]
    line, nearest = (
        program.model.pes(f"{stream}_{part}").intersect(program.pes) for part in ("line", "nearest")
    )
    others = line.subtract(nearest)
    text = "" if others.is_empty() else _by_parity(program, described, others)
    if not nearest.is_empty():
        first = holds(nearest, line)
        colour = program.listen(described["enters"])
        text = colour if first is None else f"{first.text} ? {colour} : ({text})"
    name = program.spelling.of(f"{stream}_in")
    program.words[name] = f"const int {name} = {text};"
    return name


def pass_along(program: Program, stream: str) -> None:
    """Let PEs of a role pass on what they take of a stream; those that take nothing, all of it."""
    model = program.model
    if stream not in model.passing:
        return
    passing, between = (
        model.pes(f"{stream}_{part}").intersect(program.pes) for part in ("passing", "between")
    )
    if passing.is_empty():
        return
    into, out = hear(program, stream), program.spelling.of(f"{stream}_out")
    even, odd = model.passing[stream]["colours"]
    described = model.passing[stream] | {"colours": [odd, even]}
    program.words[out] = f"const int {out} = {_by_parity(program, described, passing, sent=True)};"
    for function, pes in (("pass_on", passing.subtract(between)), ("pass_by", between)):
        if not pes.is_empty():
            program.when(program.main.block, pes).add(f"{function}(pe, {into}, {out});")


def _by_parity(
    program: Program, described: Description, pes: isl.Set, *, sent: bool = False
) -> str:
    """Return, as C, the first of two colours for places that are even, else the second."""
    name = program.colour if sent else program.listen
    return by_parity(described["parity"], pes, described["colours"], name)


def by_parity(
    parity: str, pes: isl.Set, colours: typing.Sequence[str], name: typing.Callable[[str], str]
) -> str:
    """Return, as C, the colour of each PE by its parity, [PE_X, PE_Y] -> { [0 or 1] } as text.

    `name` gives the enumerators of those colours that occur.
    """
    place = isl.PwAff(parity).intersect_domain(pes).floor()
    if place.max_val().eq(place.min_val()):
        return name(colours[0 if place.max_val().is_zero() else 1])
    even, odd = map(name, colours)
    return f"{held(c_expression(place, pes), '==')} == 0 ? {even} : {odd}"
