"""Memory of workers behind that of the entries: for what lands, for constants, for globals.

Paper    ours
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.interpreter.run import find_bits
from lairmake.stages.program.irg.allocation import Request, place_requests
from lairmake.stages.program.sections.program import Slot
from lairmake.stages.program.values.arithmetic import round_number

Address: TypeAlias = int | str
"""A word of 16 bits of a worker, or the name of a slot, whose address is known at the end."""

WIDEST = max(BYTES.values())


@dataclass(slots=True)
class _Use:
    type: str
    bytes: int
    first: int
    last: int
    value: int | float | None = None


@dataclass(slots=True)
class Slots:
    """The slots that are in use so far."""

    uses: dict[str, _Use] = field(default_factory=dict)
    constants: dict[tuple[str, int], str] = field(default_factory=dict)

    def land(self, number: int, type_: str, count: int) -> str:
        """Return the name of the slot for what lands, and let it have room for elements."""
        name = f"landing_{number}"
        use = self.uses.setdefault(name, _Use(type_, 0, -1, -1))
        use.bytes = max(use.bytes, -(-count * BYTES[type_] // WIDEST) * WIDEST)
        use.type = max(use.type, type_, key=BYTES.__getitem__)
        return name

    def keep_constant(self, value: int | float, type_: str) -> str:
        """Return the name of the slot of a number, rounded to a type; one for all uses."""
        rounded = round_number(value, type_)
        key = type_, int(find_bits(rounded.reshape(1))[0])
        if key not in self.constants:
            name = self.constants[key] = f"constant_{len(self.constants)}"
            self.uses[name] = _Use(type_, BYTES[type_], -1, -1, rounded.item())
        return self.constants[key]

    def take_global(self, name: str, type_: str, node: int) -> str:
        """Return the name of the slot to which a scalar of the executive comes, for a node."""
        slot = f"global_{name}"
        use = self.uses.setdefault(slot, _Use(type_, BYTES[type_], node, node))
        use.last = max(use.last, node)
        return slot


def place_slots(slots: Slots, start: int, alignment: int) -> tuple[tuple[Slot, ...], int]:
    """Return all slots with their addresses in bytes, from `start` on, and where they end.

    What lands begins where `alignment` divides the address, the rest where its bytes do. Slots of
    global scalars may share memory where no node between the first and the last use of one uses
    another.
    """
    start = -(-start // WIDEST) * WIDEST if slots.uses else start
    lasting = [name for name, use in slots.uses.items() if use.first < 0]
    placed, end = {}, start
    for name in sorted(lasting, key=lambda name: not name.startswith("landing")):
        use = slots.uses[name]
        step = max(BYTES[use.type], alignment if name.startswith("landing") else 1)
        placed[name] = end = -(-end // step) * step
        end += use.bytes
    end = -(-end // WIDEST) * WIDEST if len(lasting) < len(slots.uses) else end
    requests = [
        Request(name=name, bytes=use.bytes, alignment=BYTES[use.type], first=use.first,
                last=use.last)
        for name, use in slots.uses.items() if use.first >= 0
    ]
    found, size = place_requests(requests)
    placed |= {name: end + at for name, at in found.items()}
    return tuple(
        Slot(name=name, type=slots.uses[name].type, address=placed[name],
             bytes=slots.uses[name].bytes, value=slots.uses[name].value)
        for name in sorted(placed, key=lambda name: (placed[name], slots.uses[name].first))
    ), end + size
