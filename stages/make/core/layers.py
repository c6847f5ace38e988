"""Folders opened and built as one."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from lairmake.stages import (
    ANALYSES,
    GRAPH as GRAPH_STAGES,
    KERNEL as KERNEL_STAGES,
    KERNEL_PICTURES,
    NETWORK_PICTURES,
    PIPELINE,
    PROGRAM as PROGRAM_STAGES,
    PROGRAM_PICTURES,
    SLOTS,
)
from lairmake.stages.make.core.derived import with_report, with_slots
from lairmake.stages.make.store.files import warn
from lairmake.stages.make.store.folders import (
    GRAPHS,
    KERNEL,
    MLIR,
    NETWORK,
    NOT_LAYERS,
    PROGRAM,
    SWEEP,
    LayerFolder,
    files_in,
    folders_of,
    mark_of,
    one_path,
    parts_of,
    user_folder,
)

# --- Names that no task of doit can have ----------------------------------------------------------
#
# A folder with such a name is left out, and the others are built.

DELETE, LATIN = 0x7F, 0xA0
"""Control characters lie below the space, and from `DELETE` to before `LATIN`."""


class TaskNames:
    """The names that doit, with its `commands`, can be asked for.

    `left_out` says why folders are left out for their names.
    """

    def __init__(self, commands: Collection[str] = ()) -> None:
        self.commands = frozenset(commands)
        self.left_out: dict[str, str] = {}

    def usable(
        self, found: Collection[str], is_searched: Callable[[str], bool]
    ) -> Iterator[str]:
        """Yield the names of layers that a task may have, and note why others are left out.

        No layer may have the name of a slot of a layer around it that `is_searched`.
        """
        for name in found:
            around, _, last = name.rpartition("/")
            fault = name_fault(name, self.commands)
            if last in SLOTS and around in found and is_searched(around):
                fault = f"the search of {around} has a slot of this name", name
            if fault is None:
                yield name
            else:
                self.left_out[fault[1]] = fault[0]

    def tell(self) -> None:
        """Say which folders are left out, a line for each."""
        for folder, why in sorted(self.left_out.items()):
            warn(f"{shown_name(f'projects/{folder}')} is left out, since {why}: rename it")


def name_fault(name: str, commands: Collection[str] = ()) -> tuple[str, str] | None:
    """Return why nobody could ask doit for a layer, and the folder to rename; None if one can.

    The whole name may be none of `commands`, those of doit. The folder is the first one, on the way
    to the layer, whose own name is at fault.
    """
    if name in commands:
        return "doit has a command of this name", name
    if name.startswith("-"):
        return "doit takes it for an option", name.partition("/")[0]
    if name.isascii() and name.replace("/", "_").replace("-", "_").isidentifier():
        return None  # as nearly every name: a command looks at all of them
    folders = name.split("/")
    for count, folder in enumerate(folders, 1):
        if why := _fault(folder):
            return why, "/".join(folders[:count])
    return None


def _fault(folder: str) -> str:
    if "=" in folder:
        return "doit takes it for a variable"
    if ":" in folder:
        return "what comes after : is a stage"
    if folder.encode(errors="replace") != os.fsencode(folder):
        return "that is not UTF-8"
    if len(folder.splitlines()) > 1 or any(map(_controls, folder)):
        return "it has a control character"
    return ""


def _controls(character: str) -> bool:
    return character < " " or DELETE <= ord(character) < LATIN


def shown_name(name: str) -> str:
    """Return a name on one line, with escapes for what a terminal does not show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)

# --- Folders that are built: opened, and found in a workspace -------------------------------------

def open_folder(path: Path | str) -> LayerFolder:
    """Return the layer or network folder at `path`, whatever its spelling; it need not exist.

    For a folder in a network that is wrong, return the network: the folder may be a part of it.
    """
    folder = Path(path).resolve()
    for place in (folder, folder.parent):
        if mark_of(files_in(place)) == NETWORK:
            from lairmake.stages.make.core.derived import open_network

            network = with_report(open_network(lone_folder(place)))
            inside = (f for f in (network, *parts_of(network)) if f.build == folder / "build")
            return next(inside, lone_folder(folder) if network.parts else network)
    return with_parts(lone_folder(folder))


def open_first(path: Path | str) -> LayerFolder | None:
    """Return the folder of a graph without its parts, since it takes long to find them.

    Return None for any other folder, and for a folder in one that is built: it may be a part.
    """
    folder = Path(path).resolve()
    marks = [mark_of(files_in(place)) for place in (folder, folder.parent)]
    if marks[0] is None or not marks[0].endswith(GRAPHS) or marks[1] is not None:
        return None
    from lairmake.stages.make.core.derived import before_parts

    return before_parts(lone_folder(folder))


def network_of(folder: LayerFolder) -> LayerFolder:
    """Return the network that a folder is a part of, or the folder itself."""
    around = open_folder(folder.path.parent)
    return around if folder in parts_of(around) else folder


def with_parts(folder: LayerFolder) -> LayerFolder:
    """Return a folder with its parts, its slots and its report.

    Kernels have parts of their result, if any, and graphs have parts. A layer has slots if its
    layer.yaml leaves something open. The last stage draws a report where the user asked for that.
    """
    return with_report(_opened(folder))


def _opened(folder: LayerFolder) -> LayerFolder:
    if folder.stages == KERNEL_STAGES and (folder.path / KERNEL).is_file():
        from lairmake.stages.make.core.derived import open_kernel

        return open_kernel(folder)
    if folder.stages == GRAPH_STAGES:
        from lairmake.stages.make.core.derived import open_graph

        return open_graph(folder)
    return with_slots(folder) if folder.stages == PIPELINE else folder


def lone_folder(folder: Path) -> LayerFolder:
    """Return the folder at a resolved path, as if it were no part of a network."""
    workspace = find_workspace(folder)
    home = workspace if workspace is not None else _swept(folder) or folder
    name, cache = folder.relative_to(home.parent), folder / "cache"
    if workspace is not None:
        name = folder.relative_to(workspace / "projects")
        cache = workspace / "cache" / name
    stages, analyses = _stages_of(mark_of(files_in(folder)) or "")
    return LayerFolder(
        name=name.as_posix(), path=one_path(str(folder)), build=one_path(f"{folder}/build"),
        cache=one_path(str(cache)), home=one_path(str(home)), stages=stages, analyses=analyses,
    )


def _swept(folder: Path) -> Path | None:
    """Return the folder of which this is a combination that a sweep built; None for none."""
    is_one = folder.parts[-3:-1] == ("build", SWEEP) and is_buildable(folder.parents[2])
    return folder.parents[2] if is_one else None


def find_combination(word: str, folders: Iterable[LayerFolder]) -> LayerFolder | None:
    """Return the combination that a word names, or is the path of; None for none.

    A sweep of one of `folders` built the combination. The word is `fc/build/sweep/sizes.M-64`, say.
    """
    given = (user_folder() / word).resolve()
    for folder in folders:
        sweep = folder.build / SWEEP
        name = word.removeprefix(f"{folder.name}/build/{SWEEP}/")
        path = sweep / name if name != word else given
        if path.parent == sweep and is_buildable(path):
            return open_folder(path)
    return None


def _stages_of(mark: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stages of a folder, and those that only run where they are asked for."""
    if mark.endswith(GRAPHS):
        return GRAPH_STAGES, NETWORK_PICTURES
    if mark == PROGRAM:
        return PROGRAM_STAGES, PROGRAM_PICTURES
    return (KERNEL_STAGES, KERNEL_PICTURES) if mark.endswith(MLIR) else (PIPELINE, ANALYSES)


def is_buildable(path: Path) -> bool:
    """Return whether a folder is that of a layer, a network, a kernel or a program."""
    return mark_of(files_in(path)) is not None


def find_workspace(folder: Path) -> Path | None:
    """Return the nearest ancestor that holds `folder` below its `projects/`; None outside."""
    for ancestor in folder.parents:
        if ancestor.name == "projects":
            return ancestor.parent
    return None


def find_layers(workspace: Path) -> list[LayerFolder]:
    """Return every layer and network folder below `projects/`, at any depth, by name.

    A layer folder that is a part of a network is found in its network only.
    """
    found = {f.name: f for f in map(open_folder, _walk(workspace.resolve() / "projects"))}
    parts = {part.name for folder in found.values() for part in parts_of(folder)}
    return [found[name] for name in sorted(found) if name not in parts]


def layers_at(folder: Path, allowed: TaskNames) -> list[LayerFolder]:
    """Return all folders that a folder with a dodo file builds; parts come before their networks.

    In a workspace only folders with names that are `allowed` are among them.
    """
    if is_buildable(folder):
        return folders_of(open_folder(folder))
    found = {each.name: each for each in find_layers(folder)}
    names = allowed.usable(found, lambda name: found[name].is_searched)
    return [layer for name in names for layer in folders_of(found[name])]


def _walk(projects: Path) -> Iterator[str]:
    for path, folders, files in os.walk(projects):
        is_layer = mark_of(files) is not None
        skipped = NOT_LAYERS if is_layer else frozenset[str]()
        folders[:] = [f for f in folders if not f.startswith(".") and f not in skipped]
        if is_layer:
            yield path
