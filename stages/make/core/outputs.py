"""Outputs of stages, written into the layer folder and the cache: all of them, or nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.store.files import (
    read_file,
    temporary_name,
    write_new,
    write_whole,
)
from lairmake.stages.make.store.folders import (
    LayerFolder,
    file_of,
    is_pattern,
    link_in,
    names_of,
    shown_path,
    was_link_in,
)

if TYPE_CHECKING:
    pass



PLACEMENT = "placement.isl"


def write_outputs(
    folder: LayerFolder, declared: Sequence[str], outputs: Mapping[str, bytes],
    kept: Collection[str] = (),
) -> None:
    """Write all outputs or none, and remove what an earlier run left, except files to be `kept`.

    A file that holds its content already is left alone. Raises UserError where the folder cannot be
    written to.
    """
    files = {file_of(folder, name): content for name, content in outputs.items()}
    for path in files:
        _check_link(path, link_in(folder, path))
    with _temporary(files) as temporary:
        for path in list(temporary):
            with _writing(path):
                os.replace(temporary[path], path)
            del temporary[path]
    for name in stale_names(folder, declared, {*outputs, *kept}):
        with _writing(file_of(folder, name)):
            remove(folder, name)


def check_place(folder: LayerFolder, path: Path) -> None:
    """Raise UserError where a symbolic link leads from what stages wrote to another place."""
    _check_link(path, was_link_in(folder, path))


def _check_link(path: Path, link: str | None) -> None:
    if link is not None:
        raise UserError(
            f"cannot write {shown_path(path)}: {shown_path(Path(link))} is a symbolic link",
            hint="what stages write goes into the layer's own folders: remove the link",
        )


def write_beside(folder: LayerFolder, path: Path, content: bytes) -> None:
    """Write a file that no stage does, beside what stages wrote. Raises UserError as they do."""
    check_place(folder, path)
    with _writing(path):
        write_whole(path, content)


def remove(folder: LayerFolder, name: str) -> None:
    """Remove a file that a stage wrote, and the folders that are empty then. Raises OSError.

    What a symbolic link leads to stays.
    """
    path = file_of(folder, name)
    if link_in(folder, path) is not None:
        return
    path.unlink(missing_ok=True)
    for above in path.parents:
        if above in (folder.path, folder.build, folder.cache) or any(above.iterdir()):
            break
        above.rmdir()


def stale_names(
    folder: LayerFolder, declared: Sequence[str], outputs: Collection[str]
) -> list[str]:
    """Return the files that match a stage's patterns, but that the stage no longer writes.

    Among them are files in folders of parts that are no longer written. For the stage that places
    instances they include files of a search, if the layer leaves nothing open any more.
    """
    patterns = [name for name in declared if is_pattern(name)]
    found = [n for pattern in patterns for n in names_of(folder, pattern) if n not in outputs]
    if any(pattern.startswith("build/parts/") for pattern in patterns):
        from lairmake.stages.make.core.derived import old_names

        found += old_names(folder)
    if PLACEMENT in declared and not folder.is_searched:
        from lairmake.stages.make.core.derived import old_slots

        found += old_slots(folder)
    return found


@contextlib.contextmanager
def _temporary(files: Mapping[Path, bytes]) -> Iterator[dict[Path, Path]]:
    """Write every content that differs from its file beside it; remove what is left at the end."""
    changed = {path: content for path, content in files.items() if _differs(path, content)}
    temporary = {path: path.with_name(temporary_name(path.name)) for path in changed}
    try:
        for path, content in changed.items():
            with _writing(path.parent):
                write_new(str(temporary[path]), content)
        yield temporary
    finally:
        for path in temporary.values():
            with contextlib.suppress(OSError):
                path.unlink()


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    """Say what could not be written: a full disk does not say where it is full."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write {shown_path(place)}: {error.strerror}") from error


def _differs(path: Path, content: bytes) -> bool:
    """Return whether a file is another one; a link, or what is no file, is replaced."""
    with contextlib.suppress(OSError):
        return read_file(path, links=False) != content
    return True
