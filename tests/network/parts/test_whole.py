"""Graphs of which all parts run on one fabric, sample after sample, and what is refused."""

import json

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.picture.grid import find_frames
from tests.network.onnx.graphs import make_model

TEXT = """c = Conv<pads=[1,1,1,1]>(x, w)
r = Relu(c)
f = Flatten(r)
y = Gemm<transB=1>(f, v, b)"""
NETWORK = """run: whole
invocations: 3
data: {kind: integers}
target: "{ PE[4, 4] }"
parts:
  conv1: {placement: "{ make_conv_0[k, i, j, a, b] -> PE[1 + k, i//2] }"}
  gemm1: {placement: "{ make_gemm_0[o, k, i, j] -> PE[1, o] }"}
"""


def model():
    known = {"w": np.ones((2, 1, 3, 3)), "v": np.ones((3, 32)), "b": np.array([1, 2, 3])}
    known = {name: array.astype("f4") for name, array in known.items()}
    return make_model(TEXT, {"x": (1, 1, 4, 4)}, known).SerializeToString()


class Net:
    """A folder with a graph."""

    def __init__(self, root):
        self.path = root / "projects/net"
        self.path.mkdir(parents=True)
        (self.path / "net.onnx").write_bytes(model())

    def build(self, text, stage="confirm"):
        """Run all stages until one. Return the folder."""
        self.write(text)
        folder = open_folder(self.path)
        for each, name in tasks_until(folder, stage):
            run_stage(name, each)
        return folder

    def write(self, text):
        (self.path / "network.yaml").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    root = tmp_path_factory.mktemp("graph")
    with pytest.MonkeyPatch.context() as patch:
        net = Net(root)
        patch.chdir(net.path)
        net.folder = net.build(NETWORK)
        yield net


def results(folder):
    return json.loads(file_of(folder, "build/results.json").read_text(encoding="utf-8"))


@pytest.mark.wide
def test_what_all_parts_give_on_one_fabric(net):
    """What crosses is padded, or flattened, on the way: nothing of that is on the fabric."""
    found = results(net.folder)
    assert found["check"] == {"y": {"exact": True, "right": True, "max_abs_error": 0.0}}
    fabric = found["fabric"]
    assert fabric["check"] == {"gemm1.y": {"right": True, "max_abs_error": 0.0}}
    assert (fabric["samples"], np.load(file_of(net.folder, "build/outputs/y.npy")).shape) == (
        3, (3, 1, 3))
    assert 0 < fabric["interval"] < fabric["first"] < found["one_after_another"]["simd"]
    text = file_of(net.folder, "layout.yaml").read_text(encoding="utf-8")
    assert "bridge_" in text and "gemm1.compute:" in text


@pytest.mark.wide
def test_parts_lie_where_the_floorplan_says(net):
    """A larger distance takes as many cycles longer as it has more hops."""
    before = results(net.folder)["fabric"]
    place = "floorplan: {conv1: \"PE[0, 0]\", gemm1: \"PE[9, 0]\"}\n"
    folder = net.build(NETWORK + place, "operate")
    after = json.loads(file_of(folder, "build/fabric.json").read_text(encoding="utf-8"))
    assert after["check"] == before["check"] and after["pes"][0] > before["pes"][0]
    assert after["first"] - before["first"] == after["pes"][0] - before["pes"][0]
    layout = read_layout(source_of("l", file_of(folder, "layout.yaml").read_bytes()))
    corners = {each.part: (each.x, each.y) for each in find_frames(layout)}
    assert corners == {"conv1": (0, 0), "gemm1": (9, 0)}
    assert [each.origin for each in find_frames(layout)] == [*corners.values()]


@pytest.mark.wide
def test_values_that_differ_from_those_of_the_parts_are_told(net):
    file = file_of(net.folder, "gemm1/build/outputs/y.npy")
    before = file.read_bytes()
    np.save(file, np.load(file) + 2)
    net.write(NETWORK)
    for stage in ("link", "operate"):
        run_stage(stage, open_folder(net.path))
    file.write_bytes(before)
    found = json.loads(file_of(net.folder, "build/fabric.json").read_text(encoding="utf-8"))
    assert found["check"] == {"gemm1.y": {"right": False, "max_abs_error": 2.0}}


REFUSED = {
    "a part that there is not": (
        "split", "floorplan: {conv2: \"PE[0, 0]\"}\n", "8:13", "unknown part conv2",
        "parts: conv1, gemm1"),
    "a place that is no PE": (
        "supply", "floorplan: {conv1: east}\n", "8:20", "east is no PE",
        "write `PE[0, 0]`, where PE[0, 0] of the part lies"),
    "parts on the same PEs": (
        "link", "floorplan: {conv1: \"PE[0, 0]\", gemm1: \"PE[1, 1]\"}\n", "8:39",
        "conv1 lies on PE[0:3, 0:3], and gemm1 on PE[1:4, 1:4]",
        "place one of them elsewhere: `floorplan: {gemm1: \"PE[x, y]\"}`"),
    "lanes that are not in line": (
        "link", "floorplan: {conv1: \"PE[0, 0]\", gemm1: \"PE[9, 1]\"}\n", "7:3",
        "gemm1 is not beside conv1, lane beside lane, with room for a bridge between them",
        "what leaves conv1 arrives if it lies there: `floorplan: {gemm1: \"PE[9, 0]\"}`"),
}


@pytest.mark.wide
@pytest.mark.parametrize("case", REFUSED)
def test_what_a_floorplan_may_not_say(net, case):
    stage, said, where, message, hint = REFUSED[case]
    net.write(NETWORK + said)
    with pytest.raises((UserError, UserErrors)) as raised:
        run_stage(stage, net.folder)
    lines = str(raised.value).splitlines()
    assert (lines[0], lines[-1]) == (f"network.yaml:{where}: error: {message}", f"hint: {hint}")


@pytest.mark.wide
def test_a_floorplan_is_one_of_a_whole(net):
    net.write("floorplan: {conv1: \"PE[0, 0]\"}\n")
    assert open_folder(net.path).unread == (
        "network.yaml:1:1: error: there is no fabric of the whole")
