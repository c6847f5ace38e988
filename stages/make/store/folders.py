"""Folders of layers, networks, kernels and programs, and the files in them."""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lairmake.stages import ANALYSES, PIPELINE, PROGRAM as PROGRAM_STAGES
from lairmake.stages.make.store.files import link_below
from lairmake.stages.shipped import STAGES

# --- Places of files: layer folder, workspace, cache ----------------------------------------------

LAYER = "layer.yaml"
NETWORK = "network.yaml"
KERNEL = "kernel.yaml"
PROGRAM = "program.yaml"
CHOSEN = "chosen.yaml"
"""Choice of a search, for a layer whose layer.yaml leaves something open."""
PARTS, SPLIT = "parts.yaml", "split"
"""File with the parts of a graph, and the stage that splits it; no other folder has these."""
MLIR = ".mlir"
GRAPHS = (".onnx", ".pb", ".pbtxt")
"""Endings of graphs of frameworks."""
OF_USER = (".lair", MLIR, *GRAPHS, ".py")
"""Endings of texts that people write, besides those in `WRITTEN`."""
OF_DOIT = "dodo.py"
"""A file that only doit reads."""
FIGURES = "figures//"
"""Beginning of the name of a profile's figures that a stage reads."""
PROFILES = STAGES / "machine" / "profiles"
STATE = ".lairmake"
WRITTEN = frozenset({LAYER, NETWORK, KERNEL, PROGRAM})
MOST_PATHS = 10_000
NOT_LAYERS = frozenset({"build", "cache", "inputs", "outputs"})
SWEEP = "sweep"
"""Folder in `build/` with a folder for each combination of values of a sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCrossing:
    """A tensor that comes from another part of a network.

    `name` is its name for the stages, `inputs/x.npy`. `file` is the file that the other part wrote,
    and `after` are the tasks that must run before it is read.
    """

    name: str
    file: Path
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFolder:
    """A layer folder: its name among the tasks, and the folders that its files lie in.

    `build` is the folder of what it builds. `home` holds the state of doit: it is the workspace, or
    outside of one the layer folder itself. `stages` build it; `analyses` run only if they are asked
    for.

    A network folder is a layer folder, too, and has `parts` by their names: its name for the
    `lair.isl` of its part a is `a/lair.isl`. So is a kernel folder, which has a `.mlir` instead of
    a layer.yaml; its parts are `asked_in` its kernel.yaml. Where its parts are not known, `unread`
    says why.

    A layer `is_searched` if its layer.yaml leaves something open. Its parts are then slots, which
    lie in the cache only. Each `is_slot`, and tries one candidate on what a user wrote for the
    layer.
    """

    name: str
    path: Path
    build: Path
    cache: Path
    home: Path
    stages: tuple[str, ...] = PIPELINE
    analyses: tuple[str, ...] = ANALYSES
    crossings: tuple[PartCrossing, ...] = ()
    parts: tuple[tuple[str, LayerFolder], ...] = ()
    asked_in: Path | None = None
    is_searched: bool = False
    is_slot: bool = False
    unread: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process makes the folder: as one object for all of its tasks."""
        places = map(str, (self.path, self.build, self.cache, self.home))
        asked_in = None if self.asked_in is None else str(self.asked_in)
        more = self.stages, self.analyses, self.crossings, self.parts
        kind = self.is_searched, self.is_slot
        return _folder_of, (self.name, *places, asked_in, *more, *kind)


@functools.lru_cache(MOST_PATHS)
def _folder_of(
    name: str, path: str, build: str, cache: str, home: str, asked_in: str | None,
    stages: tuple[str, ...], analyses: tuple[str, ...], crossings: tuple[PartCrossing, ...],
    parts: tuple[tuple[str, LayerFolder], ...], is_searched: bool, is_slot: bool,
) -> LayerFolder:
    return LayerFolder(
        name=name, path=one_path(path), build=one_path(build), cache=one_path(cache),
        home=one_path(home),
        asked_in=None if asked_in is None else Path(asked_in), stages=stages, analyses=analyses,
        crossings=crossings, parts=parts, is_searched=is_searched, is_slot=is_slot,
    )


@functools.lru_cache(4 * MOST_PATHS)
def one_path(path: str) -> Path:
    """Return the one object for a path.

    Much is looked up by paths at each step, and to compare two objects takes long.
    """
    return Path(path)


def mark_of(files: Iterable[str]) -> str | None:
    """Return the file that makes a folder with these files one to build; None for none.

    Beside a graph or a `.mlir`, a layer.yaml does not count: a stage refuses it.
    """
    found = set(files)
    graphs, kernels = (
        sorted(name for name in found if name.endswith(end)) for end in (GRAPHS, (MLIR,))
    )
    named = (NETWORK, PROGRAM) if LAYER not in found else ()
    marks = (*graphs, *named, *kernels, LAYER)
    return next((name for name in marks if name in found), None)


def files_in(path: Path) -> list[str]:
    """Return the names in a folder; none where there is no folder."""
    return os.listdir(path) if path.is_dir() else []


def every_stage(folder: LayerFolder) -> tuple[str, ...]:
    """Return the stages of a folder, also those that only run where they are asked for."""
    return folder.stages + folder.analyses


def parts_of(folder: LayerFolder) -> list[LayerFolder]:
    """Return the parts of a network, each after those that it takes tensors from."""
    return [part for _, part in folder.parts]


def wholes_of(folders: Iterable[LayerFolder]) -> dict[str, str]:
    """Return the name of the network or kernel of each part, by the part's name."""
    inner_first = sorted(folders, key=lambda folder: -len(folder.name))
    return {part.name: whole.name for whole in inner_first
            for part in folders_of(whole) if part is not whole}


def folders_of(folder: LayerFolder) -> list[LayerFolder]:
    """Return a folder, its parts, and the parts of these.

    Parts come before a network or a layer, but after a kernel.
    """
    parts = [each for part in parts_of(folder) for each in folders_of(part)]
    is_kernel = any(part.asked_in is not None for part in parts_of(folder))
    return [folder, *parts] if is_kernel else [*parts, folder]


def file_of(folder: LayerFolder, name: str) -> Path:
    """Return the file that a stage calls `name`.

    A user's files lie in the layer folder, the texts of the stages in the cache.
    """
    head, _, rest = name.partition("/")
    for part, inside in folder.parts:
        if part == head:
            return file_of(inside, rest)
    for crossing in folder.crossings:
        if crossing.name == name:
            return crossing.file
    if head == "build":
        return _joined(folder.build, rest)
    if name in WRITTEN or name.endswith(OF_USER) or head in ("inputs", "outputs"):
        return _joined(folder.path, name)
    return _joined(folder.cache, name)


@functools.lru_cache(MOST_PATHS)
def _joined(folder: Path, name: str) -> Path:
    return folder / name


def further_file(folder: LayerFolder, name: str) -> Path:
    """Return the file that layer.yaml names by a path, which starts from the layer folder.

    In a network the path follows the name of the part: `a/../mine.yaml`. The file of a profile's
    figures is the profile.
    """
    if name.startswith(FIGURES):
        given = name.removeprefix(FIGURES)
        ours = PROFILES / f"{given}.yaml"
        return ours if "." not in given and "/" not in given else further_file(folder, given)
    head, _, rest = name.partition("/")
    part = dict(folder.parts).get(head)
    return further_file(part, rest) if part is not None else folder.path / name


def is_profile(name: str) -> bool:
    """Return whether a name is that of a machine whose profile comes with the compiler."""
    return "." not in name and "/" not in name and (PROFILES / f"{name}.yaml").is_file()


def is_program(folder: LayerFolder) -> bool:
    """Return whether a folder is that of a program, whose run may open any file in it."""
    return folder.stages[:1] == PROGRAM_STAGES[:1]


def is_pattern(name: str) -> bool:
    """Return whether `name` stands for any number of files, as `inputs/*.npy` does."""
    return "*" in name


def names_of(folder: LayerFolder, pattern: str) -> list[str]:
    """Return the names of the files there are that match `pattern`, sorted."""
    head, _, rest = pattern.partition("/")
    parts = [(n, part) for n, part in folder.parts if fnmatch.fnmatchcase(n, head)]
    if parts:
        parts = [(n, part) for n, part in parts if rest != CHOSEN or part.is_searched]
        return sorted(f"{n}/{name}" for n, part in parts for name in names_of(part, rest))
    if pattern == PARTS and SPLIT not in folder.stages:
        return []
    names = set(_matches(folder, pattern)) - {OF_DOIT}
    crossing = (c for c in folder.crossings if fnmatch.fnmatchcase(c.name, pattern))
    return sorted({*names, *(c.name for c in crossing if c.file.is_file())})


def names_meant(folder: LayerFolder, declared: Iterable[str]) -> list[str]:
    """Return the names that a stage declares, with each pattern as the files that there are.

    The choice of a search is left out for a layer that leaves nothing open, even if it is there.
    """
    meant = (
        names_of(folder, name) if is_pattern(name) else [name] for name in declared
        if name != CHOSEN or folder.is_searched
    )
    return [name for names in meant for name in names]


def _matches(folder: LayerFolder, pattern: str) -> Iterator[str]:
    """Yield the names of files in the folder that match a pattern, folders in it included.

    What a symbolic link leads to is none of what stages wrote.
    """
    names = pattern.split("/")
    first = next((k for k, name in enumerate(names) if is_pattern(name)), len(names) - 1)
    top = file_of(folder, pattern).parents[len(names) - first - 1]
    if names[0] != "build" or link_in(folder, top / "any") is None:
        for name in _below(str(top), names[first:]):
            yield "/".join([*names[:first], name])


def _below(folder: str, patterns: Sequence[str]) -> Iterator[str]:
    """Yield the names below a folder of which each part matches its pattern."""
    try:
        with os.scandir(folder) as entries:
            found = [each for each in entries if fnmatch.fnmatchcase(each.name, patterns[0])]
    except OSError:
        return
    for each in found:
        if len(patterns) == 1 and not each.name.startswith("."):
            yield each.name
        elif len(patterns) > 1 and each.is_dir(follow_symlinks=False):
            yield from (f"{each.name}/{name}" for name in _below(each.path, patterns[1:]))


def link_in(folder: LayerFolder, path: Path) -> str | None:
    """Return the first symbolic link on the way to a file that stages write; None for none.

    Links count below the folder with all that is built: the workspace, or the layer folder outside
    of one, wherever that is.
    """
    return link_below(_top_of(str(folder.build), str(folder.cache)), str(path))


def was_link_in(folder: LayerFolder, path: Path) -> str | None:
    """Return `link_in` of a file's folder, found once: for those who only read the file."""
    return _link_to(_top_of(str(folder.build), str(folder.cache)), os.path.dirname(path))


@functools.lru_cache(MOST_PATHS)
def _link_to(top: str, folder: str) -> str | None:
    return link_below(top, f"{folder}/any")


@functools.cache
def _top_of(build: str, cache: str) -> str:
    return os.path.commonpath((build, cache))


def user_folder() -> Path:
    """Return the folder where the user stands, even if this process has moved since."""
    return _resolved(_start() or os.getcwd())


def _start() -> str | None:
    """Return where this process stood before it moved to another folder: None if it did not."""
    return None


def let_move(start: Callable[[], str | None]) -> None:
    """Note the function that says where this process stood before it moved, or None."""
    global _start
    _start = start


@functools.cache
def _resolved(path: str) -> Path:
    return Path(path).resolve()


def shown_path(path: Path) -> str:
    """Return `path` as the user would write it: relative where it lies below where they stand."""
    name, here = str(path), user_folder()
    below = os.path.join(here, "")
    if name.startswith(below):
        return name.removeprefix(below)
    return "." if path == here else name

# --- Names from files that anybody may have written -----------------------------------------------

DIGEST = re.compile(r"[0-9a-f]{64}")
MOST = 4096
"""Length of the name of a file, in characters, at most."""


def is_digest(text: object) -> bool:
    """Return whether a value is a sha256, in hexadecimal digits."""
    return isinstance(text, str) and DIGEST.fullmatch(text) is not None


def is_name(text: object) -> bool:
    """Return whether a file may have this name: the system must not refuse it, or cut it."""
    if not isinstance(text, str) or not 0 < len(text) <= MOST or "\0" in text:
        return False
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def is_word(text: object) -> bool:
    """Return whether a value is a name as people give to parts and tensors, and no path."""
    return isinstance(text, str) and text.isidentifier()


def is_inside(text: object) -> bool:
    """Return whether a name leads from a folder to a file below it, and never out of it."""
    return is_name(text) and not {"", ".", ".."}.intersection(str(text).split("/"))


def matches(name: str, pattern: str) -> bool:
    """Return whether a name fits a declared name or pattern; `*` matches no `/`."""
    if "*" not in pattern:
        return name == pattern
    names, patterns = name.split("/"), pattern.split("/")
    return len(names) == len(patterns) and is_inside(name) and all(
        map(fnmatch.fnmatchcase, names, patterns)
    )
