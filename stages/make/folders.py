"""Where the files of a layer lie: its folder, the workspace around it, and the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LAYER = "layer.yaml"
STATE = ".lairmake"
NOT_LAYERS = frozenset({"build", "cache", "inputs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFolder:
    """A layer folder: its name among the tasks, and the folders that its files lie in.

    `home` holds the state of doit: the workspace, or the layer folder itself outside of one.
    """

    name: str
    path: Path
    cache: Path
    home: Path


def open_folder(path: Path | str) -> LayerFolder:
    """Return the layer folder at `path`, whatever its spelling; it need not exist."""
    folder = Path(path).resolve()
    workspace = find_workspace(folder)
    if workspace is None:
        return LayerFolder(name=folder.name, path=folder, cache=folder / "cache", home=folder)
    below = folder.relative_to(workspace / "projects")
    return LayerFolder(
        name=below.as_posix(), path=folder, cache=workspace / "cache" / below, home=workspace
    )


def find_workspace(folder: Path) -> Path | None:
    """Return the nearest ancestor that holds `folder` below its `projects/`; None outside."""
    for ancestor in folder.parents:
        if ancestor.name == "projects":
            return ancestor.parent
    return None


def find_layers(workspace: Path) -> list[LayerFolder]:
    """Return every layer folder below `projects/`, at any depth, by name."""
    found = _walk(workspace.resolve() / "projects")
    return sorted((open_folder(path) for path in found), key=lambda layer: layer.name)


def _walk(projects: Path) -> Iterator[str]:
    for path, folders, files in os.walk(projects):
        is_layer = LAYER in files
        skipped = NOT_LAYERS if is_layer else frozenset[str]()
        folders[:] = [f for f in folders if not f.startswith(".") and f not in skipped]
        if is_layer:
            yield path


def file_of(folder: LayerFolder, name: str) -> Path:
    """Return the file that a stage calls `name`.

    What a user writes and `build/` lie in the layer folder, the texts of the stages in the cache.
    """
    if name == LAYER or name.endswith(".lair") or name.startswith(("inputs/", "build/")):
        return folder.path / name
    return folder.cache / name


def is_pattern(name: str) -> bool:
    """Return whether `name` stands for any number of files, as `inputs/*.npy` does."""
    return "*" in name


def names_of(folder: LayerFolder, pattern: str) -> list[str]:
    """Return the names of the files there are that match `pattern`, sorted."""
    prefix = pattern.rpartition("/")[0]
    names = (f"{prefix}/{f.name}" if prefix else f.name for f in _matches(folder, pattern))
    return sorted(names)


def _matches(folder: LayerFolder, pattern: str) -> Iterator[Path]:
    place = file_of(folder, pattern)
    return (f for f in place.parent.glob(place.name) if not f.name.startswith("."))


def user_folder() -> Path:
    """Return the folder where the user stands; doit itself moves to the folder of the tasks."""
    import doit

    return Path(doit.get_initial_workdir() or Path.cwd()).resolve()


def shown_path(path: Path) -> str:
    """Return `path` as the user would write it: relative where it lies below where they stand."""
    here = user_folder()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
