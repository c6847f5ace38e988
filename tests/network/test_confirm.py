"""The whole of a graph is right where its outputs are, and each part had what those before gave."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of, parts_of
from tests.network.onnx.graphs import make_model
from tests.network.parts.in_numpy import results_of, supply

TEXT = "a = Relu(x)\ny = MatMul(a, w)"
X, W = np.float32([[1, -2, 3], [4, 5, -6]]), np.float32([[1, 2], [3, 4], [5, 6]])


@pytest.fixture
def built(graph):
    """A graph of two parts, whose results are there, as if they had been simulated."""
    build(graph, make_model(TEXT, {"x": X.shape}, {"w": W}))
    run_stage("receive", part_of(graph, "matmul1"))
    return graph


def build(graph, model):
    """Write what stages and simulations of the parts of a graph would; every input is X."""
    graph.write(model.SerializeToString())
    (graph.path / "inputs").mkdir()
    for each in model.graph.input:
        if each.name != "unused":
            np.save(graph.path / "inputs" / f"{each.name}.npy", X)
    folder = graph.build()
    supply(folder)
    results = results_of(folder)
    for part in parts_of(open_folder(graph.path)):
        write(part, results[part.path.name])


def write(part, result, is_exact=True, is_right=True):
    """Write what a simulation of a part would."""
    (part.build / "outputs").mkdir(parents=True, exist_ok=True)
    np.save(part.build / "outputs" / "y.npy", result)
    (part.build / "results.json").write_text(json.dumps({
        "top": "make_y", "machine": "wse2", "invocations": 1, "cycles": {"simd": 1, "loops": 2},
        "speedup": 2.0, "memory": {"bytes_per_pe": 1, "of": 2}, "tasks": {},
        "check": {"y": {"exact": is_exact, "right": is_right, "max_abs_error": 0.0}},
    }))


def part_of(graph, name):
    (found,) = (each for each in parts_of(open_folder(graph.path)) if each.path.name == name)
    return found


def result_of(graph, name):
    return np.load(graph.path / "build" / "parts" / name / "build" / "outputs" / "y.npy")


def told(graph):
    return json.loads((graph.path / "build" / "results.json").read_text())


def confirmed(graph):
    """Return whether the whole is right, and what was computed."""
    run_stage("confirm", open_folder(graph.path))
    found = told(graph)
    assert found["against"] == "onnx.reference"
    assert np.array_equal(np.load(graph.path / "build/outputs/y.npy"), result_of(graph, "matmul1"))
    return found["check"]["y"]["right"]


def test_all_parts_right(built):
    assert confirmed(built)


def test_an_output_that_is_not_what_the_graph_gives(built):
    """Of integers no bit may be wrong, though each part says that it is right."""
    write(part_of(built, "matmul1"), np.nextafter(result_of(built, "matmul1"), np.float32(99)))
    assert not confirmed(built)


def test_an_output_of_reals(built):
    """It is right within rounding, and not beyond."""
    right = result_of(built, "matmul1")
    write(part_of(built, "matmul1"), right * np.float32(1 + 2**-23), is_exact=False)
    assert confirmed(built)
    write(part_of(built, "matmul1"), right * np.float32(1 + 2**-18), is_exact=False)
    assert not confirmed(built)


@pytest.mark.parametrize("kind", [TensorProto.BFLOAT16, TensorProto.FLOAT16])
def test_a_graph_of_a_short_type_is_compared_in_the_type_of_the_network(graph, kind):
    """The reference would round 6650, to eleven digits of a float16 or eight of a bfloat16."""
    model = make_model("y = MatMul(x, w)", {"x": X.shape}, {})
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = kind
    weight = np.float32([[1024], [512], [1]])
    as_kind = helper.tensor_dtype_to_np_dtype(kind)
    model.graph.initializer.append(numpy_helper.from_array(weight.astype(as_kind), "w"))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", kind, [2, 1]))
    build(graph, model)
    assert confirmed(graph)
    write(part_of(graph, "matmul1"), result_of(graph, "matmul1") + np.float32(1), is_exact=False)
    assert not confirmed(graph)


def test_a_part_that_was_given_something_else(built):
    """Its output may be what the graph gives all the same."""
    write(part_of(built, "relu1"), result_of(built, "relu1") + 1)
    assert not confirmed(built)


def test_a_part_that_is_wrong(built):
    write(part_of(built, "relu1"), result_of(built, "relu1"), is_right=False)
    assert not confirmed(built)


def test_an_input_that_no_output_needs(graph):
    """It is called by no name here, and has no values."""
    model = make_model(TEXT, {"x": X.shape, "unused": (2, 2)}, {"w": W})
    build(graph, model)
    run_stage("receive", part_of(graph, "matmul1"))
    assert confirmed(graph)
    assert "unused" not in (graph.path / "cache/names.yaml").read_text()


def test_parts_come_one_after_another_where_they_take_results(built):
    confirmed(built)
    assert told(built)["one_after_another"] == {"simd": 2, "loops": 4}


def test_parts_that_take_more_cycles_than_they_may_are_told(built):
    """And what was expected of them: what is predicted is not what is then simulated."""
    file_of(open_folder(built.path), "fitted.yaml").write_text("matmul1: {cycles: 1}\n")
    (built.path / "network.yaml").write_text("goal: area\ncycles: 1\n")
    confirmed(built)
    assert told(built)["limit"] == {"cycles": 1, "over": {}}
    results = part_of(built, "matmul1").build / "results.json"
    results.write_text(results.read_text().replace('"simd": 1', '"simd": 2'))
    confirmed(built)
    over = {"matmul1": {"cycles": 2, "expected": 1}}
    assert told(built)["limit"] == {"cycles": 1, "over": over}


def test_an_input_that_is_called_like_a_part_is_none(graph):
    text = "a = Relu(x)\ny = MatMul(relu1, w)"
    shapes = {"x": X.shape, "relu1": X.shape}
    build(graph, make_model(text, shapes, {"w": W}, outputs="a y"))
    run_stage("confirm", open_folder(graph.path))
    found = told(graph)
    assert found["crossings"]["matmul1.x"]["is"] == ["relu1"]
    assert found["one_after_another"] == {"simd": 1, "loops": 2}


NONE = "compared with the operations that were extracted: ONNX's reference "


@pytest.mark.parametrize(("text", "known", "why"), [
    ("a = Relu(x)\nb = Pad(a, p)\ny = MatMul(b, w)", {"w": W, "p": np.array([-1, 0, 1, 0])},
     "cannot run node b (Pad)"),
    ("a = Unsqueeze(x, p)\nb = Relu(a)\n"
     'y = ConvTranspose<auto_pad="SAME_UPPER", strides=[3]>(b, w)',
     {"w": np.ones((2, 1, 2), "f4"), "p": np.array([0])},
     "gives y the shape (1, 1, 9), and not (1, 1, 8)"),
])
def test_where_the_reference_fails_numpy_is_asked_and_the_results_say_so(graph, text, known, why):
    build(graph, make_model(text, {"x": X.shape}, known))
    last = parts_of(open_folder(graph.path))[-1].path.name
    run_stage("receive", part_of(graph, last))
    run_stage("confirm", open_folder(graph.path))
    found = told(graph)
    assert (found["against"], found["note"]) == ("NumPy, of operations.yaml", NONE + why)
    assert found["check"]["y"]["right"]
    write(part_of(graph, last), result_of(graph, last) + 1)
    run_stage("confirm", open_folder(graph.path))
    assert not told(graph)["check"]["y"]["right"]
