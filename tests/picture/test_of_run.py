"""What the report of fc shows of its run: the path to its last output, and its PEs."""

import base64
import itertools
import json
import re
import zlib
from dataclasses import replace

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.fabric.deadlock import DeadlockStep, WaitingPe
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.fabric.outcome import DEEDS
from lairmake.stages.layer.outcome import record
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.mapping.records import as_data
from lairmake.stages.picture import run as of_run, run as phased
from lairmake.stages.picture.grid import KINDS
from lairmake.stages.picture.report import READS, read_written
from lairmake.stages.picture.run import (
    BUSY,
    EVERY_PE,
    MOST_MOVES,
    choose_events,
    choose_last,
    describe_fabric,
    describe_record,
    read_usage,
    record_again,
)
from tests.layer.built import build
from tests.picture.followed import check_lines
from tests.picture.test_browser import LAIR, LAYER


@pytest.fixture(scope="module")
def inputs():
    built = build(LAIR, LAYER.replace("fc.lair", "layer.lair"), "report")
    return FolderInputs(open_folder(built.folder), READS)


@pytest.fixture(scope="module")
def usage(inputs):
    return read_usage(inputs.content("build/usage.npz"))


@pytest.fixture(scope="module")
def layout(inputs):
    return read_written(inputs).layout


@pytest.fixture(scope="module")
def run(inputs, layout, usage):
    return record(inputs, choose_events(layout, usage))


@pytest.fixture(scope="module")
def recorded(run, layout):
    return describe_record(run, layout)


def unpack(packed):
    """Undo what stages/picture/page.py did, as packed.js does."""
    flat = np.frombuffer(zlib.decompress(base64.b64decode(packed.deflated)), f"<{packed.type}")
    return np.cumsum(flat.reshape(packed.shape), axis=-1, dtype=flat.dtype)


@pytest.mark.wide
def test_the_path_leads_from_the_last_output_to_the_first_arrival(inputs, recorded):
    results = json.loads(inputs.text("build/results.json"))
    path = recorded.path
    assert path[0].end == results["cycles"]["simd"] and path[-1].begin == 0
    assert all(each.begin == after.end for each, after in itertools.pairwise(path))
    assert path[-1].cause == "port" and path[0].cause == "links"
    assert recorded.sums == results["usage"]["path"] and recorded.left_out == 0
    assert sum(each.end - each.begin for each in path) == sum(recorded.sums.values())


@pytest.mark.wide
def test_of_a_long_path_the_last_parts_are_listed_and_all_of_it_is_drawn(
    run, layout, recorded, monkeypatch
):
    monkeypatch.setattr(of_run, "MOST_PARTS", 3)
    short = describe_record(run, layout)
    assert short.path == recorded.path[:3] and short.left_out == recorded.path[2].begin
    assert short.line == recorded.line


@pytest.mark.wide
def test_lines_lead_along_routes_from_step_to_step_of_the_path(run, layout, recorded):
    """Wavelets take two cycles to leave, one a hop, and three to come down a ramp."""
    hops = check_lines(as_data(describe_fabric(layout, ()).grid), as_data(recorded))
    path = run.recorded.path
    links = path[path["deed"] == DEEDS.index("links")]
    to_pes = len(links) - 1
    assert path[0] == links[0] and hops == (links["end"] - links["begin"]).sum() - 5 * to_pes - 1


def test_a_task_on_the_path_says_what_its_cycles_went_into(recorded):
    tasks = [each for each in recorded.path if each.cause == "task" and each.y >= 0]
    assert {each.name for each in tasks} >= {
        "on_x: 16 starting, 2 computing, 2 memory, 4 scalars"}
    for each in tasks:
        told = sum(map(int, re.findall(r"(\d+) \w+", each.name.partition(": ")[2])))
        assert told == each.end - each.begin


def test_all_pes_of_a_small_grid_have_events(run, recorded):
    events = recorded.events
    pe, kind, begin, name = map(unpack, (events.pe, events.kind, events.begin, events.name))
    assert set(pe) == set(range(20)) and set(kind) == set(range(len(KINDS)))
    assert events.until is None and (np.diff(begin)[np.diff(pe) == 0] >= 0).all()
    kept = run.recorded.events
    tasks = kept[kept["kind"] == 0]
    assert (kind == KINDS.index("task")).sum() == len(tasks) == run.tasks
    assert unpack(events.duration)[kind == 0].sum() == tasks["duration"].sum()
    assert {events.names[at] for at in name[kind == KINDS.index("stream")]} >= {"x", "send_y"}
    causes = unpack(events.cause)
    assert {events.names[at] for at in causes[kind == KINDS.index("stall")]} == {
        "no_input", "under_way"}
    assert (causes[kind != KINDS.index("stall")] == -1).all()


def test_phases_are_in_the_order_in_which_they_begin_and_have_all_that_ran(run, usage, recorded):
    phases = recorded.phases
    assert [each.name for each in phases] == ["x", "on_x", "end_x", "finish_ff", "complete", "y"]
    assert [each.begin for each in phases] == sorted(each.begin for each in phases)
    assert phases[0].kind == "arrives" and phases[0].begin == 0 and phases[0].count == 8
    assert phases[-1].kind == "leaves" and phases[-1].end == run.cycles
    assert phases[-1].count == 32 and recorded.shorter == 0
    tasks = phases[1:-1]
    assert sum(each.count for each in tasks) == run.tasks
    assert sum(each.cycles for each in tasks) == sum(
        int(usage.quantities[name].sum()) for name in BUSY)
    assert phases[1].roles == ("compute", "adapter_north") and phases[3].roles == ("compute",)


def test_of_many_phases_the_longest_are_shown(run, layout, recorded, monkeypatch):
    monkeypatch.setattr(phased, "MOST_PHASES", 2)
    shown, shorter = phased.find_phases(run, layout)
    long = sorted(recorded.phases, key=lambda each: each.begin - each.end)[:2]
    assert shorter == 4 and set(shown) == set(long)


def test_tasks_of_parts_go_by_the_parts(run, layout):
    """As on the one fabric of a network: roles are called part.role."""
    roles = dict(zip(("a.compute", "b.adapter"), layout.roles.values(), strict=True))
    names = {each.name for each in phased.find_phases(run, replace(layout, roles=roles))[0]}
    assert {"a.on_x", "b.on_x", "a.finish_ff"} <= names and "on_x" not in names


def test_what_all_pes_spent_and_the_busiest_link_are_those_of_results_json(inputs, layout, usage):
    used = json.loads(inputs.text("build/results.json"))["usage"]
    fabric = describe_fabric(layout, (), usage)
    summed = {cause: sum(own[cause] for own in fabric.cycles.values()) for cause in used["cycles"]}
    assert summed == used["cycles"] and fabric.bins.until == used["until"]
    assert as_data(fabric.busiest) == used["busiest_link"]
    assert fabric.recorded is None


def test_a_long_run_is_not_run_once_more(layout, usage):
    def refuse(_):
        raise AssertionError("it was run")

    assert record_again(layout, replace(usage, hops=MOST_MOVES + 1), refuse) is None


def test_of_many_pes_the_first_and_the_busiest_of_each_role_have_events(inputs, usage):
    text = inputs.text("build/layout.yaml").replace("<= 3", "<= 15").replace("<= 4", "<= 16")
    layout = read_layout(Source(path="layout.yaml", text=text))
    shape = (17, 16)
    assert np.prod(shape) > EVERY_PE
    maps = {name: np.zeros(shape, np.int32) for name in usage.quantities}
    maps["computing"][9, 11] = maps["scalars"][0, 5] = 7
    asked = choose_events(layout, replace(usage, quantities=maps))
    points = []
    asked.pes.foreach_point(lambda point: points.append(str(point)))
    assert sorted(points) == [
        "{ PE[0, 0] }", "{ PE[0, 1] }", "{ PE[11, 9] }", "{ PE[5, 0] }",
    ]


def test_until_a_stop_the_last_events_of_who_waits_are_shown(inputs, usage, monkeypatch):
    """With space for half of them: then those of the last half of the cycles."""
    text = inputs.text("build/layout.yaml").replace("<= 3", "<= 15").replace("<= 4", "<= 16")
    layout = read_layout(Source(path="layout.yaml", text=text))
    moved = {name: np.zeros((17, 16), np.int32) for name in ("received", "sent")}
    moved["received"][4, 5], moved["sent"][4, 6], moved["sent"][9, 9] = 30, 10, 5000
    usage = replace(usage, until=1000, quantities={**usage.quantities, **moved})
    step = DeadlockStep(waits=(5, 4), on=(6, 4), colour=None, kind="behind", said=None)
    port = replace(step, waits=(5, -1), on=(5, 4))
    waiting = WaitingPe(steps=(port, step), left_out=0, is_circle=False, cause="")
    asked = choose_last(layout, usage, waiting)
    assert asked.pes.is_equal(isl.Set("{ PE[x, 4] : 5 <= x <= 6 }")) and asked.begin == 0
    monkeypatch.setattr(of_run, "MOST_EVENTS", 40 * of_run.EVENTS_OF_MOVES // 2)
    assert choose_last(layout, usage, waiting).begin == 500


def test_all_pes_of_a_small_grid_have_events_until_a_stop(layout, usage):
    waiting = WaitingPe(steps=(), left_out=0, is_circle=False, cause="")
    asked = choose_last(layout, usage, waiting)
    assert asked.pes.is_equal(isl.Set(layout.grid)) and asked.begin == 0
