"""What the names of a source mean: objects and their kinds, functions, classes, values of the host.

A meaning follows from constructors, hints, loops and imports. What none of them tells is unknown;
the intermediate language then finds out, since it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

OBJECT, HOST, UNKNOWN = "object", "host", "unknown"
FUNCTION, CLASS, INSTANCE = "function", "class", "instance"
MODULE, MEMBER = "module", "member"
UNROLLED = "unrolled"
"""How a loop of Python binds a name."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name or an expression is.

    `detail` is the kind of an object (None if only that it is one is known), the name of the class
    of an instance, that of a module, of a function or a class, or `module.name` of a member of one
    of our modules. An object may be the value of a `loop` that stays one.
    """

    what: str
    detail: str = ""
    loop: bool = False

    @property
    def is_object(self) -> bool:
        """Whether it is one of the five kinds, or computed from them."""
        return self.what == OBJECT


THE_HOST, NOT_KNOWN = Meaning(HOST), Meaning(UNKNOWN)


@dataclass(frozen=True, slots=True)
class Binding:
    """A place where a name gets a value: the node, how, and what it is then."""

    node: ast.AST
    how: str
    meaning: Meaning


@dataclass(slots=True)
class Known:
    """What the bindings of a name say: the first of each sort, and what unrolled loops bind."""

    first: Meaning
    object: Meaning | None = None
    unknown: Meaning | None = None
    is_unrolled: bool = True
    unrolled: set[Meaning] = field(default_factory=set)


@dataclass(slots=True)
class Scope:
    """The names of a module, function or class, each with all places that bind it."""

    node: ast.AST
    outer: Scope | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    elsewhere: dict[str, Scope] = field(default_factory=dict)
    """Names that `global` and `nonlocal` say are of other scopes."""


@dataclass(slots=True)
class Program:
    """All scopes of a source, by their nodes; members of classes and functions by their names."""

    module: Scope
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    members: dict[str, dict[str, Meaning]] = field(default_factory=dict)
    functions: dict[str, list[ast.FunctionDef]] = field(default_factory=dict)
    """Functions and methods; several classes may have methods of one name."""
    read: set[str] = field(default_factory=set)
    """All names of the text."""
    loaded: set[str] = field(default_factory=set)
    """Those whose values are asked for."""
    binds_in_expressions: bool = False
    """Whether there are scopes or bindings in expressions: `lambda` or `:=`."""
    passed: set[str] = field(default_factory=set)
    """Functions that are not only called, so that what is called may be one of them."""
    loops: dict[ast.AST, str] = field(default_factory=dict)
    """The loops and branches of the graph, and what they are called."""
    conditions: set[ast.AST] = field(default_factory=set)
    """The parts of their conditions, which become logic texts."""


def find_scope(scope: Scope, name: str) -> Scope | None:
    """Return the scope that a name is of where it is read; None for names of Python."""
    at: Scope | None = scope
    while at is not None:
        if name in at.elsewhere:
            return at.elsewhere[name]
        if name in at.bindings and (at is scope or not isinstance(at.node, ast.ClassDef)):
            return at
        at = at.outer
    return None


def find_name(scope: Scope, name: str) -> Meaning:
    """Return what a name is where it is read: an object if any of its bindings makes it one.

    What several loops that are unrolled bind may be of several kinds.
    """
    found = find_scope(scope, name)
    if found is None:
        return THE_HOST
    known = found.known[name]
    if known.object is not None and not (known.unknown and known.is_unrolled):
        return Meaning(OBJECT) if len(known.unrolled) > 1 else known.object
    return known.unknown or known.first


def note(scope: Scope, name: str, binding: Binding) -> None:
    """Note a place that binds a name."""
    scope = scope.elsewhere.get(name, scope)
    scope.bindings.setdefault(name, []).append(binding)
    known = scope.known.setdefault(name, Known(binding.meaning))
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
