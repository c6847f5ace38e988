"""Graphs of frameworks by real doit processes: from the graph to a result that is compared."""

import json
import os
import shutil

import numpy as np
import pytest
from onnx import TensorProto

from tests.e2e.conftest import DODO, ROOT, Space, printed
from tests.e2e.test_tiles import SEEN
from tests.network.onnx.graphs import make_model

TEXT = """c = Conv<pads=[1,1,1,1]>(x, w)
r = Relu(c)
f = Flatten(r)
y = Gemm<transB=1>(f, v, b)"""
PROFILE = (ROOT / "stages/machine/profiles/wse2.yaml").read_text(encoding="utf-8")
NETWORK = """machine: wse2.yaml
data: {kind: integers}
target: "{ PE[4, 4] }"
parts:
  conv1: {placement: "(k, i)"}
  gemm1: {placement: "{ make_gemm_0[o, k, i, j] -> PE[1, o] }"}
"""


def model(shift):
    known = {
        "w": np.full((2, 1, 3, 3), 1 + shift), "v": np.ones((3, 32)), "b": np.array([1, 2, 3]),
    }
    known = {name: array.astype("f4") for name, array in known.items()}
    made = make_model(TEXT, {"x": (1, 1, 4, 4)}, known)
    kept = next(each for each in made.graph.initializer if each.name == "w")
    kept.ClearField("raw_data")
    kept.data_location = TensorProto.EXTERNAL
    kept.external_data.add(key="location", value="w.bin")
    return made.SerializeToString(), known["w"].tobytes()


def write(space, content, network=NETWORK):
    folder = space.root / "projects/net"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.onnx").write_bytes(content[0])
    (folder / "w.bin").write_bytes(content[1])
    space.write("projects/net/wse2.yaml", PROFILE)
    space.write("projects/net/network.yaml", network)


def results(space):
    return json.loads(space.read("projects/net/build/results.json"))


def check_list_has_no_parts(space):
    shown = space.plain("list", "--all")
    assert "net/conv1" not in shown.out
    assert shown.err.splitlines()[-1] == (
        "warning: net is shown without its parts: a build finds out which these are"
    )


def check_parts_are_not_known(space):
    """Before the first build: nothing that only looks extracts the graph."""
    check_list_has_no_parts(space)
    unknown = space.run("show", "net/conv1")
    assert (unknown.code, unknown.err.splitlines()[-1]) == (
        3, "hint: the parts of net are not known: a build finds out which these are"
    )
    copied = space.run("new", "net/own", "--like", "net/conv1")
    assert copied.err.splitlines() == [
        "error: there is no layer net/conv1",
        "hint: the parts of net are not known: a build finds out which these are: `doit net`",
    ]


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A workspace in which the graph was built from nothing, and the tasks that ran."""
    space = Space(tmp_path_factory.mktemp("graph"), ROOT)
    space.write("dodo.py", DODO)
    write(space, model(0))
    check_parts_are_not_known(space)
    return space, space.build()


@pytest.fixture
def built(first, tmp_path):
    """A copy of that workspace, in another place."""
    shutil.copytree(first[0].root, tmp_path / "graph", symlinks=True)
    return Space(tmp_path / "graph", ROOT)


@pytest.mark.wide
def test_stages_before_all_parts_run_without_a_look_for_these(space):
    space.write("dodo.py", DODO)
    write(space, model(0))
    assert space.build("net:split") == ["net:extract", "net:split"]
    check_list_has_no_parts(space)
    assert "net:fit" in space.build("net:fit")
    assert space.build("net/conv1:parse")[-2:] == ["net:supply", "net/conv1:parse"]
    assert "net/conv1" in space.plain("list", "--all").out


@pytest.mark.wide
def test_files_that_a_graph_and_its_network_yaml_name_are_known_to_the_next_build(space):
    """Weights beside the graph, and a profile of a machine: an edit counts, a new date does not,
    nor does a comment in a profile. The profile may be like another one."""
    space.write("dodo.py", DODO)
    write(space, model(0), NETWORK.replace("machine: wse2.yaml", "machine: ../mine.yaml"))
    space.write("projects/mine.yaml", PROFILE)
    assert set(space.build("net:fit")) == {"net:extract", "net:split", "net:fit"}
    for name in ("net/w.bin", "mine.yaml"):
        assert space.build("net:fit") == []
        os.utime(space.root / "projects" / name, (1, 1))
    assert space.build("net:fit") == [] == space.run("net:fit").hits
    (space.root / "projects/net/w.bin").write_bytes(model(1)[1])
    assert space.build("net:fit") == ["net:extract"]
    space.write("projects/mine.yaml", f"# mine\n{PROFILE}")
    assert space.build("net:fit") == []
    for hop in (2, 3):
        figure = f"{{value: {hop}, source: mine, grade: chosen}}"
        space.write("projects/mine.yaml", f"like: wse2\nhop: {figure}\n")
        assert space.build("net:fit") == ["net:split", "net:fit"]
        assert space.build("net:fit") == []


@pytest.mark.wide
def test_a_graph_is_built_from_nothing_to_a_compared_result(first, built):
    """With places or directions given: its parts are layers, and other weights compile nothing.

    Those of the convolution lie in a file beside the graph.
    """
    space, ran = built, first[1]
    assert {"net:extract", "net:split", "net:supply", "net:confirm"} < set(ran)
    assert {"net/conv1:simulate", "net/gemm1:simulate"} < set(ran)
    found = results(space)
    assert list(found["parts"]) == ["conv1", "gemm1"]
    assert found["check"] == {"y": {"exact": True, "right": True, "max_abs_error": 0.0}}
    assert found["crossings"]["gemm1.x"]["is"] == ["conv1.y"]
    assert "net/conv1" in space.plain("list", "--all").out
    space.write("dodo.py", SEEN + DODO)
    space.is_cold = True
    run = space.run()
    assert (run.code, run.out, run.err) == (0, "1 layer unchanged\n", "imported []\n")
    space.write("dodo.py", DODO)
    space.is_cold = False
    reals = NETWORK.replace("data: {kind: integers}\n", "data: {kind: reals}\n")
    write(space, model(0), reals)
    ran = set(space.build())
    stages = {task.partition(":")[2] for task in ran if "/" in task}
    assert stages == {"receive", "simulate"}
    assert results(space)["check"]["y"]["right"]
    write(space, (model(0)[0], model(1)[1]), reals)
    ran = set(space.build())
    assert {"net:extract", "net/conv1:simulate", "net:confirm"} <= ran
    assert not any(task.endswith((":split", ":render")) for task in ran)
    assert results(space)["check"]["y"]["right"]


@pytest.mark.wide
def test_an_edit_of_a_text_of_the_network_is_pinned(built):
    """A part with other LAIR, until nothing pins the text any more."""
    space = built
    parts, lair = space.read("cache/net/parts.yaml"), "projects/net/build/parts/conv1/part.lair"
    before = space.read(lair)
    assert "relu(conv_0[0][k][i][j])" in parts
    edited = parts.replace("relu(conv_0[0][k][i][j])", "max(0.0, conv_0[0][k][i][j])")
    space.write("cache/net/parts.yaml", edited)
    space.write("projects/net/network.yaml", NETWORK + "pin: [parts.yaml]\n")
    assert "kept cache/net/parts.yaml, as it was edited by hand\n" in space.run("net").out
    assert "= max(0.0, conv_0[0][k][i][j])" in space.read(lair)
    assert results(space)["check"]["y"] == {"exact": True, "right": True, "max_abs_error": 0.0}
    assert "  cache/net/parts.yaml, edited by hand\n" in space.run("why", "net").out
    write(space, model(0))
    assert "repaired cache/net/parts.yaml" in space.run("net").out
    assert space.read(lair) == before


@pytest.mark.wide
def test_a_part_of_a_graph_becomes_a_folder_of_a_user_which_takes_its_place(built):
    """Its layer.yaml is shown, and copied; it takes the same cycles alone, and in the network."""
    space = built
    cycles = results(space)["parts"]["conv1"]["cycles"]
    shown = printed(space.run("show", "net/conv1", "layer.yaml"))
    assert shown.startswith("supply: ") and "\nmachine: ../../../wse2.yaml\n" in shown
    assert "\nx_0 := " in printed(space.run("show", "net/gemm1", "crossed.isl"))
    assert printed(space.run("new", "net/own", "--like", "net/conv1")) == (
        "projects/net/own/\n  dodo.py\n  layer.yaml\n  own.lair\nbuild it: doit net/own\n"
    )
    assert "machine: ../wse2.yaml\n" in space.read("projects/net/own/layer.yaml")
    space.build("net/own")
    alone = json.loads(space.read("projects/net/own/build/results.json"))
    assert alone["cycles"] == cycles
    space.write("projects/net/network.yaml", NETWORK.replace(
        "conv1: {placement", "conv1: own\n  # conv1: {placement"
    ))
    assert "net:confirm" in space.build("net")
    found = results(space)
    assert found["parts"]["conv1"]["cycles"] == cycles
    assert found["check"]["y"]["right"]
