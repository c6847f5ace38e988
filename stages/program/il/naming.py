"""Hints of kinds: what a name, an argument or a result is said to be, it is.

Paper    E Sec. 5.1
"""

from __future__ import annotations

import ast
from typing import Any

from lairmake.stages.program.il.nodes import SCALARS
from lairmake.stages.program.il.value import Value
from lairmake.stages.program.source.names import HINTS, SCALAR
from lairmake.stages.program.values.forms import GLOBAL_SCALAR, ProgramError

NAMING, CHECKING, RETURNING = "__name_value__", "__check_argument__", "__check_result__"
"""What functions of this module are called in a program that runs; no names of a user."""


class Naming(ast.NodeTransformer):
    """Lets what has a hint of a kind be checked where the hint stands.

    `x: LocalArray = (...).named("x")` is a call of `name_value`, an argument is checked when its
    function begins, and a result where it is returned.
    """

    def __init__(self) -> None:
        self.results: list[tuple[str, str]] = []

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        """What a value is called is said with the kind that its hint says."""
        call = node.value
        is_named = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "named"
        hint = find_kinds(node.annotation) if is_named else ""
        if hint and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            node.value = _call(NAMING, call, call.func.value, hint, call.args, call.keywords)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Its arguments are looked at first, behind its text."""
        self.results.append((node.name, find_kinds(node.returns)))
        self.generic_visit(node)
        self.results.pop()
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        checks = [
            ast.copy_location(ast.Expr(_call(CHECKING, each, ast.Name(each.arg, ast.Load()), kinds,
                                             [ast.Constant(each.arg)])), each)
            for each in given if (kinds := find_kinds(each.annotation))
        ]
        first = node.body[0]
        at = int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))
        node.body[at:at] = checks
        for each in checks:
            ast.fix_missing_locations(each)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        """What a lambda gives is no result of the function around it."""
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """What is returned is what the hint of the function says."""
        name, kinds = self.results[-1] if self.results else ("", "")
        if kinds and node.value is not None:
            node.value = ast.fix_missing_locations(
                _call(RETURNING, node.value, node.value, kinds, [ast.Constant(name)]))
        return node


def _call(
    name: str, at: ast.expr | ast.arg, value: ast.expr, kinds: str, more: list[ast.expr],
    keywords: list[ast.keyword] | None = None,
) -> ast.Call:
    """Return a call of a function of this module, at the place of a part of a program."""
    function = ast.copy_location(ast.Name(name, ast.Load()), at)
    said = ast.copy_location(ast.Constant(kinds), at)
    return ast.copy_location(ast.Call(function, [value, said, *more], keywords or []), at)


def find_kinds(annotation: ast.expr | None) -> str:
    """Return the kinds that an annotation names, in quotes or not: `LocalArray | LocalScalar`."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
    if not isinstance(annotation, ast.Name | ast.Attribute | ast.BinOp):
        return ""
    names = (getattr(each, "attr", "") or getattr(each, "id", "") for each in ast.walk(annotation))
    return " | ".join(name for name in names if name in HINTS)


def _fits(value: Value, kinds: str) -> bool:
    """Whether a value is of one of the kinds that a hint says."""
    return any(value.form.kind in (SCALARS if each == SCALAR else (each,))
               for each in kinds.split(" | "))


def name_value(value: Any, kinds: str, name: str, output: bool = False) -> Value:
    """Return a value as an object of that name. Raises ProgramError where its hint is wrong."""
    if not isinstance(value, Value):
        kind = GLOBAL_SCALAR if kinds == SCALAR else kinds
        raise ProgramError(f"{name} is {_article(value)} of the host, and no {kinds}",
                           f'`{name} = {kind}("{name}", ...)` makes one')
    if not _fits(value, kinds):
        found = value.form.kind
        raise ProgramError(f"{name} is a {found}, and its hint says {kinds}",
                           f"`{name}: {found} = ...`")
    return value.named(name, output)


def check_argument(value: Any, kinds: str, name: str) -> None:
    """Raise ProgramError for an object that is of another kind than the hint of an argument."""
    if isinstance(value, Value) and not _fits(value, kinds):
        found = value.form.kind
        raise ProgramError(f"{name} is given a {found}, and its hint says {kinds}",
                           f"`{name}: {found}`, or pass a {kinds}")


def check_result(value: Any, kinds: str, name: str) -> Any:
    """Return what a function returns. Raises ProgramError for an object of another kind."""
    if isinstance(value, Value) and not _fits(value, kinds):
        found = value.form.kind
        raise ProgramError(f"{name} returns a {found}, and its hint says {kinds}",
                           f"`def {name}(...) -> {found}:`")
    return value


def _article(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


GIVEN = {NAMING: name_value, CHECKING: check_argument, RETURNING: check_result}
"""The functions of this module, as a program that runs finds them."""
