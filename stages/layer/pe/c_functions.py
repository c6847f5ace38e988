"""Functions of a PE program, and what they declare before their first statement."""

from __future__ import annotations

from dataclasses import dataclass, field

from stages.layer.pe.code import Block, words, wrapped

PARAMETERS = {
    "task": "struct pe *pe",
    "data": "struct pe *pe, wavelet w",
    "control": "struct pe *pe, wavelet w",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A C function: its name, what it is for, its parameters and its lines."""

    name: str
    comment: str
    parameters: str
    lines: tuple[str, ...]
    calls: frozenset[str]


@dataclass(slots=True, kw_only=True)
class Body:
    """A function under construction: local names, declared where used, and the statements."""

    name: str
    comment: str
    kind: str = "task"
    locals: dict[str, str] = field(default_factory=dict)
    block: Block = field(default_factory=Block)

    def finished(self) -> Function:
        """Return the function, with the declarations that its lines need."""
        lines = self.block.text()
        declared: list[str] = []
        for name, declaration in reversed((STANDARD | self.locals).items()):
            if name in words([*lines, *declared]):
                declared.insert(0, declaration)
        unused = [f"(void){p};" for p in ("pe", "w") if p not in words([*lines, *declared])]
        unused = [u for u in unused if self.kind != "task" or "(void)w" not in u]
        gap = [""] if declared and lines else []
        whole = [*unused, *declared, *gap, *lines]
        return Function(
            name=self.name,
            comment=self.comment,
            parameters=PARAMETERS[self.kind],
            lines=tuple(part for line in whole for part in wrapped(line)),
            calls=frozenset(words(lines)),
        )


STANDARD = {
    "my": "struct memory *my = pe->memory;",
    "PE_X": "const int PE_X = pe->x;",
    "PE_Y": "const int PE_Y = pe->y;",
}
