"""Names and expressions of a source, and their meanings."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lairmake.stages.program.source.tree import read_children
from lairmake.stages.program.values.api import BINARY, UNARY
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    KINDS,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    REDUCTIONS,
    UNIFORM,
)

# --- Meanings of names ----------------------------------------------------------------------------
#
# A name is an object of some kind, a function, a class, a module or a value of the host. Its
# meaning
# follows from constructors, hints, loops and imports. Where none of them tells, the name is
# unknown, and the run of the intermediate language finds out.

OBJECT, HOST, UNKNOWN = "object", "host", "unknown"
FUNCTION, CLASS, INSTANCE = "function", "class", "instance"
MODULE, MEMBER = "module", "member"
UNROLLED = "unrolled"
"""The binding of a name by a loop that Python unrolls."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a name or an expression.

    `what` is OBJECT, HOST or another of the words above. `detail` is the kind of an object ("" for
    an object of unknown kind), the class of an instance, the name of a module, function or class,
    or `module.name` for a member of one of our modules. `loop` marks the variable of a loop of the
    graph.
    """

    what: str
    detail: str = ""
    loop: bool = False

    @property
    def is_object(self) -> bool:
        """Return whether it is one of the five kinds, or computed from them."""
        return self.what == OBJECT


THE_HOST, NOT_KNOWN = Meaning(HOST), Meaning(UNKNOWN)


@dataclass(frozen=True, slots=True)
class NameBinding:
    """A place that binds a name: the node, the manner, and the meaning that the name gets."""

    node: ast.AST
    how: str
    meaning: Meaning


@dataclass(slots=True)
class KnownNames:
    """Meanings of a name over its bindings: the first of each sort, and all of unrolled loops."""

    first: Meaning
    object: Meaning | None = None
    unknown: Meaning | None = None
    is_unrolled: bool = True
    unrolled: set[Meaning] = field(default_factory=set)


@dataclass(slots=True)
class SourceScope:
    """The names of a module, function or class, each with all places that bind it."""

    node: ast.AST
    outer: SourceScope | None = None
    bindings: dict[str, list[NameBinding]] = field(default_factory=dict)
    known: dict[str, KnownNames] = field(default_factory=dict)
    elsewhere: dict[str, SourceScope] = field(default_factory=dict)
    """Names of other scopes, by `global` and `nonlocal`."""


@dataclass(slots=True)
class SourceProgram:
    """All scopes of a source, by their nodes; members of classes and functions by their names."""

    module: SourceScope
    scopes: dict[ast.AST, SourceScope] = field(default_factory=dict)
    members: dict[str, dict[str, Meaning]] = field(default_factory=dict)
    functions: dict[str, list[ast.FunctionDef]] = field(default_factory=dict)
    """Functions and methods; several classes may have methods of one name."""
    read: set[str] = field(default_factory=set)
    """All names of the text."""
    loaded: set[str] = field(default_factory=set)
    """Names that are read."""
    binds_in_expressions: bool = False
    """True if expressions have scopes or bindings of their own: `lambda` or `:=`."""
    passed: set[str] = field(default_factory=set)
    """Functions that are also passed as values, so that an unknown call may be one of them."""
    loops: dict[ast.AST, str] = field(default_factory=dict)
    """The names of the loops and branches of the graph."""
    conditions: set[ast.AST] = field(default_factory=set)
    """The parts of their conditions, which become logic texts."""


def find_scope(scope: SourceScope, name: str) -> SourceScope | None:
    """Return the scope of a name that is read in another scope; None for names of Python."""
    at: SourceScope | None = scope
    while at is not None:
        if name in at.elsewhere:
            return at.elsewhere[name]
        if name in at.bindings and (at is scope or not isinstance(at.node, ast.ClassDef)):
            return at
        at = at.outer
    return None


def find_name(scope: SourceScope, name: str) -> Meaning:
    """Return the meaning of a name where it is read: an object if any of its bindings makes it one.

    A name that several unrolled loops bind may be of several kinds.
    """
    found = find_scope(scope, name)
    if found is None:
        return THE_HOST
    known = found.known[name]
    if known.object is not None and not (known.unknown and known.is_unrolled):
        return Meaning(OBJECT) if len(known.unrolled) > 1 else known.object
    return known.unknown or known.first


def note(scope: SourceScope, name: str, binding: NameBinding) -> None:
    """Note a place that binds a name."""
    scope = scope.elsewhere.get(name, scope)
    scope.bindings.setdefault(name, []).append(binding)
    known = scope.known.setdefault(name, KnownNames(binding.meaning))
    if binding.meaning.is_object:
        known.object = known.object or binding.meaning
        known.is_unrolled = known.is_unrolled and binding.how == UNROLLED
        if binding.how == UNROLLED:
            known.unrolled.add(binding.meaning)
    elif binding.meaning.what == UNKNOWN:
        known.unknown = known.unknown or binding.meaning


def read_targets(target: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that a target of an assignment, loop or `with` binds."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from read_targets(each)
    elif isinstance(target, ast.Starred):
        yield from read_targets(target.value)

# --- Names with a meaning for the compiler --------------------------------------------------------

OBJECTS, NUMPY = "lairmake.objects", "lairmake.numpy"
IL = {OBJECTS: "lairmake.stages.program.il.objects", NUMPY: "lairmake.stages.program.il.numpy"}
"""Modules that the intermediate language imports in place of ours."""

SCALAR = "MACHScalar"
HINTS = (*KINDS, SCALAR)

IGNORED, ON_HOST = "MACH_Compiler_Ignore", "Run_On_Host"
DECORATORS = ("holds_objects", "strict", "typed")
OF_OBJECTS = (*HINTS, IGNORED, ON_HOST, *DECORATORS, "global_range", "parameter", "field")

ELEMENTWISE = (*UNARY, *BINARY, "where")

LATER = (
    "roll", "take_along_axis", "put_along_axis", "Fuse", "kernel", "tanh",
)
"""Names that programs are to have later."""

FILES = ("load", "save", "savez", "loadtxt", "savetxt", "fromfile")
"""Functions of NumPy that read and write files."""

OF_IL = ("for_loop", "while_loop", "if_")
"""Names of the intermediate language alone, which a source cannot have."""

PROPERTIES = ("shape", "dtype", "ndim", "size", "name", "kind", "type")
"""Properties of an object that the host knows."""

PURE = (
    *("abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "frozenset", "getattr"),
    *("hasattr", "int", "isinstance", "len", "list", "max", "min", "pow", "range", "repr"),
    *("reversed", "round", "set", "slice", "sorted", "str", "sum", "super", "tuple", "type", "zip"),
)
"""Functions of Python that always give the same value for the same arguments."""

PURE_METHODS = (
    *("items", "keys", "values", "get", "copy", "index", "count", "format", "join", "split"),
    *("upper", "lower", "strip", "startswith", "endswith", "tolist", "item", "astype", "reshape"),
    *("sum", "min", "max", "mean", "transpose", "flatten", "ravel", "is_integer", "bit_length"),
)
"""Methods of values of Python and NumPy that always give the same value."""

ABOUT = ("len", "isinstance", "type", "hasattr", "id", "repr", "str", "callable", "range")
"""Functions of Python with results of the host, whatever their arguments are."""

OF_THE_HOST = ("numpy", "scipy", "matplotlib", "pandas")
"""Packages, besides Python's own, that know nothing of objects."""

PURE_MODULES = ("math", "cmath", "operator", "fractions", "decimal", "numpy", "scipy", "string")
"""Modules with functions that always give the same value, except `numpy.random`."""

# --- Meanings of expressions ----------------------------------------------------------------------

WRAPPERS = ("Optional", "Final", "ClassVar")
"""Hints around other hints that do not change the meaning."""
PASSING = ("iter", "zip", "map", "filter", "enumerate", "reversed", "open")
ITERATOR = "iterator"
"""The detail of an iterator of the host, which can be gone through once."""


def find_meaning(program: SourceProgram, scope: SourceScope, node: ast.expr | None) -> Meaning:
    """Return the meaning of an expression."""
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
    return _of_others(scope, node)


def read_operands(node: ast.expr) -> Sequence[ast.expr]:
    """Return the operands of an operator."""
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
    """Return the meaning of a value that is computed from several values, element by element."""
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


def _of_attribute(program: SourceProgram, base: Meaning, name: str) -> Meaning:
    if base.what == MODULE:
        if base.detail in (NUMPY, OBJECTS):
            return Meaning(MEMBER, f"{base.detail}.{name}")
        return THE_HOST if is_of_host(base.detail) else NOT_KNOWN
    if base.what in (INSTANCE, CLASS):
        return program.members.get(base.detail, {}).get(name, NOT_KNOWN)
    if base.is_object:
        return THE_HOST if name in PROPERTIES else NOT_KNOWN
    return THE_HOST if base.what in (HOST, MEMBER) else NOT_KNOWN


def _of_subscript(program: SourceProgram, scope: SourceScope, node: ast.Subscript) -> Meaning:
    base = find_meaning(program, scope, node.value)
    if base.detail == GLOBAL_ARRAY and base.is_object:
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Meaning(OBJECT, GLOBAL_ARRAY if any(map(_is_slice, keys)) else "")
    if base.is_object:
        return Meaning(OBJECT, base.detail)
    return base if base.what == HOST else NOT_KNOWN


def _is_slice(key: ast.expr) -> bool:
    return isinstance(key, ast.Slice) or (isinstance(key, ast.Constant) and key.value is ...)


def _of_call(program: SourceProgram, scope: SourceScope, node: ast.Call) -> Meaning:
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
    """Return the meaning of a call of one of our functions."""
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


def find_returned(program: SourceProgram, scope: SourceScope, name: str) -> Meaning:
    """Return the meaning of the results of the functions of a name, by their hints."""
    found = [read_hint(program, scope, each.returns) for each in program.functions.get(name, [])]
    return found[0] or NOT_KNOWN if len(set(found)) == 1 else NOT_KNOWN


def read_hint(program: SourceProgram, scope: SourceScope, hint: ast.expr | None) -> Meaning | None:
    """Return the meaning of a hint; None where it tells nothing of objects.

    The hint may be in quotes, with `| None`, or in `Optional[...]`.
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


def _of_others(scope: SourceScope, node: ast.expr | None) -> Meaning:
    """Return the meaning of a display, a comprehension or a constant: unknown if it has objects."""
    todo: list[ast.AST] = [] if node is None else read_children(node)
    while todo:
        found = todo.pop()
        if isinstance(found, ast.Name) and find_name(scope, found.id).what != HOST:
            return NOT_KNOWN
        todo += read_children(found)
    return Meaning(HOST, ITERATOR) if isinstance(node, ast.GeneratorExp) else THE_HOST


def is_of_host(module: str | None) -> bool:
    """Return whether a module is one of Python's or NumPy's own, which know nothing of objects."""
    top = (module or "").partition(".")[0]
    return top in sys.stdlib_module_names or top in OF_THE_HOST
