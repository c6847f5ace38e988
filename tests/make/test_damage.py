"""What the Make remembers, damaged at any place: made anew, with a word, and never a traceback."""

import os
import random
import sqlite3
import subprocess
import sys

import pytest
from doit.dependency import JSONCodec

from lairmake.stages.make.doit.dependency import Remembered
from lairmake.stages.make.store import state as module
from lairmake.stages.make.store.state import WorkspaceState

pytestmark = pytest.mark.usefixtures("said")
LINES = [{"build": "b", "task": f"a:{n}", "how": "ran" if n % 2 else "same"} for n in range(40)]
DATA = {f"name {n}": [n, f"digest {n}"] for n in range(200)}


@pytest.fixture
def filled(tmp_path):
    """A state with data of several kinds, and a log."""
    state = WorkspaceState(tmp_path)
    state.keep("memo", DATA)
    state.keep("layers", {"a": ["code", [], "digest"]})
    for line in LINES:
        state.add(line)
    state.flush()
    return tmp_path


def test_what_is_kept_is_there_for_the_next_build(filled, said):
    assert WorkspaceState(filled).every("memo") == DATA
    assert WorkspaceState(filled).get("layers", "a") == ["code", [], "digest"]
    assert list(WorkspaceState(filled).lines()) == LINES
    assert list(WorkspaceState(filled).lines("where task = ?", ["a:3"])) == [LINES[3]]
    assert said == []


def test_without_a_state_nothing_is_known_and_nothing_made(tmp_path):
    state = WorkspaceState(tmp_path)
    assert (state.get("memo", "x"), state.every("memo"), list(state.lines())) == (None, {}, [])
    state.shorten()
    assert os.listdir(tmp_path) == []


def test_names_may_be_any_that_files_have(tmp_path):
    name = os.fsdecode(b"\xff\n'\"x")
    WorkspaceState(tmp_path).keep("memo", {name: name})
    assert WorkspaceState(tmp_path).every("memo") == {name: name}


@pytest.mark.wide_after(45)
@pytest.mark.parametrize("seed", range(60))
def test_wherever_it_is_damaged_what_is_returned_was_kept(filled, said, seed):
    """Bits that flip, a page of another text, and an end that is missing."""
    rng = random.Random(seed)
    file = filled / "state.db"
    content = bytearray(file.read_bytes())
    at = rng.randrange(len(content))
    if seed % 3 == 0:
        content[at] ^= 1 << rng.randrange(8)
    elif seed % 3 == 1:
        content[at : at + 4096] = rng.randbytes(min(4096, len(content) - at))
    else:
        del content[at:]
    file.write_bytes(content)
    state = WorkspaceState(filled)
    assert all(DATA.get(name) == data for name, data in state.every("memo").items())
    assert all(state.get("memo", name) in (None, DATA[name]) for name in DATA)
    assert all(line in LINES for line in state.lines())
    state.keep("memo", {"new": 1})
    state.add(LINES[0])
    assert (state.get("memo", "new"), list(state.lines())[-1]) == (1, LINES[0])
    assert state.lost == ""


def test_a_row_that_is_damaged_is_thrown_away_and_said(filled, said):
    database = sqlite3.connect(filled / "state.db")
    database.execute("update kept set value = ? where name = ?", (b"[3, 4]", b"name 3"))
    database.execute("update kept set name = ? where name = ?", (b"other", b"name 4"))
    database.execute("update log set line = ? where task = ?", (b'{"build": 3}', b"a:3"))
    database.commit()
    database.close()
    state = WorkspaceState(filled)
    assert (state.get("memo", "name 3"), state.get("memo", "other")) == (None, None)
    assert list(state.lines()) == [line for line in LINES if line["task"] != "a:3"]
    assert set(said) == {f"{filled}/state.db is damaged in part, and that is thrown away"}
    assert "name 3" not in WorkspaceState(filled).every("memo")


def test_a_state_of_another_version_is_made_anew(filled, said):
    database = sqlite3.connect(filled / "state.db")
    database.execute("pragma user_version = 1000")
    database.close()
    assert WorkspaceState(filled).get("memo", "name 3") is None
    assert said == [f"{filled}/state.db is damaged, and made anew"]


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_is_no_file_is_no_state(filled, tmp_path, said, kind):
    file, outside = filled / "state.db", tmp_path / "mine"
    file.rename(outside)
    {"folder": file.mkdir, "link": lambda: file.symlink_to(outside),
     "pipe": lambda: os.mkfifo(file)}[kind]()
    before = outside.read_bytes()
    state = WorkspaceState(filled)
    state.keep("memo", {"new": 1})
    assert (state.every("memo"), outside.read_bytes()) == ({"new": 1}, before)
    assert said == [f"{file} is damaged, and made anew"]


def test_a_state_that_others_hold_for_too_long_is_left_out_once(filled, said, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    other = sqlite3.connect(filled / "state.db", isolation_level=None)
    other.execute("begin exclusive")
    state = WorkspaceState(filled)
    assert state.get("memo", "name 3") is None
    state.keep("memo", {"new": 1})
    assert (state.get("memo", "new"), state.lost) == (1, "database is locked")
    assert said == [f"{filled}/state.db is left out: database is locked"]
    other.execute("rollback")
    assert WorkspaceState(filled).every("memo") == DATA


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITE, tmp_path, str(n)]) for n in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert (
        len(WorkspaceState(tmp_path).every("memo"))
        == len(list(WorkspaceState(tmp_path).lines()))
        == 150
    )


WRITE = """
import sys
from pathlib import Path
from lairmake.stages.make.store.state import WorkspaceState
state = WorkspaceState(Path(sys.argv[1]))
for number in range(50):
    state.keep("memo", {f"{sys.argv[2]} {number}": number})
    state.add({"task": sys.argv[2]})
    state.flush()
"""


def test_what_doit_notes_of_a_failure_keeps_nobody_waiting(filled):
    """doit notes it when a task fails, and closes its database at the end of the build."""
    known = Remembered(WorkspaceState(filled), "doit.db", JSONCodec())
    known.set("a", "result", {"x": 1})
    known.dump()
    known.remove("a")
    other = sqlite3.connect(filled / "state.db", timeout=0, isolation_level=None)
    other.execute("begin exclusive")
    other.execute("rollback")
    assert not Remembered(WorkspaceState(filled), "doit.db", JSONCodec()).in_("a")


def test_a_process_that_is_forked_has_a_connection_of_its_own(filled):
    state = WorkspaceState(filled)
    assert state.get("memo", "name 3") == DATA["name 3"]
    child = os.fork()
    if child == 0:
        state.keep("memo", {"child": 1})
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    state.keep("memo", {"parent": 1})
    assert (state.get("memo", "child"), WorkspaceState(filled).get("memo", "parent")) == (1, 1)


def test_a_log_that_is_too_long_loses_its_older_half(filled, monkeypatch):
    monkeypatch.setattr(module, "MOST_PAGES", 1)
    state = WorkspaceState(filled)
    state.shorten()
    assert list(state.lines()) == LINES[20:]
    assert (state.every("memo"), state.get("layers", "a")) == ({}, ["code", [], "digest"])
