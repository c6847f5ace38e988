"""Second store, which workspaces share: a folder, or whatever fsspec reaches."""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lairmake.stages.make.store.files import (
    warn,
)
from lairmake.stages.make.store.folders import is_digest
from lairmake.stages.make.store.settings import shared_store
from lairmake.stages.make.store.shelf import FolderShelf, Shelf
from lairmake.stages.make.store.state_folder import state_folder

LOCAL = "file://"
PATIENCE = 10.0
"""Seconds that a request may take."""

PACE = 1e6
"""Bytes of a content that are written in a second, at least."""

MOST_LISTED = 20_000_000
"""Bytes whose transfer takes as long as a list of names, at most."""


class RemoteShelf:
    """The shelf below a URL of fsspec.

    A content that was written in part only is found to be damaged when it is read. There are no
    locks: two processes may run one action, and then both write the same.
    """

    def __init__(self, url: str, read_only: bool = False) -> None:
        self.url = url.rstrip("/")
        self.read_only = read_only

    def read(self, kind: str, name: str) -> bytes | None:
        """Return a content, None where there is none. Raises OSError."""
        at = _at(kind, name)
        found: bytes | None = self._ask(lambda files, top: files.cat_file(top + at))
        return found

    def size(self, kind: str, name: str) -> int | None:
        """Return the number of bytes of a content, None where there is none. Raises OSError."""
        at = _at(kind, name)
        found = self._ask(lambda files, top: files.size(top + at))
        return int(found) if found is not None else None

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Write a content. Raises OSError."""
        at = _at(kind, name)

        def put(files: Any, top: str) -> None:
            files.makedirs(top + at.rpartition("/")[0], exist_ok=True)
            files.pipe_file(top + at, content)

        self._ask(put, len(content))

    def remove(self, kind: str, name: str) -> None:
        """Remove a content, if it is there. Raises OSError."""
        at = _at(kind, name)
        self._ask(lambda files, top: files.rm_file(top + at))

    def names(self, kind: str) -> Iterator[str]:
        """Yield the names of all contents of a kind. Raises OSError."""
        def listed(files: Any, top: str) -> list[str]:
            files.info(f"{top}/{kind}")  # find() does not tell what cannot be reached
            return [each.rpartition("/")[2] for each in files.find(f"{top}/{kind}")]

        yield from sorted(filter(is_digest, self._ask(listed, MOST_LISTED) or ()))

    def lock(self, key: str) -> contextlib.AbstractContextManager[None]:
        """Hold off nobody."""
        return contextlib.nullcontext()

    def publishing(self) -> contextlib.AbstractContextManager[None]:
        """Hold off nobody: Lairmake removes nothing from here that is intact."""
        return contextlib.nullcontext()

    def where(self) -> str:
        """Return the URL."""
        return self.url

    def _ask(self, request: Callable[[Any, str], Any], size: int = 0) -> Any:
        """Return what a request gives, None where there is no such thing.

        It gets the file system and the path of the shelf there, and is given up where there is no
        answer for long; what has a `size` in bytes has more time. Each back end has errors of its
        own: they all become OSError.
        """
        process = os.getpid()
        try:
            seconds = PATIENCE + size / PACE
            return answer_of(lambda: request(*_file_system(self.url, process)), seconds)
        except FileNotFoundError:
            return None
        except OSError:
            raise
        except Exception as error:
            raise OSError(f"{error}" or type(error).__name__) from error


def answer_of(request: Callable[[], Any], seconds: float) -> Any:
    """Return what a request returns, or raise what it raises.

    Raises OSError if that takes more than some seconds. Then a thread is left behind, which ends
    with the process.
    """
    answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put((request(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=ask, daemon=True).start()
    try:
        found, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise OSError(f"no answer for {seconds:.0f} s") from None
    if error is not None:
        raise error
    return found


def _at(kind: str, name: str) -> str:
    """Return the path of a content from the top. Raises ValueError for a name that is no sha256."""
    if not is_digest(name):
        raise ValueError(f"{name!r} is no sha256")
    return f"/{kind}/{name[:2]}/{name}"


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

    A folder is made, but not the folder around it: a disk that is not mounted is not written over.
    """
    store = shared_store(home)
    if store is None:
        return None
    if "://" in store.url and not store.url.startswith(LOCAL):
        return RemoteShelf(store.url, store.read_only)
    folder = Path(store.url.removeprefix(LOCAL))
    if folder == (state_folder(home) / "store").resolve():
        return None
    if not folder.parent.is_dir():
        warn(f"the shared store is left out: {folder.parent} is not there")
        return None
    return FolderShelf(folder, store.read_only, is_shared=True)
