"""What the report of fc shows of its run: the path to its last output, and its PEs."""

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from stages.diagnose import Source
from stages.fabric.layout_yaml import read_layout
from stages.layer.report import READS, read_written, record
from stages.make.core.folder_inputs import FolderInputs
from stages.make.core.layers import open_folder
from stages.picture.of_run import EVERY_PE, choose_events, read_usage
from tests.layer.built import build
from tests.picture.test_browser import LAIR, LAYER


@pytest.fixture(scope="module")
def inputs():
    built = build(LAIR, LAYER.replace("fc.lair", "layer.lair"), "report")
    return FolderInputs(open_folder(built.folder), READS)


@pytest.fixture(scope="module")
def recorded(inputs):
    usage = read_usage(inputs.content("build/usage.npz"))
    return record(inputs, read_written(inputs), usage)


def test_the_path_leads_from_the_last_output_to_the_first_arrival(inputs, recorded):
    results = json.loads(inputs.text("build/results.json"))
    path = recorded.path
    assert path[0].end == results["cycles"]["simd"] and path[-1].begin == 0
    assert all(each.begin == after.end for each, after in itertools.pairwise(path))
    assert path[-1].cause == "port" and path[0].cause == "links"
    total = sum(results["usage"]["path"].values())
    assert sum(each.end - each.begin for each in path) == total


def test_a_task_on_the_path_says_what_its_cycles_went_into(recorded):
    tasks = [each for each in recorded.path if each.cause == "task" and each.y >= 0]
    assert {each.name for each in tasks} >= {"on_x: 16 starting, 2 computing, 2 scalars"}
    for each in tasks:
        told = sum(map(int, re.findall(r"(\d+) \w+", each.name.partition(": ")[2])))
        assert told == each.end - each.begin


def test_all_pes_of_a_small_grid_have_events(recorded):
    assert {(each.x, each.y) for each in recorded.events} == {
        (x, y) for x in range(4) for y in range(-1, 4)
    }
    assert {each.kind for each in recorded.events} == {"task", "vector", "stream", "stall"}


def test_of_many_pes_the_first_and_the_busiest_of_each_role_have_events(inputs):
    usage = read_usage(inputs.content("build/usage.npz"))
    text = inputs.text("build/layout.yaml").replace("<= 3", "<= 15")
    layout = read_layout(Source(path="layout.yaml", text=text))
    shape = (17, 16)
    assert np.prod(shape) > EVERY_PE
    maps = {name: np.zeros(shape, np.int32) for name in usage.quantities}
    maps["computing"][9, 11] = maps["scalars"][0, 5] = 7
    asked = choose_events(layout, replace(usage, quantities=maps))
    points = []
    asked.pes.foreach_point(lambda point: points.append(str(point)))
    assert sorted(points) == [
        "{ PE[0, -1] }", "{ PE[0, 0] }", "{ PE[11, 8] }", "{ PE[5, -1] }",
    ]
