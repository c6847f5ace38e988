"""The store, and a second one behind it that other workspaces share."""

import contextlib
import errno
import hashlib

import pytest

from lairmake.stages.make.store.store import FolderShelf, ResultStore, StoreEntry

pytestmark = pytest.mark.usefixtures("said")
KEY = "ab" + "0" * 62
PRIMARY = "cd" + "0" * 62
TEXT = b"one\n"
DIGEST = hashlib.sha256(TEXT).hexdigest()
ENTRY = StoreEntry(
    stage="parse", outputs={"lair.isl": DIGEST}, reads={"a.lair": DIGEST}, further=["mine.yaml"],
    code=DIGEST, seconds=1.5, when=2.5,
)
STAGE = ("parse", ("lair.isl",))


class Broken(FolderShelf):
    """A shelf that can no longer be reached."""

    why = "no route to host"

    def read(self, *args):
        raise RuntimeError(self.why)

    write = read


@pytest.fixture
def shared(tmp_path):
    return FolderShelf(tmp_path / "shared")


def open_store(folder, second=None):
    return ResultStore(FolderShelf(folder / "store"), second)


def publish(store):
    store.publish(ENTRY, KEY, PRIMARY, {"lair.isl": TEXT}, {"a.lair": b"source"})


def test_what_is_published_is_found(tmp_path):
    publish(open_store(tmp_path))
    store = open_store(tmp_path)
    assert store.lookup(KEY, *STAGE) == ENTRY
    assert store.blob(DIGEST) == TEXT
    assert store.further(PRIMARY) == ["mine.yaml"]
    assert (store.lookup(PRIMARY, *STAGE), store.further(KEY)) == (None, ["mine.yaml"])
    assert store.blob(hashlib.sha256(b"source").hexdigest()) == b"source"


def test_what_is_not_there_is_none_and_makes_nothing(tmp_path):
    store = open_store(tmp_path)
    assert (store.lookup(KEY, *STAGE), store.blob(DIGEST), store.further(KEY)) == (None, None, [])
    assert list(tmp_path.iterdir()) == []


def test_another_workspace_finds_it_in_the_second_store_and_keeps_it(tmp_path, shared, said):
    publish(open_store(tmp_path / "a", shared))
    store = open_store(tmp_path / "b", shared)
    assert (store.lookup(KEY, *STAGE), store.blob(DIGEST)) == (ENTRY, TEXT)
    alone = open_store(tmp_path / "b")
    assert (alone.lookup(KEY, *STAGE), alone.blob(DIGEST)) == (ENTRY, TEXT)
    assert said == []


def test_a_second_store_that_is_read_only_is_not_published_to(tmp_path, shared):
    shared.read_only = True
    publish(open_store(tmp_path / "a", shared))
    assert not shared.folder.exists()


def test_a_damaged_blob_of_the_second_store_is_a_miss_and_a_warning(tmp_path, shared, said):
    publish(open_store(tmp_path / "a", shared))
    shared.path("blobs", DIGEST).write_bytes(b"two\n")
    assert open_store(tmp_path / "b", shared).blob(DIGEST) is None
    assert said == [f"the shared store holds blobs/{DIGEST} damaged"]


def test_a_damaged_blob_is_taken_from_the_second_store(tmp_path, shared, said):
    store = open_store(tmp_path / "a", shared)
    publish(store)
    store.blob_path(DIGEST).write_bytes(b"two\n")
    assert store.blob(DIGEST) == TEXT == store.blob_path(DIGEST).read_bytes()
    assert said == [f"{store.blob_path(DIGEST)} is damaged, and made anew"]


def test_a_second_store_that_fails_is_a_warning_and_left_out(tmp_path, said):
    store = open_store(tmp_path, Broken(tmp_path / "broken"))
    publish(store)
    assert (store.lookup(KEY, *STAGE), store.blob("0" * 64)) == (ENTRY, None)
    assert said == ["the shared store is left out: no route to host"]


@pytest.mark.parametrize("name", ["lock", f"blobs/{DIGEST[:2]}/{DIGEST}", "entries"])
def test_what_else_lies_in_a_shared_store_stays_and_is_named(tmp_path, said, name):
    at = tmp_path / "shared" / name
    (at.parent if name == "entries" else at).mkdir(parents=True)
    if name == "entries":
        at.symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    publish(open_store(tmp_path / "a", FolderShelf(tmp_path / "shared")))
    assert said == [f"the shared store is left out: {at}: something else is there"]
    assert set(before) <= set(tmp_path.rglob("*"))


def test_the_errors_of_a_back_end_are_one_line(tmp_path, said):
    broken = Broken(tmp_path / "broken")
    broken.why = "<html>\n no route\n"
    publish(open_store(tmp_path, broken))
    assert said == ["the shared store is left out: <html> no route"]


def test_the_lock_of_a_key_is_that_of_both_stores(tmp_path, shared):
    locks = []
    shared.lock = lambda key: locks.append(key) or contextlib.nullcontext()
    with open_store(tmp_path, shared).lock(KEY):
        assert locks == [KEY]


def test_a_store_that_is_not_to_be_written_to_is_read_on(tmp_path, shared, said, monkeypatch):
    """Also one far away, as a bucket that this user may only read."""
    publish(open_store(tmp_path / "first", shared))

    def refuse(*arguments):
        raise PermissionError(errno.EACCES, "Access Denied", "team/blobs")

    monkeypatch.setattr(shared, "write", refuse)
    store = open_store(tmp_path / "second", shared)
    store.publish(ENTRY, "ef" + "0" * 62, PRIMARY, {"lair.isl": b"other\n"}, {})
    assert (store.second, shared.read_only, store.lookup(KEY, *STAGE)) == (shared, True, ENTRY)
    assert said == [
        "the shared store is only read: team/blobs: Access Denied (if that is meant, "
        "`read_only: true` says so; else who owns the store has to `chmod -R g+rwX` it)"
    ]
