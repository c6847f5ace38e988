"""Run the intermediate language, which gives the graph of the program and its first data.

Paper    E Sec. 5.4
Reads    program.yaml, program.il; the source only to say where errors are
Writes   objects.yaml, graph.yaml, accesses.isl, build/data/*.npy
Assumes  the program may be run: it is code of its user, in a process of its own.
Ensures  ids of nodes are in the order in which they run; each operand has a relation.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping
from functools import partial

from lairmake.stages.diagnose import Source
from lairmake.stages.program.il.run import capture_program, find_places
from lairmake.stages.program.irg.graph_text import write_entries
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.sandbox.faults import SourcePlace
from lairmake.stages.program.sandbox.parent import run_apart, tell_of_limits
from lairmake.stages.program.sections.calls import NARROWEST, check_width
from lairmake.stages.program.source.plain_numpy import explain_plain

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("program.yaml: program, parameters, limits", "program.il")
WRITES = ("objects.yaml", "graph.yaml", "accesses.isl", "build/data/*.npy")
COLUMNS = re.compile(r"^field: \[(\d+)", re.MULTILINE)


def run(inputs: Inputs) -> dict[str, bytes]:
    """Return the texts of the graph, and its initial data."""
    il = inputs.text("program.il")
    tell_of_limits(inputs.program(), inputs.shown("program.yaml"))
    files = run_apart(capture_program, inputs, {"il": il}, find=partial(find_place, il))
    _check_field(inputs, files)
    return files


def _check_field(inputs: Inputs, files: Mapping[str, bytes]) -> None:
    """Raise UserError for a graph without objects, or a field too narrow for its control row."""
    objects, graph = (
        Source(path=name, text=files[name].decode()) for name in ("objects.yaml", "graph.yaml"))
    if objects.text == write_entries(()):
        raise explain_plain(inputs.unnoted().program_source())
    columns = COLUMNS.search(graph.text)
    if columns is not None and int(columns[1]) < NARROWEST:
        check_width(read_graph(graph, objects), inputs.unnoted().program_source())


def find_place(il: str, source: Source, place: SourcePlace) -> SourcePlace:
    """Return the place in the source for a place in program.il."""
    at = place.line, place.end_line, place.column, place.end_column
    places = find_places(il, source.text, source.path)
    line, end_line, column, end_column = places.get(at) or places.get(at[:1]) or at
    return SourcePlace(file=place.file, line=line or place.line, end_line=end_line, column=column,
                 end_column=end_column)
