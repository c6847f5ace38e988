"""Definitions of modules and the names that they refer to, kept beside byte code."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import marshal
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lairmake.stages.make.store.files import read_file, write_whole
from lairmake.stages.shipped import STAGES, compiled
from lairmake.stages.yaml_limits import pause_collector

# --- Top-level definitions of a module, and their references --------------------------------------
#
# Everything is taken from the syntax tree; nothing is imported. A definition is a function, a class
# as a whole, or a value with a name. All else at the top level runs with the module, and is its
# rest: an `if`, a call, a function that a decorator of ours may register, a value that one of our
# functions makes, and all values that are bound or changed more than once, in their order.
#
# Names are followed where they are exact. A name that only may refer to a definition counts, too: a
# local variable with the name of something global, a string that is a name of the module, an
# annotation.

WHOLE, LOADED = "*", ":"
"""References besides names: `m.*` is to all that the module `m` defines, `m:` to what importing it
runs. `*` is to all of the module itself."""

FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
NESTED = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a statement that hold other statements."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
BINDING = (*SCOPES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
"""Nodes that bind their field `name`."""
HOOKS = frozenset({"__init_subclass__", "__set_name__", "__prepare__"})
"""Methods of a class that do something where another class is defined."""
DYNAMIC = frozenset({"globals", "locals", "vars", "eval", "exec", "__import__", "sys.modules"})
"""Names by which a module finds a computed name in itself."""
HARMLESS = frozenset({
    "abs", "all", "any", "bool", "bytes", "classmethod", "dict", "dict.fromkeys", "divmod",
    "enumerate", "filter", "float", "frozenset", "int", "isinstance", "issubclass", "len", "list",
    "map", "max", "min", "object", "ord", "property", "range", "repr", "reversed", "round", "set",
    "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "type", "zip",
})
"""Builtins that change nothing, and may be called where a module is imported."""
READS_ONLY = frozenset({
    "copy", "format", "get", "index", "items", "join", "keys", "removeprefix", "removesuffix",
    "split", "splitlines", "strip", "values",
})
"""Methods that change nothing, whatever object has them."""
LOOK_AT_NO_HINTS = frozenset({
    "abstractmethod", "cache", "cached_property", "classmethod", "contextmanager", "lru_cache",
    "overload", "property", "setter", "staticmethod",
})
"""Decorators of functions that do not look at annotations."""
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")

CHANGES = ("add", "append", "insert", "install", "patch", "register", "seed", "set", "update")
"""Beginnings of names of others' functions that change something where they are called."""

Names = Mapping[str, tuple[str, ...]]
"""Full names that each imported name may stand for."""


class Definition(NamedTuple):
    """Digest of a syntax tree, and the names that it refers to.

    Names of its own module are single words, others are full:
    `lairmake.stages.poly.text.read_objects`. `lines` is its number of lines. `bases` are the bases
    of a class. `is_hook` says that the class does something where a class based on it is defined.
    """

    digest: str
    names: tuple[str, ...] = ()
    lines: int = 0
    bases: tuple[str, ...] = ()
    is_hook: bool = False


class Module(NamedTuple):
    """Definitions and imports of a module, its rest, and the patterns of files that it reads."""

    definitions: dict[str, Definition]
    imports: dict[str, tuple[str, ...]]
    rest: Definition
    data: tuple[str, ...] = ()


def read_module(content: bytes, package: str, top: str) -> Module:
    """Return the definitions of a module in a package; all packages of ours lie in `top`.

    A text that is no Python defines nothing, and its digest is that of the text.
    """
    try:
        with pause_collector():
            return _Reader(ast.parse(content).body, package, top).read()
    except (SyntaxError, ValueError):
        return Module({}, {}, Definition(digest_of(content)))


def digest_of(content: bytes) -> str:
    """Return the digest of a content, as short as is safe."""
    return hashlib.sha256(content).hexdigest()[:32]


class _Reader:
    """Reader of the top level of one module."""

    def __init__(self, body: Sequence[ast.stmt], package: str, top: str) -> None:
        self._package, self._top = package, top
        self._body = [node for node in runs(body) if not _is_text(node)]
        self._is_late = any(
            isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in self._body
        )
        self._trees = {node: _Tree(node, package) for node in self._body}
        self._imports = _merged(
            tree.imports for node, tree in self._trees.items() if not isinstance(node, SCOPES)
        )
        self._bound = {node: tuple(_bound(node)) for node in self._body}
        self._own = {name for names in self._bound.values() for name in names}

    def read(self) -> Module:
        """Return what the module defines."""
        ordered = self._ordered()
        plain = [n for n in self._body if n not in ordered and not isinstance(n, IMPORTS)]
        found = {
            name: self._definition([node]) for node in plain for name in self._bound[node]
        }
        rest = self._definition([node for node in self._body if node in ordered])
        loads = [load for n in self._body if isinstance(n, IMPORTS) for load in self._loads(n)]
        names = tuple(dict.fromkeys((*loads, *rest.names)))
        in_rest = {name for node in ordered for name in self._bound[node]}
        return Module(
            found | dict.fromkeys(in_rest, Definition("")),
            {n: each for n, each in self._imports.items() if any(map(self._is_ours, each))},
            rest._replace(digest=rest.digest if ordered else "", names=names),
            _data(self._body),
        )

    def _is_ours(self, name: str) -> bool:
        """Return whether a name is that of something in our packages, or of one above them."""
        return f"{name}.".startswith(f"{self._top}.") or self._is_above(name)

    def _is_above(self, name: str) -> bool:
        return f"{self._top}.".startswith(f"{name}.")

    def _loads(self, node: ast.stmt) -> Iterator[str]:
        """Yield what a statement at the top level imports; all names of a module count for `*`."""
        tree = self._trees[node]
        yield from (f"{name}{LOADED}" for name in tree.loads if self._is_ours(name))
        yield from (f"{name}.{WHOLE}" for name in tree.stars if self._is_ours(name))

    def _definition(self, nodes: Sequence[ast.stmt]) -> Definition:
        """Return the definition that some statements are together."""
        trees = [self._trees[node] for node in nodes]
        texts, names = [each for tree in trees for each in tree.texts], set[str]()
        for tree in trees:
            used = {name.partition(".")[0] for name in tree.names}
            known = {n: self._imports[n] for n in used if n in self._imports}
            texts += [f"{name} is {known[name]}" for name in sorted(known)]
            names |= self._meant(tree, _merged((self._imports, tree.imports)))
        class_ = next((node for node in nodes if isinstance(node, ast.ClassDef)), None)
        bases = map(_dotted, class_.bases) if class_ is not None and len(nodes) == 1 else ()
        return Definition(
            digest_of("\0".join(texts).encode("utf-8", "surrogatepass")), tuple(sorted(names)),
            sum((node.end_lineno or 0) - _first_line(node) + 1 for node in nodes),
            tuple(each for base in bases for each in self._full(base, self._imports)),
            class_ is not None and any(
                isinstance(node, FUNCTIONS) and node.name in HOOKS for node in class_.body),
        )

    def _meant(self, tree: _Tree, imports: Names) -> set[str]:
        """Return what the names in a statement refer to."""
        found = {each for name in tree.names for each in self._full(name, imports)}
        found |= {f"{name}{LOADED}" for name in tree.loads if self._is_ours(name)}
        found |= {f"{name}.{WHOLE}" for name in tree.stars if self._is_ours(name)}
        found |= {name for name in tree.names if name.startswith(f"{self._top}.")}
        return found | ({WHOLE} if tree.is_dynamic else set())

    def _full(self, name: str, imports: Names) -> Iterator[str]:
        """Yield what a name, and attributes of it, may be: a word for one of this module."""
        first, dot, others = name.partition(".")
        full = (f"{each}{dot}{others}" for each in imports.get(first, ()))
        yield from (self._top if self._is_above(each) else each
                    for each in full if self._is_ours(each))
        if first in self._own:
            yield first

    def _ordered(self) -> set[ast.stmt]:
        """Return the statements whose order counts: those that may change what others read.

        What is bound once and never changed while the module is imported has no order.
        """
        counts = Counter(name for names in self._bound.values() for name in names)
        changed = {name for name, count in counts.items() if count > 1}
        left = {node: self._names_at_once(node) for node in self._body if not _is_import(node)}
        found = {node for node in left if self._does_more(node)}
        fixed = {name for node in left if _is_fixed(node) for name in self._bound[node]}
        while True:
            changed |= {name for node in found for name in left[node]} - fixed
            more = {
                node for node, names in left.items() if node not in found and (
                    not changed.isdisjoint(names)
                    or not (isinstance(node, SCOPES) or changed.isdisjoint(self._bound[node]))
                )
            }
            if not more:
                return found
            found |= more

    def _names_at_once(self, node: ast.stmt) -> set[str]:
        """Return the names in a statement that are read where the module is imported."""
        return {
            each.id for part in _eager(node, self._is_late) for each in _walk_eagerly(part)
            if isinstance(each, ast.Name)
        }

    def _does_more(self, node: ast.stmt) -> bool:
        """Return whether a statement does more than to define something, or may."""
        if isinstance(node, ast.ClassDef) and node.keywords:
            return True
        if not isinstance(node, SCOPES) and not _only_binds(node):
            return True
        parts = _eager(node, self._is_late)
        called = (each for part in parts for each in _called(part))
        return not all(map(self._is_harmless, (*_decorators(node), *called)))

    def _is_harmless(self, function: ast.expr) -> bool:
        """Return whether a function may be called, or decorate, and changes nothing."""
        name = _dotted(function)
        first, last = name.partition(".")[0], name.rpartition(".")[2]
        if first in self._imports and not any(map(self._is_ours, self._imports[first])):
            return not last.startswith(CHANGES)
        if isinstance(function, ast.Attribute) and last in READS_ONLY:
            return True
        return name in HARMLESS and first not in self._own | self._imports.keys()


class _Tree:
    """Syntax tree of a statement: its text without places, and the names in it.

    A name has the attributes of it that are read: `isl.Map.from_range`. Docstrings of functions are
    left out, since nothing reads them; docstrings of classes count.
    """

    def __init__(self, node: ast.AST, package: str) -> None:
        self.texts: list[str] = []
        self.names: set[str] = set()
        self.is_dynamic = False
        self.loads: list[str] = []
        self.stars: list[str] = []
        self.imports: dict[str, tuple[str, ...]] = {}
        self._package = package
        self._add(node)

    def _add(self, node: ast.AST) -> None:
        kind = node.__class__
        if kind in SPECIAL and self._add_special(node):
            return
        self.texts.append(kind.__name__)
        for name in FIELDS[kind] if kind in FIELDS else _fields(kind):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                self._add(value)
            elif isinstance(value, list):
                self.texts.append("[")
                for each in value:
                    if isinstance(each, ast.AST):
                        self._add(each)
                    else:
                        self.texts.append(repr(each))
                self.texts.append("]")
            else:
                self.texts.append(repr(value))

    def _add_special(self, node: ast.AST) -> bool:
        """Add what some nodes say besides; return whether that is all of it."""
        if isinstance(node, ast.Name):
            self._refer(node.id, node.ctx)
        elif isinstance(node, ast.Attribute):
            name = _dotted(node)
            if name[0] != ".":
                self._refer(name, node.ctx)
                self.texts.append(f"Name {name}")
                return True
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and NAME.fullmatch(node.value):
                self.names.add(node.value)
        elif isinstance(node, ast.Expr):
            return _is_text(node)
        elif isinstance(node, ast.ClassDef):
            self.texts.append(repr(ast.get_docstring(node)))
        elif isinstance(node, ast.If):
            return self._add_for_types(node)
        elif isinstance(node, FUNCTIONS):
            self._add_hints(node)
        else:
            self._import(node)
        return False

    def _refer(self, name: str, context: ast.expr_context) -> None:
        self.names.add(name)
        self.is_dynamic |= name in DYNAMIC and isinstance(context, ast.Load)

    def _add_hints(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Add what the annotations of a function say; it refers to that if something decorates it
        that may look at them."""
        arguments = (each for each in ast.walk(node.args) if isinstance(each, ast.arg))
        names = self.names
        if {_last_word(each) for each in node.decorator_list} <= LOOK_AT_NO_HINTS:
            self.names = set()
        for hint in (*(each.annotation for each in arguments), node.returns):
            if hint is None:
                self.texts.append("")
            else:
                self._add(hint)
        self.names = names

    def _add_for_types(self, node: ast.If) -> bool:
        """Add what runs of a statement that tells a checker of types about names."""
        if is_for_types(node):
            for each in node.orelse:
                self._add(each)
            return True
        return False

    def _import(self, node: ast.AST) -> None:
        """Note what a statement imports, and which modules run for it, or may: `y` of
        `from x import y`."""
        if isinstance(node, ast.Import):
            for each in node.names:
                self.loads.append(each.name)
                self._bind(each.asname or each.name.partition(".")[0],
                           each.name if each.asname else each.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            module = absolute(node, self._package)
            self.loads.append(module)
            for each in node.names:
                if each.name == "*":
                    self.stars.append(module)
                else:
                    self.loads.append(f"{module}.{each.name}")
                    self._bind(each.asname or each.name, f"{module}.{each.name}")

    def _bind(self, name: str, full: str) -> None:
        self.imports[name] = (*self.imports.get(name, ()), full)


FIELDS: dict[type, tuple[str, ...]] = {}
SPECIAL = frozenset({
    ast.Name, ast.Attribute, ast.Constant, ast.Expr, ast.If, *SCOPES, *IMPORTS,
})


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a kind of node that say something that no other does."""
    others = ("ctx", "type_comment", "returns", "annotation" if kind is ast.arg else "")
    FIELDS[kind] = tuple(name for name in kind._fields if name not in others)
    return FIELDS[kind]


def absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the full name of the module from which a statement in a package imports."""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements that may run, at any depth."""
    for node in body:
        yield node
        for each in ("orelse",) if is_for_types(node) else NESTED:
            yield from statements(getattr(node, each, ()))


def runs(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body that may run: not those for a checker of types."""
    for node in body:
        if is_for_types(node):
            yield from runs(node.orelse)  # type: ignore[attr-defined]
        else:
            yield node


def is_for_types(node: ast.AST) -> bool:
    """Return whether a statement holds what only a checker of types reads."""
    return isinstance(node, ast.If) and _dotted(node.test) in FOR_TYPES


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, IMPORTS)


def _is_text(node: ast.AST) -> bool:
    """Return whether a statement is a text, which does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _merged(every: Iterable[Names]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for names in every:
        for name, full in names.items():
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *full)))
    return found


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement at the top level binds, but by imports."""
    if not isinstance(node, IMPORTS):
        nodes = list(_walk_eagerly(node))
        inner = (each.target for each in nodes if isinstance(each, ast.comprehension))
        local = {id(name) for target in inner for name in ast.walk(target)}
        for each in nodes:
            if isinstance(each, ast.Name):
                if not isinstance(each.ctx, ast.Load) and id(each) not in local:
                    yield each.id
            elif isinstance(each, BINDING) and each.name:
                yield each.name


def _only_binds(node: ast.AST) -> bool:
    """Return whether a statement gives a value to names, and does nothing else."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = (each for target in targets for each in ast.walk(target))
    kinds = (ast.Name, ast.Tuple, ast.List, ast.Starred, ast.expr_context)
    return all(isinstance(each, kinds) for each in parts) and not any(
        isinstance(each, ast.NamedExpr) for each in _walk_eagerly(node)
    )


def _eager(node: ast.AST, is_late: bool) -> list[ast.AST]:
    """Return the parts of a statement that run where its module is imported.

    Annotations do not where they are evaluated late, if at all.
    """
    if isinstance(node, FUNCTIONS):
        arguments = node.args
        hints = [] if is_late else [node.returns, *(
            each.annotation for each in ast.walk(arguments) if isinstance(each, ast.arg))]
        parts = (*node.decorator_list, *arguments.defaults, *arguments.kw_defaults, *hints)
        return [part for part in parts if part is not None]
    if isinstance(node, ast.ClassDef):
        inside = [part for each in node.body for part in _eager(each, is_late)]
        return [*node.decorator_list, *node.bases, *node.keywords, *inside]
    if isinstance(node, ast.AnnAssign):
        return [part for part in (node.value, None if is_late else node.annotation) if part]
    return [] if _is_text(node) else [node]


def _walk_eagerly(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, but nothing in functions and classes."""
    yield node
    for each in ast.iter_child_nodes(node) if not isinstance(node, (*SCOPES, ast.Lambda)) else ():
        yield from _walk_eagerly(each)


def _called(part: ast.AST) -> Iterator[ast.expr]:
    """Yield what is called in a part of a statement that runs at once."""
    for node in _walk_eagerly(part):
        if isinstance(node, ast.Call):
            yield node.func


def _decorators(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what decorates a function or a class, or what is in that."""
    if isinstance(node, SCOPES):
        yield from (each for each in node.decorator_list if not isinstance(each, ast.Call))
        for inner in node.body if isinstance(node, ast.ClassDef) else ():
            yield from _decorators(inner)


def _is_fixed(node: ast.AST) -> bool:
    """Return whether a statement binds what nothing can change: a function, a text, a number."""
    value = getattr(node, "value", None)
    if isinstance(node, SCOPES):
        return True
    if isinstance(node, ast.Assign | ast.AnnAssign) and value is not None:
        return all(
            isinstance(each, ast.Constant | ast.Tuple | ast.expr_context | ast.operator |
                       ast.unaryop | ast.BinOp | ast.UnaryOp)
            for each in ast.walk(value)
        )
    return False


def _dotted(node: ast.AST) -> str:
    """Return `a.b` of a name and its attributes; of those of anything else `.b`, and else ""."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _first_line(node: ast.stmt) -> int:
    """Return where a statement begins, with what decorates it."""
    found: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in found)])


def _last_word(decorator: ast.expr) -> str:
    """Return what a decorator is called, whatever it is given."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return _dotted(function).rpartition(".")[2]


def _data(body: Iterable[ast.AST]) -> tuple[str, ...]:
    """Return the patterns of the files that a module says that it reads."""
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DATA":
            return tuple(ast.literal_eval(node.value))
    return ()

# --- Definitions kept beside byte code ------------------------------------------------------------
#
# A syntax tree is made only of a module that changed. A command that makes keys reads what is kept
# of every other module, and the text of the module, to know that it is the same.

TOP = __name__.removesuffix(".make.core.definitions")
"""The package of all modules; its folder is `STAGES`."""
VERSION = 2
"""Version of the format of marshal, with one text for one content."""


def module(name: str) -> Module | None:
    """Return the definitions of a module; None for a name that is no module of this project."""
    path = path_of_module(name)
    return _module(path) if path is not None else None


@functools.cache
def path_of_module(name: str) -> str | None:
    """Return the file of a module, or of a package; None where there is none."""
    if not f"{name}.".startswith(f"{TOP}."):
        return None
    *above, last = [str(STAGES), *name.removeprefix(TOP).split(".")[1:]]
    if not above:
        return _there(last, "__init__.py")
    folder = os.path.join(*above)
    inside = _there(os.path.join(folder, last), "__init__.py") if last in names_in(folder) else None
    return inside or _there(folder, f"{last}.py")


def _there(folder: str, name: str) -> str | None:
    return os.path.join(folder, name) if name in names_in(folder) else None


@functools.cache
def names_in(folder: str) -> frozenset[str]:
    """Return the names in a folder; none where there is no folder."""
    with contextlib.suppress(OSError):
        return frozenset(os.listdir(folder))
    return frozenset()


@functools.cache
def _module(path: str) -> Module:
    """Return what is known of the module in a file."""
    content = Path(path).read_bytes()
    found, (folder, name) = digest_of(content), os.path.split(path)
    known = kept(folder).get(name)
    if known is None or known[0] != found:
        package = ".".join([TOP, *Path(folder).relative_to(STAGES).parts])
        kept(folder)[name] = known = found, read_module(content, package, TOP)
        _drop_byte_code(path)
        _changed().add(folder)
    return known[1]


@functools.cache
def kept(folder: str) -> dict[str, tuple[str, Module]]:
    """Return the kept definitions of modules in a folder, by the names of their files."""
    with contextlib.suppress(OSError):
        seal, _, text = read_file(_file(folder)).partition(b"\n")
        if seal == _seal(text):
            return {name: (found, _module_of(data)) for name, found, data in marshal.loads(text)}
    return {}


@functools.cache
def _changed() -> set[str]:
    """The folders of which more is known than is kept."""
    return set()


def keep() -> None:
    """Keep the definitions of modules for other processes."""
    for folder in _changed() if not sys.dont_write_bytecode else ():
        data = [(name, found, _data_of(each)) for name, (found, each) in kept(folder).items()]
        text = marshal.dumps(data, VERSION)
        with contextlib.suppress(OSError):
            write_whole(_file(folder), _seal(text) + b"\n" + text)
    _changed().clear()


def _data_of(module: Module) -> tuple[object, ...]:
    """Return a module as marshal writes it: without the names of classes."""
    definitions = {name: tuple(each) for name, each in module.definitions.items()}
    return definitions, module.imports, tuple(module.rest), module.data


def _module_of(data: tuple[dict[str, list[object]], ...]) -> Module:
    definitions, imports, rest, patterns = data
    return Module(
        {name: Definition(*each) for name, each in definitions.items()},  # type: ignore[arg-type]
        imports, Definition(*rest), patterns,  # type: ignore[arg-type]
    )


def _drop_byte_code(path: str) -> None:
    """Remove what Python compiled of a module that changed: it looks at size and seconds only."""
    with contextlib.suppress(OSError):
        os.unlink(importlib.util.cache_from_source(path))


def _file(folder: str) -> Path:
    return compiled(folder) / ".imports"


def _seal(text: bytes) -> bytes:
    """Return the digest of a text and of what decides what is kept."""
    return digest_of(_own() + text).encode()


@functools.cache
def _own() -> bytes:
    """Return the text of what reads modules, and the version of Python, which has other trees."""
    files = (__file__, read_module.__code__.co_filename)
    return sys.version.encode() + b"".join(Path(file).read_bytes() for file in files)
