"""What is known of the modules of this project: kept beside what Python keeps of them.

A syntax tree is made only of a module that changed, so that a command which makes keys reads what
is kept, and the text of each module to know that it is the same.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import marshal
import os
import sys
from pathlib import Path

from lairmake.stages.make.core.definitions import Definition, Module, digest_of, read_module
from lairmake.stages.make.store.files import read_file, write_whole
from lairmake.stages.shipped import STAGES, compiled

TOP = __name__.removesuffix(".make.core.imports")
"""The package that all modules lie in, in its folder `STAGES`."""
VERSION = 2
"""Of what marshal writes: one text for one content."""


def module(name: str) -> Module | None:
    """Return what is known of a module; None for a name that is none of this project."""
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
    """Return what lies in a folder; nothing where there is none."""
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
    """Return what is kept of the modules in a folder, by the names of their files."""
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
    """Keep what is known of modules for other processes."""
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
