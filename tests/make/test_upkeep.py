"""What is damaged in a store is found and repaired, and what nobody needs is removed."""

import hashlib
import os

import pytest

from lairmake.stages.make.doit.commands.cache import SIZE, bytes_of
from lairmake.stages.make.store.shelf import FolderShelf
from lairmake.stages.make.store.store import ResultStore, StoreEntry, record_of
from lairmake.stages.make.store.upkeep import sizes, sweep, verify

KEYS = [f"{number:064x}" for number in range(4)]


def digest(content):
    return hashlib.sha256(content).hexdigest()


def filled(folder):
    """A store of four entries, each 100 bytes more; the first was used last, the last first."""
    shelf = FolderShelf(folder)
    for number, key in enumerate(KEYS):
        content = str(number).encode() * 100
        source = f"source {number // 2}".encode()
        entry = StoreEntry(
            stage="parse", outputs={"a.isl": digest(content)}, reads={"a.lair": digest(source)},
            further=[], code="0" * 64, seconds=1.0, when=2.0,
        )
        ResultStore(shelf).publish(entry, key, key, {"a.isl": content}, {"a.lair": source})
        os.utime(shelf.path("entries", key), (1000 - number, 1000 - number))
    return shelf


def names(shelf, kind):
    return sorted(shelf.names(kind))


def is_whole(shelf):
    """Whether all that the entries name is there."""
    entries = [record_of(shelf.read("entries", name), name) for name in shelf.names("entries")]
    return all(shelf.size("blobs", d) for e in entries for d in e.outputs.values())


def test_a_store_that_is_intact_stays(tmp_path):
    shelf = filled(tmp_path)
    before = sizes(shelf)
    assert list(verify(shelf, None)) == []
    assert sizes(shelf) == before
    assert (before["entries"][0], before["blobs"], before["edits"]) == (4, (6, 416), (0, 0))


def test_what_is_damaged_is_removed_with_the_entries_that_name_it(tmp_path):
    shelf = filled(tmp_path)
    blob = digest(b"2" * 100)
    shelf.write("blobs", blob, b"2" * 99 + b"3")
    shelf.write("entries", KEYS[0], b"{")
    shelf.write("edits", digest(b"edit"), b"other")
    found = [(d.kind, d.name, d.what, d.end) for d in verify(shelf, None)]
    assert found == [
        ("blobs", blob, "is damaged", "removed"),
        ("edits", digest(b"edit"), "is damaged", "removed"),
        ("entries", KEYS[0], "is damaged", "removed"),
        ("entries", KEYS[2], f"names blobs/{blob}, which is gone", "removed"),
    ]
    assert list(verify(shelf, None)) == []
    assert names(shelf, "entries") == [KEYS[1], KEYS[3]]


def test_what_another_store_has_is_taken_from_there(tmp_path):
    shelf, other = filled(tmp_path / "a"), filled(tmp_path / "b")
    before = sizes(shelf)
    shelf.write("blobs", digest(b"0" * 100), b"damaged")
    shelf.remove("blobs", digest(b"1" * 100))
    shelf.write("entries", KEYS[2], b"")
    assert {d.end for d in verify(shelf, other)} == {"repaired from the other store"}
    assert list(verify(shelf, None)) == []
    assert sizes(shelf) == before


def test_nothing_is_taken_that_is_damaged_there_too(tmp_path):
    shelf, other = filled(tmp_path / "a"), filled(tmp_path / "b")
    blob = digest(b"0" * 100)
    for each in (shelf, other):
        each.write("blobs", blob, b"damaged")
    assert [d.end for d in verify(shelf, other)] == ["removed", "removed"]
    assert shelf.read("blobs", blob) is None


def test_a_read_only_store_is_left_as_it_is(tmp_path):
    shelf = filled(tmp_path)
    shelf.write("blobs", digest(b"0" * 100), b"damaged")
    shelf.read_only = True
    (found,) = verify(shelf, None)
    assert found.end == "left, since this store is read-only"
    assert shelf.read("blobs", digest(b"0" * 100)) == b"damaged"


@pytest.mark.parametrize("count", range(5))
def test_what_was_used_last_stays(tmp_path, count):
    """An entry writes 100 bytes; two have their source of 8 bytes in common."""
    shelf = filled(tmp_path)
    size = shelf.size("entries", KEYS[0])
    most = count * (size + 100) + 8 * ((count + 1) // 2)
    swept = sweep(shelf, most)
    assert names(shelf, "entries") == KEYS[:count]
    assert (swept.gone["entries"], swept.bytes_kept) == (4 - count, most)
    assert is_whole(shelf)
    assert sizes(shelf)["blobs"][0] == count + (count + 1) // 2


def test_one_byte_less_is_one_entry_less(tmp_path):
    shelf = filled(tmp_path)
    sweep(shelf, 2 * (shelf.size("entries", KEYS[0]) + 100) + 8 - 1)
    assert names(shelf, "entries") == KEYS[:1]


def test_without_a_size_only_what_nobody_names_goes(tmp_path):
    shelf = filled(tmp_path)
    before = sizes(shelf)
    shelf.write("blobs", digest(b"nobody"), b"nobody")
    swept = sweep(shelf, None)
    assert (swept.gone, swept.bytes_gone) == ({"entries": 0, "blobs": 1, "edits": 0}, 6)
    assert sizes(shelf) == before


@pytest.mark.parametrize(("text", "size"), [
    ("0", 0), ("10", 10), ("1k", 1024), ("1.5K", 1536), ("2MB", 2 * 2**20), ("1GiB", 2**30),
    ("3t", 3 * 2**40),
])
def test_sizes_are_written_as_people_do(text, size):
    match = SIZE.fullmatch(text)
    assert bytes_of(match[1], match[2]) == size


@pytest.mark.parametrize("text", ["", "M", "-1", "1 x", "1e3", "ten"])
def test_other_texts_are_no_sizes(text):
    assert SIZE.fullmatch(text) is None
