"""The files that are the code of a stage: what its module imports, and data that these read.

Imports are taken from the syntax trees of modules, wherever they stand: in functions too. Those for
`TYPE_CHECKING` are left out, since they never run: what they name is in annotations only, which
nothing evaluates here. A module that reads files of the project says which at its top level, by
patterns that start from its folder: `DATA = ("*.c", "*.h")`.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import glob
import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stages.make.core.declare import path_of
from stages.make.store.files import read_file, write_whole
from stages.shipped import STAGES, compiled

RUNNER = "make/core/stage.py"
"""What runs every stage, and reads for it."""

FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
NESTED = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a statement has others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What is known of a file: its digest, the modules that it imports, and its DATA."""

    digest: str
    modules: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


def code_of(stage: str) -> dict[str, str]:
    """Return the digest of every file that a stage's code is, by its path below `stages/`.

    What lies beside that folder is called by its path from there: `templates/program.c.j2`.
    """
    found = reached(name_of(str(path_of(stage))), RUNNER)
    return {name_of(path): code.digest for path, code in found.items()}


def reached(*names: str) -> dict[str, Code]:
    """Return what is known of some modules, and of all files that they need, by path."""
    found: dict[str, Code] = {}
    waiting = [str(STAGES / name) for name in names]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = _code(path)
            waiting += _needed(path, found[path])
    _keep(found)
    return found


def name_of(path: str) -> str:
    """Return what a file of code is called."""
    return path.removeprefix(f"{STAGES}/").removeprefix(f"{STAGES.parent}/")


def _needed(path: str, code: Code) -> Iterator[str]:
    """Yield the files that one needs; those of packages run before those of their modules."""
    for module in code.modules:
        yield from _files_of(module)
    folder = os.path.dirname(path)
    for pattern in code.data:
        names = glob.glob(pattern, root_dir=folder)
        yield from (os.path.normpath(os.path.join(folder, name)) for name in names)


@functools.cache
def _files_of(module: str) -> tuple[str, ...]:
    """Return the files that importing a module runs: none for a name that is no module."""
    above, _, name = module.rpartition(".")
    folder = os.path.join(STAGES.parent, *above.split("."))
    files = [os.path.join(folder, name, "__init__.py"), os.path.join(folder, f"{name}.py")]
    here = [file for file in files if os.path.basename(file) in _names_in(os.path.dirname(file))]
    return (*(_files_of(above) if above else ()), *here)


@functools.cache
def _names_in(folder: str) -> frozenset[str]:
    """Return what lies in a folder; nothing where there is none."""
    with contextlib.suppress(OSError):
        return frozenset(os.listdir(folder))
    return frozenset()


@functools.cache
def _code(path: str) -> Code:
    """Return what is known of a file; its syntax tree is made only if it has changed."""
    content = Path(path).read_bytes()
    found = hashlib.sha256(content).hexdigest()[:32]
    if not path.endswith(".py"):
        return Code(digest=found)
    known = _kept(os.path.dirname(path)).get(os.path.basename(path))
    if known is not None and known[0] == found:
        return Code(digest=found, modules=tuple(known[1]), data=tuple(known[2]))
    return _parsed(path, content, found)


def _parsed(path: str, content: bytes, found: str) -> Code:
    """Return what the syntax tree of a module says; one that is wrong imports nothing."""
    try:
        body = ast.parse(content).body
    except SyntaxError:
        return Code(digest=found)
    package = Path(path).relative_to(STAGES.parent).parent.parts
    modules = {module for node in statements(body) for module in _imported(node, package)}
    own = sorted(name for name in modules if name.partition(".")[0] == STAGES.name)
    return Code(digest=found, modules=tuple(own), data=_data(body))


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements that may run, at any depth."""
    for node in body:
        yield node
        for_types = isinstance(node, ast.If) and ast.unparse(node.test) in FOR_TYPES
        for field in ("orelse",) if for_types else NESTED:
            yield from statements(getattr(node, field, ()))


def _imported(node: ast.AST, package: Sequence[str]) -> Iterator[str]:
    """Yield the modules that a statement imports, and what may be one: `y` of `from x import y`."""
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else ()
        module = ".".join([*above, *([node.module] if node.module else [])])
        yield module
        yield from (f"{module}.{each.name}" for each in node.names)


def _data(body: Iterable[ast.AST]) -> tuple[str, ...]:
    """Return the patterns of the files that a module says that it reads."""
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DATA":
            return tuple(ast.literal_eval(node.value))
    return ()


@functools.cache
def _kept(folder: str) -> dict[str, tuple[str, list[str], list[str]]]:
    """Return what is kept of the modules in a folder, by name: digest, modules and data."""
    with contextlib.suppress(OSError):
        seal, _, text = read_file(_file(folder)).partition(b"\n")
        if seal == _seal(text):
            return dict(json.loads(text))
    return {}


def _keep(found: dict[str, Code]) -> None:
    """Keep what syntax trees say beside what Python keeps of the same modules."""
    changed = set()
    for path, code in found.items():
        folder, name = os.path.split(path)
        known = (code.digest, list(code.modules), list(code.data))
        if name.endswith(".py") and tuple(_kept(folder).get(name, ())) != known:
            _kept(folder)[name] = known
            _drop_byte_code(path)
            changed.add(folder)
    for folder in changed if not sys.dont_write_bytecode else ():
        text = json.dumps(_kept(folder)).encode()
        with contextlib.suppress(OSError):
            write_whole(_file(folder), _seal(text) + b"\n" + text)


def _drop_byte_code(path: str) -> None:
    """Remove what Python compiled of a module that changed: it looks at size and seconds only."""
    with contextlib.suppress(OSError):
        os.unlink(importlib.util.cache_from_source(path))


def _file(folder: str) -> Path:
    return compiled(folder) / ".imports"


def _seal(text: bytes) -> bytes:
    """Return the digest of a text and of this module, which decides what is kept."""
    return hashlib.sha256(_own() + text).hexdigest().encode()


@functools.cache
def _own() -> bytes:
    return Path(__file__).read_bytes()
