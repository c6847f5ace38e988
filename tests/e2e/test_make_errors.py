"""What the Make does where a stage ends in an error, with small stages."""


import pytest

from tests.e2e.conftest import DODO
from tests.e2e.test_make import ALL

WRONG = """projects/a/a.lair:2:1: error: this is wrong
  wrong
  ^^^^^
hint: write what is right
"""
LATER = """

def task_later():
    return {"actions": ["echo later"], "task_dep": ["a"]}
"""


def test_an_error_is_printed_once_and_exits_1(small):
    small.write("projects/a/a.lair", "One\nwrong\n")
    run = small.run()
    assert (run.code, run.ran, run.err) == (1, ["a:parse"], WRONG)
    assert run.out == ".  a:parse\n"


def test_an_error_leaves_the_files_of_the_last_build(small):
    small.build()
    before = {name: small.read(name) for name in small.files() if "a.lair" not in name}
    small.write("projects/a/a.lair", "One\nwrong\n")
    assert small.run().code == 1
    assert {name: small.read(name) for name in before} == before
    assert [name for name in small.files() if name.endswith(".tmp")] == []


def test_an_error_mended_runs_nothing(small):
    small.build()
    good = small.read("projects/a/a.lair")
    small.write("projects/a/a.lair", "One\nwrong\n")
    small.run()
    small.write("projects/a/a.lair", good)
    assert small.hits() == []


def test_a_path_in_an_error_starts_where_the_user_stands(small):
    small.write("projects/a/a.lair", "One\nwrong\n")
    assert small.run(cwd="projects/a").err.startswith("a.lair:2:1: error: ")
    (small.root / "elsewhere").mkdir()
    shown = small.run("-k", "a", cwd="elsewhere").err
    assert shown.startswith(f"{small.root}/projects/a/a.lair:2:1: error: ")


def test_the_other_layers_go_on_with_continue(small):
    small.layer("projects/b")
    small.write("projects/a/a.lair", "wrong\n")
    run = small.run("-c")
    assert run.code == 1
    assert run.ran == ["a:parse", *(name.replace("a:", "b:") for name in ALL)]
    assert run.err == WRONG.replace(":2:", ":1:")
    assert run.out == ".  a:parse\n" + run.out[run.out.index(".  b:parse"):]


@pytest.mark.parametrize(("more", "code"), [("wrong\n", 1), ("crash\n", 2)])
@pytest.mark.parametrize("words", [
    ("-n", "2"), pytest.param(("-n", "0"), marks=pytest.mark.long),
    pytest.param(("-n", "2", "-P", "thread"), marks=pytest.mark.long),
])
def test_what_is_left_out_for_an_error_of_the_user_is_no_bug(small, words, more, code):
    """In a, an error of the user; in b one more, or a bug; other stages of both wait for these."""
    small.write("projects/a/a.lair", "wrong\n")
    small.layer("projects/b")
    small.write("projects/b/a.lair" if code == 1 else "projects/b/layer.yaml", more)
    run = small.plain("-c", *words)
    assert (run.code, run.err.count("error: this is wrong")) == (code, 3 - code)
    assert ("RuntimeError: a bug" in run.err) == (code == 2)


def test_a_task_of_the_user_that_is_left_out_is_no_bug_either(small):
    small.write("projects/a/a.lair", "wrong\n")
    small.write("dodo.py", DODO + LATER)
    assert (run := small.plain("-c", "later")).code == 1 and run.out == "a: parse failed\n"


def test_a_bug_in_a_stage_shows_a_traceback(small):
    small.write("projects/a/layer.yaml", "crash\n")
    run = small.run()
    assert run.code == 2
    assert "RuntimeError: a bug" in run.out + run.err


FULL = 'OSError(28, "No space left on device", "/x/y")'
GONE = 'FileNotFoundError(2, "No such file or directory", "gone")'


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_what_the_system_refuses_to_a_stage_is_said_of_that_stage(small):
    path = small.modules / "stages/place.py"
    path.write_text(path.read_text().replace('note("place", inputs)', f"raise {FULL}"))
    run = small.run()
    assert (run.code, run.err) == (1, "error: a:place: /x/y: No space left on device\n")


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_a_file_that_a_stage_misses_is_a_bug_of_it(small):
    path = small.modules / "stages/place.py"
    path.write_text(path.read_text().replace('note("place", inputs)', f"raise {GONE}"))
    run = small.run()
    assert run.code == 2
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'gone'" in run.out + run.err
    assert "cannot write" not in run.out + run.err


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
@pytest.mark.parametrize("read", ['text("a.lair")', 'names("*.lair")'])
def test_a_stage_that_reads_more_than_it_declares_fails_however_python_runs(small, read):
    path = small.modules / "stages/place.py"
    path.write_text(path.read_text().replace('note("place", inputs)', f"inputs.{read}"))
    run = small.run(PYTHONOPTIMIZE="1")
    assert run.code == 2
    assert "lair is read but not declared" in run.out + run.err
    assert not (small.root / "cache/a/placement.isl").exists()


def test_a_layer_without_lair_is_an_error_not_a_crash(small):
    (small.root / "projects/a/layer.yaml").unlink()
    run = small.run(cwd="projects/a")
    assert run.code == 1
    assert run.err.startswith("error: layer.yaml: No such file or directory\nhint: ")
