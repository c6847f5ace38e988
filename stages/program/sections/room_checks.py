"""Whether a field has room for what controls it, and workers for what the sections need.

Paper    E Sec. 4
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from stages.diagnose import Source, Span, UserError
from stages.machine.profile import Profile
from stages.program.memory.addresses import WORKERS, Addresses
from stages.program.memory.room import SHOWN, find_constructor, find_peak
from stages.program.sections.program import Slot

NARROWEST = 4
"""Columns of the smallest field: merge PE, executive, and a response PE on each side."""


def check_width(field: tuple[int, int], source: Source | None) -> None:
    """Raise UserError where the control row has no room for the PEs that it must have."""
    columns, rows = field
    if columns >= NARROWEST:
        return
    said = f"the field has {columns} columns: the row that controls it needs {NARROWEST}, for " \
           "the executive, the merge PE, and a response PE on each side"
    hint = f"`field({NARROWEST}, {rows})`, once, before sums: objects may be smaller"
    raise UserError(said, _find_field(source), hint)


def _find_field(source: Source | None) -> Span | None:
    """Return the place of `field(...)` in a source, None where there is none."""
    found = re.search(r"^[ \t]*field\([^()\n]*\)", source.text, re.M) if source else None
    return Span(source=source, start=found.start(), end=found.end()) if source and found else None


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
           f"filters, and has {room} beside its code"
    span = next(filter(None, (find_constructor(source, p.name) for p in live)), None)
    raise UserError(said, span, f"the largest: {listed}")
