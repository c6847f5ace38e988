"""Graphs are split into parts: what these compute is what the graph computes, whatever crosses."""

from pathlib import Path

import islpy as isl
import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from lairmake.stages.make.core.action import run_stage
from tests.network.onnx.graphs import make_model
from tests.network.parts.in_numpy import (
    layer_of,
    outputs_of,
    parts_of,
    program_of,
    supply,
    values_of,
    volumes_of,
)

LENET = Path(__file__).parents[3] / "projects" / "lenet" / "lenet.onnx"


def weights(**shapes):
    draw = np.random.default_rng(1)
    return {name: draw.normal(size=shape).astype("f4") for name, shape in shapes.items()}


MODELS = {
    "a convolution with padding, and what stays on its PEs": (
        """c = Conv<pads=[1,1,1,1], strides=[2,2]>(x, w)
        r = Relu(c)
        y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)""",
        {"x": (1, 2, 8, 8)}, weights(w=(3, 2, 3, 3)), {"conv1": ["Conv", "Relu", "MaxPool"]},
    ),
    "a convolution with a bias, and what stays on its PEs": (
        """c = Conv(x, w, b)
        y = Relu(c)""",
        {"x": (1, 2, 5, 5)}, weights(w=(3, 2, 3, 3), b=(3,)), {"conv1": ["Conv", "Relu"]},
    ),
    "windows that share elements": (
        "c = Relu(x)\ny = MaxPool<kernel_shape=[3], strides=[2]>(c)", {"x": (1, 1, 7)}, {},
        {"relu1": ["Relu"], "maxpool1": ["MaxPool"]},
    ),
    "windows that share elements, padded with -inf": (
        """c = Relu(x)
        y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(c)""",
        {"x": (1, 2, 6, 6)}, {}, {"relu1": ["Relu"], "maxpool1": ["MaxPool"]},
    ),
    "one number, of one number": (
        """m = ReduceMax<keepdims=0>(x)
        s = ReduceSum<keepdims=0>(x)
        y = Mul(m, s)""",
        {"x": (3, 4)}, {},
        {"reducemax1": ["ReduceMax"], "reducesum1": ["ReduceSum"], "mul1": ["Mul"]},
    ),
    "what is added again": (
        """c = Conv<pads=[1,1,1,1]>(x, w)
        s = Add(c, x)
        y = Relu(s)""",
        {"x": (1, 2, 5, 5)}, weights(w=(2, 2, 3, 3)), {"conv1": ["Conv"], "add1": ["Add", "Relu"]},
    ),
    "a product of what is flattened": (
        """c = Conv(x, w)
        f = Flatten(c)
        y = Gemm<transB=1>(f, v, b)""",
        {"x": (1, 2, 5, 5)}, weights(w=(2, 2, 2, 2), v=(3, 32), b=(3,)),
        {"conv1": ["Conv"], "gemm1": ["Gemm"]},
    ),
    "a concatenation, which is no part": (
        """c = Conv(x, w)
        d = Conv(x, v)
        k = Concat<axis=1>(c, d)
        y = Conv(k, u)""",
        {"x": (1, 2, 5, 5)}, weights(w=(2, 2, 3, 3), v=(1, 2, 3, 3), u=(2, 3, 1, 1)),
        {"conv1": ["Conv"], "conv2": ["Conv"], "conv3": ["Conv"]},
    ),
    "a transposed convolution whose windows leave gaps": (
        "y = ConvTranspose<strides=[2,2], dilations=[1,2], pads=[1,0,0,0]>(x, w)",
        {"x": (1, 2, 3, 3)}, weights(w=(2, 2, 1, 2)), {"convtranspose1": ["ConvTranspose"]},
    ),
    "some of the places of a transposed convolution": (
        """t = ConvTranspose(x, w)
        s = Slice(t, first, last, axes)
        y = Relu(s)""",
        {"x": (1, 2, 3, 3)},
        {**weights(w=(2, 2, 1, 2)), "first": np.array([2]), "last": np.array([3]),
         "axes": np.array([3])}, {"convtranspose1": ["ConvTranspose", "Relu"]},
    ),
    "a concatenation of what is computed, of an input and of a weight": (
        """c = MatMul(x, w)
        p = Pad<mode="constant">(c, a, z)
        k = Concat<axis=0>(v, p, x)
        y = MatMul(u, k)""",
        {"x": (4, 3)},
        weights(w=(3, 3), v=(1, 3), u=(2, 11)) | {"a": np.array([1, 0, 1, 0]), "z": np.float32(2)},
        {"matmul1": ["MatMul"], "matmul2": ["MatMul"]},
    ),
    "attention to what comes before": (
        """q, k, v = Split<num_outputs=3>(x)
        y = Attention<is_causal=1>(q, k, v)""",
        {"x": (3, 1, 4, 2)}, {}, {"attention1": ["Attention"]},
    ),
    "attention with a mask of infinities": (
        """q, k, v = Split<num_outputs=3>(x)
        y = Attention(q, k, v, m)""",
        {"x": (3, 1, 4, 2)}, {"m": np.triu(np.full((4, 4), -np.inf, "f4"), 1)},
        {"attention1": ["Attention"]},
    ),
    "attention": (
        """q = MatMul(x, w)
        k = MatMul(x, v)
        t = Transpose<perm=[1,0]>(k)
        s = MatMul(q, t)
        p = Softmax<axis=-1>(s)
        y = MatMul(p, x)""",
        {"x": (4, 3)}, weights(w=(3, 3), v=(3, 3)),
        {"matmul1": ["MatMul"], "matmul2": ["MatMul"], "matmul3": ["MatMul"],
         "softmax1": ["Softmax"], "matmul4": ["MatMul"]},
    ),
    "a normalisation, which is one part": (
        """n = LayerNormalization<axis=-1>(x, g, b)
        y = MatMul(n, w)""",
        {"x": (2, 6)}, weights(g=(6,), b=(6,), w=(6, 2)),
        {"layernormalization1": ["LayerNormalization"], "matmul1": ["MatMul"]},
    ),
    "a mean over places": (
        """m = GlobalAveragePool(x)
        f = Flatten(m)
        y = Gemm(f, w)""",
        {"x": (1, 3, 4, 4)}, weights(w=(3, 2)),
        {"globalaveragepool1": ["GlobalAveragePool"], "gemm1": ["Gemm"]},
    ),
}


CUT = "what is cut: into channels, and into rows with those around them"
MODELS[CUT] = (
    """c = Conv<pads=[1,1,1,1]>(x, w, b)
    r = Relu(c)
    y = Conv<pads=[1,1,1,1]>(r, v)""",
    {"x": (1, 4, 5, 5)}, weights(w=(8, 4, 3, 3), b=(8,), v=(2, 8, 3, 3)),
    {**{f"conv1_{n}": ["Conv", "Relu"] for n in (1, 2)},
     **{f"conv2_{n}": ["Conv"] for n in range(1, 6)}},
)
NETWORKS = {CUT: "machine: {profile: wse2, memory: 14088}\ntarget: '{ PE[2, 2] }'\n"}


def is_close(given, expected, share=1e-5):
    """Return whether no value differs by more than a share of itself, and of the largest."""
    return np.allclose(given, expected, share, share * np.abs(expected).max(initial=0))


def supplied(graph, model, network=None):
    """Return the folder of a graph once its parts are written."""
    folder = graph.write(model.SerializeToString(), network).build()
    supply(folder)
    return folder


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("name", MODELS)
def test_parts_compute_what_the_graph_computes(graph, name):
    """Each in NumPy, with what `supply` writes for it; together they are all of the graph."""
    text, inputs, known, expected = MODELS[name]
    x = np.random.default_rng(3).normal(size=inputs["x"]).astype("f4")
    (graph.path / "inputs").mkdir()
    np.save(graph.path / "inputs" / "x.npy", x)
    folder = supplied(graph, make_model(text, inputs, known, 23), NETWORKS.get(name))
    found = parts_of(folder)
    sources = {each.name: each.source for each in program_of(folder).operations}
    operators = {
        part: list(dict.fromkeys(sources[name] for name in each["operations"]))
        for part, each in found.items()
    }
    assert operators == expected
    values = values_of(folder, {"x": x})
    assert is_close(outputs_of(folder, {"x": x})["y"], values["y"])
    for volume, result in volumes_of(folder).items():
        assert is_close(result, values[volume])
    for part, each in found.items():
        _, mapping, _ = layer_of(folder.build / "parts" / part)
        assert mapping.is_open
        assert {t for t, m in mapping.tensors.items() if m.arrives} == each["arrives"].keys()


def test_one_number_has_a_place_in_the_order_of_what_crosses(graph):
    model = make_model("s = ReduceSum<keepdims=0>(x)\ny = Exp(s)\nz = Sub(x, s)", {"x": (3, 4)}, {},
                       outputs="y z")
    found = parts_of(supplied(graph, model))
    assert {name: each["leaves"] for name, each in found.items() if name != "sub1"} == {
        "reducesum1": "{ y[] -> [0] }", "exp1": "{ y[] -> [0] }",
    }
    assert found["exp1"]["arrives"] == {
        "x": {"order": "{ x[] -> [0] }", "from": {"reducesum1.y": "{ x[] -> s[] }"}},
    }


def test_lenet_has_three_parts_and_neither_padding_nor_a_reshape_is_one(graph):
    folder = graph.write(LENET.read_bytes(), name="lenet.onnx").build()
    run_stage("split", folder)
    found = parts_of(folder)
    assert list(found) == ["conv1", "conv2", "matmul1"]
    assert found["conv2"]["why"] == "Conv, node 6; Add, Relu, MaxPool after it stay on its PEs"
    assert found["conv2"]["arrives"] == {"x": {
        "order": "{ x[0, i1, i2, i3] -> [i1, i2, i3] : 0 <= i1 <= 7 and 2 <= i2 <= 15 and "
        "2 <= i3 <= 15 }",
        "from": {"conv1.y": "{ x[0, j, k, l] -> Pooling66_Output_0[0, j, k - 2, l - 2] : "
                 "0 <= j <= 7 and 2 <= k <= 15 and 2 <= l <= 15 }"},
        "otherwise": 0.0,
    }}
    assert list(found["matmul1"]["arrives"]["x"]["from"]) == ["conv2.y"]
    assert found["matmul1"]["inputs"]["x"]["size"] == [1, 16, 4, 4]


SHARED = """q, k, v = Split<axis=1>(x, sizes)
y, a, b = Attention<is_causal=1>(q, k, v, , c, c)"""


def test_keys_that_several_heads_share_cross_once(graph):
    """Those of before are put before them, which no access can do; repeating them it can."""
    known = {"sizes": np.array([4, 2, 2]), **weights(c=(1, 2, 1, 3))}
    model = make_model(SHARED, {"x": (1, 8, 3, 3)}, known, 23, "y a b")
    x = np.random.default_rng(3).normal(size=(1, 8, 3, 3)).astype("f4")
    (graph.path / "inputs").mkdir()
    np.save(graph.path / "inputs" / "x.npy", x)
    folder = supplied(graph, model)
    (part,) = parts_of(folder).values()
    assert [each["size"] for each in part["inputs"].values()] == [
        [1, 4, 3, 3], [1, 2, 4, 3], [1, 2, 4, 3],
    ]
    wanted = ReferenceEvaluator(model).run(None, {"x": x})
    got = outputs_of(folder, {"x": x})
    assert all(is_close(got[n], w) for n, w in zip("yab", wanted, strict=True))


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_an_element_that_is_there_again_arrives_again(graph, mode):
    """With an index of its own each time: two would come at one PE with the same."""
    text = f'a = Pad<mode="{mode}">(x, p)\ny = Conv(a, w)'
    known = {"p": np.array([0, 0, 2, 0, 0, 2]), **weights(w=(1, 1, 3))}
    model = make_model(text, {"x": (1, 1, 4)}, known)
    (part,) = parts_of(supplied(graph, model)).values()
    order = isl.Map(part["arrives"]["x"]["order"])
    assert order.is_injective() and order.domain().count_val().to_python() == 8


def test_sums_of_a_network_of_float16_are_of_float32(graph):
    """Those of squares would be infinite else; what crosses is of float16."""
    model = make_model(
        "n = RMSNormalization<axis=-1>(x, g)\ny = MatMul(n, w)", {"x": (2, 16)},
        weights(w=(16, 3)) | {"g": np.ones(16, "f4")}, 23,
    )
    x = np.random.default_rng(3).normal(scale=300, size=(2, 16)).astype("f2")
    (graph.path / "inputs").mkdir()
    np.save(graph.path / "inputs" / "x.npy", x)
    folder = supplied(graph, model, "type: float16\n")
    heads = [
        line for part in parts_of(folder).values() for line in part["lair"].splitlines()
        if "->" in line and "float32" in line
    ]
    assert heads == [
        "  float16 x[2][16] -> float32 rmsnormalization_0[2][1]",
        "  float32 rmsnormalization_0[2][1] -> float16 rmsnormalization_1[2][1]",
        "  float16 x[2][16], float16 w[16][3] -> float32 matmul_0[2][3]",
        "  float32 matmul_0[2][3] -> float16 y[2][3]",
    ]
    (wanted,) = ReferenceEvaluator(model).run(None, {"x": x.astype("f4")})
    found = outputs_of(folder, {"x": x})["y"]
    assert found.dtype == np.float16 and is_close(found, wanted, 2.0**-9)


ALIKE = "a = Relu(x)\nb = Neg(a)\nc = MatMul(b, w)\nd = Relu(c)\ny = MatMul(d, v)"


def test_parts_that_compute_alike_are_one_text(graph):
    model = make_model(ALIKE, {"x": (3, 3)}, weights(w=(3, 3), v=(3, 3)))
    folder = supplied(graph, model, "parts: {matmul1: {target: '{ PE[4, 4] }'}}\n")
    found = parts_of(folder)
    assert list(found) == ["relu1", "matmul1", "matmul2"]
    assert found["relu1"]["operations"] == ["a", "b"]
    text = (folder.build / "parts" / "matmul2" / "layer.yaml").read_text()
    assert text == (
        "machine: wse2\ntarget: '{ PE[20, 8] }'\nplacement: search\ngoal: cycles\ntensors:\n"
        "  x:\n    arrives: '{ x[i0, i1] -> [PE[-1, 0] -> index[i0, i1]] : 0 <= i0 <= 2 and "
        "0 <= i1 <= 2 }'\n"
        "  y:\n    leaves: '{ y[i, j] -> [PE[20, 0] -> index[i, j]] : 0 <= i <= 2 and "
        "0 <= j <= 2 }'\n"
    )
    own = (folder.build / "parts" / "matmul1" / "layer.yaml").read_text()
    assert "target: '{ PE[4, 4] }'" in own and "PE[4, 0]" in own
