"""C identifiers for the names of a layer: none that C, pe.h or the program itself uses.

Names that are keywords of C never come here: LAIR refuses them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lairmake.stages.pe.macros import MACROS
from lairmake.stages.poly.expression import Name

OURS = frozenset(
    ["PE_X", "PE_Y", "complete", "element", "in", "memory", "my", "n", "out", "pe", "pe_main"]
    + ["program", "restart", "unfinished", "w"]
    + [f"number{k}" for k in range(96)]
    + [f"{end}{k}" for end in ("first", "last") for k in range(4)]
    + [f"outer{k}" for k in range(16)]
)
"""What every program calls its own variables and functions."""

TYPEDEFS = frozenset(["float16", "task", "wavelet", "wavelet_task"])

LIBRARY = re.compile(
    r"[a-z]\w*_t|offsetof|FP_(NAN|INFINITE|ZERO|SUBNORMAL|NORMAL|ILOGB(0|NAN)|FAST_FMA[FL]?)"
    r"|MATH_ERR(NO|EXCEPT)|HUGE_VAL[FL]?|INFINITY|NAN|NULL"
    r"|MAC_OS_\w+|DUMMY(STRUCT|UNION)NAME\d*"
    r"|(U?INT\w*|PTRDIFF|SIG_ATOMIC|SIZE|WCHAR|WINT)_(MAX|MIN|C)"
)
"""Types and macros of the headers that pe.h includes; none of them ends in an underscore."""

FUNCTIONS = frozenset([
    *("ceilf", "cosf", "erff", "expf", "fabsf", "floorf", "logf", "powf", "rintf", "sinf"),
    *("sqrtf", "tanhf"),
])
"""Functions of the library of C that programs call."""

DEFINED = re.compile(r"\b([A-Za-z_]\w*)\(|#define (\w+)|struct (\w+)|\b([A-Z][A-Z0-9_]+)\b")
"""Functions, macros, structures and enumerators where pe.h defines or uses them."""


class Names:
    """C identifiers for names of tensors and tasks: none of pe.h's, no two the same."""

    def __init__(self, pe_h: str) -> None:
        """Take what pe.h defines."""
        found = {name for names in DEFINED.findall(pe_h) for name in names if name}
        self._taken = found | OURS | TYPEDEFS | MACROS | FUNCTIONS

    def new(self, name: str) -> str:
        """Return an identifier near a name, and take it."""
        while name in self._taken or LIBRARY.fullmatch(name):
            name += "_"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """The names of one program: of tasks, counters, colours and of LAIR's own names."""

    names: Names
    words: dict[str, str]

    def of(self, word: str, near: str = "") -> str:
        """Return the name of a word, the same each time; near what it is called, if given."""
        if word not in self.words:
            self.words[word] = self.names.new(near or word)
        return self.words[word]

    def counter(self, task: str) -> Name:
        """Return the enumerator that counts a task."""
        return Name(self.of(f"counter {task}", task.upper()))

    def colour(self, colour: str) -> str:
        """Return the enumerator of a colour."""
        return self.of(f"colour {colour}", colour.upper())

    def own(self, name: str) -> str:
        """Return the variable of an iterator of LAIR."""
        return self.of(f"own {name}", name)

    def element(self, tensor: str) -> str:
        """Return the variable of an element of a tensor."""
        return self.of(f"element {tensor}", tensor)


def new_naming() -> Naming:
    """Return names for code that is only charged for, of which none are taken."""
    return Naming(names=Names(""), words={})
