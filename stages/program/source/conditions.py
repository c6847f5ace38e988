"""Conditions and operands in the intermediate language."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lairmake.stages.program.source.names import (
    HOST,
    MEMBER,
    NUMPY,
    SourceProgram,
    SourceScope,
    find_meaning,
)
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    LOCAL_SCALAR,
    ON_PES,
    UNIFORM,
)

# --- Conditions as logic texts --------------------------------------------------------------------

SPELT: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}
_OR, _AND, _NOT, _ATOM = range(4)


@dataclass(slots=True)
class SourceCondition:
    """A logic text, and the arguments that its placeholders stand for."""

    arguments: list[ast.expr] = field(default_factory=list)
    text: str = ""
    numbers: dict[str, int] = field(default_factory=dict)

    @property
    def is_simple(self) -> bool:
        """Return whether no argument has to be computed."""
        return all(map(_is_place, self.arguments))


def read_condition(
    program: SourceProgram,
    scope: SourceScope,
    node: ast.expr,
    convert: Callable[[ast.expr], ast.expr],
) -> SourceCondition:
    """Return a condition as a logic text; `convert` translates its arguments."""
    found = SourceCondition()

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
    """Return the logic text of the opposite condition."""
    return f"not ({text})"


def _wrap(text: str, level: int, around: int) -> str:
    return f"({text})" if level < around else text


def _truth(node: ast.expr) -> ast.expr:
    called = ast.copy_location(ast.Name("bool", ast.Load()), node)
    return ast.copy_location(ast.Call(called, [node], []), node)


def _is_place(node: ast.expr) -> bool:
    """Return whether an argument needs no operation: an object, a slice of one, or a number."""
    if isinstance(node, ast.Subscript | ast.Attribute):
        return _is_place(node.value)
    if isinstance(node, ast.Call):
        called = node.func
        is_filter = isinstance(called, ast.Attribute) and called.attr == "apply_length_filter"
        return is_filter and _is_place(called.value) if isinstance(called, ast.Attribute) else (
            getattr(called, "id", "") == "bool")
    return isinstance(node, ast.Name | ast.Constant)

# --- Operands as slices and filters ---------------------------------------------------------------

Made = TypeVar("Made", bound=ast.expr)
FILTER = "apply_length_filter"


class ConditionOperands(ast.NodeTransformer):
    """Translate expressions.

    Operands become slices, even where an operand is a whole object. Slices of PEs become filters. A
    loop variable becomes the first element of its loop.
    """

    def __init__(self, program: SourceProgram) -> None:
        self.program = program
        self.scope: SourceScope = program.module
        self.values: dict[str, str] = {}
        """The names of loops by their variables."""

    def convert_operand(self, node: ast.expr) -> ast.expr:
        """Return an expression as an operand: a slice, where it is an object."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return self.visit(node)  # type: ignore[no-any-return]
        found = find_meaning(self.program, self.scope, node)
        visited: ast.expr = self.visit(node)
        if not found.is_object or isinstance(visited, ast.Subscript):
            return visited
        if found.detail in ON_PES:
            return _filter(node, visited, [_every(node), _every(node)], [])
        if found.detail in (GLOBAL_SCALAR, GLOBAL_ARRAY, UNIFORM):
            return _subscript(node, visited, _dots(node))
        return visited

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a loop variable by the first element of its loop: `fl_0[0]`."""
        if node.id not in self.values or not isinstance(node.ctx, ast.Load):
            return node
        loop = ast.copy_location(ast.Name(self.values[node.id], ast.Load()), node)
        return _subscript(node, loop, ast.copy_location(ast.Constant(0), node))

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Translate the body of a lambda, whose arguments hide variables of loops around it."""
        node.args = self.visit(node.args)
        scope, values = self.scope, self.values
        self.scope = self.program.scopes[node]
        self.values = {n: v for n, v in values.items() if n not in self.scope.bindings}
        node.body = self.visit(node.body)
        self.scope, self.values = scope, values
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Turn both operands into slices."""
        node.left = self.convert_operand(node.left)
        node.right = self.convert_operand(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Turn the operand into a slice."""
        node.operand = self.convert_operand(node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Turn the operands into slices, except those of `is` and `in`."""
        if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
            return self.generic_visit(node)  # type: ignore[return-value]
        node.left = self.convert_operand(node.left)
        node.comparators = [self.convert_operand(each) for each in node.comparators]
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Turn the arguments of our functions into slices; functions of the program get objects."""
        called = find_meaning(self.program, self.scope, node.func)
        is_abs = called.what == HOST and isinstance(node.func, ast.Name) and node.func.id == "abs"
        if not is_abs and (called.what != MEMBER or not called.detail.startswith(NUMPY)):
            return self.generic_visit(node)  # type: ignore[return-value]
        node.func = self.visit(node.func)
        node.args = [self.convert_operand(each) for each in node.args]
        for given in node.keywords:
            given.value = self.convert_operand(given.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Turn slices of PEs into a filter, and leave those in memory as they are."""
        found = find_meaning(self.program, self.scope, node.value)
        is_whole = isinstance(node.value, ast.Name | ast.Attribute)
        self.generic_visit(node)
        if not (found.is_object and is_whole and found.detail in ON_PES):
            return node
        keys = _split(node, found.detail)
        if keys is None:
            return node
        return _filter(node, node.value, *keys)


def _split(
    node: ast.Subscript, kind: str
) -> tuple[list[ast.expr], list[ast.expr]] | None:
    """Return the subscripts of PEs and those in memory; None where the text does not tell them."""
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(isinstance(key, ast.Starred) for key in keys):
        return None
    if len(keys) == 1 and not _is_plain(keys[0]):
        return None
    dots = [at for at, key in enumerate(keys) if _is_dots(key)]
    if len(dots) > 1:
        return None
    if not dots or dots[0] >= 2:
        return [*keys[:2], *(_every(node) for _ in range(2 - len(keys)))], keys[2:]
    before, after = keys[: dots[0]], keys[dots[0] + 1 :]
    if kind == LOCAL_SCALAR:
        room = 2 - len(before) - len(after)
        whole = [_every(node) for _ in range(room)]
        return ([*before, *whole, *after], []) if room >= 0 else None
    missing = [_every(node) for _ in range(2 - len(before))]
    return ([*before, *missing], [_dots(node), *after]) if len(after) < 2 else None


def _is_plain(key: ast.expr) -> bool:
    return isinstance(key, ast.Slice) or _is_dots(key)


def _is_dots(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and key.value is ...


def _filter(
    node: ast.expr, base: ast.expr, on_pes: Sequence[ast.expr], memory: Sequence[ast.expr]
) -> ast.expr:
    """Return `base.apply_length_filter(slice, slice)[memory]` in the place of a node."""
    method = ast.Attribute(base, FILTER, ast.Load())
    chosen = ast.Call(method, [_spell(key) for key in on_pes], [])
    keys = list(memory) or [_dots(node)]
    key = keys[0] if len(keys) == 1 else ast.Tuple(keys, ast.Load())
    context = getattr(node, "ctx", ast.Load())
    return _subscript(node, _place(node, chosen), key, context)


def _spell(key: ast.expr) -> ast.expr:
    """Return a slice as a call: `slice(1, -1)`."""
    if not isinstance(key, ast.Slice):
        return key
    none = ast.Constant(None)
    if key.step is not None:
        given = [key.lower or none, key.upper or none, key.step]
    elif key.lower is None and key.upper is None:
        given = [none]
    else:
        given = [key.lower or none, key.upper or none]
    return _place(key, ast.Call(ast.Name("slice", ast.Load()), given, []))


def _every(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Slice(), node)


def _dots(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(...), node)


def _subscript(
    node: ast.expr, base: ast.expr, key: ast.expr, context: Any = None
) -> ast.Subscript:
    return _place(node, ast.Subscript(_read(base), key, context or ast.Load()))


def _read(base: ast.expr) -> ast.expr:
    if isinstance(base, ast.Name | ast.Attribute | ast.Subscript):
        base.ctx = ast.Load()
    return base


def _place(node: ast.AST, made: Made) -> Made:
    """Return a new node at the place of an old one; `fill_places` gives it to the nodes below."""
    return ast.copy_location(made, node)
