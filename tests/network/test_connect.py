"""Networks of layer folders: how they are opened, what crosses, and what is wrong with it."""

import json

import numpy as np
import pytest

from lairmake.stages import NETWORK, PIPELINE
from lairmake.stages.diagnose import UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import find_layers, network_of, open_folder
from lairmake.stages.make.store.folders import file_of, names_of, parts_of
from lairmake.stages.make.store.state import state_of

LAIR = "lair twice(): float32 x[8] -> float32 y[8] { all (i) in (8) y[i] = 2 * x[i] }\n"
LAYER = """target: "{ PE[1, 2] }"
placement: "{ twice[i] -> PE[0, i//4] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[-1, i//4] -> index[i mod 4]] }"}
  y: {leaves: "{ y[i] -> [PE[1, i//4] -> index[i mod 4]] }"}
"""
CHAIN = """parts: {a: , b: ../shared, c: ../shared}
tensors:
  b.x: a.y
  c.x: b.y
"""


class Network:
    """A workspace with a network of one part of its own, and a shared one that it has twice."""

    def __init__(self, root):
        self.root = root
        for name in ("net/a", "shared"):
            self.write(f"{name}/twice.lair", LAIR)
            self.write(f"{name}/layer.yaml", LAYER)
        self.write("net/network.yaml", CHAIN)

    def write(self, name, text):
        path = self.root / "projects" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name, old, new):
        text = (self.root / "projects" / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        self.write(name, text.replace(old, new))

    def open(self):
        return open_folder(self.root / "projects/net")

    def connect(self):
        """Run what `connect` needs, and then it; return crossings.yaml."""
        folder = self.open()
        for part in parts_of(folder):
            for stage in PIPELINE[:2]:
                run_stage(stage, part)
        run_stage("connect", folder)
        return (self.root / "cache/net/crossings.yaml").read_text(encoding="utf-8")

    def error(self):
        with pytest.raises(UserErrors) as raised:
            self.connect()
        return str(raised.value)

    def build(self):
        self.connect()
        for part in parts_of(self.open()):
            for stage in PIPELINE[2:]:
                run_stage(stage, part)
        run_stage("conclude", self.open())
        return json.loads(file_of(self.open(), "build/results.json").read_text(encoding="utf-8"))


@pytest.fixture
def net(tmp_path, monkeypatch):
    network = Network(tmp_path)
    monkeypatch.chdir(tmp_path / "projects/net")
    return network


def test_a_network_is_found_with_its_parts_and_shared_layers_beside_it(net):
    shared, network = sorted(find_layers(net.root), key=lambda f: f.stages != PIPELINE)
    assert (shared.name, shared.parts) == ("shared", ())
    assert (network.name, network.stages) == ("net", NETWORK)
    assert [(n, p.name) for n, p in network.parts] == [
        ("a", "net/a"), ("b", "net/b"), ("c", "net/c")
    ]


def test_a_part_builds_in_its_folder_and_a_shared_one_in_that_of_the_network(net):
    a, b, _ = parts_of(net.open())
    projects = net.root / "projects"
    assert (a.path, a.build) == (projects / "net/a", projects / "net/a/build")
    assert (b.path, b.build) == (projects / "shared", projects / "net/build/b")
    assert (b.cache, b.home) == (net.root / "cache/net/b", net.root)


def test_what_is_kept_of_a_network_is_that_of_its_file(net):
    before = net.open()
    state = state_of(net.root / ".lairmake")
    ((digest, read, plan, further),) = state.every("plans").values()
    state.keep("plans", {"net": (digest, read, {**plan, "parts": {"../b": "b"}}, further)})
    assert net.open() == before
    net.write("net/network.yaml", "parts: {a: }")
    assert [name for name, _ in net.open().parts] == ["a"]
    ((changed, _, plan, _),) = state.every("plans").values()
    assert (changed != digest, plan["parts"]) == (True, {"a": "a"})


def test_what_crosses_is_an_input_by_the_name_of_the_tensor(net):
    a, b, _ = parts_of(net.open())
    assert file_of(b, "inputs/x.npy") == file_of(a, "build/outputs/y.npy")
    assert names_of(b, "inputs/*.npy") == []
    a.build.joinpath("outputs").mkdir(parents=True)
    np.save(a.build / "outputs/y.npy", np.zeros(8))
    assert names_of(b, "inputs/*.npy") == ["inputs/x.npy"]


def test_what_crosses_comes_before_a_file_of_the_shared_layer(net):
    net.write("shared/inputs/x.npy", "")
    net.write("net/a/build/outputs/y.npy", "")
    a, b, _ = parts_of(net.open())
    assert names_of(b, "inputs/*.npy") == ["inputs/x.npy"]
    assert file_of(b, "inputs/x.npy") == file_of(a, "build/outputs/y.npy")


def test_a_part_by_its_folder_is_the_part_of_the_network(net):
    a = open_folder(net.root / "projects/net/a")
    assert network_of(a) == net.open()
    assert a == parts_of(net.open())[0]
    shared = open_folder(net.root / "projects/shared")
    assert network_of(shared) == shared
    assert shared.crossings == ()


def test_a_folder_in_a_network_that_is_wrong_stands_for_the_network(net):
    net.write("net/network.yaml", "part: {a: }")
    assert open_folder(net.root / "projects/net/a") == net.open()
    assert [folder.name for folder in find_layers(net.root)] == ["net", "shared"]


def test_a_layer_folder_in_a_network_need_not_be_a_part(net):
    net.write("net/spare/layer.yaml", LAYER)
    spare = open_folder(net.root / "projects/net/spare")
    assert (spare.name, network_of(spare)) == ("net/spare", spare)
    assert [folder.name for folder in find_layers(net.root)] == ["net", "net/spare", "shared"]


def test_a_network_outside_of_a_workspace_holds_all_state(net, tmp_path):
    place = tmp_path / "elsewhere"
    (tmp_path / "projects").rename(place)
    a, b, _ = parts_of(open_folder(place / "net"))
    assert {a.home, b.home} == {place / "net"}
    assert (a.name, a.cache) == ("net/a", place / "net/cache/a")


def test_crossings_say_what_they_are(net):
    assert net.connect() == """\
# What crosses from one part to another, element by element as both ends say.
# part.tensor: the tensor that it is, its type and sizes, and by what it crosses: memory, or ports.

b.x:
  is: a.y
  type: float32
  sizes: [8]
  by: 2 ports, east to west
c.x:
  is: b.y
  type: float32
  sizes: [8]
  by: 2 ports, east to west
"""


@pytest.mark.wide
def test_values_flow_from_part_to_part(net):
    assert net.build()["data"] == {"a.x": "integers, seed 0"}
    x = np.arange(8, dtype=np.float32)
    folder = net.root / "projects/net"
    (folder / "a/inputs").mkdir()
    np.save(folder / "a/inputs/x.npy", x)
    results = net.build()
    assert results["check"] == {"c.y": {"exact": True, "right": True, "max_abs_error": 0.0}}
    assert results["data"] == {"a.x": "inputs/x.npy"}
    assert [part["like"] for part in results["parts"].values()] == ["a", "a", "a"]
    assert np.array_equal(np.load(folder / "build/c/outputs/y.npy"), 8 * x)


@pytest.mark.wide
def test_cycles_are_those_of_the_longest_chain(net):
    net.edit("net/network.yaml", "  c.x: b.y\n", "")
    results = net.build()
    cycles = {name: part["cycles"]["simd"] for name, part in results["parts"].items()}
    assert results["one_after_another"]["simd"] == cycles["a"] + cycles["b"]
    assert results["check"].keys() == {"b.y", "c.y"}


@pytest.mark.wide
def test_a_value_that_the_fabric_got_wrong_is_wrong_in_the_whole(net):
    net.build()
    wrong = np.load(net.root / "projects/net/build/c/outputs/y.npy") + 1
    np.save(net.root / "projects/net/build/c/outputs/y.npy", wrong)
    run_stage("conclude", net.open())
    results = json.loads((net.root / "projects/net/build/results.json").read_text("utf-8"))
    assert results["check"] == {"c.y": {"exact": True, "right": False, "max_abs_error": 1.0}}


def test_a_part_that_is_no_layer_folder(net):
    net.edit("net/network.yaml", "a: ,", "a: , lost: ../gone, last: ,")
    assert net.error() == """\
network.yaml:1:14: error: ../gone holds no layer.yaml
  parts: {a: , lost: ../gone, last: , b: ../shared, c: ../shared}
               ^^^^
hint: a part is a folder here, or `lost: path/to/folder` from here

network.yaml:1:29: error: last holds no layer.yaml
  parts: {a: , lost: ../gone, last: , b: ../shared, c: ../shared}
                              ^^^^
hint: a part is a folder here, or `last: path/to/folder` from here
"""


def test_a_network_that_is_wrong_has_no_parts_and_says_why(net):
    net.edit("net/network.yaml", "b.x: a.y", "b.x: a")
    assert net.open().parts == ()
    assert net.error() == """\
network.yaml:3:8: error: a is no tensor of a part
    b.x: a
         ^
hint: write `part.tensor`
"""


def test_tensors_that_the_parts_do_not_have(net):
    net.edit("net/network.yaml", "b.x: a.y", "b.z: a.x")
    assert net.error() == """\
network.yaml:3:3: error: b has no input z
    b.z: a.x
    ^^^
hint: inputs: x

network.yaml:3:8: error: a has no output x
    b.z: a.x
         ^^^
hint: outputs: y
"""


def test_all_crossings_that_do_not_agree_are_told(net):
    net.edit("shared/twice.lair", "float32 x[8] -> float32 y[8]", "float16 x[8] -> float16 y[8]")
    net.edit("shared/layer.yaml", "PE[-1, i//4] -> index[i mod 4]", "PE[0, -1] -> index[i]")
    assert net.error() == """\
network.yaml:3:8: error: a.y is float32, but b.x is float16
    b.x: a.y
         ^^^
hint: a tensor that crosses has the same type in both parts

network.yaml:4:8: error: b.y[0] leaves on the east, but c.x[0] arrives from the north
    c.x: b.y
         ^^^
hint: side by side, what leaves on the east arrives from the west
"""


def test_a_failed_check_writes_nothing(net):
    net.edit("net/network.yaml", "b.x: a.y", "b.z: a.y")
    net.error()
    assert not (net.root / "cache/net/crossings.yaml").exists()


SUM = """lair add(): float32 x[8], float32 s[8] -> float32 y[8]
{ all (i) in (8) y[i] = x[i] + s[i] }
"""


@pytest.mark.wide
def test_what_changes_from_one_invocation_to_the_next_crosses_in_each(net):
    net.write("net/a/twice.lair", SUM)
    net.edit("net/a/layer.yaml", "twice[", "add[")
    net.edit("net/a/layer.yaml", "tensors:", "tensors:\n  s: {next: y}")
    net.edit("net/a/layer.yaml", "target:", "invocations: 3\ntarget:")
    net.edit("shared/layer.yaml", "target:", "invocations: 3\ntarget:")
    results = net.build()
    assert all(check["right"] for check in results["check"].values())
    first, _, third = parts_of(net.open())
    y, last = (np.load(file_of(part, "build/outputs/y.npy")) for part in (first, third))
    assert y.shape == (3, 8) and not np.array_equal(y[0], y[1])
    assert np.array_equal(last, 4 * y)


@pytest.mark.wide
def test_what_stays_in_memory_crosses_as_it_is_at_the_end(net):
    net.write("net/a/twice.lair", SUM)
    net.edit("net/a/layer.yaml", "twice[", "add[")
    net.edit("net/a/layer.yaml", "tensors:", "tensors:\n  s: {next: y}")
    net.edit("net/a/layer.yaml", "target:", "invocations: 3\ntarget:")
    leaves = '  y: {leaves: "{ y[i] -> [PE[1, i//4] -> index[i mod 4]] }"}\n'
    net.edit("net/a/layer.yaml", leaves, "")
    arrives = '  x: {arrives: "{ x[i] -> [PE[-1, i//4] -> index[i mod 4]] }"}\n'
    net.edit("shared/layer.yaml", arrives, "")
    net.write("net/network.yaml", "parts: {a: , b: ../shared}\ntensors:\n  b.x: a.y\n")
    results = net.build()
    assert all(check["right"] for check in results["check"].values())
