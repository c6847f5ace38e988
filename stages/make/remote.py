"""The second store, that workspaces share: a folder, or whatever fsspec reaches.

Who trusts a shared store trusts what is in it to be what the stages gave: contents are checked
against their digests, but an entry says what it likes.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stages.make.folders import STATE
from stages.make.settings import shared_store
from stages.make.shelf import FolderShelf, Shelf
from stages.make.store import warn

LOCAL = "file://"


class RemoteShelf:
    """The shelf below a URL of fsspec.

    What was written in part only is found to be damaged when it is read. There are no locks: two
    processes may run one action, and then both write the same.
    """

    def __init__(self, url: str, read_only: bool = False) -> None:
        self.url = url.rstrip("/")
        self.read_only = read_only

    def read(self, kind: str, name: str) -> bytes | None:
        """Return a content, None where there is none. Raises what the back end raises."""
        files, path = self._reach(kind, name)
        try:
            content: bytes = files.cat_file(path)
        except FileNotFoundError:
            return None
        return content

    def size(self, kind: str, name: str) -> int | None:
        """Return how many bytes a content has, None where there is none."""
        files, path = self._reach(kind, name)
        try:
            return int(files.size(path))
        except FileNotFoundError:
            return None

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Put a content there."""
        files, path = self._reach(kind, name)
        files.makedirs(path.rpartition("/")[0], exist_ok=True)
        files.pipe_file(path, content)

    def remove(self, kind: str, name: str) -> None:
        """Remove a content, if it is there."""
        files, path = self._reach(kind, name)
        with contextlib.suppress(FileNotFoundError):
            files.rm_file(path)

    def names(self, kind: str) -> Iterator[str]:
        """Yield the names of all contents of a kind."""
        files, path = self._reach(kind)
        with contextlib.suppress(FileNotFoundError):
            yield from sorted(found.rpartition("/")[2] for found in files.find(path))

    def lock(self, key: str) -> contextlib.AbstractContextManager[None]:
        """Hold off nobody."""
        return contextlib.nullcontext()

    def publishing(self) -> contextlib.AbstractContextManager[None]:
        """Hold off nobody: Lairmake removes nothing from here that is intact."""
        return contextlib.nullcontext()

    def where(self) -> str:
        """Return the URL."""
        return self.url

    def _reach(self, kind: str, name: str = "") -> tuple[Any, str]:
        """Return the file system, and the path of a content or of a kind there."""
        files, top = _file_system(self.url, os.getpid())
        return files, f"{top}/{kind}/{name[:2]}/{name}" if name else f"{top}/{kind}"


@functools.cache
def _file_system(url: str, process: int) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it; each process has a connection its own.

    Raises ImportError where its package is not installed, ValueError where fsspec knows none.
    """
    import fsspec

    found: tuple[Any, str] = fsspec.core.url_to_fs(url, use_listings_cache=False)
    return found


def second_shelf(home: Path) -> Shelf | None:
    """Return the second store of a workspace, None for none. Raises UserErrors.

    A folder is made, but not the one it lies in: a disk that is not mounted is not written over.
    """
    store = shared_store(home)
    if store is None:
        return None
    if "://" in store.url and not store.url.startswith(LOCAL):
        return RemoteShelf(store.url, store.read_only)
    folder = Path(store.url.removeprefix(LOCAL))
    if folder == (home / STATE / "store").resolve():
        return None
    if not folder.parent.is_dir():
        warn(f"the shared store is left out: {folder.parent} is not there")
        return None
    return FolderShelf(folder, store.read_only)
