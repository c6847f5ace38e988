"""Break long assignments at their operators, so that a person reads them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from lairmake.stages.program.source.walking import walk_all

LONGEST = 100
"""How many characters a line has that is left as it is."""

SYMBOLS: dict[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("|", 0), ast.BitXor: ("^", 1), ast.BitAnd: ("&", 2), ast.LShift: ("<<", 3),
    ast.RShift: (">>", 3), ast.Add: ("+", 4), ast.Sub: ("-", 4), ast.Mult: ("*", 5),
    ast.Div: ("/", 5),
}
"""Operators as they are spelt, and how tightly they bind."""

USUAL = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Attribute, ast.Subscript,
    ast.Slice, ast.Name, ast.Constant, ast.Tuple, ast.List,
)

Line: TypeAlias = bytes
"""The line that holds an expression: what is on one line already is taken from there."""


def wrap_assignments(text: str) -> str:
    """Return a text of Python that means the same, with long assignments on several lines."""
    lines = text.split("\n")
    if max(map(len, lines)) <= LONGEST:
        return text
    for node in _statements(ast.parse(text)):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            line = lines[node.lineno - 1]
            is_long = node.end_lineno == node.lineno and len(line) > LONGEST
            if is_long and all(map(_is_usual, walk_all(node.value))):
                lines[node.lineno - 1] = _wrapped(line.encode(), node.value, " " * node.col_offset)
    return "\n".join(lines)


def _is_usual(node: ast.AST) -> bool:
    """Whether a node needs no brackets of its own; statements with others are left as they are."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name | ast.Attribute)
    return node.arg is not None if isinstance(node, ast.keyword) else isinstance(node, USUAL)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements, those in others, too."""
    for field in ("body", "orelse"):
        for node in getattr(tree, field, ()):
            yield node
            yield from _statements(node)


def _wrapped(line: Line, value: ast.expr, indent: str) -> str:
    """Return an assignment on several lines."""
    head = line[: value.col_offset].decode()
    if isinstance(value, ast.Call):
        inner = _bracketed(line, value)
    else:
        inner = ["(", *_indented(_spell(line, value)), ")"]
    if _is_named(value):
        head = head.removesuffix("(")
    return head + "\n".join([inner[0], *(indent + each for each in inner[1:])])


def _is_named(node: ast.expr) -> bool:
    """Return whether a value is a method of an operation: `(a + b).named("c")`."""
    method = node.func if isinstance(node, ast.Call) else None
    return isinstance(method, ast.Attribute) and isinstance(method.value, ast.BinOp)


def _flat(line: Line, node: ast.expr) -> str:
    return line[node.col_offset : node.end_col_offset].decode()


def _spell(line: Line, node: ast.expr, room: int = LONGEST - 12) -> list[str]:
    """Return the lines of an expression that stands in brackets."""
    flat = _flat(line, node)
    if len(flat) <= room:
        return [flat]
    if isinstance(node, ast.BinOp) and type(node.op) in SYMBOLS:
        symbol, level = SYMBOLS[type(node.op)]
        right = _operand(line, node.right, level + 1, room - 4)
        return [*_operand(line, node.left, level, room), f"{symbol} {right[0]}", *right[1:]]
    return _bracketed(line, node) if isinstance(node, ast.Call) else [flat]


def _operand(line: Line, node: ast.expr, level: int, room: int) -> list[str]:
    """Return the lines of an operand, in brackets where it binds less tightly than `level`."""
    if _find_level(node) >= level:
        return _spell(line, node, room)
    flat = f"({_flat(line, node)})"
    return [flat] if len(flat) <= room else ["(", *_indented(_spell(line, node, room - 4)), ")"]


def _find_level(node: ast.expr) -> int:
    """Return how tightly an expression binds: a negative number where it needs brackets."""
    if isinstance(node, ast.BinOp):
        return SYMBOLS.get(type(node.op), ("", -1))[1]
    loose = (ast.Compare, ast.IfExp, ast.BoolOp, ast.Lambda, ast.NamedExpr)
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return -1 if is_not or isinstance(node, loose) else len(SYMBOLS)


def _bracketed(line: Line, node: ast.Call) -> list[str]:
    """Return the lines of a call whose arguments, or object, are too long for one."""
    if isinstance(node.func, ast.Attribute):
        made = node.func.value
        rest = f".{node.func.attr}{line[node.func.end_col_offset : node.end_col_offset].decode()}"
        if isinstance(made, ast.BinOp):
            return ["(", *_indented(_spell(line, made)), f"){rest}"]
        if isinstance(made, ast.Call):
            *lines, last = _bracketed(line, made)
            return [*lines, last + rest]
    given = [_spell(line, each) for each in node.args]
    given += [[f"{each.arg}={_flat(line, each.value)}"] for each in node.keywords if each.arg]
    lines = [part for each in given for part in (*each[:-1], f"{each[-1]},")]
    return [f"{_flat(line, node.func)}(", *_indented(lines), ")"]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
