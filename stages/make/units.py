"""What is looked at and built as one: a layer, or a network with its parts."""

from __future__ import annotations

import fnmatch
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from doit.exceptions import InvalidDodoFile

from stages.make.declare import declaration
from stages.make.folders import (
    LayerFolder,
    every_stage,
    folders_of,
    lone_folder,
    open_folder,
    parts_of,
    with_parts,
)
from stages.make.session import session
from stages.make.sweep import Place, find_folders, places_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A layer or a network by its name, where its files lie, and how to open it."""

    name: str
    places: list[Place]
    open: Callable[[], LayerFolder]


def unit_of(folder: LayerFolder) -> Unit:
    """Return the unit that a folder belongs to: the network, for a part of one."""
    from stages.make.network import network_of

    whole = network_of(folder)
    return Unit(name=whole.name, places=places_of(whole), open=lambda: whole)


def units_below(workspace: Path) -> Iterator[Unit]:
    """Yield every unit below `projects/`, by name; a part in its network is none of its own.

    Nor is any layer in a network that is wrong, since it may be a part.
    """
    found = sorted(find_folders(f"{workspace}/projects"))
    networks = {name: open_folder(path) for name, path, is_network in found if is_network}
    parts = {part.name for network in networks.values() for part in parts_of(network)}
    wrong = {name for name, network in networks.items() if not network.parts}
    for name, path, _ in found:
        if name in networks:
            yield unit_of(networks[name])
        elif name not in parts and name.rpartition("/")[0] not in wrong:
            places = [(path, f"{path}/build", f"{workspace}/cache/{name}")]
            opened = functools.partial(_lone, path)
            yield Unit(name=name, places=places, open=opened)


def _lone(path: str) -> LayerFolder:
    return with_parts(lone_folder(Path(path)))


def asked_of(unit: Unit, names: Sequence[str]) -> tuple[set[str], bool]:
    """Return what of a unit is asked for: layers as a whole, and whether single tasks or parts."""
    globs = [name for name in names if "*" in name]
    is_whole = unit.name in names or any(fnmatch.fnmatchcase(unit.name, n) for n in globs)
    whole = {unit.name} if is_whole else set()
    below = [n for n in names if n.startswith((f"{unit.name}:", f"{unit.name}/"))]
    if len(unit.places) > 1 or any(":" in name for name in globs):
        folder = unit.open()
        layers = [f.name for f in folders_of(folder)]
        whole |= {f for f in layers for n in names if fnmatch.fnmatchcase(f, n)}
        tasks = [f"{f.name}:{s}" for f in folders_of(folder) for s in every_stage(f)]
        below += [n for n in globs if fnmatch.filter(tasks, n)]
    return whole, bool(below)


def name_targets(arguments: list[str], start: Path, units: Sequence[Unit]) -> None:
    """Put tasks in place of paths of files that they write; paths start where the user stands.

    The name of a folder of layers stands for all below it.
    """
    names = {unit.name for unit in units}
    for at, given in enumerate(arguments):
        if given not in names and any(name.startswith(f"{given}/") for name in names):
            arguments[at] = f"{given}/*"
            continue
        may_be_path = set("/.") & set(given) or os.path.lexists(start / given)
        if may_be_path and given not in names and not set(":*") & set(given):
            arguments[at] = _task_of(os.path.realpath(start / given), units) or given


def _task_of(path: str, units: Sequence[Unit]) -> str | None:
    """Return the task that writes the file at a path, or the layer in that folder."""
    for unit in units:
        if any(_is_in(path, place) for places in unit.places for place in places):
            folder = unit.open()
            for inside in folders_of(folder):
                if path == str(inside.path):
                    return inside.name
                for stage in every_stage(inside):
                    if _writes(inside, stage, path):
                        return f"{inside.name}:{stage}"
    return None


def _writes(folder: LayerFolder, stage: str, path: str) -> bool:
    """Return whether a stage declares to write the file at a path."""
    for place, below in ((folder.build, "build/"), (folder.cache, "")):
        if _is_in(path, str(place)):
            name = below + os.path.relpath(path, os.path.realpath(place))
            return any(fnmatch.fnmatchcase(name, n) for n in declaration(stage).writes)
    return False


def _is_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{os.path.realpath(folder)}/")


def check_name(name: str) -> None:
    """Raise InvalidDodoFile for a layer that nobody could ask doit for."""
    why = ""
    if name in _commands():
        why = "doit has a command of this name"
    elif name.startswith("-"):
        why = "doit takes it for an option"
    elif "=" in name:
        why = "doit takes it for a variable"
    elif ":" in name:
        why = "what comes after : is a stage"
    if why:
        raise InvalidDodoFile(
            f"a layer may not be called {name}, since {why}: rename projects/{name}"
        )


@functools.cache
def _commands() -> frozenset[str]:
    if session().commands:
        return frozenset(session().commands)
    from doit.doit_cmd import DoitMain

    return frozenset(DoitMain().get_cmds())
