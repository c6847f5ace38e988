"""What arguments and members of classes are: what hints say, and what methods make them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lairmake.stages.program.source.kinds import find_meaning, read_hint
from lairmake.stages.program.source.meanings import (
    FUNCTION,
    INSTANCE,
    NOT_KNOWN,
    OBJECT,
    THE_HOST,
    UNKNOWN,
    Binding,
    Meaning,
    Program,
    Scope,
    note,
    read_targets,
)
from lairmake.stages.program.source.walking import walk_all
from lairmake.stages.program.source.words import SCALAR
from lairmake.stages.program.values.forms import GLOBAL_ARRAY


def read_hinted(program: Program, scope: Scope, node: ast.AnnAssign) -> Meaning:
    """Return what a name with a hint is; scalars are what their values are."""
    hinted = read_hint(program, scope, node.annotation)
    found = find_meaning(program, scope, node.value) if node.value is not None else NOT_KNOWN
    if hinted is None:
        return found if node.value is not None else THE_HOST
    is_known = found.is_object and found.detail not in ("", GLOBAL_ARRAY)
    return Meaning(OBJECT, found.detail) if hinted.detail == SCALAR and is_known else hinted


def bind_arguments(program: Program, scope: Scope, arguments: ast.arguments) -> None:
    """Note what the arguments of a function are: what hints say; `self` is of its class."""
    outer = scope.outer
    assert outer is not None
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for number, each in enumerate(every):
        meaning = read_hint(program, outer, each.annotation)
        if meaning is None and each.annotation is not None:
            meaning = THE_HOST if _is_of_python(each.annotation) else NOT_KNOWN
        if meaning is None and number == 0 and isinstance(outer.node, ast.ClassDef):
            meaning = Meaning(INSTANCE, outer.node.name)
        note(scope, each.arg, Binding(each, "argument", meaning or NOT_KNOWN))
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            note(scope, rest.arg, Binding(rest, "argument", NOT_KNOWN))


def _is_of_python(hint: ast.expr) -> bool:
    named = hint.value if isinstance(hint, ast.Constant) else getattr(hint, "id", None)
    return named in ("int", "float", "str", "bool")


def read_members(program: Program, scope: Scope, node: ast.ClassDef) -> dict[str, Meaning]:
    """Return what the members of a class are: of its bases, of hints, of what methods bind."""
    found: dict[str, Meaning] = {}
    for base in node.bases:
        found |= program.members.get(getattr(base, "id", ""), {})
    program.members[node.name] = found
    inner = Scope(node, scope)
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            found[each.target.id] = read_hinted(program, scope, each)
        elif isinstance(each, ast.Assign):
            for target in each.targets:
                found |= {t.id: find_meaning(program, scope, each.value)
                          for t in read_targets(target)}
        elif isinstance(each, ast.FunctionDef):
            found[each.name] = _of_method(program, scope, each)
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.args.args:
            own = Scope(each, inner)
            bind_arguments(program, own, each.args)
            _read_self(program, own, each, found)
    return found


def _of_method(program: Program, scope: Scope, node: ast.FunctionDef) -> Meaning:
    if any(getattr(each, "id", "") == "property" for each in node.decorator_list):
        return read_hint(program, scope, node.returns) or NOT_KNOWN
    return Meaning(FUNCTION, node.name)


def _read_self(
    program: Program, scope: Scope, node: ast.FunctionDef, found: dict[str, Meaning]
) -> None:
    """Note what a method binds to members of its first argument, and to names that it has."""
    own = node.args.args[0].arg
    for each in walk_all(node):
        for target, value in _read_pairs(each):
            if isinstance(each, ast.AnnAssign):
                meaning = read_hinted(program, scope, each)
            else:
                meaning = NOT_KNOWN if value is None else find_meaning(program, scope, value)
            if isinstance(target, ast.Name):
                note(scope, target.id, Binding(target, "assigned", meaning))
            elif isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == own:
                before = found.get(target.attr, THE_HOST)
                known = before.is_object or (before.what == UNKNOWN and not meaning.is_object)
                found[target.attr] = before if known else meaning


def _read_pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield what a statement binds, each with its value; None where the text does not part it."""
    if isinstance(node, ast.AnnAssign):
        yield node.target, node.value
    todo = [(each, node.value) for each in node.targets] if isinstance(node, ast.Assign) else []
    for target, value in todo:
        if not isinstance(target, ast.Tuple | ast.List):
            yield target, value
        elif isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            todo += zip(target.elts, value.elts, strict=True)
        else:
            yield from ((each, None) for each in target.elts)
