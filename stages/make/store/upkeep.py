"""Upkeep of a store: its sizes, the check of its contents, and the removal of unneeded ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from lairmake.stages.make.store.files import digest_of, remove_left_overs
from lairmake.stages.make.store.shelf import FolderShelf, Shelf
from lairmake.stages.make.store.store import StoreEntry, record_of

KINDS = ("entries", "blobs", "edits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A content that is not what it should be; `end` says what became of it."""

    kind: str
    name: str
    what: str
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSweep:
    """Numbers of contents of each kind that went, and of bytes that went and that stay."""

    gone: Mapping[str, int]
    bytes_gone: int
    bytes_kept: int


def sizes(shelf: Shelf) -> dict[str, tuple[int, int]]:
    """Return the number of contents of each kind, and of their bytes."""
    found = {kind: [shelf.size(kind, name) or 0 for name in shelf.names(kind)] for kind in KINDS}
    return {kind: (len(each), sum(each)) for kind, each in found.items()}


def verify(shelf: Shelf, other: Shelf | None) -> Iterator[Damage]:
    """Yield each damage of a shelf, once it is repaired from another shelf, or removed.

    Contents are checked against their digests. An entry is whole if it can be read, and all that it
    names is there. Nothing is done to a shelf that is read-only.
    """
    for kind in ("blobs", "edits"):
        for name in list(shelf.names(kind)):
            if not _is_intact(kind, name, shelf.read(kind, name)):
                end = _repair(shelf, other, kind, name)
                yield Damage(kind=kind, name=name, what="is damaged", end=end)
    blobs = set(shelf.names("blobs"))
    for name in list(shelf.names("entries")):
        content = shelf.read("entries", name)
        if not _is_intact("entries", name, content):
            end = _repair(shelf, other, "entries", name)
            yield Damage(kind="entries", name=name, what="is damaged", end=end)
        elif content is not None:
            yield from _missing(shelf, other, name, content, blobs)


def _is_intact(kind: str, name: str, content: bytes | None) -> bool:
    """Return whether a content is what its name says; one that just went is no damage."""
    if content is None:
        return True
    if kind == "entries":
        return record_of(content, name) is not None
    return digest_of(content) == name


def _repair(shelf: Shelf, other: Shelf | None, kind: str, name: str) -> str:
    """Replace a content by that of another shelf, or remove it; return which, in words."""
    if shelf.read_only:
        return "left, since this store is read-only"
    content = _intact_there(other, kind, name)
    if content is not None:
        shelf.write(kind, name, content)
        return "repaired from the other store"
    shelf.remove(kind, name)
    return "removed"


def _intact_there(other: Shelf | None, kind: str, name: str) -> bytes | None:
    """Return a content of another store; None where that has none, or cannot be reached."""
    content = None
    with suppress(OSError):
        content = other.read(kind, name) if other is not None else None
    return content if _is_intact(kind, name, content) else None


def _missing(
    shelf: Shelf, other: Shelf | None, key: str, content: bytes, blobs: set[str]
) -> Iterator[Damage]:
    """Yield the damage of an entry that names contents which are not there."""
    entry = record_of(content, key)
    named = set(entry.outputs.values()) if isinstance(entry, StoreEntry) else set()
    for name in sorted(named - blobs):
        found = _intact_there(other, "blobs", name)
        if shelf.read_only:
            end = "left, since this store is read-only"
        elif found is not None:
            shelf.write("blobs", name, found)
            blobs.add(name)
            end = "repaired from the other store"
        else:
            shelf.remove("entries", key)
            end = "removed"
        yield Damage(kind="entries", name=key, what=f"names blobs/{name}, which is gone", end=end)
        if end == "removed":
            return


def sweep(shelf: FolderShelf, most: int | None) -> StoreSweep:
    """Remove contents that were used longest ago, until `most` bytes stay.

    Contents that no entry names, and files that killed processes left, are removed in any case.
    Entries go first, then contents that only they named: at no moment does an entry name a content
    that is gone. Whoever publishes waits meanwhile. Raises OSError.
    """
    with shelf.sweeping():
        before = sizes(shelf)
        kept = _worth_keeping(shelf, most)
        for kind in ("entries", "edits", "blobs"):
            for name in list(shelf.names(kind)):
                if (kind, name) not in kept:
                    shelf.remove(kind, name)
        remove_left_overs(shelf.folder / "new")
        after = sizes(shelf)
    total = sum(size for _, size in after.values())
    return StoreSweep(
        gone={kind: before[kind][0] - after[kind][0] for kind in KINDS},
        bytes_gone=sum(size for _, size in before.values()) - total,
        bytes_kept=total,
    )


def _worth_keeping(shelf: FolderShelf, most: int | None) -> set[tuple[str, str]]:
    """Return kind and name of all that stays: what was used last, with all that it names."""
    kept: set[tuple[str, str]] = set()
    total = 0
    for kind, name in _last_used_first(shelf):
        added = {(kind, name), *(("blobs", blob) for blob in _named(shelf, kind, name))} - kept
        total += sum(shelf.size(*each) or 0 for each in added)
        if most is not None and total > most:
            break
        kept |= added
    return kept


def _last_used_first(shelf: FolderShelf) -> list[tuple[str, str]]:
    found = [(kind, name) for kind in ("entries", "edits") for name in shelf.names(kind)]
    used = {each: shelf.path(*each).stat().st_mtime_ns for each in found}
    return sorted(found, key=lambda each: (-used[each], each))


def _named(shelf: FolderShelf, kind: str, name: str) -> set[str]:
    """Return the blobs that an entry names: what it wrote, and the sources that it read."""
    content = shelf.read(kind, name) if kind == "entries" else None
    entry = record_of(content, name) if content is not None else None
    if not isinstance(entry, StoreEntry):
        return set()
    found = {*entry.outputs.values(), *entry.reads.values()}
    return {blob for blob in found if blob is not None}
