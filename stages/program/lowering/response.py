"""The program of response PEs, and their tables: the part that each has of every section.

Paper    E Sec. 4.1, 6.1.2: the oscillating systolic drain
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from stages.jinja import template_in
from stages.program.lowering.conditions import write_geo_condition
from stages.program.lowering.lowered import RESPONSE, Material, PeProgram
from stages.program.lowering.tensors import list_response_tensors
from stages.program.sections.program import Call, Sections
from stages.program.values.arithmetic import Array
from stages.program.vm.colours import ARGS_DIST, CTRL_COORD, CTRL_DIST

DATA = ("templates/response.c.j2",)
OUTERMOST = "outermost"


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


def cut_calls(calls: Sequence[Call], shares: Sequence[int]) -> list[Sequence[Call]]:
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
    tensors = list_response_tensors(
        material.geometry, tables.sections.shape[1], tables.control.shape[1],
        tables.arguments.shape[1])
    text = template_in(Path(__file__).parent / "templates", "response.c.j2", __name__).render(
        colours=[(name.upper(), material.colours[name])
                 for name in (CTRL_COORD, ARGS_DIST, CTRL_DIST)],
        sections=tables.sections.shape[1], control=tables.control.shape[1],
        arguments=tables.arguments.shape[1],
        outermost=write_geo_condition(material, OUTERMOST, RESPONSE),
    )
    data = 2 * (tables.sections[0].size + tables.control[0].size + tables.arguments[0].size)
    return PeProgram(role=RESPONSE, text=text, data=data, tensors=tensors, functions=3,
                     activated=("through",), reacting=(CTRL_COORD,), vectors=2)
