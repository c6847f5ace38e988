"""Conditions of loops and branches as logic texts: `{0} > 100.0 and not {1}`, and arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from lairmake.stages.program.source.kinds import find_meaning
from lairmake.stages.program.source.meanings import HOST, Program, Scope

SPELT: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}
_OR, _AND, _NOT, _ATOM = range(4)


@dataclass(slots=True)
class Condition:
    """A logic text and what its placeholders stand for."""

    arguments: list[ast.expr] = field(default_factory=list)
    text: str = ""
    numbers: dict[str, int] = field(default_factory=dict)

    @property
    def is_simple(self) -> bool:
        """Whether no argument has to be computed."""
        return all(map(_is_place, self.arguments))


def read_condition(
    program: Program, scope: Scope, node: ast.expr, convert: Callable[[ast.expr], ast.expr]
) -> Condition:
    """Return a condition; `convert` translates an argument."""
    found = Condition()

    def place(each: ast.expr) -> str:
        if isinstance(each, ast.Constant) and type(each.value) in (int, float, bool):
            return repr(each.value)
        key = ast.dump(each)
        if key not in found.numbers:
            found.numbers[key] = len(found.arguments)
            found.arguments.append(convert(each))
        return f"{{{found.numbers[key]}}}"

    def spell(each: ast.expr, around: int) -> str:
        if find_meaning(program, scope, each).what == HOST:
            return place(each if isinstance(each, ast.Constant) else _truth(each))
        if isinstance(each, ast.BoolOp):
            level, word = (_OR, " or ") if isinstance(each.op, ast.Or) else (_AND, " and ")
            return _wrap(word.join(spell(value, level) for value in each.values), level, around)
        if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not):
            return _wrap(f"not {spell(each.operand, _NOT)}", _NOT, around)
        if isinstance(each, ast.Compare):
            values = [place(value) for value in (each.left, *each.comparators)]
            pairs = zip(values, each.ops, values[1:], strict=False)
            parts = [f"{one} {SPELT.get(type(op), 'in')} {other}" for one, op, other in pairs]
            return _wrap(" and ".join(parts), _AND if len(parts) > 1 else _ATOM, around)
        return place(each)

    found.text = spell(node, _OR)
    return found


def negate(text: str) -> str:
    """Return the logic text that holds where another one does not."""
    return f"not ({text})"


def _wrap(text: str, level: int, around: int) -> str:
    return f"({text})" if level < around else text


def _truth(node: ast.expr) -> ast.expr:
    called = ast.copy_location(ast.Name("bool", ast.Load()), node)
    return ast.copy_location(ast.Call(called, [node], []), node)


def _is_place(node: ast.expr) -> bool:
    """Whether an argument is an object, a slice of one or a number: nothing to compute."""
    if isinstance(node, ast.Subscript | ast.Attribute):
        return _is_place(node.value)
    if isinstance(node, ast.Call):
        called = node.func
        is_filter = isinstance(called, ast.Attribute) and called.attr == "apply_length_filter"
        return is_filter and _is_place(called.value) if isinstance(called, ast.Attribute) else (
            getattr(called, "id", "") == "bool")
    return isinstance(node, ast.Name | ast.Constant)
