"""What a build says of an edit that it replaced: only what keeps such an edit, in its folder."""

from dataclasses import replace

import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.make.core.layers import lone_folder
from lairmake.stages.make.core.pins import how_to_keep
from lairmake.stages.make.core.stage import BuildOptions
from lairmake.stages.mapping.network_yaml import load_graph
from tests.e2e.conftest import ROOT

PLAIN, KEEPING = BuildOptions(), BuildOptions(keep_edits=True)
NEVER = "no edit in build/ can be kept"
OPTION = "keep such edits with --keep-edits"


@pytest.mark.parametrize(("folder", "name", "said"), [
    ("fc", "simd.yaml", f"{OPTION} or pin:"),
    ("fc", "build/layout.yaml", NEVER),
    ("mlp", "crossings.yaml", OPTION),
    ("lenet", "fitted.yaml", f"{OPTION} or pin: in network.yaml"),
    ("lenet", "crossings.yaml", OPTION),
    ("krnl0_16", "shapes.yaml", OPTION),
    ("heat", "program.il", OPTION),
])
def test_only_what_the_folder_has_is_advised(folder, name, said):
    assert how_to_keep(lone_folder(ROOT / "projects" / folder), name, PLAIN) == said


def test_of_a_part_and_of_a_slot_it_is_what_their_whole_has():
    graph, kernel, layer = (lone_folder(ROOT / "projects" / n) for n in ("lenet", "krnl0_16", "fc"))
    part = replace(layer, path=graph.build / "parts/conv2", asked_in=graph.path / "network.yaml")
    assert how_to_keep(part, "simd.yaml", PLAIN) == (
        f"{OPTION} or pin: in network.yaml, under parts: conv2:"
    )
    part = replace(part, asked_in=kernel.path / "kernel.yaml")
    assert how_to_keep(part, "simd.yaml", PLAIN) == OPTION
    slot = replace(layer, is_slot=True)
    assert how_to_keep(slot, "simd.yaml", PLAIN) == "no edit of a slot can be kept"


@pytest.mark.parametrize("name", ["build/layout.yaml", "simd.yaml"])
def test_what_was_given_is_not_advised(name):
    assert "--keep-edits" not in how_to_keep(lone_folder(ROOT / "projects/fc"), name, KEEPING)


def test_a_part_of_a_graph_may_pin_where_the_advice_says_so():
    text = "parts: {conv2: {pin: [simd.yaml]}}\npin: [fitted.yaml]\n"
    graph = load_graph([Source(path="network.yaml", text=text)])
    assert (graph.pin, graph.parts["conv2"].pin) == (["fitted.yaml"], ["simd.yaml"])
