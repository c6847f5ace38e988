"""Shelf: a place of contents by name, in a folder of this machine or far away."""

from __future__ import annotations

import errno
import os
import stat
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

# --- Shelves: protocol, and the shelf in a folder -------------------------------------------------

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
        """Return the number of bytes of a content, None where there is none."""

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Write a content; who reads it finds it whole, or can tell that it is not."""

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

    In a shared folder, who may do what with the folder may do so with all that is in it.
    """

    def __init__(self, folder: Path, read_only: bool = False, is_shared: bool = False) -> None:
        self.folder = folder
        self.read_only = read_only
        self._is_shared = is_shared
        self._sound: set[str] = set()

    def path(self, kind: str, name: str) -> Path:
        """Return the path of a content. Raises ValueError for a name that is no sha256."""
        return Path(self._path(kind, name))

    def _path(self, kind: str, name: str) -> str:
        if not is_digest(name):
            raise ValueError(f"{name!r} is no sha256")
        return f"{self.folder}/{kind}/{name[:2]}/{name}"

    def read(self, kind: str, name: str) -> bytes | None:
        """Return a content, None where there is none.

        What is no file is thrown away, with a warning. Raises OSError.
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
        """Return the number of bytes of a content, None where there is none."""
        path = self._path(kind, name)
        try:
            found = os.lstat(path)
            return found.st_size if stat.S_ISREG(found.st_mode) else None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, kind: str, name: str, content: bytes) -> None:
        """Write a content in one step. Raises OSError."""
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

