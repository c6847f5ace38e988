"""Functions of a PE program, and what they declare before their first statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lairmake.stages.pe.block import Block
from lairmake.stages.pe.listing import Function
from lairmake.stages.pe.statement_nodes import Declare
from lairmake.stages.pe.value_nodes import Coordinate, find_names
from lairmake.stages.poly.expression import Value


@dataclass(slots=True, kw_only=True)
class Body:
    """A function under construction: local names, declared where used, and the statements."""

    name: str
    comment: str
    kind: str = "task"
    parameters: tuple[str, ...] = ()
    locals: dict[str, Declare] = field(default_factory=dict)
    block: Block = field(default_factory=Block)

    def hold(self, values: Mapping[str, Value]) -> None:
        """Declare constants where they are used."""
        self.locals |= {name: Declare(name, "int", value) for name, value in values.items()}

    def finished(self) -> Function:
        """Return the function, with the declarations that its statements need."""
        statements = self.block.finished()
        declared: tuple[Declare, ...] = ()
        used = find_names(statements)
        for declaration in reversed((STANDARD | self.locals).values()):
            if declaration.name in used:
                declared = (declaration, *declared)
                used |= find_names([declaration.value])
        return Function(
            self.name, self.comment, self.kind, declared, statements, self.parameters)


STANDARD = {
    "PE_X": Declare("PE_X", "int", Coordinate("x")),
    "PE_Y": Declare("PE_Y", "int", Coordinate("y")),
}
