"""Builds where nothing, or not all, can be written: said in a line, and nothing is lost."""

import os
import resource
import shutil

import pytest

from tests.e2e.conftest import DODO
from tests.e2e.test_store import ALL, ONCE, SWITCHED, contents


def without_write_rights():
    """Take from root, in a process to be, the right to write where nobody may."""
    import ctypes

    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


def read_only(folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def writable(folder):
    folder.chmod(0o755)
    for path in sorted(folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.wide
def test_a_store_that_cannot_be_written_to_is_said_and_nothing_is_lost(small):
    small.build()
    before = contents(small)
    read_only(small.root / ".lairmake/store")
    assert small.run(preexec=without_write_rights).out == "1 layer unchanged\n"
    small.write("projects/a/a.lair", SWITCHED)
    run = small.run(preexec=without_write_rights)
    assert (run.code, run.err) == (1, (
        "error: cannot write .lairmake/store: Permission denied\n"
        "hint: the store must be writable to build anything that it does not hold yet\n"
    ))
    assert contents(small) == {**before, "projects/a/a.lair": SWITCHED}
    writable(small.root / ".lairmake")
    assert small.build() == ALL


def test_a_full_disk_is_said_and_nothing_is_lost(small):
    """Where no file may grow the system says, as on a full disk, not which one it is about."""
    small.build()
    before = contents(small)
    shutil.rmtree(small.root / "cache")
    run = small.run(preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert (run.code, run.out) == (1, ".  a:parse\n")
    assert run.err == "error: cannot write cache/a: File too large\n"
    assert list((small.root / "cache/a").iterdir()) == []
    assert small.hits() == ["a:parse", "a:place"]
    assert contents(small) == before


def test_a_workspace_that_cannot_be_written_to_is_said(small):
    read_only(small.root)
    run = small.run(preexec=without_write_rights)
    writable(small.root)
    assert (run.code, run.err) == (1, "error: cannot write .lairmake: Permission denied\n")


@pytest.mark.wide
def test_a_workspace_that_is_built_and_cannot_be_written_to_is_unchanged(small):
    small.build()
    read_only(small.root)
    run = small.run(preexec=without_write_rights)
    again = small.run("a:parse", preexec=without_write_rights, LAIRMAKE_STATE="../elsewhere")
    writable(small.root)
    assert (run.code, run.out, run.err) == (0, "1 layer unchanged\n", "")
    assert (again.code, again.out, again.err) == (0, ".  a:parse\n", "")


def test_a_folder_of_state_that_is_a_link_is_refused(small, tmp_path):
    (tmp_path / "outside").mkdir()
    (small.root / ".lairmake").symlink_to(tmp_path / "outside")
    run = small.run()
    said = ".lairmake is a symbolic link: remove it; LAIRMAKE_STATE names a folder elsewhere"
    assert (run.code, run.out, run.err) == (3, "", f"ERROR: {said}\n")
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.wide
def test_without_a_place_for_the_state_what_is_not_remembered_is_said(small):
    small.write("dodo.py", DODO + ONCE)
    small.build()
    (small.root / ".lairmake/state.db").unlink()
    read_only(small.root / ".lairmake")
    assert small.run(preexec=without_write_rights).err == ""
    said = "warning: .lairmake/state.db is left out: unable to open database file\n"
    assert small.run("once", preexec=without_write_rights).err == said
    writable(small.root / ".lairmake")
