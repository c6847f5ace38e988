"""A shared store that is far away: what does not answer, and what answers with nonsense."""

import threading
import time

import pytest

from lairmake.stages.make.store import remote, store as module
from lairmake.stages.make.store.remote import RemoteShelf, answer_of
from lairmake.stages.make.store.shelf import FolderShelf
from lairmake.stages.make.store.store import ResultStore

DIGEST = "ab" + "0" * 62


class Silent:
    """A server that takes a request and never answers; it counts them."""

    asked = 0

    def cat_file(self, path):
        self.asked += 1
        threading.Event().wait()


class Listed:
    """A server that knows some names."""

    def __init__(self, names):
        self.found = names

    def info(self, path):
        if not self.found:
            raise FileNotFoundError(path)

    def find(self, path):
        return [f"{path}/{name}" for name in self.found]


@pytest.fixture
def reached(monkeypatch):
    """Let a shelf reach another file system."""
    def reach(files):
        monkeypatch.setattr(remote, "_file_system", lambda url, process: (files, "/top"))
        return RemoteShelf("far://top")

    return reach


def test_a_server_that_never_answers_is_asked_once_and_one_warning(tmp_path, reached, monkeypatch):
    said, files = [], Silent()
    monkeypatch.setattr(module, "warn", said.append)
    monkeypatch.setattr(remote, "PATIENCE", 0.05)
    store = ResultStore(FolderShelf(tmp_path), reached(files))
    assert [store.blob(DIGEST), store.blob(DIGEST), store.further(DIGEST)] == [None, None, []]
    assert (said, files.asked) == (["the shared store is left out: no answer for 0 s"], 1)


def test_what_a_request_raises_is_raised():
    def wrong():
        raise ConnectionError("no route to host")

    with pytest.raises(ConnectionError, match="no route to host"):
        answer_of(wrong, 10)
    assert answer_of(lambda: 3, 10) == 3


def test_a_large_content_has_more_time(reached, monkeypatch):
    class Slow:
        def makedirs(self, path, exist_ok):
            time.sleep(0.1)

        def pipe_file(self, path, content):
            pass

    monkeypatch.setattr(remote, "PATIENCE", 0.01)
    monkeypatch.setattr(remote, "PACE", 10)
    shelf = reached(Slow())
    shelf.write("blobs", DIGEST, b"x" * 1000)
    with pytest.raises(OSError, match="no answer"):
        shelf.write("blobs", DIGEST, b"")


def test_names_are_only_those_of_contents(reached):
    shelf = reached(Listed([f"ab/{DIGEST}", "ab/x", "../" * 9 + "x"]))
    assert list(shelf.names("blobs")) == [DIGEST]
    assert list(reached(Listed([])).names("blobs")) == []


def test_no_content_is_asked_for_by_another_name(reached):
    with pytest.raises(ValueError, match="is no sha256"):
        reached(Silent()).read("blobs", "../../x")
