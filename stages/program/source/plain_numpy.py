"""Sources without objects, as scripts in NumPy are: nothing of them would run on PEs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.program.source.names import IGNORED, OBJECTS, ON_HOST, is_of_host
from lairmake.stages.program.source.tree import (
    SourcePlaces,
    find_span,
    give_room,
    parse_source,
    read_children,
    walk_all,
)
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, KINDS, LOCAL_ARRAY, LOCAL_SCALAR

FILLED = {"ones": "1.0", "zeros": "0.0", "full": "", "empty": "0.0"}
"""Functions that fill an array with one number, and the number; "" for one in the call."""
MAKING = (*FILLED, "arange", "array", "asarray", "eye", "fromfunction", "full_like", "identity",
          "linspace", "load", "loadtxt", "ones_like", "zeros_like", "empty_like", "rand", "randn",
          "random_sample", "standard_normal")
OURS = f'`from {OBJECTS} import LocalArray`, then `x = LocalArray("x", 0.0, shape=(8, 8, 4))`'
NOTHING = "nothing runs on PEs"


def may_make_objects(tree: ast.Module) -> bool:
    """Return whether a source, or its translation, names a kind of objects or unknown modules."""
    for node in walk_all(tree):
        if isinstance(node, ast.Name) and node.id in KINDS:
            return True
        if isinstance(node, ast.Attribute) and node.attr in KINDS:
            return True
        if isinstance(node, ast.alias) and node.asname and node.name in KINDS:
            return True
    return has_others(tree)


def has_others(tree: ast.Module) -> bool:
    """Return whether a source imports modules other than those of Python, NumPy and Lairmake."""
    for node in walk_all(tree):
        if isinstance(node, ast.Import):
            modules = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = ["." if node.level else node.module or ""]
        else:
            continue
        if not all(is_of_host(each) or _is_ours(each) for each in modules):
            return True
    return False


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("lairmake", "stages")


def explain_plain(source: Source) -> UserError:
    """Return the error for a source without objects, at its first array or statement."""
    places = SourcePlaces(source)
    with give_room():
        tree = parse_source(places)
        lines = list(_read_statements(tree))
        arrays = [each for line in lines for each in _find_arrays(line, _find_numpy(tree))]
        made = next((each for each in arrays if _last(each[1].func) in MAKING), None)
        if made is not None:
            return _explain_array(places, *made)
        first = next((each for each in lines if not _only_prepares(each)), None)
        if first is None:
            return UserError(f"{source.path} makes no object: {NOTHING}", _beginning(source), OURS)
        said = f"the program makes no object: {NOTHING}"
        return UserError(said, find_span(places, first), OURS)


def _beginning(source: Source) -> Span | None:
    return Span(source=source, start=0, end=1) if source.text else None


def _read_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a source in the order of the text, except those of the host."""
    todo: list[ast.AST] = [*reversed(tree.body)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.With) and any(
                _last(each.context_expr) in (ON_HOST, IGNORED) for each in node.items):
            continue
        if isinstance(node, ast.stmt):
            yield node
        todo += [each for each in reversed(read_children(node)) if not isinstance(each, ast.expr)]


def _only_prepares(node: ast.stmt) -> bool:
    """Return whether a statement imports, defines, or is a text."""
    return isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _last(node: ast.expr) -> str:
    """Return the last name of a function that is called: `ones` of `np.ones`."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _find_numpy(tree: ast.Module) -> set[str]:
    """Return the names in a source of NumPy, and of members that are imported from it."""
    found = set()
    for node in walk_all(tree):
        if isinstance(node, ast.Import):
            found |= {each.asname or "numpy" for each in node.names
                      if each.name.partition(".")[0] == "numpy"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "numpy":
            found |= {each.asname or each.name for each in node.names}
    return found


def _find_arrays(line: ast.stmt, numpy: set[str]) -> Iterator[tuple[str, ast.Call, ast.expr]]:
    """Yield the calls of NumPy in a statement, each with its name and the value around it."""
    target = line.targets[0] if isinstance(line, ast.Assign) else None
    name = target.id if isinstance(target, ast.Name) else "x"
    whole = line.value if isinstance(line, ast.Assign) and isinstance(target, ast.Name) else None
    todo: list[ast.AST] = [line]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call) and _first(node.func) in numpy:
            yield name, node, whole or node
        todo += [each for each in reversed(read_children(node)) if not isinstance(each, ast.stmt)]


def _first(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "id", "")


def _explain_array(places: SourcePlaces, name: str, call: ast.Call, whole: ast.expr) -> UserError:
    kind, made = _suggest(call, whole)
    said = f"{ast.unparse(call.func)} gives an array of NumPy, which is no object: {NOTHING}"
    hint = f'`from {OBJECTS} import {kind}`, then `{name} = {kind}("{name}", {made}, output=True)`'
    if kind == LOCAL_ARRAY and "init_data" in made:
        hint += "; of rank 2 it is a LocalScalar, of rank 1 a GlobalArray"
    return UserError(said, find_span(places, call), hint)


def _suggest(call: ast.Call, whole: ast.expr) -> tuple[str, str]:
    """Return the kind of object that suits a value, and the arguments of its constructor.

    `whole` is the value around a call that makes an array, as `np.arange(6).reshape(2, 3)`.
    """
    name, given = _last(call.func), {each.arg: each.value for each in call.keywords}
    shape = given.get("shape") or (call.args[0] if call.args else None)
    kind = _kind_of(shape) if name in FILLED and whole is call else ""
    type_ = given.get("dtype")
    plain = kind and not set(given) - {"shape", "dtype"}
    if not plain or shape is None or len(call.args) > (2 if name == "full" else 1):
        text = ast.unparse(whole)
        text = text if isinstance(whole, ast.Call) else f"({text})"
        return kind or LOCAL_ARRAY, f'init_data={text}.astype("float32")'
    number = ast.unparse(call.args[1]) if name == "full" and len(call.args) > 1 else FILLED[name]
    number = number.removesuffix(".0") if type_ and "int" in ast.unparse(type_) else number
    return kind, f"{number or '0.0'}, shape={_spell_shape(shape)}"


def _kind_of(shape: ast.expr | None) -> str:
    """Return the kind of objects of a shape; "" where the text does not tell its rank."""
    if isinstance(shape, ast.Constant) and type(shape.value) is int:
        return GLOBAL_ARRAY
    rank = len(shape.elts) if isinstance(shape, ast.Tuple | ast.List) else 0
    if not rank or rank > 6:
        return ""
    return {1: GLOBAL_ARRAY, 2: LOCAL_SCALAR}.get(rank, LOCAL_ARRAY)


def _spell_shape(shape: ast.expr) -> str:
    text = ast.unparse(shape)
    return f"({text},)" if isinstance(shape, ast.Constant) else text
