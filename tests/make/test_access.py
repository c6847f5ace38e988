"""A store that people share follows its folder, whatever the umask; who may only read reads on."""

import os
import pickle
import stat
import traceback
from pathlib import Path

import pytest

from lairmake.stages.make.store import shelf as shelves, store as stores
from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.shelf import FolderShelf
from lairmake.stages.make.store.store import ResultStore, StoreEntry

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users")
TEAM, OTHERS = 7001, 7002
ANNE, BERT, CARL = 6001, 6002, 6003
KEY, OTHER_KEY = "a" * 64, "b" * 64


@pytest.fixture
def place(tmp_path):
    """A folder that every user may look into, which pytest's own are not, and write to."""
    for each in (tmp_path, *tmp_path.parents):
        if each.owner() == "root" and "pytest" in each.as_posix():
            each.chmod(each.stat().st_mode | 0o011)
    tmp_path.chmod(0o777)
    return tmp_path


def as_user(user, umask, act, *arguments, groups=(TEAM,)):
    """Return what an act returns, and the warnings, as another user does it."""
    ours, theirs = os.pipe()
    process = os.fork()
    if process == 0:
        said = []
        try:
            os.setgroups(list(groups))
            os.setgid(user)
            os.setuid(user)
            os.umask(umask)
            for module in (shelves, stores):
                module.warn = lambda text: said.append(text) if text not in said else None
            answer = act(*arguments), said
        except BaseException:
            answer = traceback.format_exc(), said
        os.write(theirs, pickle.dumps(answer))
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as file:
        found = pickle.loads(file.read())
    os.waitpid(process, 0)
    return found


def team(place, mode, group=TEAM):
    folder = place / "team"
    folder.mkdir()
    os.chown(folder, 0, group)
    folder.chmod(mode)
    return folder


def opened(place, who):
    return ResultStore(FolderShelf(place / who / ".lairmake/store"),
                 FolderShelf(place / "team", is_shared=True))


def build(place, who, key, text):
    """Publish what an action gave, as a build does; return what the local store then knows."""
    store = opened(place, who)
    entry = StoreEntry(stage="parse", outputs={"lair.isl": digest_of(text)}, reads={}, further=[],
                  code=digest_of(b""), seconds=1.5, when=2.5)
    with store.lock(key):
        store.publish(entry, key, key, {"lair.isl": text}, {})
    return store.lookup(key, "parse", ("lair.isl",)) is not None


def takes(place, who, *keys):
    """Return what of some keys a store gives that was empty before."""
    store = opened(place, who)
    entries = [store.lookup(key, "parse", ("lair.isl",)) for key in keys]
    return [store.blob(e.outputs["lair.isl"]) if e is not None else None for e in entries]


def modes(folder):
    found = {path: os.lstat(path) for path in folder.rglob("*")}
    return {(stat.S_ISDIR(s.st_mode), stat.S_IMODE(s.st_mode), s.st_gid) for s in found.values()}


@pytest.mark.parametrize("umask", [0o022, 0o077])
@pytest.mark.parametrize(("mode", "files"), [
    (0o2770, 0o660), (0o2775, 0o664), (0o2777, 0o666), (0o770, 0o660), (0o2750, 0o640),
])
def test_mode_and_group_of_all_in_a_shared_store_are_those_of_its_folder(
    place, umask, mode, files
):
    folder = team(place, mode)
    os.chown(folder, ANNE, TEAM)
    folder.chmod(mode)
    assert as_user(ANNE, umask, build, place, "anne", KEY, b"one") == (True, [])
    assert (folder / "lock").is_file()
    assert modes(folder) == {(True, mode, TEAM), (False, files, TEAM)}


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_all_of_a_group_write_to_a_store_and_take_from_it(place, umask):
    team(place, 0o2770)
    assert as_user(ANNE, umask, build, place, "anne", KEY, b"one") == (True, [])
    assert as_user(BERT, umask, build, place, "bert", OTHER_KEY, b"two") == (True, [])
    found = as_user(ANNE, umask, takes, place, "anne2", KEY, OTHER_KEY)
    assert found == ([b"one", b"two"], [])


def test_who_may_not_write_is_told_once_and_reads_on(place):
    folder = team(place, 0o2775)
    as_user(ANNE, 0o022, build, place, "anne", KEY, b"one")
    before = sorted(folder.rglob("*"))

    def reads_on():
        store = opened(place, "carl")
        for number in range(3):
            with store.lock(f"{number}" * 64):
                pass
        return takes(place, "carl", KEY), store.second.read_only

    said = (f"the shared store is only read: {folder}/lock: Permission denied (if that is meant, "
            "`read_only: true` says so; else who owns the store has to `chmod -R g+rwX` it)")
    assert as_user(CARL, 0o022, reads_on, groups=()) == (([b"one"], True), [said])
    assert sorted(folder.rglob("*")) == before


def test_where_one_content_cannot_be_read_others_are(place):
    folder = team(place, 0o2770)
    as_user(ANNE, 0o022, build, place, "anne", KEY, b"one")
    as_user(ANNE, 0o022, build, place, "anne", OTHER_KEY, b"two")
    (folder / f"entries/aa/{KEY}").chmod(0o600)
    said = (f"some of the shared store {folder} cannot be read: be in its group, or who wrote it "
            f"has to `chmod -R g+rX {folder}` (`o+rX` for those who are not)")
    assert as_user(BERT, 0, takes, place, "bert", KEY, OTHER_KEY) == ([None, b"two"], [said])


def test_what_an_umask_once_made_its_owner_gives_to_all(place):
    """As a version wrote it that did not look at the folder."""
    folder = team(place, 0o2770)
    as_user(ANNE, 0o022, build, place, "anne", KEY, b"one")
    for path in folder.rglob("*"):
        path.chmod(0o2750 if path.is_dir() else 0o640)
    found, said = as_user(BERT, 0o022, build, place, "bert", OTHER_KEY, b"two")
    assert (found, len(said)) == (True, 1)
    assert as_user(ANNE, 0o022, build, place, "anne", OTHER_KEY, b"two") == (True, [])
    assert as_user(BERT, 0o022, build, place, "bert", "c" * 64, b"two") == (True, [])
    assert stat.S_IMODE((folder / "lock").stat().st_mode) == 0o660


def test_a_store_that_a_build_makes_is_as_the_folder_around_it_that_a_group_shares(place):
    around = team(place, 0o2770)
    around.rename(place / "around")
    (place / "team").symlink_to("around/store")
    store = FolderShelf(place / "around/store", is_shared=True)
    assert as_user(ANNE, 0o077, store.write, "blobs", KEY, b"one") == (None, [])
    assert modes(place / "around") == {(True, 0o2770, TEAM), (False, 0o660, TEAM)}


def test_where_the_group_cannot_be_given_it_gets_no_more_than_everybody(place):
    folder = team(place, 0o777, group=OTHERS)
    folder.chmod(0o775)
    os.chown(folder, ANNE, OTHERS)
    assert as_user(ANNE, 0o022, build, place, "anne", KEY, b"one", groups=()) == (True, [])
    assert modes(folder) == {(True, 0o755, ANNE), (False, 0o644, ANNE)}


def test_a_store_of_ones_own_is_left_to_the_umask(place):
    def build_alone():
        store = FolderShelf(Path(place / "own/.lairmake/store"))
        store.write("blobs", KEY, b"one")

    as_user(ANNE, 0o027, build_alone)
    assert modes(place / "own") == {(True, 0o750, ANNE), (False, 0o640, ANNE)}
