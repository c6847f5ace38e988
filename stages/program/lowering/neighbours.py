"""The ring of transfers between neighbours: its states, in each of which PEs take from one side.

Paper    E Sec. 5.3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.listing import Function
from lairmake.stages.pe.nodes import Call, Choice, If, SendCommands, Task
from lairmake.stages.poly.expression import Name, Number, Value, compare, require_all
from lairmake.stages.program.vm.colours import CHECKER

STATES = ("west", "east", "north", "south")
"""The sides from which PEs take, in the order of states."""

SENDS = ("has_east", "has_west", "has_south", "has_north")
"""Whether a PE sends in a state: to its neighbour on the other side."""

ASKED = ("even", *sorted(SENDS))
"""What a worker asks that sends to its neighbours."""

ADVANCE, RESET = "ADVANCE", "RESET"
MOST = 3
"""States that are passed over at most."""


@dataclass(frozen=True, slots=True)
class Ring:
    """Where a worker sends and takes; the states up to which some are passed over are noted."""

    passed: dict[int, None] = field(default_factory=dict)
    sends_on: Name = field(default=Name("sends_on"))
    takes_on: Name = field(default=Name("takes_on"))

    def name_colours(self) -> dict[str, Value]:
        """Return the colours on which a worker sends and takes."""
        first, second = (Name(each.upper()) for each in CHECKER)
        even = Name("even")
        return {self.sends_on.name: Choice(even, second, first),
                self.takes_on.name: Choice(even, first, second)}

    def leave(self, block: Block, state: int, condition: tuple[Value, ...] = ()) -> None:
        """Append what turns this router, and those to which it sends, to the following state."""
        sends = Name(SENDS[state % len(STATES)])
        inner = block.nest(If(require_all((*condition, sends))))
        inner.add(SendCommands(self.sends_on, (ADVANCE,)))

    def pass_over(self, state: int, states: Value) -> Call:
        """Return what leaves so many states, up to `state`."""
        self.passed[state] = None
        return Call(_name(state), (states,))

    def write_functions(self, asked: Mapping[str, Value]) -> Iterator[Function]:
        """Yield the functions that pass over states."""
        for state in sorted(self.passed):
            said = f"take from the {STATES[state]}: at most three."
            body = Body(name=_name(state).name, parameters=("states",),
                        comment=f"Leave some states of the ring, up to that in which PEs {said}")
            body.hold(asked)
            body.block.charge(scalar=1, address=1)
            for k in range(MOST, 0, -1):
                more = compare(Name("states"), ">=", Number(k))
                self.leave(body.block, state - k, (more,))
            yield body.finished()


def _name(state: int) -> Task:
    return Task(f"pass_over_to_{STATES[state]}")
