"""What an expression is: an object or something computed from objects, of the host, or unknown."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence

from lairmake.stages.program.source.meanings import (
    CLASS,
    FUNCTION,
    HOST,
    INSTANCE,
    MEMBER,
    MODULE,
    NOT_KNOWN,
    OBJECT,
    THE_HOST,
    UNKNOWN,
    Meaning,
    Program,
    Scope,
    find_name,
)
from lairmake.stages.program.source.walking import read_children
from lairmake.stages.program.source.words import (
    ABOUT,
    ELEMENTWISE,
    HINTS,
    NUMPY,
    OBJECTS,
    OF_THE_HOST,
    PROPERTIES,
    SCALAR,
)
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    KINDS,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    REDUCTIONS,
    UNIFORM,
)

WRAPPERS = ("Optional", "Final", "ClassVar")
"""Hints around hints that change nothing here."""
PASSING = ("iter", "zip", "map", "filter", "enumerate", "reversed", "open")
ITERATOR = "iterator"
"""The detail of a value of the host that one goes through once."""


def find_meaning(program: Program, scope: Scope, node: ast.expr | None) -> Meaning:
    """Return what an expression is."""
    if isinstance(node, ast.Name):
        return find_name(scope, node.id)
    if isinstance(node, ast.Attribute):
        return _of_attribute(program, find_meaning(program, scope, node.value), node.attr)
    if isinstance(node, ast.Call):
        return _of_call(program, scope, node)
    if isinstance(node, ast.Subscript):
        return _of_subscript(program, scope, node)
    if isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
        return THE_HOST
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp):
        return combine(find_meaning(program, scope, each) for each in read_operands(node))
    if isinstance(node, ast.NamedExpr | ast.Starred | ast.Await):
        return find_meaning(program, scope, node.value)
    return _of_others(program, scope, node)


def read_operands(node: ast.expr) -> Sequence[ast.expr]:
    """Return what an operator is applied to."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    return [node.test, node.body, node.orelse] if isinstance(node, ast.IfExp) else []


def combine(meanings: Iterable[Meaning]) -> Meaning:
    """Return what is computed from several values, element by element."""
    found = list(meanings)
    kinds = [each.detail for each in found if each.is_object]
    if kinds:
        wide = [kind for kind in kinds if kind in (GLOBAL_ARRAY, LOCAL_SCALAR, LOCAL_ARRAY)]
        if wide:
            return Meaning(OBJECT, max(wide, key=KINDS.index))
        if any(each.what == UNKNOWN for each in found) or "" in kinds:
            return Meaning(OBJECT)
        return Meaning(OBJECT, SCALAR if SCALAR in kinds else max(kinds, key=KINDS.index))
    return THE_HOST if all(each.what == HOST for each in found) else NOT_KNOWN


def _of_attribute(program: Program, base: Meaning, name: str) -> Meaning:
    if base.what == MODULE:
        if base.detail in (NUMPY, OBJECTS):
            return Meaning(MEMBER, f"{base.detail}.{name}")
        return THE_HOST if is_of_host(base.detail) else NOT_KNOWN
    if base.what in (INSTANCE, CLASS):
        return program.members.get(base.detail, {}).get(name, NOT_KNOWN)
    if base.is_object:
        return THE_HOST if name in PROPERTIES else NOT_KNOWN
    return THE_HOST if base.what in (HOST, MEMBER) else NOT_KNOWN


def _of_subscript(program: Program, scope: Scope, node: ast.Subscript) -> Meaning:
    base = find_meaning(program, scope, node.value)
    if base.detail == GLOBAL_ARRAY and base.is_object:
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Meaning(OBJECT, GLOBAL_ARRAY if any(map(_is_slice, keys)) else "")
    if base.is_object:
        return Meaning(OBJECT, base.detail)
    return base if base.what == HOST else NOT_KNOWN


def _is_slice(key: ast.expr) -> bool:
    return isinstance(key, ast.Slice) or (isinstance(key, ast.Constant) and key.value is ...)


def _of_call(program: Program, scope: Scope, node: ast.Call) -> Meaning:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
        base = find_meaning(program, scope, node.func.value)
        if base.is_object:
            return Meaning(OBJECT, base.detail)
    called = find_meaning(program, scope, node.func)
    arguments = [find_meaning(program, scope, each) for each in node.args]
    if called.what == MEMBER:
        return _of_member(called.detail, node, arguments)
    if called.what == FUNCTION:
        return find_returned(program, scope, called.detail)
    if called.what == CLASS:
        return Meaning(INSTANCE, called.detail)
    if called.what == HOST and isinstance(node.func, ast.Name) and node.func.id in ABOUT:
        return THE_HOST
    if called.what == HOST and isinstance(node.func, ast.Name) and node.func.id == "abs":
        return combine(arguments)
    arguments += [find_meaning(program, scope, each.value) for each in node.keywords]
    if called.what != HOST or any(each.what not in (HOST, MODULE) for each in arguments):
        return NOT_KNOWN
    passes = isinstance(node.func, ast.Name) and node.func.id in PASSING
    return Meaning(HOST, ITERATOR) if passes else THE_HOST


def _of_member(name: str, node: ast.Call, arguments: Sequence[Meaning]) -> Meaning:
    """Return what a call of one of our functions gives."""
    module, _, called = name.rpartition(".")
    if module == OBJECTS:
        return Meaning(OBJECT, called) if called in KINDS else THE_HOST
    if called in ELEMENTWISE:
        found = combine(arguments)
        return found if found.what != HOST else Meaning(OBJECT)
    if called not in REDUCTIONS:
        return THE_HOST if all(each.what == HOST for each in arguments) else NOT_KNOWN
    given = {each.arg: each.value for each in node.keywords}
    if len(node.args) > 1 or "axis" in given or None in given:
        return Meaning(OBJECT, "")
    if arguments and arguments[0].detail == GLOBAL_ARRAY:
        return Meaning(OBJECT, GLOBAL_SCALAR)
    if "controller" not in given:
        known = arguments and arguments[0].detail in (LOCAL_SCALAR, LOCAL_ARRAY)
        return Meaning(OBJECT, UNIFORM if known else SCALAR)
    value = given["controller"]
    if isinstance(value, ast.Constant):
        return Meaning(OBJECT, GLOBAL_SCALAR if value.value else UNIFORM)
    return Meaning(OBJECT, SCALAR)


def find_returned(program: Program, scope: Scope, name: str) -> Meaning:
    """Return what functions of a name say that they return."""
    found = [read_hint(program, scope, each.returns) for each in program.functions.get(name, [])]
    return found[0] or NOT_KNOWN if len(set(found)) == 1 else NOT_KNOWN


def read_hint(program: Program, scope: Scope, hint: ast.expr | None) -> Meaning | None:
    """Return what a hint says; None where it says nothing of objects.

    In quotes or not, and with `| None` or in `Optional[...]` as well.
    """
    if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
        try:
            hint = ast.parse(hint.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
        return read_hint(program, scope, hint.left) or read_hint(program, scope, hint.right)
    if isinstance(hint, ast.Subscript) and ast.unparse(hint.value).endswith(WRAPPERS):
        return read_hint(program, scope, hint.slice)
    if not isinstance(hint, ast.Name | ast.Attribute):
        return None
    found = find_meaning(program, scope, hint)
    if found.what == CLASS:
        return Meaning(INSTANCE, found.detail)
    name = found.detail.removeprefix(f"{OBJECTS}.")
    is_kind = found.what == MEMBER and name in HINTS
    return Meaning(OBJECT, name) if is_kind else None


def _of_others(program: Program, scope: Scope, node: ast.expr | None) -> Meaning:
    """Return what a display, a comprehension or a constant is: unknown if objects are in it."""
    todo: list[ast.AST] = [] if node is None else read_children(node)
    while todo:
        found = todo.pop()
        if isinstance(found, ast.Name) and find_name(scope, found.id).what != HOST:
            return NOT_KNOWN
        todo += read_children(found)
    return Meaning(HOST, ITERATOR) if isinstance(node, ast.GeneratorExp) else THE_HOST


def is_of_host(module: str | None) -> bool:
    """Whether a module is one of Python's or NumPy's own, which know nothing of objects."""
    top = (module or "").partition(".")[0]
    return top in sys.stdlib_module_names or top in OF_THE_HOST
