"""A second store, which workspaces share: a folder, or what fsspec reaches."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import DODO, Space

ALL = ["a:parse", "a:place", "a:render", "a:simulate"]
DISTANT = "import distant\n\n"


@pytest.fixture
def other(small):
    """A second workspace with the same layer."""
    space = Space(small.root.parent / "other", small.modules)
    space.write("dodo.py", DODO)
    space.layer("projects/a")
    return space


@pytest.fixture
def shared(small, other):
    """The folder of the store that both workspaces share."""
    for space in (small, other):
        space.write("lairmake.yaml", "store: ../shared\n")
    return small.root.parent / "shared"


def files(folder):
    found = (p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and p.name != "lock")
    return sorted(str(p) for p in found)


def test_what_one_workspace_built_another_one_has(small, other, shared):
    assert small.build() == ALL
    assert files(shared) == files(small.root / ".lairmake/store")
    assert other.hits() == ALL
    assert other.files() == small.files()
    shutil.rmtree(shared)
    assert other.run().out == "1 layer unchanged\n"
    shutil.rmtree(other.root / "projects/a/build")
    assert other.hits() == ["a:render", "a:simulate"]


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("given", [
    "{folder}", "file://{folder}", "../elsewhere", "{{url: {folder}, read_only: false}}"
])
def test_the_variable_says_where_and_wins(small, other, given):
    folder = small.root.parent / "elsewhere"
    other.write("lairmake.yaml", "store: ../nowhere\n")
    variable = {"LAIRMAKE_STORE": given.format(folder=folder)}
    assert small.build(**variable) == ALL
    assert other.hits(**variable) == ALL
    assert not (small.root.parent / "nowhere").exists()


def test_a_read_only_store_is_only_read(small, other, shared):
    small.build()
    before = files(shared)
    other.write("lairmake.yaml", "store: {url: ../shared, read_only: true}\n")
    assert other.hits() == ALL
    other.write("projects/a/a.lair", "Other\n")
    assert other.build() == ALL
    assert files(shared) == before


def test_an_entry_that_names_files_of_its_own_writes_none_of_them(small, other, shared):
    """As somebody writes it who may write to the store, but to no other place."""
    small.build()
    (entry,) = [p for p in shared.rglob("entries/??/*") if '"stage":"render"' in p.read_text()]
    text = entry.read_text().partition("\n")[2].replace("build/layout.yaml", "../../dodo.py")
    seal = hashlib.sha256(f"{entry.name}\n{text}".encode()).hexdigest()
    entry.write_text(f"{seal}\n{text}")
    run = other.run()
    assert (run.code, run.ran, run.hits) == (0, ["a:render"], [n for n in ALL if n != "a:render"])
    assert run.err == f"warning: the shared store holds entries/{entry.name} damaged\n"
    assert (other.read("dodo.py"), other.files()) == (DODO, small.files())


def test_a_damaged_blob_is_a_miss_and_a_warning_and_made_anew(small, other, shared):
    small.build()
    (blob,) = [p for p in shared.rglob("blobs/??/*") if p.read_text() == "one\ntwo\n"]
    blob.write_text("one\nTWO\n")
    run = other.run()
    assert (run.code, run.ran) == (0, ["a:place"])
    assert run.err == f"warning: the shared store holds blobs/{blob.name} damaged\n"
    assert blob.read_text() == "one\ntwo\n"


@pytest.mark.wide
def test_two_workspaces_at_once_run_no_task_twice(small, other, shared):
    notes = small.root.parent / "notes"
    env = {
        **os.environ, "PYTHONPATH": str(small.modules), "NOTED": str(notes), "SLOW": "0.3"
    }
    builds = [
        subprocess.Popen([sys.executable, "-m", "doit"], cwd=space.root, env=env,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for space in (small, other)
    ]
    said = [build.communicate()[0].decode() for build in builds]
    assert [build.returncode for build in builds] == [0, 0], said
    ran = [line.split()[0] for line in notes.read_text().splitlines()]
    assert sorted(ran) == ["parse", "place", "render", "simulate"]
    assert other.files() == small.files()


def test_a_store_whose_disk_is_not_there_is_one_warning(small):
    small.write("lairmake.yaml", "store: /no/such/disk\n")
    run = small.run("-n", "2")
    assert (run.code, run.ran) == (0, ALL)
    assert run.err == "warning: the shared store is left out: /no/such is not there\n"
    assert not Path("/no").exists()


@pytest.fixture
def distant(own_modules, small, other):
    """Both workspaces share a store that fsspec reaches in a way of its own."""
    other.modules = small.modules
    shutil.copy(Path(__file__).with_name("distant.py"), small.modules)
    for space in (small, other):
        space.write("dodo.py", DISTANT + DODO.replace('"""', "# ", 1).replace('"""', "", 1))
        space.write("lairmake.yaml", "store: distant://team/store\n")
    return small.root.parent / "distant"


@pytest.mark.wide
@pytest.mark.parametrize("processes", ["0", "2"])
def test_other_stores_are_reached_by_fsspec(small, other, distant, processes):
    assert small.build("-n", processes, DISTANT=str(distant)) == ALL
    assert files(distant / "team/store") == files(small.root / ".lairmake/store")
    run = other.run("-n", processes, DISTANT=str(distant))
    assert (run.code, run.ran, run.hits, run.err) == (0, [], ALL, "")


@pytest.mark.wide
@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_store_that_cannot_be_reached_is_asked_once_and_one_warning(small, distant, processes):
    asked = small.root.parent / "asked"
    run = small.run("-n", processes, DISTANT=str(distant), BROKEN=str(asked))
    assert (run.code, run.ran) == (0, ALL)
    assert run.err == "warning: the shared store is left out: no route to host\n"
    assert asked.read_text() == "asked\n"


def test_a_store_that_fsspec_does_not_know_is_a_warning(small):
    run = small.run(LAIRMAKE_STORE="nonsense://store")
    assert (run.code, run.ran) == (0, ALL)
    assert run.err.startswith("warning: the shared store is left out: Protocol not known: nonsense")


def test_the_shared_store_is_made_smaller_and_what_went_is_run_again(small, other, shared):
    small.build()
    run = small.run("cache", "gc", "--shared", "--max-size", "0")
    assert run.out.startswith("removed 4 entries, 9 blobs, 0 edits: ")
    assert files(shared) == []
    assert small.run("cache", "verify").code == 0
    assert other.build() == ALL
    assert files(shared) == files(other.root / ".lairmake/store")


@pytest.mark.parametrize(("text", "said"), [
    ("stores: a\n", """lairmake.yaml:1:1: error: unknown key stores
  stores: a
  ^^^^^^
hint: did you mean store?
"""),
    ("store: 3\n", """lairmake.yaml:1:8: error: store must be a URL, a path, or \
{url: ..., read_only: true}
  store: 3
         ^
"""),
    ("store: [\n", """lairmake.yaml:2:1: error: YAML: found the end of the text, expected a \
value
  
  ^
hint: isl texts stand in quotes, or below `|`
"""),
])
def test_a_workspace_file_that_is_wrong_is_an_error(small, text, said):
    small.write("lairmake.yaml", text)
    run = small.run()
    assert (run.code, run.out, run.err) == (1, "", said)
    small.write("lairmake.yaml", "")
    assert small.build() == ALL


def test_a_workspace_file_that_is_no_text_is_an_error(small):
    (small.root / "lairmake.yaml").write_bytes(b"store: \xff\n")
    said = "error: lairmake.yaml is not UTF-8 text: byte 7 is damaged\n"
    for words in ((), ("cache", "stats")):
        run = small.run(*words)
        assert (run.code, run.out, run.err) == (1, "", said)


@pytest.mark.wide
def test_a_store_that_cannot_be_reached_cannot_be_verified(small, distant):
    small.build(DISTANT=str(distant))
    asked = small.root.parent / "asked"
    run = small.run("cache", "verify", "--shared", DISTANT=str(distant), BROKEN=str(asked))
    said = "error: distant://team/store: no route to host\n"
    assert (run.code, run.out, run.err) == (1, "", said)
    run = small.run("cache", "verify", "--shared", LAIRMAKE_STORE="nonsense://store")
    assert (run.code, run.out) == (1, "")
    assert run.err == "error: nonsense://store: Protocol not known: nonsense\n"


@pytest.mark.wide
def test_a_store_is_verified_without_the_other_one(small, distant):
    small.build(DISTANT=str(distant))
    (blob,) = [p for p in small.root.rglob("blobs/??/*") if p.read_text() == "one\ntwo\n"]
    blob.write_text("damaged")
    asked = small.root.parent / "asked"
    run = small.run("cache", "verify", DISTANT=str(distant), BROKEN=str(asked))
    assert run.out.startswith(f"blobs/{blob.name} is damaged: removed\n")
    assert (run.code, run.err) == (1, "")


def test_a_variable_that_is_wrong_is_an_error(small):
    run = small.run(LAIRMAKE_STORE="[a]")
    assert (run.code, run.err) == (
        1, "error: LAIRMAKE_STORE must be a URL, a path, or {url: ..., read_only: true}\n"
    )
