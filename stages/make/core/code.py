"""Code of a stage: the definitions that it reaches, and data that their modules read.

Names are followed through modules, from what the Make calls of a stage, and from what runs every
stage. A module that is reached also reaches what importing it runs. A reference that leads nowhere,
and a module that is used as a value, counts as all that the module defines. Modules that read files
of the project name these at their top level, by patterns that start from their folder:
`DATA = ("*.c", "*.h")`. Such files count with any definition of the module.
"""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lairmake.stages import module_of
from lairmake.stages.make.core.definitions import (
    LOADED,
    TOP,
    WHOLE,
    digest_of,
    keep,
    module,
    path_of_module,
)
from lairmake.stages.shipped import STAGES

CALLED = ("run", "READS", "WRITES")
"""Names in the module of a stage that the Make uses."""
RUNNER = (f"{TOP}.make.core.stage.{WHOLE}", f"{TOP}.make.core.inputs.FolderInputs")
"""Definitions that run every stage, and read for it."""
ORDER = "order of imports"

Node = tuple[str, str]
"""A module, and a definition in it; "" is what importing the module runs, "*" all that it has."""


@dataclass(frozen=True, slots=True)
class StageReach:
    """Reached code: digests of definitions, by module and name, and of files of data.

    The name "" is for what importing a module runs. `modules` are all imported modules, in order.
    """

    definitions: Mapping[str, Mapping[str, str]]
    data: Mapping[str, str]
    modules: Sequence[str]

    @property
    def units(self) -> dict[str, str]:
        """Digests by unit: every module, every file of data, and the order of imports.

        Only modules that run something where they are imported count for the order.
        """
        order = [name for name in self.modules if "" in self.definitions.get(name, ())]
        parts = {name: digest_of_part(part) for name, part in self.definitions.items()}
        return {**parts, **self.data, ORDER: digest_of(repr(order).encode())}


def path_of_unit(unit: str) -> str:
    """Return the path of a unit from the folder above `stages/`: a module, or a file of data."""
    path = path_of_module(unit)
    if path is None:
        is_data = "/" in unit or not f"{unit}.".startswith(f"{TOP}.")
        return unit if is_data else f"{unit.replace('.', '/')}.py"
    return os.path.relpath(path, STAGES.parent)


def lines_of(own: str, name: str) -> int:
    """Return the lines of a definition of a module; "" is what importing the module runs."""
    known = module(own)
    assert known is not None
    found = known.rest if name == "" else known.definitions.get(name)
    return found.lines if found is not None else 0


def digest_of_part(part: Mapping[str, str]) -> str:
    """Return the digest of some definitions of a module."""
    return digest_of(repr(sorted(part.items())).encode("utf-8", "surrogatepass"))


@functools.cache
def reach_of(stage: str) -> StageReach:
    """Return what a stage reaches."""
    own = module_of(stage)
    return reach(*(f"{own}.{name}" for name in CALLED))


def reach(*names: str) -> StageReach:
    """Return what some definitions reach, by their full names, with what runs every stage."""
    nodes = _follow(names, _of_runner())
    found: dict[str, dict[str, str]] = {}
    for node in nodes:
        if text := _digest(node):
            found.setdefault(node[0], {})[node[1]] = text
    data = {name_of(path): _digest_of_file(path) for own in found for path in _files(own)}
    keep()
    return StageReach(found, data, tuple(_in_order(nodes)))


@functools.cache
def _of_runner() -> Mapping[Node, None]:
    return _follow(RUNNER, {})


def name_of(path: str) -> str:
    """Return the path of a file below `stages/`, or else below the folder around `stages/`.

    An example of the latter is `templates/program.c.j2`.
    """
    return path.removeprefix(f"{STAGES}/").removeprefix(f"{STAGES.parent}/")


def _follow(names: Iterable[str], known: Mapping[Node, None]) -> dict[Node, None]:
    """Return all that some names lead to, and what is `known`, in the order in which it is found.
    """
    found = dict(known)
    waiting = [node for name in names for node in _meant(name)]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting += _after(node)
    return found


@functools.cache
def _after(node: Node) -> Sequence[Node]:
    """Return the nodes to which one refers, and what is imported for it, each of them once."""
    return tuple(dict.fromkeys(_led_to(node)))


def _led_to(node: Node) -> Iterable[Node]:
    own, name = node
    known = module(own)
    assert known is not None
    if name == "":
        above = own.rpartition(".")[0]
        return [
            *([(above, "")] if module(above) is not None else []),
            *_nodes(own, known.rest.names),
            *((own, each) for each in known.definitions if _is_hooked(own, each)),
        ]
    if name == WHOLE:
        every = dict.fromkeys((*known.definitions, *known.imports))
        return [(own, ""), *((own, each) for each in every)]
    names = known.definitions[name].names if name in known.definitions else ()
    return [(own, ""), *_nodes(own, (*names, *known.imports.get(name, ())))]


def _nodes(own: str, names: Iterable[str]) -> Iterator[Node]:
    """Yield what the references of a module mean."""
    for name in names:
        if "." in name or name.endswith(LOADED):
            yield from _meant(name)
        else:
            yield own, name


def _meant(name: str) -> Iterator[Node]:
    """Yield what a full name means: the module that it begins with, and a definition there."""
    if name.endswith(LOADED):
        place = name.removesuffix(LOADED)
        places = [each for each in (place, place.rpartition(".")[0]) if module(each) is not None]
        yield from ((each, "") for each in places[:1])
        return
    place, others = name, list[str]()
    while place and module(place) is None:
        place, _, last = place.rpartition(".")
        others.insert(0, last)
    known = module(place)
    if known is None:
        return
    has = others[:1] and (others[0] in known.definitions or others[0] in known.imports)
    yield place, others[0] if has else WHOLE


@functools.cache
def _is_hooked(own: str, name: str) -> bool:
    """Return whether something runs where a class is defined, since a class that it is based on,
    or is, says so."""
    known = module(own)
    definition = known.definitions.get(name) if known is not None else None
    if definition is None:
        return False
    return definition.is_hook or any(
        node != (own, name) and _is_hooked(*node) for node in _nodes(own, definition.bases)
    )


@functools.cache
def _digest(node: Node) -> str:
    """Return the digest of a node, "" for one that does nothing.

    A name that is imported, for others that import it from here, is what it stands for.
    """
    own, name = node
    known = module(own)
    assert known is not None
    if name == "":
        return known.rest.digest
    found = [known.definitions[name].digest] if name in known.definitions else []
    found += [digest_of(repr(each).encode()) for each in (known.imports.get(name),) if each]
    return " ".join(filter(None, found))


@functools.cache
def _files(own: str) -> Sequence[str]:
    """Return the files of data that a module reads."""
    known, path = module(own), path_of_module(own)
    assert known is not None and path is not None
    folder = os.path.dirname(path)
    names = (name for pattern in known.data for name in glob.glob(pattern, root_dir=folder))
    return [os.path.normpath(os.path.join(folder, name)) for name in names]


@functools.cache
def _digest_of_file(path: str) -> str:
    return digest_of(Path(path).read_bytes())


def _in_order(nodes: Iterable[Node]) -> Iterator[str]:
    """Yield the modules that are imported, each after those that it imports at its top level."""
    seen: set[str] = set()

    def visit(own: str) -> Iterator[str]:
        seen.add(own)
        for inner in _loads(own):
            if inner not in seen:
                yield from visit(inner)
        yield own

    for own, name in nodes:
        if name == "" and own not in seen:
            yield from visit(own)


@functools.cache
def _loads(own: str) -> Sequence[str]:
    """Return the modules that one imports at its top level, in order."""
    return [inner for inner, name in _after((own, "")) if name == ""]
