"""Reader of the names of a source, scope by scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from lairmake.stages.program.source.names import (
    CLASS,
    FUNCTION,
    HOST,
    IGNORED,
    INSTANCE,
    MEMBER,
    MODULE,
    NOT_KNOWN,
    NUMPY,
    OBJECT,
    OBJECTS,
    ON_HOST,
    SCALAR,
    THE_HOST,
    UNKNOWN,
    UNROLLED,
    Meaning,
    NameBinding,
    SourceProgram,
    SourceScope,
    find_meaning,
    find_name,
    is_of_host,
    note,
    read_hint,
    read_targets,
)
from lairmake.stages.program.source.tree import SCOPES, read_children, walk_all
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, GLOBAL_SCALAR

# --- Arguments and members of classes -------------------------------------------------------------

def read_hinted(program: SourceProgram, scope: SourceScope, node: ast.AnnAssign) -> Meaning:
    """Return the meaning of a name with a hint; a scalar has the kind of its value."""
    hinted = read_hint(program, scope, node.annotation)
    found = find_meaning(program, scope, node.value) if node.value is not None else NOT_KNOWN
    if hinted is None:
        return found if node.value is not None else THE_HOST
    is_known = found.is_object and found.detail not in ("", GLOBAL_ARRAY)
    return Meaning(OBJECT, found.detail) if hinted.detail == SCALAR and is_known else hinted


def bind_arguments(program: SourceProgram, scope: SourceScope, arguments: ast.arguments) -> None:
    """Note the meanings of the arguments of a function: by hints; `self` is of its class."""
    outer = scope.outer
    assert outer is not None
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for number, each in enumerate(every):
        meaning = read_hint(program, outer, each.annotation)
        if meaning is None and each.annotation is not None:
            meaning = THE_HOST if _is_of_python(each.annotation) else NOT_KNOWN
        if meaning is None and number == 0 and isinstance(outer.node, ast.ClassDef):
            meaning = Meaning(INSTANCE, outer.node.name)
        note(scope, each.arg, NameBinding(each, "argument", meaning or NOT_KNOWN))
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            note(scope, rest.arg, NameBinding(rest, "argument", NOT_KNOWN))


def _is_of_python(hint: ast.expr) -> bool:
    named = hint.value if isinstance(hint, ast.Constant) else getattr(hint, "id", None)
    return named in ("int", "float", "str", "bool")


def read_members(
    program: SourceProgram, scope: SourceScope, node: ast.ClassDef
) -> dict[str, Meaning]:
    """Return the meanings of the members of a class: from its bases, hints and methods."""
    found: dict[str, Meaning] = {}
    for base in node.bases:
        found |= program.members.get(getattr(base, "id", ""), {})
    program.members[node.name] = found
    inner = SourceScope(node, scope)
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
            own = SourceScope(each, inner)
            bind_arguments(program, own, each.args)
            _read_self(program, own, each, found)
    return found


def _of_method(program: SourceProgram, scope: SourceScope, node: ast.FunctionDef) -> Meaning:
    if any(getattr(each, "id", "") == "property" for each in node.decorator_list):
        return read_hint(program, scope, node.returns) or NOT_KNOWN
    return Meaning(FUNCTION, node.name)


def _read_self(
    program: SourceProgram, scope: SourceScope, node: ast.FunctionDef, found: dict[str, Meaning]
) -> None:
    """Note the members that a method binds to its first argument, and its own names."""
    own = node.args.args[0].arg
    for each in walk_all(node):
        for target, value in _read_pairs(each):
            if isinstance(each, ast.AnnAssign):
                meaning = read_hinted(program, scope, each)
            else:
                meaning = NOT_KNOWN if value is None else find_meaning(program, scope, value)
            if isinstance(target, ast.Name):
                note(scope, target.id, NameBinding(target, "assigned", meaning))
            elif isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == own:
                before = found.get(target.attr, THE_HOST)
                known = before.is_object or (before.what == UNKNOWN and not meaning.is_object)
                found[target.attr] = before if known else meaning


def _read_pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield the targets of a statement with their values; None for parts of one value."""
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

# --- Names of a source in order -------------------------------------------------------------------

Bound: TypeAlias = tuple[ast.AST, str, str, Meaning]
"""A binding: its node, the name, the manner, and the meaning of the name."""


def read_program(tree: ast.Module) -> SourceProgram:
    """Return the scopes of a source, with the meanings of its names."""
    program = SourceProgram(module=SourceScope(tree))
    called: set[ast.AST] = set()
    loaded: set[str] = set()
    for node in walk_all(tree):
        if isinstance(node, ast.FunctionDef):
            program.functions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Call):
            called.add(node.func)
        elif isinstance(node, ast.Lambda | ast.NamedExpr):
            program.binds_in_expressions = True
        elif isinstance(node, ast.Name):
            program.read.add(node.id)
            if isinstance(node.ctx, ast.Load):
                program.loaded.add(node.id)
            if node not in called:
                loaded.add(node.id)
    program.passed = loaded & set(program.functions)
    _read_scope(program, program.module, tree.body)
    return program


def is_context(program: SourceProgram, scope: SourceScope, node: ast.AST, name: str) -> bool:
    """Return whether a statement is `with name():` for a context of lairmake.objects."""
    if not isinstance(node, ast.With):
        return False
    return any(_is_of_objects(program, scope, each.context_expr, name) for each in node.items)


def _is_of_objects(program: SourceProgram, scope: SourceScope, node: ast.expr, name: str) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return find_meaning(program, scope, called) == Meaning(MEMBER, f"{OBJECTS}.{name}")


def read_conditions(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of a condition, down to comparisons and values whose truth is tested."""
    todo = [test]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.BoolOp):
            todo += node.values[::-1]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            todo.append(node.operand)


def is_loop(program: SourceProgram, scope: SourceScope, node: ast.AST) -> bool:
    """Return whether a `for` stays a loop: one over a GlobalArray or a global_range."""
    if not isinstance(node, ast.For):
        return False
    if isinstance(node.iter, ast.Call) and _is_of_objects(
            program, scope, node.iter, "global_range"):
        return True
    found = find_meaning(program, scope, node.iter)
    return found.is_object and found.detail == GLOBAL_ARRAY


def _read_scope(program: SourceProgram, scope: SourceScope, body: Sequence[ast.AST]) -> None:
    """Note the bindings in the body of a scope, then those in the scopes inside of it."""
    program.scopes[scope.node] = scope
    inner: list[tuple[ast.AST, SourceScope]] = []
    for node, host in _walk(program, scope, body):
        if isinstance(node, SCOPES):
            inner.append((node, scope))
        for place, name, how, meaning in _bind(program, scope, node):
            known = THE_HOST if host and meaning.what not in (MODULE, FUNCTION) else meaning
            note(scope, name, NameBinding(place, host or how, known))
    for node, outer in inner:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            own = SourceScope(node, outer)
            bind_arguments(program, own, node.args)
            _read_scope(program, own, node.body if isinstance(node.body, list) else [node.body])
        elif isinstance(node, ast.ClassDef):
            _read_scope(program, SourceScope(node, outer), node.body)


def _walk(
    program: SourceProgram, scope: SourceScope, body: Sequence[ast.AST]
) -> Iterator[tuple[ast.AST, str]]:
    """Yield the nodes of a scope in the order in which they run, and the context of each."""
    todo: list[tuple[ast.AST, str]] = [(node, "") for node in reversed(body)]
    while todo:
        node, host = todo.pop()
        yield node, host
        for name in (ON_HOST, IGNORED):
            host = name if is_context(program, scope, node, name) else host
        todo += [(child, host) for child in reversed([*_in_order(node)])
                 if program.binds_in_expressions or not isinstance(child, ast.expr)]


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node in the order in which they run: values before their targets.

    The children of a function or class are its decorators, defaults and bases.
    """
    if isinstance(node, SCOPES):
        body = node.body if isinstance(node.body, list) else [node.body]
        within = set(body)
        yield from (each for each in read_children(node) if each not in within)
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
        value = node.iter if isinstance(node, ast.For | ast.AsyncFor) else node.value
        if value is not None:
            yield value
        yield from (each for each in read_children(node) if each is not value)
    else:
        yield from read_children(node)


def _bind(
    program: SourceProgram, scope: SourceScope, node: ast.AST
) -> Iterator[Bound]:
    """Yield the names that a node binds, each with the manner and the meaning."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _bind_imports(node)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _bind_target(program, scope, target, node.value, "assigned")
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        how = "named" if node.value is not None else "declared"
        yield node.target, node.target.id, how, read_hinted(program, scope, node)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target, node.target.id, "augmented", find_name(scope, node.target.id)
    elif isinstance(node, ast.For | ast.AsyncFor):
        yield from _bind_loop(program, scope, node)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node, node.name, "defined", Meaning(FUNCTION, node.name)
    elif isinstance(node, ast.ClassDef):
        yield node, node.name, "defined", Meaning(CLASS, node.name)
        program.members[node.name] = read_members(program, scope, node)
    elif isinstance(node, ast.NamedExpr):
        yield node.target, node.target.id, "assigned", find_meaning(program, scope, node.value)
    elif isinstance(node, ast.Global | ast.Nonlocal):
        _go_elsewhere(program, scope, node)
    else:
        yield from _bind_others(program, scope, node)


def _bind_others(
    program: SourceProgram, scope: SourceScope, node: ast.AST
) -> Iterator[Bound]:
    if isinstance(node, ast.withitem) and node.optional_vars is not None:
        found = find_meaning(program, scope, node.context_expr)
        for name in read_targets(node.optional_vars):
            yield name, name.id, "with", found if found.what == HOST else NOT_KNOWN
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node, node.name, "except", THE_HOST
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
        yield node, node.name, "match", NOT_KNOWN
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node, node.rest, "match", NOT_KNOWN
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            for name in read_targets(target):
                yield name, name.id, "deleted", find_name(scope, name.id)


def _bind_imports(node: ast.Import | ast.ImportFrom) -> Iterator[Bound]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            name = alias.asname or alias.name.partition(".")[0]
            full = alias.name if alias.asname else name
            yield alias, name, "imported", Meaning(MODULE, full)
            continue
        full = f"{node.module}.{alias.name}"
        name = alias.asname or alias.name
        if full in (NUMPY, OBJECTS):
            yield alias, name, "imported", Meaning(MODULE, full)
        elif node.module in (NUMPY, OBJECTS):
            yield alias, name, "imported", Meaning(MEMBER, full)
        else:
            known = Meaning(HOST, full) if is_of_host(node.module) else NOT_KNOWN
            yield alias, name, "imported", known


def _bind_target(
    program: SourceProgram, scope: SourceScope, target: ast.expr, value: ast.expr, how: str
) -> Iterator[Bound]:
    if isinstance(target, ast.Name):
        yield target, target.id, how, find_meaning(program, scope, value)
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List) and (
            len(target.elts) == len(value.elts)):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _bind_target(program, scope, one, other, how)
    else:
        found = find_meaning(program, scope, value)
        for name in read_targets(target):
            yield name, name.id, how, THE_HOST if found.what == HOST else NOT_KNOWN


def _bind_loop(
    program: SourceProgram, scope: SourceScope, node: ast.For | ast.AsyncFor
) -> Iterator[Bound]:
    found = find_meaning(program, scope, node.iter)
    element = THE_HOST if found.what == HOST else NOT_KNOWN
    how = UNROLLED
    if is_loop(program, scope, node):
        element, how = Meaning(OBJECT, GLOBAL_SCALAR, True), "loop"
    elif isinstance(node.iter, ast.Tuple | ast.List):
        each = {find_meaning(program, scope, value) for value in node.iter.elts}
        element = each.pop() if len(each) == 1 else element
    for name in read_targets(node.target):
        single = isinstance(node.target, ast.Name)
        yield name, name.id, how, element if single or element.what != OBJECT else NOT_KNOWN


def _go_elsewhere(
    program: SourceProgram, scope: SourceScope, node: ast.Global | ast.Nonlocal
) -> None:
    for name in node.names:
        at: SourceScope | None = program.module if isinstance(node, ast.Global) else scope.outer
        while at is not None and at is not program.module and name not in at.bindings:
            at = at.outer
        scope.elsewhere[name] = at or program.module
        note(scope.elsewhere[name], name, NameBinding(node, "elsewhere", NOT_KNOWN))
