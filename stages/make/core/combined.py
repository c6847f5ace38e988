"""Write the folders of combinations: what a user wrote for the folder that is swept, with other
values in its YAML file."""

from __future__ import annotations

import contextlib
import filecmp
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lairmake.stages.diagnose import Source, UserError, source_of
from lairmake.stages.make.core.combinations import YAML_FILE, Combination, yaml_of
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.outputs import check_place
from lairmake.stages.make.store.files import read_file, write_whole
from lairmake.stages.make.store.folders import (
    NETWORK,
    NOT_LAYERS,
    OF_DOIT,
    SWEEP,
    LayerFolder,
    files_in,
    mark_of,
    shown_path,
)
from lairmake.stages.mapping.candidates import MACHINE, set_values
from lairmake.stages.mapping.yaml_text import YamlPath as Keys, read_document

UP = "../"
BUILT = NOT_LAYERS - {"inputs", "outputs"}
LARGE = 2**20
"""From how many bytes on a file is not copied, but gets another name: arrays, and graphs."""


def place_of(folder: LayerFolder, name: str) -> Path:
    """Return the folder of a combination of one that is swept, or a file about all of them."""
    return folder.build / SWEEP / name


def write_folder(folder: LayerFolder, combination: Combination) -> LayerFolder:
    """Write the folder of a combination, and return it; what is there already is left alone.

    Raises UserError where it cannot be written, or files lead elsewhere.
    """
    place, name = place_of(folder, combination.name), yaml_of(folder)
    check_place(folder, place / name)
    given = dict(_files_given(folder, name))
    content = _content(combination, folder.path / name, place)
    try:
        _remove_others(place, {*given, name})
        for each, path in given.items():
            if each != name:
                _copy(path, place / each)
        if not _holds(place / name, content):
            write_whole(place / name, content)
    except OSError as error:
        raise UserError(f"cannot write {shown_path(place)}: {error.strerror or error}") from error
    return open_folder(place)


def _content(combination: Combination, given: Path, place: Path) -> bytes:
    """Return the YAML file of a combination: that which is given, if it says the same."""
    text = _led(combination.text, given.parent, place)
    if given.is_file():
        content = given.read_bytes()
        if source_of(given.name, content).text == text:
            return content
    return text.encode()


def _led(text: str, start: Path, place: Path) -> str:
    """Return a YAML text whose paths out of its folder start from another one."""
    document = read_document(Source(path="", text=text))
    paths = {
        keys: os.path.relpath(start / path, place) for keys, path in _paths_out(document.value)
    }
    return set_values(text, document, paths) if paths else text


def paths_out(source: Source) -> set[str]:
    """Return the paths out of its folder that a YAML text has. Raises UserError where it is none.
    """
    return {path for _, path in _paths_out(read_document(source).value)}


def _paths_out(value: Any) -> Iterator[tuple[Keys, str]]:
    return ((keys, path) for keys, path in _paths_in(value, ()) if path.startswith(UP))


def _paths_in(value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Yield where a YAML file has paths: of the files of machines, and of folders of parts."""
    said = value if isinstance(value, dict) else {}
    machine = said.get(MACHINE)
    profile = machine.get("profile") if isinstance(machine, dict) else None
    parts = said.get("parts")
    yield from _if_text((*keys, MACHINE), machine, YAML_FILE)
    yield from _if_text((*keys, MACHINE, "profile"), profile, YAML_FILE)
    yield from _if_text((*keys, "folder"), said.get("folder") if keys else None)
    for name, part in parts.items() if isinstance(parts, dict) else ():
        yield from _if_text(("parts", name), part)
        yield from _paths_in(part, ("parts", name))


def _if_text(keys: Keys, value: Any, end: str = "") -> Iterator[tuple[Keys, str]]:
    if isinstance(value, str) and value.endswith(end):
        yield keys, value


def _files_given(folder: LayerFolder, name: str) -> Iterator[tuple[str, Path]]:
    """Yield what a user wrote in a folder, by its path there, but for other layers and dodo.py.

    The layers in a network may be its parts. Raises UserError for a link out of the folder.
    """
    top = folder.path.resolve()
    for place, folders, files in os.walk(folder.path):
        others = [] if name == NETWORK else [
            each for each in folders if mark_of(files_in(Path(place, each)))
        ]
        folders[:] = [f for f in folders if f not in (*BUILT, *others) and not _is_hidden(f)]
        for each in (*folders, *files):
            if each != OF_DOIT and not _is_hidden(each):
                path = Path(place, each)
                check_link(path, top)
                if each in files:
                    yield path.relative_to(folder.path).as_posix(), path


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__"))


def check_link(path: Path, folder: Path) -> None:
    """Raise UserError for a symbolic link to anything but a file of the folder that is copied."""
    target = path.resolve()
    if path.is_symlink() and not (target.is_file() and target.is_relative_to(folder)):
        hint = "put what it leads to in its place, or remove it"
        said = f"{shown_path(path)} is a link out of its folder, or to a folder"
        raise UserError(said, hint=hint)


def _copy(given: Path, path: Path) -> None:
    """Let a file hold what another one does."""
    if path.is_file() and not path.is_symlink():
        if os.path.samefile(given, path) or filecmp.cmp(given, path, shallow=False):
            return
        path.unlink()
    if given.stat().st_size >= LARGE:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            os.link(given.resolve(), path)
            return
    write_whole(path, read_file(given))


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and not path.is_symlink() and read_file(path) == content


def _remove_others(place: Path, wanted: set[str]) -> None:
    """Remove what was given once and no more; not what was built."""
    for inside, folders, files in os.walk(place):
        folders[:] = [each for each in folders if each not in BUILT and not _is_hidden(each)]
        for path in (Path(inside, each) for each in (*folders, *files)):
            is_wanted = path.relative_to(place).as_posix() in wanted
            if path.is_symlink() or (path.name in files and not is_wanted):
                path.unlink()
