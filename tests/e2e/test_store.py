"""What is found in the store instead of being run, and what becomes of a damaged one."""

import json
import shutil

import pytest

from lairmake.stages.make.core import key
from lairmake.stages.make.core.key import MOST_PLACES
from tests.e2e.conftest import DODO, state_of_code

ALL = ["a:parse", "a:place", "a:render", "a:simulate"]
SWITCHED = "One\nThree\n"


def counted(space, *args, **env):
    """Run doit, which must succeed, and return how often each stage ran in any process."""
    notes = space.root.parent / "notes"
    notes.write_text("", encoding="utf-8")
    space.build(*args, NOTED=str(notes), **env)
    return [line.split()[0] for line in notes.read_text(encoding="utf-8").splitlines()]


def store(space, kind):
    return sorted(p for p in (space.root / ".lairmake/store" / kind).rglob("*") if p.is_file())


def contents(space):
    return {name: space.read(name) for name in space.files()}


@pytest.mark.wide
def test_a_revert_runs_nothing(small):
    first = small.read("projects/a/a.lair")
    small.build()
    before = contents(small)
    small.write("projects/a/a.lair", SWITCHED)
    assert counted(small) == ["parse", "place", "render", "simulate"]
    small.write("projects/a/a.lair", first)
    run = small.run()
    assert (run.ran, run.hits) == ([], ALL)
    assert contents(small) == before
    assert small.run().out == "1 layer unchanged\n"


def test_a_renamed_layer_runs_nothing(small):
    small.build()
    (small.root / "projects/a").rename(small.root / "projects/b")
    shutil.rmtree(small.root / "projects/b/build")
    assert small.hits() == [name.replace("a:", "b:") for name in ALL]


def test_two_layers_of_the_same_text_are_built_once(small):
    small.layer("projects/deep/b")
    assert sorted(counted(small, "-n", "2")) == ["parse", "place", "render", "simulate"]
    assert small.read("cache/a/lair.isl") == small.read("cache/deep/b/lair.isl")


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_changed_code_changed_back_runs_nothing(small):
    small.build()
    module = small.modules / "stages/diagnose.py"
    before = module.read_text()
    module.write_text(before + "assert UserError\n")
    assert small.build() == ALL
    module.write_text(before)
    assert small.hits() == []


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_digests_of_code_are_kept_until_a_file_of_it_is_written(small, own_modules, tmp_path):
    """Also from one workspace to another."""
    small.build()
    code, units = state_of_code(small).get("units", "place")
    assert units.keys() > {"lairmake.stages.place", "lairmake.stages.make.core.stage"}
    other = {"lairmake.stages.place": "as if it were another"}
    state_of_code(small).keep("units", {"place": (code, other)})
    (small.root / "cache/a/placement.isl").unlink()
    assert small.build() == ["a:place"]
    (small.modules / "stages/render.py").touch()
    (small.root / "cache/a/placement.isl").unlink()
    assert small.hits() == ["a:place"]
    assert state_of_code(small).get("units", "place")[1] == units


def test_without_a_cache_that_is_the_users_alone_nothing_is_known_of_code(small, tmp_path):
    """Others who may write there would say what runs again."""
    shared = tmp_path / "cache/lairmake"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    assert small.build(XDG_CACHE_HOME=str(shared.parent)) == ALL
    assert small.build(XDG_CACHE_HOME=str(shared.parent)) == []
    assert list(shared.iterdir()) == []


def test_of_code_in_some_places_something_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for number in range(MOST_PLACES + 3):
        monkeypatch.setattr(key, "STAGES", tmp_path / str(number))
        key.KnownCode().keep("parse", {}, {"digest": {"run": str(number)}})
    assert len(list((tmp_path / "lairmake/code").iterdir())) == MOST_PLACES
    assert key.KnownCode().part("digest") == {"run": str(number)}


def test_without_outputs_and_state_nothing_runs(small):
    small.build()
    before = contents(small)
    shutil.rmtree(small.root / "cache")
    shutil.rmtree(small.root / "projects/a/build")
    (small.root / ".lairmake/state.db").unlink()
    assert small.hits() == ALL
    assert contents(small) == before


ONCE = """
from doit.tools import run_once


def task_once():
    return {"actions": [], "uptodate": [run_once]}
"""


@pytest.mark.parametrize("damage", [b"no such thing\n", b"SQLite format 3\0" + b"\1" * 5000])
def test_damaged_state_is_made_anew(small, damage):
    small.write("dodo.py", DODO + ONCE)
    small.build()
    (small.root / ".lairmake/state.db").write_bytes(damage)
    run = small.run()
    assert (run.code, run.ran, run.hits) == (0, [], [])
    assert run.err == "warning: .lairmake/state.db is damaged, and made anew\n"
    assert small.run("once").err == small.run("list").err == ""


def test_a_folder_where_the_state_belongs_is_made_anew(small):
    small.build()
    (small.root / ".lairmake/state.db").unlink()
    (small.root / ".lairmake/state.db/inside").mkdir(parents=True)
    run = small.run()
    assert (run.code, run.ran) == (0, [])
    assert run.err == "warning: .lairmake/state.db is damaged, and made anew\n"
    assert small.run().err == ""


@pytest.mark.parametrize("kind", ["blobs", "entries"])
def test_folders_where_files_of_the_store_belong_are_made_anew(small, kind):
    small.build()
    names = [path.relative_to(small.root) for path in store(small, kind)]
    for path in names:
        (small.root / path).unlink()
        (small.root / path / "inside").mkdir(parents=True)
    (small.root / "cache/a/placement.isl").unlink()
    run = small.run("-a")
    assert (run.code, run.ran) == (0, ["a:parse", "a:place", "a:render", "a:simulate"])
    assert all((small.root / path).is_file() for path in names)


def test_a_file_where_a_folder_of_the_store_belongs_is_replaced(small):
    small.build()
    for path in (small.root / ".lairmake/store").iterdir():
        shutil.rmtree(path) if path.is_dir() else None
        path.write_text("")
    small.write("projects/a/a.lair", SWITCHED)
    assert small.build() == ALL


@pytest.mark.parametrize("task", ["a:place", "a"])
def test_reset_dep_of_a_stage_is_refused_and_loses_nothing(small, task):
    small.build()
    run = small.run("reset-dep", task)
    said = (
        f"ERROR: reset-dep: {task} goes by what files contain; to build from a text as you edited "
        "it, name it under `pin:` in layer.yaml\n"
    )
    assert (run.code, run.out, run.err) == (3, "", said)
    assert counted(small) == []


def test_a_damaged_blob_is_a_miss_and_a_warning(small):
    small.build()
    (digest,) = [p for p in store(small, "blobs") if p.read_text() == "one\ntwo\n"]
    digest.write_text("one\nTWO\n")
    (small.root / "cache/a/placement.isl").unlink()
    run = small.run()
    shown = digest.relative_to(small.root)
    assert run.ran == ["a:place"]
    assert run.err == f"warning: {shown} is damaged, and made anew\n"
    assert small.read("cache/a/placement.isl") == "one\ntwo\n" == digest.read_text()


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("damage", ["", "no entry", "[]", '{"outputs": {}}'])
def test_a_damaged_entry_is_a_miss_and_a_warning(small, damage):
    small.build()
    (entry,) = [p for p in store(small, "entries") if stage_of(p) == "place"]
    entry.write_text(damage)
    (small.root / "cache/a/placement.isl").unlink()
    run = small.run()
    assert run.ran == ["a:place"]
    assert run.err == f"warning: {entry.relative_to(small.root)} is damaged, and made anew\n"
    assert stage_of(entry) == "place"


def stage_of(entry):
    return json.loads(entry.read_text().partition("\n")[2])["stage"]


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_an_input_edited_while_its_stage_runs_is_seen(small):
    """The stage itself edits what it reads, the first time: as a user would while it runs."""
    stage = small.modules / "stages/parse.py"
    edit = EDIT.format(path=small.root / "projects/a/a.lair")
    stage.write_text(stage.read_text().replace("    lines =", f"{edit}    lines ="))
    assert counted(small, EDIT="yes")[:2] == ["parse", "parse"]
    assert small.read("cache/a/lair.isl") == "Edited\n"
    assert small.read("cache/a/placement.isl") == "edited\n"
    small.write("projects/a/a.lair", "One\nTwo\n")
    assert counted(small) == ["parse", "place", "render", "simulate"]
    assert small.read("cache/a/lair.isl") == "One\nTwo\n"


EDIT = """
    import os
    from pathlib import Path
    if "EDIT" in os.environ and "Two" in sources[0].text:
        Path("{path}").write_text("Edited\\n")
"""


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_an_input_that_changes_whenever_its_stage_runs_is_an_error(small):
    stage = small.modules / "stages/parse.py"
    edit = ALWAYS.format(path=small.root / "projects/a/a.lair")
    stage.write_text(stage.read_text().replace("    lines =", f"{edit}    lines ="))
    run = small.run()
    assert (run.code, run.err) == (1, "error: a.lair changes while the layer builds\n")
    assert store(small, "entries") == []


ALWAYS = """
    from pathlib import Path
    Path("{path}").write_text(sources[0].text + "more\\n")
"""


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_garbage_beside_a_link_that_leads_nowhere_is_read(small):
    for place in ("projects/a", "projects/a/build", "cache/a"):
        (small.root / place).mkdir(parents=True, exist_ok=True)
        (small.root / place / "0").symlink_to("nowhere")
    (small.modules / "stages/lair/0.py").symlink_to("nowhere")
    small.build()
    small.write("projects/a/a.lair", "wrong\n")
    assert small.run().code == 1


def test_always_runs_what_is_up_to_date(small):
    small.build()
    assert counted(small, "-a") == ["parse", "place", "render", "simulate"]
    assert small.hits() == []


def test_a_target_is_named_by_any_path_to_it(small):
    (small.root / "link").symlink_to("projects")
    assert small.build("./cache/a/placement.isl") == ["a:parse", "a:place"]
    assert small.build("link/a/../a/build/simd/pe_one.c") == ["a:render"]
    assert small.build("-k", "outputs/y.npy", cwd="projects/a/build") == ["a:simulate"]
    assert small.run(str(small.root / "projects/a")).out.startswith("small on ideal\n")


def test_a_workspace_by_another_path_is_the_same(small):
    small.build()
    link = small.root.parent / "elsewhere"
    link.symlink_to(small.root)
    assert small.run(cwd=link).out == "1 layer unchanged\n"
    assert small.build(cwd=link / "projects/a") == []


def test_a_name_that_is_none_is_doits_error(small):
    run = small.run("b")
    assert (run.code, run.out) == (3, "")
    assert 'Invalid parameter: "b". Must be a command, task, or a target.' in run.err
