"""What the Make keeps between builds: digests, files whole or not at all, locks."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from lairmake.stages.make.store.files import (
    is_left_over,
    remove_left_overs,
    temporary_name,
    write_whole,
)
from lairmake.stages.make.store.lock import locked
from lairmake.stages.make.store.state import SECOND, Memo, WorkspaceState, is_fresh

NOW = 1_700_000_000 * SECOND + 123_456_789
ONE = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
HOLD = """
import sys, time
from pathlib import Path
from lairmake.stages.make.store.lock import locked
with locked(Path(sys.argv[1]), "a"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_file_written_a_moment_ago_may_change_without_a_trace():
    assert is_fresh(NOW - SECOND // 100, NOW)
    assert not is_fresh(NOW - SECOND // 10, NOW)


def test_where_times_are_whole_seconds_a_moment_is_longer():
    seconds = NOW - NOW % SECOND
    assert is_fresh(seconds - SECOND, NOW)
    assert not is_fresh(seconds - 2 * SECOND, NOW)


def test_a_file_from_the_future_is_never_believed():
    assert is_fresh(NOW + 1000 * SECOND, NOW)


def test_digests_are_remembered_and_kept(tmp_path):
    file = tmp_path / "file"
    file.write_text("one", encoding="utf-8")
    time.sleep(0.1)
    memo = Memo(tmp_path)
    assert memo.digest(file) == ONE
    memo.save()
    ((name, (*mark, digest)),) = WorkspaceState(tmp_path).every("memo").items()
    assert digest == ONE
    WorkspaceState(tmp_path).keep("memo", {name: (*mark, "0" * 64)})
    assert Memo(tmp_path).digest(file) == "0" * 64


def test_what_follows_from_a_file_is_known_in_a_copy_of_the_workspace(tmp_path):
    """But not by other code, or of another content."""
    asked = []

    def derive(content):
        asked.append(content)
        return "0" * 64

    def follow(name, code):
        memo = Memo(tmp_path / name / ".lairmake")
        assert memo.derived(tmp_path / name / "a.yaml", "words", derive, code) == "0" * 64
        memo.save()

    (tmp_path / "one/.lairmake").mkdir(parents=True)
    (tmp_path / "one/a.yaml").write_bytes(b"one")
    follow("one", "code")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    follow("two", "code")
    assert asked == [b"one"]
    follow("two", "other code")
    (tmp_path / "two/a.yaml").write_bytes(b"two")
    follow("two", "other code")
    assert asked == [b"one", b"one", b"two"]


def test_a_digest_is_not_remembered_for_another_file_of_the_same_name(tmp_path):
    file = tmp_path / "file"
    file.write_text("two", encoding="utf-8")
    times = file.stat()
    time.sleep(0.1)
    memo = Memo(tmp_path)
    memo.digest(file)
    write_whole(file, b"one")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert memo.digest(file) == ONE


def test_what_is_no_file_has_no_digest(tmp_path):
    assert Memo(tmp_path).digest(tmp_path) is None
    assert Memo(tmp_path).digest(tmp_path / "missing") is None


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        write_whole(tmp_path / "folder", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_only_files_of_processes_that_ended_are_left_over(tmp_path):
    assert not is_left_over(temporary_name("lair.isl"))
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                           capture_output=True, text=True, check=True)
    assert is_left_over(f".lair.isl.{ended.stdout.strip()}.0.tmp")
    elsewhere = f".lair.isl.01234567-{ended.stdout.strip()}.0.tmp"
    assert not is_left_over(elsewhere), "another machine may have a process of that number"
    (tmp_path / elsewhere).touch()
    remove_left_overs(tmp_path)
    assert (tmp_path / elsewhere).exists()
    os.utime(tmp_path / elsewhere, (time.time() - 90_000,) * 2)
    remove_left_overs(tmp_path)
    assert not (tmp_path / elsewhere).exists()
    assert not is_left_over("lair.isl")
    assert not is_left_over(".lair.isl.swp")


def test_a_lock_is_held_against_other_processes_until_they_end(tmp_path):
    other = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE)
    other.stdout.readline()
    with locked(tmp_path, "a", wait=False) as held:
        assert not held
    with locked(tmp_path, "b", wait=False) as held:
        assert held
    other.kill()
    other.communicate()
    with locked(tmp_path, "a") as held:
        assert held
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
