"""Frozen networks through the stage: what it writes gives the values that TensorFlow gave."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from google.protobuf import text_format

from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.network.tensorflow.model import GraphDef, load_graph_def, read_tensor
from lairmake.stages.parts.evaluation import evaluate
from lairmake.stages.poly.text import read_objects
from lairmake.stages.volumes.operation import read_program
from tests.network.tensorflow.graphs import make_graph, written

NETWORKS = Path(__file__).parent / "networks"
PROJECT = Path(__file__).parents[3] / "projects" / "lenet_tensorflow"
LENET = PROJECT / "lenet.pb"


def array_of(name):
    return np.load(NETWORKS / f"{name}.npy")


def names_of(folder):
    return yaml.safe_load(file_of(folder, "names.yaml").read_text())


def operations_of(folder):
    return read_program(yaml.safe_load(file_of(folder, "operations.yaml").read_text()))


def outputs(folder, **inputs):
    """Return the values of what the stage wrote, by the graph's names."""
    names, program = names_of(folder), operations_of(folder)
    volumes = read_objects(file_of(folder, "volumes.isl").read_text())["volumes"]
    given = {names["inputs"][name]: array for name, array in inputs.items()}
    given |= {n: np.load(folder.build / "weights" / f"{n}.npy") for n in names["weights"]}
    found = evaluate(program, volumes, given)
    return {name: found[volume] for name, volume in names["outputs"].items()}


def built(graph, path, network=None):
    return graph.write(path.read_bytes(), network, path.name).build()


@pytest.mark.wide
def test_lenet_gives_what_tensorflow_gives(graph):
    """What a function only waits for says nothing; dropout and copies of weights are gone."""
    folder = built(graph, LENET)
    got = outputs(folder, image=np.load(PROJECT / "inputs" / "image.npy"))
    wanted = np.load(PROJECT / "outputs" / f"{names_of(folder)['outputs']['Identity']}.npy")
    assert list(got) == ["Identity"]
    assert np.allclose(got["Identity"], wanted, rtol=1e-4, atol=1e-6)
    kinds = [each.kind for each in operations_of(folder).operations]
    assert kinds.count("compute") == 14
    for stage in ("relate", "compose", "arrange"):
        run_stage(stage, folder)


def test_mobilenet_of_an_open_size(graph):
    folder = built(graph, NETWORKS / "mobile.pb", "sizes: {image_0: 2}\n")
    got = outputs(folder, image=array_of("mobile_image"))["Identity"]
    assert np.allclose(got, array_of("mobile_result"), rtol=1e-4, atol=1e-6)


def test_resnet_as_text(graph):
    """With a shape that is computed, statistics of batches, and an input with a default."""
    folder = built(graph, NETWORKS / "residual.pbtxt")
    got = outputs(folder, image=array_of("residual_image"))
    assert list(got) == ["probabilities"]
    assert np.allclose(got["probabilities"], array_of("residual_result"), rtol=1e-4, atol=1e-6)


def test_integers_instead_of_weights_leave_what_roots_are_of(graph):
    """So results are exact where nothing is divided, and numbers where something is."""
    integers = "sizes: {image_0: 2}\ndata: {kind: integers}\n"
    folder = built(graph, NETWORKS / "mobile.pb", integers)
    names = names_of(folder)["weights"]
    weights = {n: np.load(folder.build / "weights" / f"{n}.npy") for n in names}
    drawn = {n for n, each in weights.items() if set(each.ravel().tolist()) <= {-1, 0, 1}}
    assert drawn == {
        f"mobile_1_{n}_ReadVariableOp_resource" for n in (
            "conv2d_1_convolution", "conv2d_1_2_convolution", "conv2d_2_1_convolution",
            "depthwise_conv2d_1_depthwise", "dense_1_Cast", "dense_1_BiasAdd",
        )
    }
    got = outputs(folder, image=array_of("mobile_image"))["Identity"]
    assert np.isfinite(got).all()


def test_text_and_bytes_are_the_same_graph():
    graph = load_graph_def(LENET.read_bytes(), "lenet.pb")
    text = text_format.MessageToString(graph)
    assert load_graph_def(text.encode(), "lenet.pbtxt") == graph
    assert GraphDef.FromString(written(graph)) == graph


def test_operations_keep_the_order_of_the_file_where_that_is_one(graph):
    """A file may have a node before those that it reads."""
    model = make_graph("y = Mul(h, x)\nh = Exp(x)\nz = Neg(x)", {"x": (2,)}, {})
    folder = graph.write(written(model), name="g.pb").build()
    assert [each.name for each in operations_of(folder).operations] == ["x", "h", "y", "z"]
    assert names_of(folder)["outputs"] == {"y": "y", "z": "z"}


def test_names_of_a_graph_become_names_of_files(graph):
    model = make_graph("h/if = Add(../x, X)\nu = Unpack<num=2>(h/if)\ni = Identity(u)\n"
                       "h/If = Mul(i, i)\nj = NoOp(^u)\nk = Identity(u:1, ^j)",
                       {"../x": (2,)}, {"X": np.float32([1, 2]), "unused": np.float32(1)})
    folder = graph.write(written(model), name="g.pb").build()
    assert names_of(folder) == {
        "inputs": {"../x": "v___x"}, "outputs": {"h/If": "h_If_2", "k": "u_1"}, "weights": ["X"]
    }
    assert outputs(folder, **{"../x": np.float32([3, 4])}) == {"h/If": 16, "k": 6}


@pytest.mark.parametrize(("said", "wanted"), [
    ("dtype: DT_FLOAT float_val: 1.5", [1.5, 1.5, 1.5]),
    ("dtype: DT_FLOAT float_val: 1.5 float_val: 2", [1.5, 2, 2]),
    ("dtype: DT_FLOAT", [0, 0, 0]),
    ("dtype: DT_HALF half_val: 15360 half_val: 49152", [1, -2, -2]),
    ("dtype: DT_BFLOAT16 half_val: 16256 half_val: 49152", [1, -2, -2]),
    (r'dtype: DT_BFLOAT16 tensor_content: "\200\077\000\300\000\300"', [1, -2, -2]),
    ("dtype: DT_DOUBLE double_val: 0.1", [0.1] * 3),
    ("dtype: DT_BOOL bool_val: true bool_val: false", [1, 0, 0]),
    ("dtype: DT_INT8 int_val: -3", [-3] * 3),
    ("dtype: DT_UINT16 int_val: 65535", [65535] * 3),
    ("dtype: DT_INT64 int64_val: -9000000000", [-9000000000] * 3),
    ("dtype: DT_UINT64 uint64_val: 18446744073709551615", [2**64 - 1] * 3),
])
def test_values_of_constants(said, wanted):
    text = f'node {{ attr {{ key: "v" value {{ tensor {{ {said} tensor_shape '
    text += "{ dim { size: 3 } } } } } }"
    graph = text_format.Parse(text, GraphDef())
    assert read_tensor(graph.node[0].attr["v"].tensor).tolist() == wanted
