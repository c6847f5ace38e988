"""A run that is recorded is the same run, and its critical path leads from cycle 0 to its end."""

import islpy as isl
import numpy as np
import pytest
import yaml

from lairmake.stages.fabric.grid import coordinates
from lairmake.stages.fabric.outcome import DEEDS, KINDS, OF_TASKS, RunRequest, list_path, sum_path
from lairmake.stages.fabric.usage import find_usage
from lairmake.stages.machine.profile import load_profile
from tests.fabric.conftest import HERE, row_layout
from tests.fabric.planned import stop
from tests.fabric.running import run_fabric
from tests.fabric.test_fc import W, X
from tests.fabric.test_moving import chain
from tests.fabric.test_rate import busy
from tests.fabric.test_usage import ELEMENTS, states
from tests.fabric.test_waiting import WAYS


def fc_layout():
    return yaml.safe_load((HERE / "fc.yaml").read_text(encoding="utf-8"))


def receiving(count):
    return row_layout("receive", count, {"x": "{ [PE[x, 0] -> N[]] -> ramp[] }"}, arrivals={"x": {
        "tensor": "x", "type": "int32", "colour": "x", "side": "N", "sparse": False,
        "order": f"{{ x[i] -> [PE[x, -1] -> index[i]] : 0 <= i < 8 and 0 <= x < {count} }}"}})


NARROW = {"queue_depth": 2}
SLOW = {"hop": 10, "queue_depth": 2, "threads": 1}
RUNS = {
    "fc": (fc_layout(), "wse2", {}, {"W": W, "x": X}, 1),
    "fc, two samples": (fc_layout(), "wse2", NARROW, {"W": W, "x": X}, 2),
    "shared datapath": (fc_layout(), "ideal", {"shared_datapath": True}, {"W": W, "x": X}, 3),
    "waits": (states(row_layout), "ideal", SLOW, {
        "x": np.arange(ELEMENTS, dtype="i4"), "z": np.ones(1, "i4")}, 1),
    "many moments": (receiving(16), "ideal", {}, {"x": np.zeros(8, "i4")}, 1000),
}


@pytest.fixture(scope="module", params=RUNS)
def both(request, library, recorded):
    layout, name, figures, values, invocations = RUNS[request.param]
    profile = load_profile(name, figures)
    return [
        run_fabric(library, layout, profile, values, invocations),
        run_fabric(recorded, layout, profile, values, invocations, recorded=True),
    ]


@pytest.mark.wide
def test_a_recorded_run_is_the_same(both):
    one, two = both
    counts = ("cycles", "until", "hops", "stalls", "tasks", "injected", "delivered")
    assert [getattr(one, name) for name in counts] == [getattr(two, name) for name in counts]
    for name in ("usage", "activity", "links", "bins"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.recorded is None


def test_the_critical_path_has_no_gap(both):
    run = both[1]
    path = run.recorded.path
    assert path["end"][0] == run.cycles and path["begin"][-1] == 0
    np.testing.assert_array_equal(path["begin"][:-1], path["end"][1:])
    assert (path["begin"] <= path["end"]).all()
    assert sum(sum_path(run.recorded).values()) == run.cycles
    assert min(sum_path(run.recorded).values()) > 0


def test_tasks_on_the_path_take_no_more_than_their_pe_was_charged(both):
    """Of a task a part may be on it twice, before what it starts and to its end: the first one is
    left out here."""
    run = both[1]
    path, pes = run.recorded.path, find_usage(run).pes
    tasks = path[path["deed"] == DEEDS.index("task")]
    _, last = np.unique(tasks[["node", "begin"]], return_index=True)
    tasks = tasks[last]
    parts = {name: tasks[name] for name in OF_TASKS}
    parts["starting"] = tasks["end"] - tasks["begin"] - sum(parts.values())
    for name, cycles in parts.items():
        assert (cycles >= 0).all()
        on_path = np.bincount(tasks["node"], weights=cycles, minlength=run.grid.size)
        assert (on_path <= pes[name].reshape(-1)).all(), name


def test_the_path_of_a_stream_that_waits_for_a_task_elsewhere(recorded):
    """PE 6 takes what PE 5 forwards when z has come: that is what the last element waited for."""
    layout, name, figures, values, _ = RUNS["waits"]
    run = run_fabric(recorded, layout, load_profile(name, figures), values, recorded=True)
    path = list(list_path(run.recorded, run.grid, run.colours))
    assert [(each.pe[0], each.deed, each.colour, each.end) for each in path] == [
        (6, "stream", "r", 105), (6, "started", None, 73), (6, "routers", "z", 72),
        (6, "links", "z", 71), (0, "port", "z", 0),
    ]


def test_the_path_begins_with_the_start_up_of_what_a_main_starts(recorded):
    """Elements are at the PE in cycle 4: it takes the first one when its stream has started."""
    profile = load_profile("wse2", {"vector_start_up": 50})
    run = run_fabric(recorded, receiving(1), profile, {"x": np.zeros(8, "i4")}, recorded=True)
    path = list(list_path(run.recorded, run.grid, run.colours))
    assert [(each.deed, each.end) for each in path[-2:]] == [("stream", 58), ("started", 50)]
    assert sum_path(run.recorded)["starting"] >= 50


@pytest.mark.parametrize("elements, computed", [(16, 500), (256, 100)])
def test_what_streams_take_of_a_task_starts_nothing(recorded, elements, computed):
    """Two streams come while it computes, all one element a cycle; what ends all takes one more."""
    x, y = np.ones((2, elements), "f4")
    arrays = {"size": np.array([elements, computed], "i4"), "x": x, "y": y}
    profile = load_profile("ideal", {"shared_datapath": True, "lanes": 1})
    run = run_fabric(recorded, busy(row_layout, elements), profile, arrays, recorded=True,
                     shapes={"x_local": (512,), "y_local": (512,)})
    end, task, *_ = list_path(run.recorded, run.grid, run.colours)
    assert (task.name, task.computing, task.datapath) == ("run", computed, 2 * elements)
    assert (task.begin, task.end, end.end) == (0, computed + 2 * elements, run.cycles)
    sums = {"computing": computed, "datapath": 2 * elements, "starting": 1}
    assert sum_path(run.recorded) == sums


def test_a_stream_that_waits_for_one_before_it_on_its_colour_comes_after_that(recorded):
    """PE 2 sends on what PE 1 passed of PE 0 and its own, which begin in cycle 8; then its own."""
    v = np.arange(48, dtype="f4").reshape(3, 16)
    layout, profile = chain(row_layout, 3, "turns", 48), load_profile("ideal", {"ramp": 1})
    run = run_fabric(recorded, layout, profile, {"v": v}, recorded=True)
    path = [(each.pe[0], each.deed, each.colour, each.end)
            for each in list_path(run.recorded, run.grid, run.colours) if each.end > each.begin]
    assert path == [
        (2, "links", "y_a", 57), (2, "stream", "y_a", 55), (2, "stream", "y_b", 40),
        (2, "links", "y_b", 8), (1, "links", "y_a", 4),
    ]


def test_the_path_of_fc(recorded):
    """The adapter of PE[1, -1] hands on elements of x; the sums of the last row pass three PEs."""
    run = run_fabric(recorded, fc_layout(), load_profile("wse2", {}), {"W": W, "x": X},
                     recorded=True)
    path = list(list_path(run.recorded, run.grid, run.colours))
    assert path[0].deed == "links" and path[0].end == run.cycles
    assert {each.pe[1] for each in path if each.deed == "task"} >= {3}
    tasks = [each for each in path if each.deed == "task"]
    assert all(each.name for each in tasks)
    assert all(
        each.computing + each.memory + each.scalars <= each.end - each.begin for each in tasks
    )
    assert path[-1].deed == "port" and path[-1].begin == 0


def ask(pes, begin=0, end=10**6, most=10**5):
    return RunRequest(pes=isl.Set(pes), begin=begin, end=end, most=most)


def events_of(library, asked, name="waits"):
    layout, machine, figures, values, invocations = RUNS[name]
    return run_fabric(library, layout, load_profile(machine, figures), values, invocations,
                      recorded=True, asked=asked)


def test_events_are_those_of_the_pes_and_cycles_that_are_asked_for(recorded):
    whole = events_of(recorded, ask("{ PE[x, 0] }"))
    some = events_of(recorded, ask("{ PE[2, 0] }", 20, 60))
    events = whole.recorded.events
    lasts = np.where(events["kind"] == KINDS.index("queue"), 1, events["duration"])
    x, _ = coordinates(events["node"], whole.grid)
    inside = (x == 2) & (events["begin"] < 60) & (events["begin"] + lasts > 20)
    inside &= events["kind"] != KINDS.index("sent")
    kept = some.recorded.events[some.recorded.events["kind"] != KINDS.index("sent")]
    assert 0 < len(kept) < len(events)
    for name in ("node", "begin", "duration", "kind", "colour"):
        np.testing.assert_array_equal(kept[name], events[inside][name])


def test_events_say_what_a_pe_did(recorded):
    """PE 2 takes an element of x, then waits for z, which its only thread receives."""
    run = events_of(recorded, ask("{ PE[2, 0] }", 0, 34))
    names = (*run.recorded.names, None)
    said = sorted(
        (int(each["begin"]), int(each["duration"]), KINDS[each["kind"]], names[each["name"]])
        for each in run.recorded.events if KINDS[each["kind"]] not in ("queue", "sent")
    )
    assert said == [
        (11, 1, "task", "take_and_wait"), (12, 20, "wait", None), (32, 1, "stream", "receive"),
        (32, 1, "task", "take"), (33, 1, "task", "done"),
    ]


def test_there_is_space_for_as_many_events_as_are_asked_for(recorded):
    every = events_of(recorded, ask("{ PE[x, 0] }")).recorded
    few = events_of(recorded, ask("{ PE[x, 0] }", most=10)).recorded
    assert few.count == every.count > 10
    np.testing.assert_array_equal(few.events, every.events[:10])


def test_arrows_lead_from_where_a_wavelet_was_sent_to_the_task_that_it_starts(recorded):
    run = events_of(recorded, ask("{ PE[x, y] }"), "fc")
    events = run.recorded.events
    sent = events[events["kind"] == KINDS.index("sent")]
    started = events[(events["kind"] == KINDS.index("task")) & (events["flow"] > 0)]
    assert sorted(sent["flow"]) == sorted(started["flow"]) and len(sent) > 0
    by_flow = {int(e["flow"]): e for e in sent}
    for each in started:
        assert by_flow[int(each["flow"])]["begin"] < each["begin"]


@pytest.mark.parametrize("name", RUNS)
def test_phases_are_what_the_events_of_all_pes_add_up_to(recorded, name):
    run = events_of(recorded, ask("{ PE[x, y] }", most=10**6), name)
    events, tasks = run.recorded.events, run.recorded.tasks
    assert run.recorded.count == len(events)
    ran = events[events["kind"] == KINDS.index("task")]
    at = run.role[ran["node"]], ran["name"] + 1
    end = ran["begin"] + ran["duration"]
    expected = np.zeros_like(tasks)
    expected["begin"] = 2**30
    np.add.at(expected["count"], at, 1)
    np.add.at(expected["cycles"], at, ran["duration"])
    np.minimum.at(expected["begin"], at, ran["begin"])
    np.maximum.at(expected["end"], at, end)
    expected["begin"][expected["count"] == 0] = 0
    np.testing.assert_array_equal(tasks, expected)
    assert tasks["cycles"].sum() == run.usage["busy"].sum() > 0
    assert tasks["count"].sum() == run.tasks


def test_what_enters_and_leaves_has_phases_by_colour(recorded):
    """What is not 0 enters at a port, with an end; the last element leaves in the last cycle."""
    run = events_of(recorded, ask("{ PE[x, y] }"), "fc")
    entered, left = (phases[phases["count"] > 0]
                     for phases in (run.recorded.entered, run.recorded.left))
    assert entered["count"].tolist() == [np.count_nonzero(X) + 1]
    assert entered["begin"].tolist() == [0] and 0 < entered["end"][0] < run.cycles
    assert left["count"].sum() == run.outputs["y"][0].size
    assert left["end"].max() == run.cycles and left["begin"].min() > 0


def test_a_run_that_stops_is_recorded_until_then(recorded):
    """Each of two PEs sends 64 elements, of which 6 have space: the streams are under way."""
    asked = RunRequest(pes=isl.Set("{ PE[x, 0] : 0 <= x <= 1 }"), begin=0, end=1000, most=1000)
    layout, plans = WAYS["each sends first"]
    run = stop(recorded, layout, plans, recorded=True, asked=asked).run
    events = run.recorded.events
    ends = events["begin"] + events["duration"]
    for kind in ("stream", "wait"):
        last = {int(event["node"]): int(end) for event, end in zip(events, ends, strict=True)
                if event["kind"] == KINDS.index(kind)}
        assert last == {0: run.until, 1: run.until}, kind
    assert run.cycles == 0 and len(run.recorded.path) == 0
