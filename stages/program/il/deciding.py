"""Conditions of loops and branches: logic texts over global scalars.

    '{0} > 100.0 and not {1}', [myGs, done]

Paper    E Sec. 5.3: a text and its arguments
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from lairmake.stages.program.il.nodes import copy_part, round_to
from lairmake.stages.program.il.recording import read_part
from lairmake.stages.program.il.records import TEMPORARY, Cell, Condition, Part, Source
from lairmake.stages.program.il.value import read_source
from lairmake.stages.program.values.forms import ProgramError, check_condition, check_number

PLACE = re.compile(r"\{(\d+)\}")
ALWAYS = Condition(text="True")


def read_arguments(given: Sequence[Any]) -> list[Source]:
    """Return the global scalars and numbers of a condition. Raises ProgramError."""
    sources = [read_source(each) for each in given]
    for each in sources:
        if isinstance(each, Part):
            check_condition(each.form)
    return sources


def is_plain(source: Source) -> bool:
    """Whether an argument is a number or a cell of its own, not an element of a GlobalArray."""
    return not isinstance(source, Part) or not source.region


def is_computed(source: Source) -> bool:
    """Whether an argument is computed once, before what it is an argument of."""
    return isinstance(source, Part) and source.cell.role == TEMPORARY


def make_condition(text: str, sources: Sequence[Source]) -> Condition:
    """Return a condition whose arguments are read now. Raises ProgramError.

    Elements of arrays are copied; numbers come into the text, as those of the type beside them.
    """
    cells = [_settle(each) if isinstance(each, Part) else each for each in sources]
    tree = _parse(text, len(sources))
    writer = _Writer(cells)
    return Condition(text=writer.write(tree), src=tuple(writer.found))


def _settle(part: Part) -> Cell:
    part = part if is_plain(part) else copy_part(part)
    return read_part(part).cell


def _parse(text: str, count: int) -> ast.expr:
    try:
        tree = ast.parse(PLACE.sub(r"_\1", text), mode="eval").body
    except SyntaxError:
        raise ProgramError(f"a condition that is none: {text!r}") from None
    places = {int(found) for found in PLACE.findall(text)}
    if any(place >= count for place in places):
        raise ProgramError(f"the condition {text!r} has {count} arguments")
    return tree


class _Writer:
    """Writes a condition, and finds the cells in the order of their places."""

    def __init__(self, given: Sequence[Cell | int | float]) -> None:
        self._given = given
        self.found: list[Cell] = []

    def write(self, node: ast.expr) -> str:
        """Return the text of a condition, without brackets around it."""
        if isinstance(node, ast.BoolOp):
            word = " and " if isinstance(node.op, ast.And) else " or "
            return word.join(self._within(each) for each in node.values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"not {self._within(node.operand)}"
        if isinstance(node, ast.Compare):
            return self._compare(node)
        value = self._value(node)
        return self._place(value) if isinstance(value, Cell) else str(bool(value))

    def _within(self, node: ast.expr) -> str:
        text = self.write(node)
        return f"({text})" if isinstance(node, ast.BoolOp) else text

    def _compare(self, node: ast.Compare) -> str:
        values = [self._value(each) for each in (node.left, *node.comparators)]
        types = [_find_type(a, b) for a, b in pairwise(values)]
        texts = [self._place(each) if isinstance(each, Cell) else _spell(each, types[max(n - 1, 0)])
                 for n, each in enumerate(values)]
        signs = [SIGNS[type(op)] for op in node.ops]
        rest = "".join(f" {sign} {text}" for sign, text in zip(signs, texts[1:], strict=True))
        return texts[0] + rest

    def _value(self, node: ast.expr) -> Cell | int | float:
        if isinstance(node, ast.Name) and node.id.startswith("_"):
            return self._given[int(node.id[1:])]
        try:
            found = ast.literal_eval(node)
        except ValueError:
            raise ProgramError(f"{ast.unparse(node)!r} in a condition: it holds comparisons, "
                               "and, or, not") from None
        return found  # type: ignore[no-any-return]

    def _place(self, cell: Cell) -> str:
        if cell not in self.found:
            self.found.append(cell)
        return f"{{{self.found.index(cell)}}}"


SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}


def _find_type(a: Cell | int | float, b: Cell | int | float) -> str | None:
    """Return the type in which two are compared, None for two numbers. Raises ProgramError."""
    if isinstance(a, Cell) and isinstance(b, Cell) and a.form.type != b.form.type:
        said = f"{a.form.type} compared with {b.form.type}: types are not mixed"
        raise ProgramError(said, f'`x.astype("{a.form.type}")`')
    for cell, other in ((a, b), (b, a)):
        if isinstance(cell, Cell):
            if not isinstance(other, Cell):
                check_number(other, cell.form.type)
            return cell.form.type
    return None


def _spell(number: int | float, type_: str | None) -> str:
    text = repr(number if type_ is None else round_to(number, type_))
    if text == "nan":
        raise ProgramError("NaN in a condition: nothing is equal to it, or larger",
                           "`x != x` where x is NaN")
    return {"inf": "1e999", "-inf": "-1e999"}.get(text, text)
