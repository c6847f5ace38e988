"""The second store, that workspaces share: a folder, or whatever fsspec reaches.

Who trusts a shared store trusts what is in it to be what the stages gave: contents are checked
against their digests, and names against what stages declare, but nothing else says what they give.
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
from stages.make.store.shelf import FolderShelf, Shelf
from stages.make.store.warn import warn

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
        """Return a content, None where there is none. Raises OSError."""
        content: bytes | None = None
        with contextlib.suppress(FileNotFoundError), self._reached(kind, name) as (files, path):
            content = files.cat_file(path)
        return content

    def size(self, kind: str, name: str) -> int | None:
        """Return how many bytes a content has, None where there is none. Raises OSError."""
        found: int | None = None
        with contextlib.suppress(FileNotFoundError), self._reached(kind, name) as (files, path):
            found = int(files.size(path))
        return found

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Put a content there. Raises OSError."""
        with self._reached(kind, name) as (files, path):
            files.makedirs(path.rpartition("/")[0], exist_ok=True)
            files.pipe_file(path, content)

    def remove(self, kind: str, name: str) -> None:
        """Remove a content, if it is there. Raises OSError."""
        with contextlib.suppress(FileNotFoundError), self._reached(kind, name) as (files, path):
            files.rm_file(path)

    def names(self, kind: str) -> Iterator[str]:
        """Yield the names of all contents of a kind. Raises OSError."""
        found: list[str] = []
        with contextlib.suppress(FileNotFoundError), self._reached(kind) as (files, path):
            found = sorted(each.rpartition("/")[2] for each in files.find(path, on_error="raise"))
        yield from found

    def lock(self, key: str) -> contextlib.AbstractContextManager[None]:
        """Hold off nobody."""
        return contextlib.nullcontext()

    def publishing(self) -> contextlib.AbstractContextManager[None]:
        """Hold off nobody: Lairmake removes nothing from here that is intact."""
        return contextlib.nullcontext()

    def where(self) -> str:
        """Return the URL."""
        return self.url

    @contextlib.contextmanager
    def _reached(self, kind: str, name: str = "") -> Iterator[tuple[Any, str]]:
        """Yield the file system, and the path of a content or of a kind there.

        Each back end has errors of its own: they all become OSError.
        """
        try:
            files, top = _file_system(self.url, os.getpid())
            yield files, f"{top}/{kind}/{name[:2]}/{name}" if name else f"{top}/{kind}"
        except OSError:
            raise
        except Exception as error:
            raise OSError(f"{error}" or type(error).__name__) from error


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
