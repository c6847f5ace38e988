"""Translation of a source to the intermediate language."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.nesting import MOST_NESTED, too_deep
from lairmake.stages.program.source.checks import check_program
from lairmake.stages.program.source.conditions import ConditionOperands, negate, read_condition
from lairmake.stages.program.source.contexts import find_graphs
from lairmake.stages.program.source.names import (
    IGNORED,
    IL,
    MEMBER,
    OBJECTS,
    OF_IL,
    ON_HOST,
    SourceProgram,
    find_meaning,
    read_hint,
)
from lairmake.stages.program.source.scopes import is_context, read_program
from lairmake.stages.program.source.tree import (
    SourcePlaces,
    fill_places,
    give_room,
    parse_source,
    walk_all,
)
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, LOCAL_ARRAY

# --- Statements as contexts and nodes -------------------------------------------------------------

TRUE = "True"


class Conversion(ConditionOperands):
    """Translate statements, and the expressions in them.

    The tree must be one in which `checks` found nothing.
    """

    def __init__(self, program: SourceProgram) -> None:
        super().__init__(program)
        self.loops: list[str] = []
        """The names of the loops around a statement; "" for those that Python unrolls."""
        self.contexts: set[str] = set()
        """The contexts that the translation uses."""

    def convert_body(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return translated statements: at least one, `pass` where nothing is left."""
        found: list[ast.stmt] = []
        for node in body:
            converted = self.visit(node)
            found += converted if isinstance(converted, list) else [converted]
        return found or [ast.copy_location(ast.Pass(), body[0])]

    def convert_scope(self, node: ast.FunctionDef | ast.ClassDef) -> ast.stmt:
        """Translate a function or class, within its own scope."""
        outer, self.scope = self.scope, self.program.scopes[node]
        loops, self.loops = self.loops, []
        node.body = self.convert_body(node.body)
        self.scope, self.loops = outer, loops
        return node

    visit_FunctionDef = visit_ClassDef = convert_scope  # noqa: N815

    def visit_Import(self, node: ast.Import) -> ast.stmt:  # noqa: N802
        """Replace our modules by those of the intermediate language."""
        for alias in node.names:
            alias.name = IL.get(alias.name, alias.name)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:  # noqa: N802
        """Replace our modules by those of the intermediate language."""
        if node.module == "lairmake":
            node.module = "lairmake.stages.program.il"
        node.module = IL.get(node.module or "", node.module)
        return node

    def visit_With(self, node: ast.With) -> ast.stmt | list[ast.stmt]:  # noqa: N802
        """Remove a context that the compiler ignores, and leave one of the host as it is."""
        if is_context(self.program, self.scope, node, IGNORED):
            return []
        if is_context(self.program, self.scope, node, ON_HOST):
            return node
        node.items = [self.visit(each) for each in node.items]
        node.body = self.convert_body(node.body)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:  # noqa: N802
        """Turn a value that is assigned to part of an object into a slice."""
        is_stored = any(
            isinstance(target, ast.Subscript) and find_meaning(
                self.program, self.scope, target.value).is_object for target in node.targets)
        node.value = self.convert_operand(node.value) if is_stored else self.visit(node.value)
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:  # noqa: N802
        """Translate `x[...] += y` as `x[...] = x[...] + y`."""
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
        """Give a computed value with a hint the name of its object: `(a + b).named("c")`."""
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
        """Return whether an expression is the constructor of an object."""
        if not isinstance(node, ast.Call):
            return False
        called = find_meaning(self.program, self.scope, node.func)
        return called.what == MEMBER and called.detail.startswith(OBJECTS)

    def _is_outermost(self) -> bool:
        return self.scope is self.program.module and not self.loops

    def visit_For(self, node: ast.For) -> ast.stmt:  # noqa: N802
        """Turn a loop of the graph into a context; Python unrolls other loops."""
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
        """Turn a loop of the graph into a context, with a `break` for a condition to compute."""
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
        """Turn a branch of the graph into a context, or into a call that leaves a loop."""
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
        """Return an argument of a condition, translated."""
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
        """Translate a `break` of a loop of the graph to a call of the loop."""
        return _leave(node, self.loops[-1], "break", TRUE, []) if self.loops[-1] else node

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:  # noqa: N802
        """Translate a `continue` of a loop of the graph to a call of the loop."""
        return _leave(node, self.loops[-1], "continue", TRUE, []) if self.loops[-1] else node


def _word(node: ast.stmt) -> str:
    return "break" if isinstance(node, ast.Break) else "continue"


def _copy(node: ast.Subscript) -> ast.Subscript:
    """Return a copy of a target that reads its elements."""
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

# --- Long assignments on several lines ------------------------------------------------------------

LONGEST = 100
"""Longest line, in characters, that is not broken."""

SYMBOLS: dict[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("|", 0), ast.BitXor: ("^", 1), ast.BitAnd: ("&", 2), ast.LShift: ("<<", 3),
    ast.RShift: (">>", 3), ast.Add: ("+", 4), ast.Sub: ("-", 4), ast.Mult: ("*", 5),
    ast.Div: ("/", 5),
}
"""Operators with their spellings and their precedences: the higher, the tighter."""

USUAL = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Attribute, ast.Subscript,
    ast.Slice, ast.Name, ast.Constant, ast.Tuple, ast.List,
)

Line: TypeAlias = bytes
"""The line that holds an expression; parts on one line already are copied from it."""


def wrap_assignments(text: str) -> str:
    """Return an equal text of Python, with long assignments broken at their operators."""
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
    """Return whether a node needs no brackets of its own; other statements are left as they are."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name | ast.Attribute)
    return node.arg is not None if isinstance(node, ast.keyword) else isinstance(node, USUAL)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements, also those inside of others."""
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
    """Return whether a value names an operation: `(a + b).named("c")`."""
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
    """Return the precedence of an expression: a negative number where it needs brackets."""
    if isinstance(node, ast.BinOp):
        return SYMBOLS.get(type(node.op), ("", -1))[1]
    loose = (ast.Compare, ast.IfExp, ast.BoolOp, ast.Lambda, ast.NamedExpr)
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return -1 if is_not or isinstance(node, loose) else len(SYMBOLS)


def _bracketed(line: Line, node: ast.Call) -> list[str]:
    """Return the lines of a call whose arguments, or object, are too long for one line."""
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

# --- Translation of a whole source ----------------------------------------------------------------
#
# Paper    E Sec. 5.3

HEADER = "# What the source becomes; its run gives the graph. Written by translate.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """The intermediate language of a program: its tree, with places of the source, and its text."""

    tree: ast.Module
    text: str


def translate_source(source: Source) -> Translation:
    """Return the translation of a source. Raises UserError and UserErrors."""
    tree = convert_source(source)
    with give_room():
        plain = HEADER + ast.unparse(tree) + "\n"
        text = plain if too_deep(plain) is not None else wrap_assignments(plain)
        if too_deep(text) is not None:
            said = (f"{source.path}: what it becomes has more than {MOST_NESTED} brackets in each "
                    "other")
            raise UserError(said, None, "write it flatter: long sums in parts")
        return Translation(tree=tree, text=text)


def convert_source(source: Source, is_right: bool = False) -> ast.Module:
    """Return the tree of the translation of a source, with places of the source.

    With `is_right` the checks are left out, as the source was translated before. Raises UserError
    and UserErrors.
    """
    places = SourcePlaces(source)
    with give_room():
        tree = parse_source(places)
        program = read_program(tree)
        find_graphs(program, tree)
        if not is_right:
            check_program(places, program, tree)
        places.raise_errors()
        conversion = Conversion(program)
        tree.body = conversion.convert_body(tree.body) if tree.body else []
        _import_contexts(tree, conversion.contexts)
        fill_places(tree)
        return tree


def _import_contexts(tree: ast.Module, used: Container[str]) -> None:
    """Import the contexts that are used, after the docstring and imports of `__future__`."""
    names = [ast.alias(name) for name in OF_IL if name in used]
    if not names:
        return
    at = 0
    while at < len(tree.body) and _comes_first(tree.body[at], at):
        at += 1
    made = ast.ImportFrom(IL[OBJECTS], names, 0)
    place = tree.body[min(at, len(tree.body) - 1)]
    tree.body.insert(at, ast.copy_location(made, place))


def _comes_first(node: ast.stmt, at: int) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    return at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
