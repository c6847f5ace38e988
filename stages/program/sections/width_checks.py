"""Whether a field has room for the row that controls it.

Paper    E Sec. 4
"""

from __future__ import annotations

import re

from lairmake.stages.diagnose import Source, Span, UserError, plural
from lairmake.stages.program.irg.addresses import find_constructor
from lairmake.stages.program.irg.graph import Graph
from lairmake.stages.program.values.forms import ON_PES

NARROWEST = 4
"""Columns of the smallest field: merge PE, executive, and a response PE on each side."""

FIELD = re.compile(r"^[ \t]*((?:\w+\.)*field\([^()\n]*\))", re.M)


def check_width(graph: Graph, source: Source | None) -> None:
    """Raise UserError where the control row has no room for the PEs that it must have."""
    columns, rows = graph.field
    if columns >= NARROWEST:
        return
    said = f"the field has {plural(columns, 'column')}: the row that controls it needs " \
           f"{NARROWEST}, for the executive, the merge PE, and a response PE on each side"
    hint = f"write `field({NARROWEST}, {rows})` once, before sums: arrays may be smaller than it"
    raise UserError(said, find_field(graph, source), hint)


def find_field(graph: Graph, source: Source | None) -> Span | None:
    """Return the place of `field(...)` in a source, or of the first of the widest objects.

    Where a source writes them in other ways that is its beginning.
    """
    if source is None:
        return None
    found = FIELD.search(source.text)
    if found:
        return Span(source=source, start=found.start(1), end=found.end(1))
    widest = (entry.name for entry in graph.entries.values()
              if entry.kind in ON_PES and entry.shape[0] == graph.field[0])
    begins = Span(source=source, start=0, end=len(source.text.partition("\n")[0]))
    return next(filter(None, (find_constructor(source, name) for name in widest)), begins)
