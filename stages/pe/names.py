"""Identifiers that no spelling reserves."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lairmake.stages.poly.expression import Name

# --- Macros of the headers that programs include --------------------------------------------------
#
# Source   `cc -std=c11 -dM -E` of pe.h: gcc 12, clang and zig 0.17 for glibc, musl, macOS and MinGW
#
# Types and names of one kind, as `INT8_MAX`, are the pattern `LIBRARY` below; LAIR refuses names
# that begin with an underscore and a capital.

MACROS = frozenset([
    "CAST_USER_ADDR_T", "DOMAIN", "EDOM", "ERANGE", "FP_QNAN", "FP_SNAN", "FP_SUPERNORMAL",
    "HUGE", "MAXFLOAT", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2", "M_LOG10E",
    "M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2", "M_SQRT2", "OVERFLOW", "PLOSS", "SING",
    "TARGET_IPHONE_SIMULATOR", "TARGET_OS_DRIVERKIT", "TARGET_OS_EMBEDDED", "TARGET_OS_IOS",
    "TARGET_OS_IPHONE", "TARGET_OS_LINUX", "TARGET_OS_MAC", "TARGET_OS_MACCATALYST",
    "TARGET_OS_NANO", "TARGET_OS_OSX", "TARGET_OS_SIMULATOR", "TARGET_OS_TV", "TARGET_OS_UEFI",
    "TARGET_OS_UIKITFORMAC", "TARGET_OS_UNIX", "TARGET_OS_VISION", "TARGET_OS_WATCH",
    "TARGET_OS_WIN32", "TARGET_OS_WINDOWS", "TLOSS", "UNALIGNED", "UNDERFLOW", "USER_ADDR_NULL",
    "USE___UUIDOF", "X_TLOSS", "bcopy", "bzero", "fpclassify", "isfinite", "isgreater",
    "isgreaterequal", "isinf", "isless", "islessequal", "islessgreater", "isnan", "isnormal",
    "isunordered", "math_errhandling", "matherr", "memccpy", "memcpy", "memmove", "memset",
    "signbit", "stpcpy", "stpncpy", "strcat", "strcpy", "strlcat", "strlcpy", "strncat",
    "strncpy", "wcswcs",
])

# --- C identifiers for the names of a layer -------------------------------------------------------
#
# None of them is one that C, pe.h or the program itself uses. Names that are keywords of C never
# come here: LAIR refuses them.

OURS = frozenset(
    ["PE_X", "PE_Y", "complete", "element", "in", "memory", "my", "n", "out", "pe", "pe_main"]
    + ["program", "restart", "unfinished", "w"]
    + [f"number{k}" for k in range(96)]
    + [f"{end}{k}" for end in ("first", "last") for k in range(4)]
    + [f"outer{k}" for k in range(16)]
)
"""Names that every program gives its own variables and functions."""

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


class IdentifierNames:
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
class IdentifierNaming:
    """The names of one program: of tasks, counters, colours and of LAIR's own names."""

    names: IdentifierNames
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


def new_naming() -> IdentifierNaming:
    """Return names for code that is only charged for, of which none are taken."""
    return IdentifierNaming(names=IdentifierNames(""), words={})
