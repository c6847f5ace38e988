"""What the log of a workspace has of each build, whatever is printed."""

import json
from pathlib import Path

import pytest

from tests.e2e.test_store import ALL


def test_another_reporter_prints_nothing_else(small):
    run = small.run("-r", "json")
    assert [task["name"] for task in json.loads(run.out)["tasks"]] == [*ALL, "a"]


@pytest.mark.parametrize("reporter", ["json", "zero", "error-only"])
def test_every_reporter_keeps_the_log(small, reporter):
    small.run("-r", reporter)
    lines = [line for line in small.log() if line.get("event") != "code"]
    said = [line.get("event") or f"{line['task']} {line['how']}" for line in lines]
    assert said == ["begin", *(f"{task} ran" for task in ALL), "end"]


def test_the_log_says_what_every_task_did(small):
    small.build()
    small.write("projects/a/a.lair", "ONE\nTwo\n")
    small.build()
    small.write("projects/a/a.lair", "One\nwrong\n")
    small.run()
    small.run("place", "list")
    lines = [line for line in small.log() if line.get("event") != "code"]
    said = [line.get("event") or f"{line['task']} {line['how']}" for line in lines]
    assert said == [
        "begin", "a:parse ran", "a:place ran", "a:render ran", "a:simulate ran", "end",
        "begin", "a:parse ran", "a:place ran", "a:render same", "a:simulate same", "end",
        "begin", "a:parse failed", "end",
    ]
    assert [line["exit"] for line in lines if line.get("event") == "end"] == [0, 0, 1]
    assert sorted(lines[1]["reads"]) == ["a.lair", "layer.yaml"]
    assert list(lines[1]["writes"]) == ["lair.isl"]


def test_a_dodo_file_that_is_not_ours_is_doits(small):
    (small.root / "other").mkdir()
    Path(small.root / "other/dodo.py").write_text(OTHER)
    run = small.run(cwd="other")
    assert (run.code, run.out, run.err) == (0, ".  hello\nhello\n", "")
    assert not (small.root / "other/.lairmake").exists()


OTHER = """
def task_hello():
    return {"actions": ["echo hello"], "verbosity": 2}
"""
