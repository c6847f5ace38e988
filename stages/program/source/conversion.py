"""Statements of the intermediate language: loops and branches become contexts."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from lairmake.stages.program.source.conditions import negate, read_condition
from lairmake.stages.program.source.kinds import find_meaning, read_hint
from lairmake.stages.program.source.meanings import MEMBER, Program
from lairmake.stages.program.source.operands import Operands
from lairmake.stages.program.source.reading import is_context
from lairmake.stages.program.source.words import IGNORED, IL, OBJECTS, ON_HOST
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, LOCAL_ARRAY

TRUE = "True"


class Conversion(Operands):
    """Translate statements, and the expressions in them.

    The tree must be one in which `checks` found nothing.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.loops: list[str] = []
        """The names of the loops around; "" for those that Python unrolls."""
        self.contexts: set[str] = set()
        """The contexts that were written."""

    def convert_body(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements that are never none."""
        found: list[ast.stmt] = []
        for node in body:
            converted = self.visit(node)
            found += converted if isinstance(converted, list) else [converted]
        return found or [ast.copy_location(ast.Pass(), body[0])]

    def convert_scope(self, node: ast.FunctionDef | ast.ClassDef) -> ast.stmt:
        """Translate a function or class, whose names are its own."""
        outer, self.scope = self.scope, self.program.scopes[node]
        loops, self.loops = self.loops, []
        node.body = self.convert_body(node.body)
        self.scope, self.loops = outer, loops
        return node

    visit_FunctionDef = visit_ClassDef = convert_scope  # noqa: N815

    def visit_Import(self, node: ast.Import) -> ast.stmt:  # noqa: N802
        """Our modules are imported from elsewhere."""
        for alias in node.names:
            alias.name = IL.get(alias.name, alias.name)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:  # noqa: N802
        """Our modules are imported from elsewhere."""
        if node.module == "lairmake":
            node.module = "lairmake.stages.program.il"
        node.module = IL.get(node.module or "", node.module)
        return node

    def visit_With(self, node: ast.With) -> ast.stmt | list[ast.stmt]:  # noqa: N802
        """What the compiler ignores goes, what runs on the host stays as it is."""
        if is_context(self.program, self.scope, node, IGNORED):
            return []
        if is_context(self.program, self.scope, node, ON_HOST):
            return node
        node.items = [self.visit(each) for each in node.items]
        node.body = self.convert_body(node.body)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:  # noqa: N802
        """What objects take is a slice also where it is all of an object."""
        is_stored = any(
            isinstance(target, ast.Subscript) and find_meaning(
                self.program, self.scope, target.value).is_object for target in node.targets)
        node.value = self.convert_operand(node.value) if is_stored else self.visit(node.value)
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:  # noqa: N802
        """`x[...] += y` is `x[...] = x[...] + y`."""
        target = node.target
        if not isinstance(target, ast.Subscript) or not find_meaning(
                self.program, self.scope, target.value).is_object:
            return self.generic_visit(node)  # type: ignore[return-value]
        read = _copy(target)
        value = ast.BinOp(self.visit(read), node.op, self.convert_operand(node.value))
        ast.copy_location(value, node)
        made = ast.Assign([self.visit(target)], value)
        return ast.copy_location(made, node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:  # noqa: N802
        """A value with a hint is an object of that name."""
        hinted = read_hint(self.program, self.scope, node.annotation)
        if node.value is None or hinted is None or not hinted.is_object or self._makes(node.value):
            return self.generic_visit(node)  # type: ignore[return-value]
        assert not isinstance(node.target, ast.Subscript)
        name = node.target.attr if isinstance(node.target, ast.Attribute) else node.target.id
        is_output = self._is_outermost() and hinted.detail not in (GLOBAL_ARRAY, LOCAL_ARRAY)
        named = ast.Attribute(self.convert_operand(node.value), "named", ast.Load())
        keywords = [ast.keyword("output", ast.Constant(True))] if is_output else []
        call = ast.Call(ast.copy_location(named, node.value), [ast.Constant(name)], keywords)
        node.value = ast.copy_location(call, node.value)
        return node

    def _makes(self, node: ast.expr) -> bool:
        """Whether an expression is the constructor of an object."""
        if not isinstance(node, ast.Call):
            return False
        called = find_meaning(self.program, self.scope, node.func)
        return called.what == MEMBER and called.detail.startswith(OBJECTS)

    def _is_outermost(self) -> bool:
        return self.scope is self.program.module and not self.loops

    def visit_For(self, node: ast.For) -> ast.stmt:  # noqa: N802
        """Loops over what the graph has become contexts; others are unrolled when it is made."""
        node.iter = self.visit(node.iter)
        name = self.program.loops.get(node, "")
        if not name:
            node.body = self._convert_loop(node.body, "")
            return node
        assert isinstance(node.target, ast.Name)
        before, self.values = self.values, {**self.values, node.target.id: name}
        body = self._convert_loop(node.body, name)
        self.values = before
        return self._enter(node, "for_loop", name, [node.iter], body)

    def visit_While(self, node: ast.While) -> ast.stmt:  # noqa: N802
        """A condition that must be computed leaves the loop where it begins."""
        name = self.program.loops.get(node, "")
        if not name:
            node.test = self.visit(node.test)
            node.body = self._convert_loop(node.body, "")
            return node
        found = read_condition(self.program, self.scope, node.test, self.convert_argument)
        body = self._convert_loop(node.body, name)
        text, arguments = found.text, found.arguments
        if not found.is_simple:
            leave = _leave(node.test, name, "break", negate(text), arguments)
            body, text, arguments = [leave, *body], TRUE, []
        return self._enter(node, "while_loop", name, _list(node.test, text, arguments), body)

    def visit_If(self, node: ast.If) -> ast.stmt:  # noqa: N802
        """A branch of the graph; one that only leaves a loop is one statement."""
        name = self.program.loops.get(node, "")
        if not name:
            node.test = self.visit(node.test)
            node.body = self.convert_body(node.body)
            node.orelse = self.convert_body(node.orelse) if node.orelse else []
            return node
        found = read_condition(self.program, self.scope, node.test, self.convert_argument)
        only = node.body[0] if len(node.body) == 1 and not node.orelse else None
        if isinstance(only, ast.Break | ast.Continue):
            return _leave(node, self.loops[-1], _word(only), found.text, found.arguments)
        return self._branch(node, name, _list(node.test, found.text, found.arguments))

    def _branch(self, node: ast.If, name: str, arguments: list[ast.expr]) -> ast.stmt:
        before, self.loops = self.loops, self.loops or [""]
        body = self.convert_body(node.body)
        otherwise = self.convert_body(node.orelse) if node.orelse else []
        self.loops = before
        made = self._enter(node, "if_", name, arguments, body)
        if not otherwise:
            return made
        called = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "else_", ast.Load()), [], [])
        ast.copy_location(called, node.orelse[0])
        other = ast.With([ast.withitem(called)], otherwise)
        return [made, ast.copy_location(other, node.orelse[0])]  # type: ignore[return-value]

    def convert_argument(self, node: ast.expr) -> ast.expr:
        """Return an argument of a condition: an object by its name, or what is computed."""
        return self.visit(node)  # type: ignore[no-any-return]

    def _convert_loop(self, body: list[ast.stmt], name: str) -> list[ast.stmt]:
        self.loops.append(name)
        found = self.convert_body(body)
        self.loops.pop()
        return found

    def _enter(
        self, node: ast.For | ast.While | ast.If, context: str, name: str,
        arguments: list[ast.expr], body: list[ast.stmt],
    ) -> ast.stmt:
        """Return `with context('name', arguments) as name: body`."""
        self.contexts.add(context)
        called = ast.Call(ast.Name(context, ast.Load()), [ast.Constant(name), *arguments], [])
        head = node.iter if isinstance(node, ast.For) else node.test
        item = ast.withitem(ast.copy_location(called, head), ast.Name(name, ast.Store()))
        return ast.copy_location(ast.With([item], body), node)

    def visit_Break(self, node: ast.Break) -> ast.stmt:  # noqa: N802
        """Loops of the graph are left by a node of theirs."""
        return _leave(node, self.loops[-1], "break", TRUE, []) if self.loops[-1] else node

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:  # noqa: N802
        """Loops of the graph are continued by a node of theirs."""
        return _leave(node, self.loops[-1], "continue", TRUE, []) if self.loops[-1] else node


def _word(node: ast.stmt) -> str:
    return "break" if isinstance(node, ast.Break) else "continue"


def _copy(node: ast.Subscript) -> ast.Subscript:
    """Return a target as what is read there."""
    found = _clone(node)
    assert isinstance(found, ast.Subscript)
    found.ctx = ast.Load()
    return found


def _clone(value: Any) -> Any:
    if isinstance(value, ast.AST):
        made = type(value)(**{name: _clone(each) for name, each in ast.iter_fields(value)})
        return ast.copy_location(made, value)
    return [_clone(each) for each in value] if isinstance(value, list) else value


def _list(node: ast.expr, text: str, arguments: list[ast.expr]) -> list[ast.expr]:
    found: list[ast.expr] = [ast.Constant(text), ast.List(arguments, ast.Load())]
    return [ast.copy_location(each, node) for each in found]


def _leave(
    node: ast.AST, loop: str, word: str, text: str, arguments: list[ast.expr]
) -> ast.stmt:
    """Return `loop.conditional_break(text, arguments)`."""
    method = ast.Attribute(ast.Name(loop, ast.Load()), f"conditional_{word}", ast.Load())
    given = [ast.Constant(text), ast.List(arguments, ast.Load())]
    call = ast.Call(method, given, [])
    return ast.copy_location(ast.Expr(ast.copy_location(call, node)), node)
