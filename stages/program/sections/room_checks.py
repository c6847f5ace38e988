"""Whether a field has room for what controls it, and workers for what the sections need.

Paper    E Sec. 4
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from stages.diagnose import Source, Span, UserError
from stages.machine.profile import Profile
from stages.plural import plural
from stages.program.irg.graph import Graph
from stages.program.memory.addresses import WORKERS, Addresses
from stages.program.memory.room import FEWER, SHOWN, find_constructor, find_peak
from stages.program.sections.program import Slot
from stages.program.sections.shares import MORE_MEMORY
from stages.program.values.forms import ON_PES

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


def check_workers(
    addresses: Addresses, slots: Sequence[Slot], filters: int, end: int, machine: Profile,
    source: Source | None,
) -> None:
    """Raise UserError where entries, slots (up to byte `end`) and filters are too many.

    It names the largest entries and slots, and shows where the `source` makes the largest entry.
    """
    needed, room = end + 2 * filters, machine.memory - machine.code_base
    if needed <= room:
        return
    live = find_peak(p for p in addresses.places.values() if p.space == WORKERS)[:SHOWN]
    largest = sorted([*((p.name, p.bytes) for p in live), *((s.name, s.bytes) for s in slots)],
                     key=lambda each: -each[1])[:SHOWN]
    listed = ", ".join(f"{name} ({size} bytes)" for name, size in largest)
    said = f"a worker needs {needed} bytes, with what lands on it, constants and {filters} " \
           f"filters, and has {max(0, room)} beside its code"
    span = next(filter(None, (find_constructor(source, p.name) for p in live)), None)
    remedy = FEWER if room > 0 else MORE_MEMORY
    raise UserError(said, span, f"the largest: {listed}; {remedy}")
