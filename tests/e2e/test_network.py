"""Networks, network by real doit processes: what ran, what came from the store, what came out."""

import json
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages import NETWORK, PIPELINE

ROOT = Path(__file__).resolve().parents[2]
WRONG = 1
"""The exit code where something in a folder is wrong, with -c, too."""


TABLE = """\
mlp: 3 parts
  part   values              cycles  with loops  speed-up  memory         vector instructions
  first  right, bit for bit  160     784         4.90      3548 of 49152  init_y exact [8], \
compute_first hull [8, 6]
  relu   right, bit for bit  64      180         2.81      2960 of 49152  compute_act hull [8]
  last   right, bit for bit  134     576         4.30      3456 of 49152  init_y exact [4], \
compute_last hull [4, 8]
  358 cycles one after another, 1540 with loops
  inputs  first.W, first.x, relu.b, last.W generated (integers, seed 0)
  last.y right from end to end, bit for bit
"""
ASTRAY = """\
projects/mlp/network.yaml:8:11: error: relu.y[0] leaves on the east, but last.x[0] arrives from \
the north
    last.x: relu.y
            ^^^^^^
hint: side by side, what leaves on the east arrives from the west
"""
CIRCLE = """\
projects/mlp/network.yaml:7:11: error: parts wait for each other: relu -> relu
    relu.x: relu.y
            ^^^^^^
hint: leave one of these crossings out
"""
SEEN = """\
import atexit, sys
heavy = {"yaml", "islpy", "numpy", "pydantic", "lairmake.stages.lair"}
atexit.register(lambda: print("imported", sorted(heavy & sys.modules.keys()), file=sys.stderr))
"""
TWICE = "lair twice(): float32 x[8] -> float32 y[8] { all (i) in (8) y[i] = 2 * x[i] }\n"
COLUMN = """target: "{ PE[1, 2] }"
placement: "{ twice[i] -> PE[0, i//4] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[-1, i//4] -> index[i mod 4]] }"}
  y: {leaves: "{ y[i] -> [PE[1, i//4] -> index[i mod 4]] }"}
"""


def edit(space, name, old, new):
    text = space.read(name)
    assert text.count(old) == 1
    space.write(name, text.replace(old, new))


def save(space, name, array):
    path = space.root / "projects" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)


def load(space, name):
    return np.load(space.root / "projects" / name)


def tasks(names):
    """Return the layer and stage of every task; none comes twice."""
    assert len(set(names)) == len(names)
    return {tuple(name.split(":")) for name in names}


@pytest.mark.wide
def test_a_network_builds_and_ends_with_one_table(network):
    assert network.first.code == 0, network.first.err
    assert network.first.out.endswith(f".  mlp:conclude\n{TABLE}")
    parts = {(f"mlp/{part}", s) for part in ("first", "relu", "last") for s in PIPELINE}
    assert tasks(network.first.ran) == parts | {("mlp", stage) for stage in NETWORK}


@pytest.mark.wide
def test_a_part_is_simulated_after_what_it_takes(network):
    order = [name for name in network.first.ran if name.endswith((":simulate", ":connect"))]
    simulated = ["mlp/first:simulate", "mlp/relu:simulate", "mlp/last:simulate"]
    assert [name for name in order if name in simulated] == simulated
    assert order.index("mlp:connect") < order.index("mlp/relu:simulate")


@pytest.mark.wide
def test_the_whole_is_what_numpy_makes_of_it(mlp):
    random = np.random.default_rng(4)
    x, b = random.integers(-4, 5, 24), random.integers(-9, 10, 32)
    first, last = random.integers(-4, 5, (32, 24)), random.integers(-4, 5, (16, 32))
    save(mlp, "mlp/first/inputs/x.npy", x)
    save(mlp, "mlp/first/inputs/W.npy", first)
    save(mlp, "mlp/relu/inputs/b.npy", b)
    save(mlp, "mlp/last/inputs/W.npy", last)
    run = mlp.run()
    assert run.code == 0, run.err
    assert tasks(run.ran) == {(f"mlp/{part}", "simulate") for part in ("first", "relu", "last")} | {
        ("mlp", "conclude")
    }
    y = load(mlp, "mlp/last/build/outputs/y.npy")
    assert y.dtype == np.float32
    assert np.array_equal(y, last @ np.maximum(first @ x + b, 0))


def test_the_result_is_the_same_whatever_the_network_is_called(mlp):
    (mlp.root / "projects/mlp").rename(mlp.root / "projects/perceptron")
    before = mlp.read("projects/perceptron/build/results.json")
    run = mlp.run()
    assert (run.code, run.ran) == (0, [])
    assert mlp.read("projects/perceptron/build/results.json") == before
    assert run.out.endswith(TABLE.replace("mlp", "perceptron"))


def test_with_nothing_to_do_no_yaml_is_read(mlp):
    mlp.run()
    mlp.write("dodo.py", SEEN + mlp.read("dodo.py"))
    mlp.is_cold = True
    run = mlp.run()
    assert (run.code, run.out, run.err) == (0, "1 layer unchanged\n", "imported []\n")


@pytest.mark.wide
def test_a_part_alone_takes_the_tensors_of_those_before_it(mlp):
    x = np.arange(24)
    save(mlp, "mlp/first/inputs/x.npy", x)
    run = mlp.run(cwd="projects/mlp/relu")
    assert run.code == 0, run.err
    assert tasks(run.ran) == {("mlp/first", "simulate"), ("mlp/relu", "simulate")}
    assert "\nact on wse2\n  y       right, bit for bit\n" in run.out
    assert "mlp: 3 parts" not in run.out


@pytest.mark.wide
def test_what_leaves_astray_stops_the_parts_that_take_it(mlp):
    edit(mlp, "projects/mlp/last/layer.yaml",
         "[PE[-1, j//8] -> index[j mod 8]]", "[PE[j//8, -1] -> index[j mod 8]]")
    edit(mlp, "projects/mlp/last/layer.yaml", "last[i,j] -> PE[i//4, j//8]",
         "last[i,j] -> PE[j//8, i//4]")
    edit(mlp, "projects/mlp/last/layer.yaml", "PE[i//4, 4]", "PE[4, i//4]")
    run = mlp.run("-c")
    assert (run.code, run.err) == (WRONG, ASTRAY)
    assert ("mlp/last", "render") in tasks(run.ran)
    assert ("mlp/last", "simulate") not in tasks(run.ran)


@pytest.mark.wide
def test_a_network_that_is_wrong_is_told_and_other_layers_build(mlp):
    mlp.copy(ROOT / "projects/dot", "projects/dot")
    edit(mlp, "projects/mlp/network.yaml", "relu.x: first.y", "relu.x: relu.y")
    run = mlp.run("-c")
    assert (run.code, run.err) == (WRONG, CIRCLE)
    assert {layer for layer, _ in tasks(run.ran)} == {"dot", "mlp"}
    run = mlp.run(cwd="projects/mlp/relu")
    assert run.code == 1
    assert run.err.endswith(CIRCLE)


@pytest.mark.wide
def test_equal_parts_are_built_once(mlp):
    mlp.copy(ROOT / "projects/fc", "projects/fc")
    mlp.write("projects/twins/network.yaml", "parts: {a: ../fc, b: ../fc}\n")
    run = mlp.run("-n", "2", "twins")
    assert run.code == 0, run.err
    how = [(s["how"], s["stage"]) for s in mlp.log() if s.get("layer") in ("twins/a", "twins/b")]
    assert sorted(how) == sorted((each, s) for each in ("ran", "hit") for s in PIPELINE)
    assert np.array_equal(load(mlp, "twins/build/a/outputs/y.npy"),
                          load(mlp, "twins/build/b/outputs/y.npy"))


@pytest.mark.wide
def test_a_shared_part_with_other_values_is_compiled_once_and_simulated_again(mlp):
    mlp.write("projects/twice/twice.lair", TWICE)
    mlp.write("projects/twice/layer.yaml", COLUMN)
    mlp.write("projects/chain/network.yaml",
              "parts: {one: ../twice, two: ../twice}\ntensors: {two.x: one.y}\n")
    save(mlp, "twice/inputs/x.npy", np.arange(8))
    run = mlp.run("chain")
    assert run.code == 0, run.err
    assert tasks(run.hits) == {("chain/two", stage) for stage in PIPELINE if stage != "simulate"}
    assert np.array_equal(load(mlp, "chain/build/two/outputs/y.npy"), 4 * np.arange(8))
    assert not (mlp.root / "projects/twice/build").exists()


@pytest.mark.wide
def test_a_sparse_tensor_that_crosses_has_no_negative_zero(mlp):
    for name, expression in (("negative", "-1 * x[i]"), ("inverse", "1 / x[i]")):
        text = TWICE.replace("twice", name).replace("2 * x[i]", expression)
        mlp.write(f"projects/{name}/f.lair", text.replace("float32", "float16"))
        mapping = COLUMN.replace("twice", name).replace(']] }"}', ']] }", sparse: true}')
        mlp.write(f"projects/{name}/layer.yaml", mapping)
    mlp.write("projects/chain/network.yaml",
              "parts: {a: ../negative, b: ../inverse}\ntensors: {b.x: a.y}\n")
    save(mlp, "negative/inputs/x.npy", np.array([0, 1] * 4))
    run = mlp.run("chain")
    assert (run.code, run.err) == (0, "")
    assert "b.y 0 at most from the values of the whole" in run.out
    assert np.array_equal(load(mlp, "chain/build/b/outputs/y.npy"), [np.inf, -1] * 4)


def test_results_are_those_of_the_parts(network):
    results = json.loads(network.read("projects/mlp/build/results.json"))
    for name, found in results["parts"].items():
        part = json.loads(network.read(f"projects/mlp/{name}/build/results.json"))
        assert found["cycles"] == part["cycles"]
        assert found["memory"] == part["memory"]
    assert results["crossings"]["last.x"]["is"] == "relu.y"
    total = sum(part["cycles"]["simd"] for part in results["parts"].values())
    assert results["one_after_another"]["simd"] == total


def test_the_three_parts_are_layer_folders_like_any_other(network):
    assert all(
        (Path(network.root) / f"projects/mlp/{part}/build/results.json").is_file()
        for part in ("first", "relu", "last")
    )


def test_a_part_is_not_swept_alone(mlp):
    run = mlp.run("sweep", "mlp/first", "--set", "machine=wse3")
    assert (run.code, run.out, run.err) == (
        1, "", "error: mlp/first is a part, which is not built alone\n"
        "hint: `doit new NAME --like mlp/first` makes a folder of its own of it\n",
    )


def test_a_network_is_swept_by_the_keys_of_its_file(mlp):
    """Each combination has all parts, which come from the store."""
    run = mlp.run("sweep", "mlp", "--set", "run=parts")
    assert (run.code, run.err) == (
        0, "mlp/build/sweep/run-parts: 1 stage ran, 40 from the store\n")
    assert run.out == """mlp: 1 combination
  * no other takes fewer cycles
     run    cycles  loops  speed-up  memory
  *  parts     358   1540      4.30     7 %
"""
    run = mlp.run("sweep", "mlp", "--set", "parts.last=lost")
    assert (run.code, run.out.splitlines()[2].split()[0]) == (1, "lost")
