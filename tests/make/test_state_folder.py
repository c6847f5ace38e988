"""Where the state of a workspace lies, and which folders elsewhere are not trusted with it."""

import errno
import os
import time

import pytest

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.make.store import lock, settings, state
from lairmake.stages.make.store.lock import has_locks, locked
from lairmake.stages.make.store.state import WorkspaceState
from lairmake.stages.make.store.state_folder import _folder_of, make_state_folder, state_folder

WHY = "programs of the build are kept there: it has to be yours alone (chmod go-w)"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A workspace, and nothing in the environment."""
    monkeypatch.delenv("LAIRMAKE_STATE", raising=False)
    monkeypatch.chdir(tmp_path)
    _folder_of.cache_clear()
    (tmp_path / "space/projects").mkdir(parents=True)
    return tmp_path / "space"


def refused(home):
    with pytest.raises(UserErrors) as error:
        state_folder(home)
    (one,) = error.value.errors
    return one.message, one.hint


def test_by_default_it_lies_in_the_workspace(home):
    (home / "lairmake.yaml").write_text("store: ../store\n", encoding="utf-8")
    assert state_folder(home) == make_state_folder(home) == home / ".lairmake"


def test_what_is_made_elsewhere_is_for_this_user_alone(home, tmp_path, monkeypatch):
    monkeypatch.setenv("LAIRMAKE_STATE", "local")
    folder = make_state_folder(home)
    assert folder.is_dir() and folder.parents[1] == tmp_path / "local"
    assert [path.stat().st_mode & 0o777 for path in folder.parents[:2]] == [0o700, 0o700]


def test_folders_of_one_name_have_states_of_their_own(home, tmp_path, monkeypatch):
    monkeypatch.setenv("LAIRMAKE_STATE", str(tmp_path / "local"))
    places = [state_folder(tmp_path / place / "space") for place in ("a", "b")]
    assert places[0] != places[1]
    assert {place.parent.name[:6] for place in places} == {"space-"}


@pytest.mark.parametrize("inside", ["space", "space/build/state"])
def test_it_does_not_lie_in_what_is_built(home, tmp_path, monkeypatch, inside):
    monkeypatch.setenv("LAIRMAKE_STATE", inside)
    assert refused(home) == (f"LAIRMAKE_STATE: {inside} lies in {home}", "name a folder elsewhere")


def test_a_disk_that_is_not_mounted_is_not_written_over(home, tmp_path, monkeypatch):
    monkeypatch.setenv("LAIRMAKE_STATE", "disk/state")
    said = f"LAIRMAKE_STATE: {tmp_path}/disk is not there"
    assert refused(home) == (said, "make the folder, or mount its disk")


@pytest.mark.parametrize("name", ["~nobody-here/state", "x" * 5000 + "/state"])
def test_a_name_that_no_folder_has_is_refused(home, monkeypatch, name):
    monkeypatch.setenv("LAIRMAKE_STATE", name)
    message, hint = refused(home)
    assert message.endswith(f"{name.partition('/')[0]} is not there")
    assert hint == "make the folder, or mount its disk"


@pytest.mark.parametrize("named", ["variable", "file"])
def test_where_others_may_put_another_folder_is_refused(home, tmp_path, monkeypatch, named):
    (tmp_path / "all").mkdir()
    (tmp_path / "all").chmod(0o777 if named == "variable" else 0o770)
    if named == "variable":
        monkeypatch.setenv("LAIRMAKE_STATE", str(tmp_path / "all"))
        assert refused(home) == (f"LAIRMAKE_STATE: others may write to {tmp_path}/all", WHY)
    else:
        (home / "lairmake.yaml").write_text("state: ../all\n", encoding="utf-8")
        assert refused(home) == (f"state: others may write to {tmp_path}/all", WHY)
    (tmp_path / "all").chmod(0o1777)
    assert state_folder(home).parents[1] == tmp_path / "all"


def test_a_folder_that_others_may_replace_is_refused(home, tmp_path, monkeypatch):
    group = tmp_path / "group"
    (group / "mine").mkdir(parents=True)
    group.chmod(0o2770)
    monkeypatch.setenv("LAIRMAKE_STATE", str(group / "mine"))
    assert refused(home) == (f"LAIRMAKE_STATE: others may write to {group}", WHY)
    group.chmod(0o755)
    assert state_folder(home).parents[1] == group / "mine"


@pytest.mark.parametrize("said", [b"# state: here\n", b"store: state/x\n", b"restate: x\n"])
def test_yaml_is_read_only_where_it_may_name_a_folder(home, monkeypatch, said):
    monkeypatch.setattr(settings, "read_settings", None)
    (home / "lairmake.yaml").write_bytes(said)
    assert state_folder(home) == home / ".lairmake"


def test_a_pipe_is_no_lairmake_yaml(home):
    os.mkfifo(home / "lairmake.yaml")
    assert state_folder(home) == home / ".lairmake"


@pytest.mark.parametrize("kind", ["link", "open"])
def test_what_somebody_prepared_for_a_workspace_is_refused(home, tmp_path, monkeypatch, kind):
    monkeypatch.setenv("LAIRMAKE_STATE", str(tmp_path / "all"))
    own = make_state_folder(home).parent
    _folder_of.cache_clear()
    if kind == "link":
        own.rename(tmp_path / "all/other")
        own.symlink_to("other")
    else:
        own.chmod(0o770)
    assert refused(home) == (f"LAIRMAKE_STATE: others may write to {own}", WHY)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_what_another_user_prepared_is_refused(home, tmp_path, monkeypatch):
    monkeypatch.setenv("LAIRMAKE_STATE", str(tmp_path / "all"))
    own = make_state_folder(home).parent
    os.chown(own, 6001, 6001)
    _folder_of.cache_clear()
    assert refused(home) == (f"LAIRMAKE_STATE: others may write to {own}", WHY)


def test_a_folder_that_is_built_alone_names_no_path(home):
    """It may be a stranger's; a workspace has code that runs anyway."""
    (home / "layer.yaml").write_text("machine: ideal\n", encoding="utf-8")
    (home / "lairmake.yaml").write_text("state: ../prepared\n", encoding="utf-8")
    said = "`state:` counts beside projects/ only", "LAIRMAKE_STATE names a folder"
    assert refused(home) == said


@pytest.fixture
def lockless(monkeypatch):
    """What is warned of on a disk without locks."""
    def refuse(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    found = []
    monkeypatch.setattr(lock.fcntl, "lockf", refuse)
    monkeypatch.setattr(lock, "_LOCKLESS", set())
    monkeypatch.setattr(lock, "warn", lambda text: found.append(text) if text not in found else 0)
    return found


def test_a_store_without_locks_is_used_with_a_warning(tmp_path, lockless):
    for shared in (False, True):
        with locked(tmp_path, "a", shared=shared) as is_held, locked(tmp_path, "b", wait=False):
            assert is_held
    assert not has_locks(tmp_path)
    said = "is used without locks: No locks available: stages may run twice"
    assert lockless == [f"{tmp_path} {said}"]


def test_without_locks_of_the_system_sqlite_has_one_of_its_own(tmp_path, lockless):
    first, second = WorkspaceState(tmp_path), WorkspaceState(tmp_path)
    for number, each in enumerate((first, second, first)):
        each.keep("kind", {f"{number}": number})
    assert second.every("kind") == {"0": 0, "1": 1, "2": 2}
    first.run("begin immediate")
    assert (tmp_path / "state.db.lock").exists()
    first.run("commit")
    assert not (tmp_path / "state.db.lock").exists()


def test_the_lock_of_a_process_that_was_killed_goes(tmp_path, lockless, monkeypatch):
    monkeypatch.setattr(state, "PATIENCE", 1.0)
    (tmp_path / "state.db.lock").mkdir()
    os.utime(tmp_path / "state.db.lock", (time.time() - 2,) * 2)
    WorkspaceState(tmp_path).keep("kind", {"a": 1})
    assert WorkspaceState(tmp_path).get("kind", "a") == 1
