"""Which tasks of a layer, network or graph are made: what is asked for, and what comes before."""

import gc

import pytest

from lairmake.stages import PIPELINE
from lairmake.stages.make.core import derived
from lairmake.stages.make.core.untouched import Units, units_below
from lairmake.stages.make.doit.loading import reach_of, references_of, tasks_of_unit
from lairmake.stages.make.doit.session import Session

LAYER = "machine: ideal\nplacement: '{ f[i] -> PE[0, 0] }'\n"
NETWORK = "parts: {a: , b: , c: }\ntensors: {b.x: a.y}\n"
PLAN = {"a": [["layer.yaml"], {}, True, "", {}], "b": [["layer.yaml"], {}, True, "", {}]}


@pytest.fixture
def workspace(tmp_path):
    """Return a workspace with a network of three layers, and a graph."""
    for part in "abc":
        folder = tmp_path / "projects/net" / part
        folder.mkdir(parents=True)
        (folder / "layer.yaml").write_text(LAYER, encoding="utf-8")
    (tmp_path / "projects/net/network.yaml").write_text(NETWORK, encoding="utf-8")
    (tmp_path / "projects/graph").mkdir()
    (tmp_path / "projects/graph/graph.onnx").write_bytes(b"")
    (tmp_path / "projects/graph/network.yaml").write_text("type: float16\n", encoding="utf-8")
    (tmp_path / ".lairmake").mkdir()
    return tmp_path


@pytest.fixture
def looks(monkeypatch):
    found = []
    monkeypatch.setattr(derived, "read_graph_plan", lambda folder: found.append(folder) or PLAN)
    return found


def made(workspace, words, own=()):
    """Return the tasks that a build makes of some words, by name."""
    units = Units(units_below(workspace))
    session = Session(arguments=list(words), home=workspace, units=units)
    reach = reach_of(session, units, own, references_of(own), words, True, False)
    return {t.name: t for unit in units for t in tasks_of_unit(reach, unit)}


def stages(part, until=PIPELINE[-1]):
    return {f"{part}:{stage}" for stage in PIPELINE[: PIPELINE.index(until) + 1]}


def test_of_a_part_its_tasks_are_made_and_those_before(workspace):
    assert made(workspace, ["net/b:parse"]).keys() == {"net/b:parse"}
    assert made(workspace, ["net/c:route"]).keys() == stages("net/c", "route")
    found = made(workspace, ["net/b"])
    before = {"net:connect", *stages("net/c", "place"), *stages("net/a")}
    assert found.keys() == {"net/b", *stages("net/b"), *before}
    assert set(found["net/b"].task_dep) == stages("net/b")


def test_of_a_network_as_a_whole_all_tasks_are_made_and_where_words_may_mean_any(workspace):
    every = made(workspace, ["net"])
    assert {"net", "net/a", "net/b", "net/c", "net:conclude"} < every.keys()
    for word in ("net/*:parse", "net/none", "net:none"):
        assert made(workspace, [word]).keys() == every.keys()


def test_what_is_made_of_less_than_a_whole_is_the_same_task(workspace):
    every, some = made(workspace, ["net"]), made(workspace, ["net/b"])
    for name, task in some.items():
        of_all = every[name]
        assert (task.file_dep, task.targets, set(task.task_dep), task.subtask_of) == (
            of_all.file_dep, of_all.targets, set(of_all.task_dep), of_all.subtask_of
        )


def test_for_stages_before_all_parts_of_a_graph_nobody_looks_for_them(workspace, looks):
    assert made(workspace, ["graph:fit"]).keys() == {"graph:extract", "graph:split", "graph:fit"}
    assert not looks


def test_for_stages_that_write_parts_of_a_graph_they_are_looked_for_once(workspace, looks):
    assert made(workspace, ["graph:supply"]).keys() == {
        "graph:extract", "graph:split", "graph:fit", "graph:supply"
    }
    assert len(looks) == 1
    assert made(workspace, ["graph/b:parse"]).keys() == {
        "graph:extract", "graph:split", "graph:fit", "graph:supply", "graph/b:parse"
    }


def test_parts_of_a_graph_that_lie_in_its_folder_are_none_of_their_own(workspace, monkeypatch):
    folder = workspace / "projects/graph/own"
    folder.mkdir()
    (folder / "layer.yaml").write_text(LAYER, encoding="utf-8")
    plan = {"own": [[], {}, False, "own", {}]}
    monkeypatch.setattr(derived, "read_graph_plan", lambda folder: plan)
    assert [unit.name for unit in units_below(workspace)] == ["graph", "net"]
    assert made(workspace, ["graph/own:parse"]).keys() == {"graph/own:parse"}


@pytest.mark.parametrize("is_enabled", [True, False])
def test_garbage_is_collected_after_tasks_are_made_if_it_was_before(workspace, is_enabled):
    enable = {True: gc.enable, False: gc.disable}
    try:
        enable[is_enabled]()
        made(workspace, ["net"])
        assert gc.isenabled() is is_enabled
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.enable()
