"""A place of blobs, here or far."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import queue
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Protocol

from lairmake.stages.make.store.files import (
    Give,
    access_of,
    read_file,
    remove_whatever,
    settled,
    warn,
    write_whole,
)
from lairmake.stages.make.store.folders import is_digest, shown_path
from lairmake.stages.make.store.lock import Holder, is_own, locked
from lairmake.stages.make.store.settings import shared_store
from lairmake.stages.make.store.state_folder import state_folder

# --- A place that holds what actions gave: a folder of this machine, or one far away ------------

SWEEPING = "what nobody needs is removed"
UNREADABLE = (
    "some of the shared store {0} cannot be read: be in its group, or who wrote it has to "
    "`chmod -R g+rX {0}` (`o+rX` for those who are not)"
)
RUNS = Holder(who="another build", does="runs the same stage of the same inputs")
REMOVES = Holder(who="`cache gc`", does="removes what nobody needs")
PUBLISHES = Holder(who="a build", does="writes into this store")


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
    """The shelf in a folder of this machine.

    In one that people share, who may do what with the folder may do so with all that is in it.
    """

    def __init__(self, folder: Path, read_only: bool = False, is_shared: bool = False) -> None:
        self.folder = folder
        self.read_only = read_only
        self._is_shared = is_shared
        self._sound: set[str] = set()

    def path(self, kind: str, name: str) -> Path:
        """Return where a content lies. Raises ValueError for a name that is no sha256."""
        return Path(self._path(kind, name))

    def _path(self, kind: str, name: str) -> str:
        if not is_digest(name):
            raise ValueError(f"{name!r} is no sha256")
        return f"{self.folder}/{kind}/{name[:2]}/{name}"

    def read(self, kind: str, name: str) -> bytes | None:
        """Return a content, None where there is none; what is no file is thrown away, with a word.

        Raises OSError.
        """
        path = self._path(kind, name)
        try:
            found = read_file(path, links=False)
        except FileNotFoundError:
            return None
        except PermissionError:
            if not self._is_shared:
                raise
            warn(UNREADABLE.format(self.folder))
            return None
        except OSError:
            if not self._throw_away(path):
                raise
            return None
        return None if self._make_way(path) else found

    def size(self, kind: str, name: str) -> int | None:
        """Return how many bytes a content has, None where there is none."""
        path = self._path(kind, name)
        try:
            found = os.lstat(path)
            return found.st_size if stat.S_ISREG(found.st_mode) else None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Put a content there in one step. Raises OSError."""
        path, give = self._path(kind, name), self._give()
        if os.path.dirname(path) not in self._sound:
            self._make_way(path)
            self._give_tops(path, give)

        def write() -> None:
            write_whole(path, content, f"{self.folder}/new", give)

        try:
            settled(write) if give is not None else write()
        except (IsADirectoryError, NotADirectoryError):
            self._throw_away(path)
            write()

    def remove(self, kind: str, name: str) -> None:
        """Remove a content, if it is there. Raises OSError."""
        path = self._path(kind, name)
        if not self._throw_away(path):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _make_way(self, path: str) -> bool:
        """Throw away what stands where a folder of a content belongs, looked at once a process.

        Returns whether anything did. Raises OSError.
        """
        folder = os.path.dirname(path)
        if folder in self._sound:
            return False
        self._sound.add(folder)
        return self._throw_away(path)

    def _give(self) -> Give | None:
        """Return what gives all that is made to those who share it; None where nobody does.

        Raises OSError.
        """
        return access_of(self.folder).give if self._is_shared and not self.read_only else None

    def _give_tops(self, path: str, give: Give | None) -> None:
        """Give the folders above a content, which may be left as an umask made them."""
        if give is not None:
            for top in self._tops(path):
                with suppress(OSError):
                    give(top)

    def _tops(self, path: str) -> tuple[str, ...]:
        """Return the folders above a content, from the top."""
        kind, prefix, _ = path.removeprefix(f"{self.folder}/").split("/")
        top = str(self.folder)
        return f"{top}/new", f"{top}/{kind}", f"{top}/{kind}/{prefix}"

    def _throw_away(self, path: str) -> bool:
        """Remove what stands where a folder or a file belongs, with a word; return if anything did.

        Raises OSError.
        """
        wrong = [top for top in self._tops(path) if not _is(stat.S_ISDIR, top)]
        wrong += [path] if not wrong and not _is(stat.S_ISREG, path) else []
        for each in wrong if not self.read_only else ():
            if not is_own(self.folder) and (each != path or os.path.isdir(each)):
                raise FileExistsError(errno.EEXIST, "something else is there", each)
            warn(f"{shown_path(Path(each))} is damaged, and made anew")
            remove_whatever(Path(each))
        return bool(wrong)

    def names(self, kind: str) -> Iterator[str]:
        """Yield the names of all contents of a kind. Raises OSError where the folder is none."""
        if self.folder.exists() and not self.folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.folder))
        top = self.folder / kind
        folders = [] if top.is_symlink() else sorted(top.glob("??"))
        for folder in (each for each in folders if not each.is_symlink()):
            found = sorted(path.name for path in folder.glob("*"))
            yield from (n for n in found if is_digest(n) and n[:2] == folder.name)

    def lock(self, key: str) -> AbstractContextManager[bool]:
        """Hold off other processes that want to run the action of a key. Raises OSError."""
        return locked(self.folder, key, give=self._give(), holder=RUNS)

    def publishing(self) -> AbstractContextManager[bool]:
        """Hold off the removal of contents that nobody names yet. Raises OSError."""
        return locked(self.folder, SWEEPING, shared=True, give=self._give(), holder=REMOVES)

    def sweeping(self) -> AbstractContextManager[bool]:
        """Hold off everybody who publishes, to remove what nobody names. Raises OSError."""
        return locked(self.folder, SWEEPING, give=self._give(), holder=PUBLISHES)

    def where(self) -> str:
        """Return the path of the folder."""
        return str(self.folder)


def _is(kind: Callable[[int], bool], path: str) -> bool:
    """Return whether what lies at a path is of a kind; nothing is of any."""
    try:
        return kind(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True

# --- The second store, that workspaces share: a folder, or whatever fsspec reaches --------------
#
# Who trusts a shared store trusts what is in it to be what the stages gave: contents are checked
# against their digests, and names against what stages declare, but nothing else says what they
# give.

LOCAL = "file://"
PATIENCE = 10.0
"""How many seconds a request may take."""

PACE = 1e6
"""How many bytes of a content are written in a second at least."""

MOST_LISTED = 20_000_000
"""A list of names takes no longer than so many bytes."""


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
        at = _at(kind, name)
        found: bytes | None = self._ask(lambda files, top: files.cat_file(top + at))
        return found

    def size(self, kind: str, name: str) -> int | None:
        """Return how many bytes a content has, None where there is none. Raises OSError."""
        at = _at(kind, name)
        found = self._ask(lambda files, top: files.size(top + at))
        return int(found) if found is not None else None

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Put a content there. Raises OSError."""
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
    """Return what a request gives, or raise what it does; OSError if that takes too long.

    A thread that has no answer is left behind, and ends with the process.
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

    A folder is made, but not the one it lies in: a disk that is not mounted is not written over.
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
