"""How fast networks from graphs are built: seconds of CPU and MiB of whole processes."""

import re
import sys
from statistics import median

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.bench.compiling import REPEATS
from tests.bench.figures import Figure
from tests.bench.layers import build, empty, shipped
from tests.bench.process import cost, environment, run

COLD, NOTHING, WEIGHTS = 60, 0.25, 5
"""At most so many seconds: lenet from nothing, with nothing to do, and with other weights."""
BLOCKS, SPLIT, MEMORY = 425, 4, 300
"""A graph of so many blocks of four nodes, and at most so many seconds and MiB up to its parts."""
SIMULATED = {"receive", "simulate"}
"""The stages of parts that run where weights are others."""
ALONE = """
from pathlib import Path
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import lone_folder
for stage in ("extract", "split"):
    run_stage(stage, lone_folder(Path.cwd()))
"""
RAN = re.compile(r"^\.  \S+/\S+:(\w+)", re.MULTILINE)


def lenet(folder):
    """lenet, a graph in ONNX, from nothing to a result; with nothing to do; with other weights."""
    layer = shipped(folder / "lenet", "lenet")
    yield Figure(what="lenet from nothing", value=build(layer).cpu, unit="s", limit=COLD)
    idle = median(build(layer).cpu for _ in range(REPEATS))
    yield Figure(what="lenet with nothing to do", value=idle, unit="s", limit=NOTHING)
    turn_weights(layer / "lenet.onnx")
    value = simulated_again(layer).cpu
    yield Figure(what="lenet with other weights", value=value, unit="s", limit=WEIGHTS)


def turn_weights(file):
    """Give a graph in ONNX other weights: half of each, but for sizes."""
    model = onnx.load(file)
    for each in model.graph.initializer:
        values = numpy_helper.to_array(each)
        if values.dtype == np.float32 and values.size > 1:
            each.CopyFrom(numpy_helper.from_array(values / 2, each.name))
    onnx.save(model, file)


def simulated_again(layer):
    """Return what a build costs. Raises SystemExit if a part is compiled again."""
    done = run("doit", "run", "-v", "2", layer.name, cwd=layer)
    if {*RAN.findall(done.out)} != SIMULATED:
        raise SystemExit(f"not only simulations ran:\n{done.out}")
    return done


def split(folder):
    """A graph of 1700 nodes: what it computes, and its parts; the stages alone, and by doit."""
    layer = empty(folder / "blocks")
    (layer / "blocks.onnx").write_bytes(blocks(BLOCKS).SerializeToString())
    nodes = f"{4 * BLOCKS} nodes, extract and split"
    for what, done in ((nodes, stages_alone(layer)), (f"{nodes}, by doit", build(layer, "split"))):
        yield Figure(what=what, value=done.cpu, unit="s", limit=SPLIT)
        yield Figure(what=what, value=done.peak, unit="MiB", limit=MEMORY)


def stages_alone(layer):
    """Return what both stages cost in a process of their own, without the tasks of all parts."""
    return cost([sys.executable, "-c", ALONE], layer, environment())


def blocks(count):
    """Return a model of so many residual blocks: a convolution, a bias, relu, and what came in."""
    draw, nodes, weights, last = np.random.default_rng(0), [], [], "x"
    for n in range(count):
        known = {f"w{n}": (4, 4, 1, 1), f"b{n}": (4, 1, 1)}
        weights += [
            numpy_helper.from_array(draw.normal(size=shape).astype("f4"), name)
            for name, shape in known.items()
        ]
        nodes += [
            helper.make_node("Conv", [last, f"w{n}"], [f"c{n}"]),
            helper.make_node("Add", [f"c{n}", f"b{n}"], [f"a{n}"]),
            helper.make_node("Relu", [f"a{n}"], [f"r{n}"]),
            helper.make_node("Add", [f"r{n}", last], [f"y{n}"]),
        ]
        last = f"y{n}"
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (1, 4, 8, 8))
        for name in ("x", last)
    ]
    graph = helper.make_graph(nodes, "blocks", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
