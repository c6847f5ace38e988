"""A place that holds what actions gave: a folder of this machine, or one far away."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from stages.make.store.files import write_whole
from stages.make.store.lock import locked

SWEEPING = "what nobody needs is removed"


class Shelf(Protocol):
    """A place that holds contents by name; `kind` is `blobs`, `entries` or `edits`."""

    read_only: bool

    def read(self, kind: str, name: str) -> bytes | None:
        """Return a content, None where there is none."""

    def size(self, kind: str, name: str) -> int | None:
        """Return how many bytes a content has, None where there is none."""

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Put a content there; who reads it finds it whole, or can tell that it is not."""

    def remove(self, kind: str, name: str) -> None:
        """Remove a content, if it is there."""

    def names(self, kind: str) -> Iterator[str]:
        """Yield the names of all contents of a kind."""

    def lock(self, key: str) -> AbstractContextManager[Any]:
        """Hold off other processes that want to run the action of a key."""

    def publishing(self) -> AbstractContextManager[Any]:
        """Hold off the removal of contents that nobody names yet."""

    def where(self) -> str:
        """Return the place as a person writes it."""


class FolderShelf:
    """The shelf in a folder of this machine."""

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.folder = folder
        self.read_only = read_only

    def path(self, kind: str, name: str) -> Path:
        """Return where a content lies."""
        return self.folder / kind / name[:2] / name

    def read(self, kind: str, name: str) -> bytes | None:
        """Return a content, None where there is none."""
        try:
            return self.path(kind, name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except IsADirectoryError:
            return b""

    def size(self, kind: str, name: str) -> int | None:
        """Return how many bytes a content has, None where there is none."""
        try:
            found = os.stat(self.path(kind, name))
            return found.st_size if stat.S_ISREG(found.st_mode) else None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Put a content there in one step. Raises OSError."""
        path = self.path(kind, name)
        try:
            write_whole(path, content, by=self.folder / "new")
        except (IsADirectoryError, NotADirectoryError, FileExistsError):
            self._make_way(path)
            write_whole(path, content, by=self.folder / "new")

    def remove(self, kind: str, name: str) -> None:
        """Remove a content, if it is there. Raises OSError."""
        path = self.path(kind, name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def _make_way(self, path: Path) -> None:
        """Remove a folder that stands where a file belongs, and the other way round."""
        if path.is_dir():
            shutil.rmtree(path)
        for folder in (path.parent, path.parent.parent, self.folder / "new"):
            if folder.is_symlink() or folder.is_file():
                folder.unlink()

    def names(self, kind: str) -> Iterator[str]:
        """Yield the names of all contents of a kind. Raises OSError where the folder is none."""
        if self.folder.exists() and not self.folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.folder))
        return (path.name for path in sorted((self.folder / kind).glob("??/*")))

    def lock(self, key: str) -> AbstractContextManager[bool]:
        """Hold off other processes that want to run the action of a key. Raises OSError."""
        return locked(self.folder, key)

    def publishing(self) -> AbstractContextManager[bool]:
        """Hold off the removal of contents that nobody names yet. Raises OSError."""
        return locked(self.folder, SWEEPING, shared=True)

    def sweeping(self) -> AbstractContextManager[bool]:
        """Hold off everybody who publishes, to remove what nobody names. Raises OSError."""
        return locked(self.folder, SWEEPING)

    def where(self) -> str:
        """Return the path of the folder."""
        return str(self.folder)
