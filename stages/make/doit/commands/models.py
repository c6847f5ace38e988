"""Models of new folders: one of the workspace, by its name or its path, or one shipped."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.layers import (
    find_layers,
    find_workspace,
    is_buildable,
    lone_folder,
    open_folder,
)
from lairmake.stages.make.core.nearest import did_you_mean, hint_of_unread
from lairmake.stages.make.doit.commands.command import few
from lairmake.stages.make.store.folders import (
    LAYER,
    NETWORK,
    NOT_LAYERS,
    PROGRAM,
    LayerFolder,
    files_in,
    folders_of,
    mark_of,
    shown_path,
    user_folder,
)
from lairmake.stages.shipped import shipped

SHIPPED = shipped("projects")
EXAMPLES = "fc, the network mlp, the graph lenet, the kernel krnl0_16, the program heat"
"""One model of each kind, for where no name is near."""


def place_of(name: str) -> Path:
    """Return the path of a new layer: below `projects/` in the top folder of a workspace."""
    here = user_folder()
    inside = (here / "projects").is_dir() and not name.startswith("projects/")
    return (here / "projects" if inside else here) / name


def find_model(like: str, name: str, program: str) -> LayerFolder:
    """Return the folder to copy: by its path, from the workspace, or from those shipped.

    `name` and `program` are what was typed for the new folder. Raises UserError where there is no
    folder to copy.
    """
    path = (user_folder() / like).resolve()
    wholes = _wholes(path)
    named = [
        each for whole in wholes for each in folders_of(whole)
        if like == each.name or path in (each.path, _place_in(whole, each))
    ]
    shipped_one = lone_folder((SHIPPED / like).resolve())  # nothing is kept where we lie
    for folder in (*named, open_folder(path), shipped_one):
        if is_buildable(folder.path):
            return folder
    if named:
        hint = f"`{program} {named[0].name}` builds it"
        raise UserError(f"{like} is not built", hint=hint)
    inside = next((w for w in wholes if path.is_relative_to(w.path)), None)
    meant = f"{inside.name}/{path.relative_to(inside.path)}" if inside is not None else like
    raise UserError(f"there is no layer {like}", hint=_hint(meant, name, program, wholes))


def _wholes(path: Path) -> list[LayerFolder]:
    """Return the folders of the workspace, and one around a path, each with its parts."""
    workspace = find_workspace(place_of("any"))
    found = find_layers(workspace) if workspace else []
    around = next((place for place in path.parents if is_buildable(place)), None)
    if around is not None and around not in [whole.path for whole in found]:
        found.append(open_folder(around))
    return found


def _place_in(whole: LayerFolder, part: LayerFolder) -> Path:
    """Return where a part would lie by its name, wherever a stage writes it."""
    return whole.path / part.name.removeprefix(f"{whole.name}/")


def _hint(like: str, name: str, program: str, wholes: Sequence[LayerFolder]) -> str:
    """Return what may be meant by a name that is none, or what to do so that it becomes one."""
    every = [each for whole in wholes for each in folders_of(whole) if not each.is_slot]
    known = sorted({*(each.name for each in every), *shipped_names()})
    inside = [each for each in known if each.startswith(f"{like}/")]
    if inside:
        return f"{like} is a folder of them: {few(inside)}"
    if unread := hint_of_unread(like, every):
        return f"{unread}: `{program} {like.partition('/')[0]}`"
    whole, rest = _whole_of(like, known)
    if whole and not any(each.startswith(f"{whole}/") for each in known):
        return _hint_of_parts(whole, rest, name, program)
    parts = [each for each in known if whole and each.startswith(f"{whole}/")]
    if near := did_you_mean(like, parts or known):
        return near
    return f"the parts of {whole} are {few(parts)}" if parts else (
        f"there are {EXAMPLES}, and others below {SHIPPED}"
    )


def _whole_of(like: str, known: Sequence[str]) -> tuple[str, str]:
    """Return the known folder that a name would be a part of, and the rest; empty for none."""
    whole, _, rest = like.rpartition("/")
    while whole and whole not in known:
        whole, _, more = whole.rpartition("/")
        rest = f"{more}/{rest}"
    return whole, rest


def _hint_of_parts(whole: str, rest: str, name: str, program: str) -> str:
    """Return how a folder without parts gets some: a graph or a kernel is built in a workspace."""
    if mark_of(files_in(SHIPPED / whole)) in (LAYER, PROGRAM, None):
        return f"did you mean {whole}?"
    own = whole.rpartition("/")[2]
    build = how_to_build(place_of(own), program)
    if build.startswith("cd "):
        build = f"({build})"
    return (
        f"{whole} has parts once it was built: `{program} new {own} --like {whole}`, `{build}`, "
        f"`{program} new {name} --like {own}/{rest}`"
    )


def how_to_build(folder: Path, program: str) -> str:
    """Return the command that builds a new layer, from where the user stands."""
    here = user_folder()
    if find_workspace(folder) == here and (
        (here / "dodo.py").is_file() or Path(program).name == "lairmake"
    ):
        return f"{program} {lone_folder(folder).name}"
    if os.sep in program:
        program = os.path.relpath(here / program, folder)
    return f"cd {shown_path(folder)} && {program}"


def shipped_names() -> Iterator[str]:
    """Yield the names of all folders that are shipped, the parts of networks included."""
    for place, folders, files in os.walk(SHIPPED):
        mark = mark_of(files)
        if mark is not None:
            yield Path(place).relative_to(SHIPPED).as_posix()
        below = set(folders) - NOT_LAYERS if mark in (None, NETWORK) else ()
        folders[:] = sorted(each for each in below if not each.startswith((".", "__")))
