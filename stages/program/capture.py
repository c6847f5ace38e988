"""Run the intermediate language, which gives the graph of the program and its first data.

Paper    E Sec. 5.4
Reads    program.yaml, program.il; the source only to say where errors are
Writes   objects.yaml, graph.yaml, accesses.isl, build/data/*.npy
Assumes  the program may be run: it is code of its user, in a process of its own.
Ensures  ids of nodes are in the order in which they run; each operand has a relation.
"""

from __future__ import annotations

import typing
from functools import partial

from stages.diagnose import Source
from stages.program.child.parent import run_apart
from stages.program.child.place import Place
from stages.program.il.positions import find_places
from stages.program.il.run import capture_program

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "program.il")
WRITES = ("objects.yaml", "graph.yaml", "accesses.isl", "build/data/*.npy")


def run(inputs: Inputs) -> dict[str, bytes]:
    """Return the texts of the graph, and the data that it begins with."""
    il = inputs.text("program.il")
    return run_apart(capture_program, inputs, {"il": il}, find=partial(find_place, il))


def find_place(il: str, source: Source, place: Place) -> Place:
    """Return the place of a source that one of its program.il comes from."""
    at = place.line, place.end_line, place.column, place.end_column
    places = find_places(il, source.text, source.path)
    line, end_line, column, end_column = places.get(at) or places.get(at[:1]) or at
    return Place(file=place.file, line=line or place.line, end_line=end_line, column=column,
                 end_column=end_column)
