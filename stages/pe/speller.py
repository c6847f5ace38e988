"""Speller of programs: a template has a macro for each node, called as the class of the node.

`templates/program.c.j2` spells C, and `templates/program.txt.j2` what people read; another
spelling is another template.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Sequence

from lairmake.stages.pe.nodes import MOST, OFTEN, Compared, Computed, Else, Literal, Scope
from lairmake.stages.poly.expression import INFIX, Node, Number, Operation, Value
from lairmake.stages.templates import macros

C, WORDS = "program.c.j2", "program.txt.j2"
DATA = ("../../templates/program.c.j2", "../../templates/program.txt.j2")
"""Every spelling."""

ADDITIVE, LOGICAL, COMPARISONS = ("+", "-"), ("and", "or"), ("==", "!=", "<=", "<", ">=", ">")
WIDTH = 96
"""Columns of a line within a function, which is indented by four."""


@functools.cache
def speller(name: str) -> Callable[[Node], str]:
    """Return the function that spells nodes with the macros of a template."""

    def spell_anew(node: Node) -> str:
        return str(getattr(module, type(node).__name__)(node))

    once = functools.lru_cache(maxsize=MOST)(spell_anew)

    def spell(node: Node) -> str:
        return once(node) if isinstance(node, OFTEN) else spell_anew(node)

    def operand(node: Value, sign: str, first: bool = False) -> str:
        return spell(node) if is_bare(node, sign, first) else f"({spell(node)})"

    def between(nodes: Sequence[Value], sign: str, text: str) -> str:
        return f" {text} ".join(operand(node, sign, k == 0) for k, node in enumerate(nodes))

    def lines(nodes: Sequence[Node]) -> str:
        found = (("" if k == 0 else " " if is_else(node) else "\n", spell(node))
                 for k, node in enumerate(nodes))
        return "".join(itertools.chain.from_iterable((*found, ("\n",))))

    known = {
        "spell": spell, "operand": operand, "between": between, "lines": lines, "wrapped": wrap,
        "listed": lambda nodes: ", ".join(map(spell, nodes)),
        "kind": lambda node: type(node).__name__, "indented": indent,
        "INT32_MIN": -(2**31), "INFINITY": math.inf, "MINUS_INFINITY": -math.inf,
    }
    module = macros(name, known)
    return spell


def spell(node: Node, name: str = C) -> str:
    """Return a node as a template spells it."""
    return speller(name)(node)


def is_else(node: Node) -> bool:
    """Say whether a statement goes on with the one before."""
    return isinstance(node, Scope) and isinstance(node.head, Else)


def outermost(node: Value) -> str | None:
    """Return the sign that parentheses around a value would have to hold; None if there is none."""
    match node:
        case Number(value):
            return "-" if value < 0 else None
        case Literal(value, type_):
            is_negative = math.copysign(1, value) < 0 and type_ != "float16"
            return "-" if is_negative and value != -(2**31) else None
        case Compared(sign):
            return sign
        case Computed("negative", _, "float32") | Operation("negative"):
            return "-"
        case Computed(sign, _, "float32") | Operation(sign):
            return sign if sign in (*INFIX, "?") else None
    return None


def is_bare(argument: Value, sign: str, first: bool = False) -> bool:
    """Say whether an operand of an operation reads well without parentheses.

    Compilers warn where some are missing that the language does not ask for.
    """
    inner = outermost(argument)
    return (
        inner is None
        or (inner == sign and sign in LOGICAL)
        or (first and sign in ADDITIVE and inner in (*ADDITIVE, "*"))
        or (sign in ADDITIVE and inner == "*")
        or (sign in LOGICAL and inner in COMPARISONS)
        or (sign in COMPARISONS and inner in (*ADDITIVE, "*", "/", "%"))
    )


def indent(text: str) -> str:
    """Return lines indented by four columns, free ones as they are."""
    return re.sub(r"^(?=.)", "    ", text, flags=re.MULTILINE)


def wrap(text: str) -> str:
    """Return lines broken to fit in their columns, what follows indented.

    A line is broken after a comma or a semicolon or before a logical operator if there is one, else
    before a sum or a difference.
    """
    return "".join(f"{part}\n" for line in text.splitlines() for part in _broken(line))


def _broken(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    found: list[str] = []
    while len(line) > WIDTH and (at := _break(line, len(indent) + 8)) > 0:
        found.append(line[:at].rstrip())
        line = f"{indent}    {line[at:].lstrip()}"
    return [*found, line]


def _break(line: str, least: int) -> int:
    """Return where to break a line, 0 if there is no place."""
    for breaks in (r"(?<=[,;]) | (?=&&|\|\||\? |: )", r" (?=[-+] )", " "):
        places = [m.end() for m in re.finditer(breaks, line) if least < m.end() <= WIDTH]
        if places:
            return places[-1]
    return 0
