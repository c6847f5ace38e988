"""Whether workers have room for what the sections need.

Paper    E Sec. 4
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.program.irg.addresses import (
    FEWER,
    SHOWN,
    WORKERS,
    Addresses,
    find_constructor,
    find_peak,
)
from lairmake.stages.program.sections.program import Slot
from lairmake.stages.program.sections.shares import MORE_MEMORY


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
