"""Networks of which all parts run on one fabric: values, cycles, and what is refused."""

import json
from dataclasses import replace

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.fabric.deadlock import FabricStopped
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of, parts_of
from lairmake.stages.mapping.network_yaml import read_network
from lairmake.stages.network.link import check_ends
from lairmake.stages.network.whole.joined import write_programs
from lairmake.stages.network.whole.joints import list_joints
from lairmake.stages.picture.report_network import READS, draw_stop

GIVES = "lair gives(): float32 w[8] -> float32 y[8] { all (i) in (8) y[i] = w[i] + 1 }\n"
TWICE = "lair twice(): float32 x[8] -> float32 y[8] { all (i) in (8) y[i] = 2 * x[i] }\n"
SUMS = """lair sums(): float32 x[8], float32 z[8], float32 w[8] -> float32 y[8] {
    all (i) in (8) y[i] = w[i] * x[i] + z[i]
}
"""
EAST = "y: {leaves: \"{ y[i] -> [PE[1, i//4] -> index[i mod 4]] }\"}\n"
WEST = "  x: {arrives: \"{ x[i] -> [PE[-1, i//4] -> index[i mod 4]] }\"}\n"
NORTH = "  z: {arrives: \"{ z[i] -> [PE[0, -1] -> index[i]] }\"}\n"
SOUTH = "y: {leaves: \"{ y[i] -> [PE[0, 2] -> index[i]] }\"}\n"
CHAIN = """run: whole
parts: {gives: , twice: , sums: , other: ../twice}
tensors:
  twice.x: gives.y
  sums.x: twice.y
"""
ONE = """run: whole
parts: {gives: , one: }
tensors: {one.x: gives.y}
"""
BY_HAND = """floorplan: {gives: "PE[2, 3]", twice: "PE[6, 3]", sums: "PE[8, 3]", other: "PE[11, 0]"}
"""
REFUSED = {
    "an output that goes to two parts": (
        CHAIN + "  other.x: gives.y\n", "6:12",
        "gives.y goes to twice.x and to other.x",
        "on one fabric an output goes to one part; with `run: parts` the parts run one by one"),
    "an input of two outputs": (
        CHAIN.replace("twice.x: gives.y", "other.x: [{from: gives.y}, {from: sums.y}]"), "4:3",
        "other.x is put together of gives.y and sums.y",
        "on one fabric a tensor comes from one part; with `run: parts` the parts run one by one"),
    "a tensor in memory": (
        CHAIN + "  sums.w: other.y\n", "6:3",
        "sums.w crosses in memory",
        "on one fabric it leaves and arrives: give both ends ports; with `run: parts` the parts "
        "run one by one"),
    "sides that do not meet": (
        CHAIN.replace("twice.y", "other.y") + "  sums.z: twice.y\n", "6:3",
        "twice.y leaves on the E, sums.z arrives on the N",
        "on one fabric a tensor crosses as one dense stream; with `run: parts` the parts run one "
        "by one"),
    "parts on the same PEs": (
        CHAIN + "floorplan: {gives: \"PE[0, 0]\", other: \"PE[0, 1]\"}\n", "6:39",
        "gives lies on PE[0:0, 0:1], and other on PE[0:0, 1:2]",
        "place one of them elsewhere: `floorplan: {other: \"PE[x, y]\"}`"),
    "lanes that are not in line": (
        CHAIN + "floorplan: {gives: \"PE[0, 0]\", twice: \"PE[5, 1]\"}\n", "4:3",
        "twice is not beside gives, lane beside lane, with room for two bridges between them",
        "what leaves gives arrives if it lies there: `floorplan: {twice: \"PE[5, 0]\"}`"),
    "no room for a bridge": (
        CHAIN + "floorplan: {gives: \"PE[0, 0]\", twice: \"PE[1, 0]\"}\n", "4:3",
        "twice is not beside gives, lane beside lane, with room for two bridges between them",
        "what leaves gives arrives if it lies there: `floorplan: {twice: \"PE[3, 0]\"}`"),
    "a way through another part": (
        CHAIN + BY_HAND.replace("[11, 0]", "[8, 6]"), "2:27",
        "sums.y would pass PE[8:8, 5:7], and other lies on PE[8:8, 6:7]",
        "ways go straight on: place the parts elsewhere with `floorplan`"),
}


class Whole:
    """A workspace with a network of four parts."""

    def __init__(self, root):
        self.root = root
        for name, lair, statement, tensors in (
            ("net/gives", GIVES, "gives", "  " + EAST),
            ("net/twice", TWICE, "twice", WEST + "  " + EAST),
            ("twice", TWICE, "twice", WEST + "  " + EAST),
            ("net/sums", SUMS, "sums", WEST + NORTH + "  " + SOUTH),
        ):
            self.write(f"{name}/{statement}.lair", lair)
            self.place(name, "{ PE[1, 2] }", f"{statement}[i] -> PE[0, i//4]", tensors)
        self.write("net/one/twice.lair", TWICE)
        self.place("net/one", "{ PE[2, 2] }", "twice[i] -> PE[1, 0]", WEST)
        self.write("net/network.yaml", CHAIN)

    def write(self, name, text):
        path = self.root / "projects" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def place(self, name, target, placement, tensors):
        text = f"target: \"{target}\"\nplacement: \"{{ {placement} }}\"\ninvocations: 3\n"
        self.write(f"{name}/layer.yaml", f"{text}tensors:\n{tensors}")

    def open(self):
        return open_folder(self.root / "projects/net")

    def read(self, name):
        return file_of(self.open(), name).read_text(encoding="utf-8")

    def layout(self, name):
        return read_layout(Source(path=name, text=self.read(name)))

    def build(self):
        """Run the parts one by one, and connect them."""
        folder = self.open()
        parts = parts_of(folder)
        for stage in parts[0].stages[:2]:
            for part in parts:
                run_stage(stage, part)
        run_stage("connect", folder)
        for part in parts:
            for stage in part.stages[2:]:
                run_stage(stage, part)

    def run(self, text):
        """Run a network with these parts on one fabric; return build/fabric.json."""
        self.write("net/network.yaml", text)
        for stage in ("link", "operate"):
            run_stage(stage, self.open())
        return json.loads(self.read("build/fabric.json"))


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    root = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        network = Whole(root)
        patch.chdir(root / "projects/net")
        network.build()
        yield network


def right(names):
    return {name: {"right": True, "max_abs_error": 0.0} for name in names}


def test_each_part_gives_what_it_gives_alone(net):
    """Between gives and twice there are two bridges: what leaves is heard on the same colour."""
    found = net.run(CHAIN)
    assert found["check"] == right(["sums.y", "other.y"])
    assert (found["pes"], found["samples"]) == ([6, 4], 3)
    assert 0 < found["interval"] < found["first"]
    assert found["first"] + 2 * found["interval"] == found["cycles"]
    assert [name for name in net.layout("layout.yaml").roles if name.startswith("bridge")] == [
        "bridge_0_1", "bridge_1_0"]


@pytest.mark.wide
def test_parts_lie_where_the_floorplan_says(net):
    """Wires lead to bridges, and over free PEs to the edge; a program counts PEs from its own."""
    found = net.run(CHAIN + BY_HAND)
    assert found["check"] == right(["sums.y", "other.y"])
    assert found["pes"] == [10, 5]
    roles = net.layout("layout.yaml").roles
    assert roles["sums.compute"].origin == (8, 3)
    assert roles["sums.compute"].at == "{ PE[8, y] : 3 <= y <= 4 }"


@pytest.mark.wide
def test_values_that_differ_from_those_of_the_parts_are_told(net):
    file = file_of(parts_of(net.open())[-1], "build/outputs/y.npy")
    before = file.read_bytes()
    np.save(file, np.load(file) + 2)
    found = net.run(CHAIN)
    file.write_bytes(before)
    wrong = {name for name, check in found["check"].items() if not check["right"]}
    assert len(wrong) == 1 and found["check"][wrong.pop()]["max_abs_error"] == 2


@pytest.mark.wide
def test_a_fabric_that_stops_is_drawn(net):
    """A bridge passes nothing on: what it hears stays there."""
    net.run(CHAIN)
    file = net.root / "projects/net/build/bridges/pe_bridge_0_1.c"
    before = file.read_text(encoding="utf-8")
    file.write_text(before.replace("pass_by(pe, HEARD, SENT);", ""), encoding="utf-8")
    with pytest.raises(FabricStopped) as raised:
        run_stage("operate", net.open())
    page = draw_stop(FolderInputs(net.open(), READS), raised.value.stop)
    file.write_text(before, encoding="utf-8")
    assert '"kind":"stop"' in page and "bridge_0_1" in raised.value.stop.waiting.cause
    assert "a network of 4 parts on one fabric; it ran the programs with vector" in page
    assert page.count('"role":"twice.compute"') == 1
    assert '"recorded":{"path":[]' in page


def test_lanes_at_one_port(net):
    net.write("net/network.yaml", CHAIN)
    gives, twice = net.layout("gives/build/layout.yaml"), net.layout("twice/build/layout.yaml")
    (entry,) = twice.arrivals.values()
    twin = replace(twice, arrivals={"x": entry, "x_too": entry})
    network = read_network(Source(path="network.yaml", text=ONE))
    _, (error,) = list_joints(network, {"gives": gives, "one": twin}, {})
    assert (error.message, error.hint) == (
        "one.x arrives in two streams at one port",
        "on one fabric a port has one; with `run: parts` the parts run one by one")


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(net, case):
    text, where, said, hint = REFUSED[case]
    net.write("net/network.yaml", text)
    with pytest.raises((UserError, UserErrors)) as raised:
        run_stage("link", net.open())
    lines = str(raised.value).splitlines()
    assert (lines[0], lines[-1]) == (f"network.yaml:{where}: error: {said}", f"hint: {hint}")


def test_parts_that_run_more_often_or_elsewhere(net):
    net.write("net/network.yaml", CHAIN)
    path = net.root / "projects/net/sums/layer.yaml"
    before = path.read_text(encoding="utf-8")
    after = before.replace("invocations: 3", "invocations: 2\nmachine: wse3")
    path.write_text(after, encoding="utf-8")
    with pytest.raises(UserErrors) as raised:
        run_stage("link", net.open())
    path.write_text(before, encoding="utf-8")
    first = next(iter(parts_of(net.open()))).name.partition("/")[2]
    assert [each.message for each in raised.value.errors] == [
        f"sums is not for the machine of {first}", f"{first} runs 3 times, and sums 2"]


def test_two_ways_from_part_to_part(net):
    """They might wait for each other."""
    gives, sums = net.layout("gives/build/layout.yaml"), net.layout("sums/build/layout.yaml")
    (leaves,) = gives.departures.values()
    twin = replace(gives, departures={"y": leaves, "v": replace(leaves, tensor="v")})
    text = "run: whole\nparts: {a: , b: }\ntensors: {b.x: a.y, b.z: a.v}\n"
    network = read_network(Source(path="network.yaml", text=text))
    _, errors = list_joints(network, {"a": twin, "b": sums}, {})
    assert errors[0].message == "a and b are joined twice"


MOVED = {
    "{ y[i] -> x[i - 1] }": (
        "a.y[0] leaves, and is no element of b.x",
        "on one fabric all that leaves one part arrives at the next; with `run: parts` the parts "
        "run one by one"),
    "{ y[i] -> x[7 - i] }": (
        "a.y[0] leaves at PE[1, 0], lane 0, but b.x[7] arrives at PE[-1, 1], lane 1",
        "lanes count from the first port of what crosses, and are the same on both ends"),
}


@pytest.mark.parametrize("moves", MOVED)
def test_elements_that_move_come_as_they_leave(net, moves):
    layouts = {n: net.layout(f"{n}/build/layout.yaml") for n in ("gives", "twice")}
    text = f"run: whole\nparts: {{a: , b: }}\ntensors: {{b.x: {{from: a.y, map: \"{moves}\"}}}}\n"
    network = read_network(Source(path="network.yaml", text=text))
    every = isl.Map(moves).intersect_range(isl.Set("{ x[i] : 0 <= i <= 7 }"))
    moved = {"b.x": every.intersect_domain(isl.Set("{ y[i] : 0 <= i <= 7 }"))}
    layouts = {"a": layouts["gives"], "b": layouts["twice"]}
    joints, errors = list_joints(network, layouts, moved)
    (error,) = [*errors, *check_ends(joints, layouts, moved)]
    assert (error.message, error.hint) == MOVED[moves]


def test_equal_programs_are_compiled_once(tmp_path):
    programs = {"a.p": ("p", "x"), "b.p": ("p", "x"), "b.q": ("q", "x")}
    files, symbols = write_programs(programs, tmp_path)
    assert symbols == {"a.p": "program_0", "b.p": "program_0", "b.q": "program_1"}
    assert [file.read_text() for file in files] == [
        "#define program_p program_0\n#line 1\nx", "#define program_q program_1\n#line 1\nx"]


def test_a_floorplan_is_one_of_a_whole():
    text = "parts: {a: , b: }\nfloorplan: {a: here, c: \"PE[0, 0]\"}\n"
    with pytest.raises(UserErrors) as raised:
        read_network(Source(path="network.yaml", text=text))
    assert [each.message for each in raised.value.errors] == [
        "there is no fabric of the whole", "here is no PE", "unknown part c"]


@pytest.mark.wide
def test_lanes_that_a_part_hears_on_colours_of_their_own(net):
    """Both leave on 0, and end at one PE, which hears one on 0, over two bridges, one on 2."""
    net.write("net/network.yaml", ONE)
    net.build()
    assert len(net.layout("one/build/layout.yaml").arrivals) == 2
    assert net.run(ONE)["check"] == right(["one.y"])
    roles = net.layout("layout.yaml").roles
    assert {name for name in roles if name.startswith("bridge")} == {
        "bridge_0_1", "bridge_1_0", "bridge_0_2"}
