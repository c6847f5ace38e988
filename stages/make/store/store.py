"""Store of results: the outputs of each action by its key."""

from __future__ import annotations

import errno
import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.store.files import digest_of, remove_left_overs, remove_whatever, warn
from lairmake.stages.make.store.folders import is_digest, is_inside, is_name, matches, shown_path
from lairmake.stages.make.store.shelf import FolderShelf, Shelf
from lairmake.stages.make.store.state_folder import state_folder

# --- Entries: reads and writes of an action -------------------------------------------------------
#
# Anybody may have written the file of an entry. Its first line is the sha256 of the key and of the
# rest; the rest is canonical JSON. Entries of a workspace and of a shared store are the same bytes,
# and neither is believed: each digest must be a digest, and each name one that the stage declares.

MOST_BYTES = 64_000_000
"""Length of an entry in bytes, at most: a stage that writes 100 000 files has one of 20 MB."""

LONGEST = 1e11
"""Distance of a time from 1970, in seconds, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEntry:
    """Reads and writes of an action: digests by the name that the stage uses; None is no file.

    `further` are the names of files that it read beyond those that it declares, `code` is the
    digest of its code and tools. The action took `seconds`, and ended at `when`, in seconds since
    1970.
    """

    stage: str
    outputs: dict[str, str]
    reads: dict[str, str | None]
    further: Sequence[str]
    code: str
    seconds: float
    when: float


Record = StoreEntry | tuple[str, ...]
"""Content under a key: an entry, or only the names of files that an action reads further."""


def bytes_of(entry: StoreEntry, key: str) -> bytes:
    """Return an entry as the bytes of a file."""
    return _sealed(key, {name: getattr(entry, name) for name in IS_VALID})


def bytes_of_further(names: Sequence[str], key: str) -> bytes:
    """Return the bytes of an entry with only the names of files that an action reads further."""
    return _sealed(key, {"further": names})


def record_of(content: bytes, key: str) -> Record | None:
    """Return the record in a file's bytes; None if it is damaged, or that of another key."""
    data = _unsealed(content, key)
    if data is None:
        return None
    return StoreEntry(**data) if "stage" in data else tuple(data["further"])


def fits(entry: StoreEntry, stage: str, declared: Sequence[str]) -> bool:
    """Return whether an entry is that of a stage, and has the names that the stage declares.

    It has each declared name without `*`, and no name that fits none of the declared ones.
    """
    known = all(any(matches(name, each) for each in declared) for name in entry.outputs)
    whole = all(name in entry.outputs for name in declared if "*" not in name)
    return entry.stage == stage and known and whole


def _sealed(key: str, data: Mapping[str, Any]) -> bytes:
    text = json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    return _seal(key, text) + b"\n" + text


def _seal(key: str, text: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + text).hexdigest().encode()


def _unsealed(content: bytes, key: str) -> dict[str, Any] | None:
    """Return the data of a file, in which every field is what it must be; None for another one."""
    seal, _, text = content.partition(b"\n")
    if len(content) > MOST_BYTES or seal != _seal(key, text):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.keys() not in (IS_VALID.keys(), {"further"}):
        return None
    return data if all(IS_VALID[name](value) for name, value in data.items()) else None


def _is_time(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and -LONGEST <= value <= LONGEST  # type: ignore[operator]


def _are_digests(value: object) -> bool:
    return isinstance(value, dict) and all(is_inside(n) and is_digest(d) for n, d in value.items())


def _were_read(value: object) -> bool:
    return isinstance(value, dict) and all(
        is_name(name) and (digest is None or is_digest(digest)) for name, digest in value.items()
    )


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(is_name, value))


IS_VALID: Mapping[str, Callable[[object], bool]] = {
    "stage": is_inside, "outputs": _are_digests, "reads": _were_read, "further": _are_names,
    "code": is_digest, "seconds": _is_time, "when": _is_time,
}
"""Test of each field of an entry."""

# --- Store of the results of actions, by key ------------------------------------------------------
#
# The key of an action is the digest of all that it depends on. `blobs/ab/<sha256>` are contents,
# `entries/ab/<key>` are the entries of actions. Blobs are written first and the entry last, each in
# one step; so an entry is there only if all of it is.

T = TypeVar("T")
NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
ONLY_READ = (
    "the shared store is only read: {} (if that is meant, `read_only: true` says so; else who owns "
    "the store has to `chmod -R g+rwX` it)"
)


class ResultStore:
    """The store of a workspace, and behind it a second one that is shared, if there is one."""

    def __init__(self, shelf: FolderShelf, second: Shelf | None = None) -> None:
        self.shelf = shelf
        self.second = second

    @staticmethod
    def open(home: Path) -> ResultStore:
        """Return the store of a workspace, or of a layer folder outside of one; make no folder."""
        folder = state_folder(home) / "store"
        if folder.is_symlink():
            warn(f"{shown_path(folder)} is damaged, and made anew")
            with suppress(OSError):
                remove_whatever(folder)
        return ResultStore(FolderShelf(folder), _second_of(home))

    @property
    def folder(self) -> Path:
        """The folder of the local store."""
        return self.shelf.folder

    def lookup(self, key: str, stage: str, declared: Sequence[str]) -> StoreEntry | None:
        """Return the entry of the action with a key; None where it is not known.

        The entry must be of this stage, with the files that the stage has `declared`, and no other.
        """
        def fitting(content: bytes) -> Record | None:
            found = record_of(content, key)
            is_wrong = isinstance(found, StoreEntry) and not fits(found, stage, declared)
            return None if is_wrong else found

        found = self._read("entries", key, fitting)
        return found if isinstance(found, StoreEntry) else None

    def entry(self, key: str) -> StoreEntry | None:
        """Return the entry of the action with a key, of whichever stage, for looking at only."""
        found = self._record(key)
        return found if isinstance(found, StoreEntry) else None

    def further(self, primary: str) -> list[str]:
        """Return the further files that an action read, by the key without them."""
        found = self._record(primary)
        return list(found.further if isinstance(found, StoreEntry) else found or ())

    def _record(self, key: str) -> Record | None:
        def whole(content: bytes) -> Record | None:
            return record_of(content, key)

        return self._read("entries", key, whole)

    def publish(
        self, entry: StoreEntry, key: str, primary: str, outputs: Mapping[str, bytes],
        sources: Mapping[str, bytes],
    ) -> None:
        """Publish the entry of an action, and its outputs; `sources` are kept for a later look.

        Raises UserError where the local store cannot be written to.
        """
        with ExitStack() as stack:
            self._enter(stack, lambda shelf: shelf.publishing())
            for content in (*sources.values(), *outputs.values()):
                self._keep(digest_of(content), content)
            if primary != key:
                names = sorted({*self.further(primary), *entry.further})
                self._write("entries", primary, bytes_of_further(names, primary))
            self._write("entries", key, bytes_of(entry, key))

    def _keep(self, digest: str, content: bytes) -> None:
        """Put a content into both stores, where it is not there yet. Raises UserError."""
        if not self.has_blob(digest, len(content)):
            with _cannot_write(self.folder):
                self.shelf.write("blobs", digest, content)
        if self._shared is not None:
            with self._second_may_fail():
                if self._shared.size("blobs", digest) != len(content):
                    self._shared.write("blobs", digest, content)

    def keep(self, content: bytes) -> None:
        """Keep a content that is no action's, as long as there is room. Raises UserError."""
        with _cannot_write(self.folder):
            self.shelf.write("blobs", digest_of(content), content)

    def keep_edit(self, content: bytes) -> str:
        """Keep a text that somebody edited by hand, and return its digest. Raises UserError."""
        digest = digest_of(content)
        with _cannot_write(self.folder):
            self.shelf.write("edits", digest, content)
        return digest

    def edit_path(self, digest: str) -> Path:
        """Return the path of a text that was edited by hand."""
        return self.shelf.path("edits", digest)

    def use(self, *keys: str) -> None:
        """Note that entries were used: entries that nobody used for long are removed first."""
        for key in keys:
            with suppress(OSError):
                os.utime(self.entry_path(key))

    def blob(self, digest: str) -> bytes | None:
        """Return a content; None where it is not there, or is damaged, and removed for that."""
        return self._read(
            "blobs", digest, lambda content: content if digest_of(content) == digest else None
        )

    def has_blob(self, digest: str, size: int | None = None) -> bool:
        """Return whether the local store has a content, without reading it."""
        found = None
        with suppress(OSError):
            found = self.shelf.size("blobs", digest)
        return found is not None and size in (None, found)

    def blob_path(self, digest: str) -> Path:
        """Return the path of a content in the local store."""
        return self.shelf.path("blobs", digest)

    def entry_path(self, key: str) -> Path:
        """Return the path of an entry in the local store."""
        return self.shelf.path("entries", key)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Hold off every process that shares this store from running the action of a key.

        Raises UserError where the local store cannot be written to.
        """
        with ExitStack() as stack:
            self._enter(stack, lambda shelf: shelf.lock(key))
            yield

    @property
    def _shared(self) -> Shelf | None:
        """The second store, if this workspace writes to it."""
        return None if self.second is None or self.second.read_only else self.second

    def _enter(
        self, stack: ExitStack, lock: Callable[[Shelf], AbstractContextManager[Any]]
    ) -> None:
        """Take a lock of both stores."""
        with _cannot_write(self.folder):
            stack.enter_context(lock(self.shelf))
        if self._shared is not None:
            with self._second_may_fail():
                stack.enter_context(lock(self._shared))

    def tidy(self) -> None:
        """Remove the files that killed processes left."""
        remove_left_overs(self.folder / "new")

    def _read(self, kind: str, name: str, parse: Callable[[bytes], T]) -> T | None:
        """Return what the first shelf holds of which `parse` makes anything; None for nothing.

        The local one gets a copy.
        """
        content = self._local(kind, name)
        found = parse(content) if content is not None else None
        if content is not None and found is None:
            warn(f"{shown_path(self.shelf.path(kind, name))} is damaged, and made anew")
            with suppress(OSError):
                self.shelf.remove(kind, name)
        return self._fetch(kind, name, parse) if found is None else found

    def _local(self, kind: str, name: str) -> bytes | None:
        try:
            return self.shelf.read(kind, name)
        except OSError as error:
            warn(f"cannot read {shown_path(self.shelf.path(kind, name))}: {error.strerror}")
        return None

    def _fetch(self, kind: str, name: str, parse: Callable[[bytes], T]) -> T | None:
        content, found = None, None
        if self.second is None:
            return None
        with self._second_may_fail():
            content = self.second.read(kind, name)
            found = parse(content) if content is not None else None
            if content is not None and found is None:
                warn(f"the shared store holds {kind}/{name} damaged")
                if self._shared is not None:
                    self._shared.remove(kind, name)
        if content is not None and found is not None:
            with suppress(OSError):
                self.shelf.write(kind, name, content)
        return found

    def _write(self, kind: str, name: str, content: bytes) -> None:
        with _cannot_write(self.folder):
            self.shelf.write(kind, name, content)
        if self._shared is not None:
            with self._second_may_fail():
                self._shared.write(kind, name, content)

    @contextmanager
    def _second_may_fail(self) -> Iterator[None]:
        """What goes wrong with the second store is a warning, and the end of it for this build.

        One that does not let itself be written to is still read.
        """
        try:
            yield
        except Exception as error:  # each back end has errors of its own
            if self._shared and _is_not_writable(error):
                warn(ONLY_READ.format(_why(error)))
                self._shared.read_only = True
            else:
                warn(f"the shared store is left out: {_why(error)}")
                self.second = None


def _is_not_writable(error: Exception) -> bool:
    """Return whether a store refuses what is written; one behind a URL says no number."""
    refused = isinstance(error, OSError) and error.errno in NOT_WRITABLE
    return refused or isinstance(error, PermissionError)


@functools.cache
def store_of(home: Path) -> ResultStore:
    """Return the one store of a workspace in this process."""
    return ResultStore.open(home)


def _second_of(home: Path) -> Shelf | None:
    if not os.environ.get("LAIRMAKE_STORE") and not (home / "lairmake.yaml").is_file():
        return None
    from lairmake.stages.make.store.remote import second_shelf

    return second_shelf(home)


def _why(error: Exception) -> str:
    """Return why a store failed in one line: which of its files did, where it is one of ours."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def _cannot_write(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write {shown_path(folder)}: {error.strerror}",
            hint="the store must be writable to build anything that it does not hold yet",
        ) from error
