"""Each operator of ONNX and each attribute: values are those of ONNX's own reference."""

import re
from pathlib import Path

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from lairmake.stages.network.onnx.reader import OPERATORS
from tests.network.onnx.graphs import extracted, make_model, values

UNARY = [
    "Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Gelu", "HardSwish", "Identity", "Log", "Mish",
    "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt",
    "Tanh", "Celu<alpha=2.0>", "Elu<alpha=0.5>", 'Gelu<approximate="tanh">', "HardSigmoid",
    "HardSigmoid<alpha=0.5, beta=0.25>", "LeakyRelu<alpha=0.25>", "Selu", "Shrink",
    "Shrink<lambd=1.0, bias=0.25>", "ThresholdedRelu<alpha=0.5>", "Dropout", "Flatten",
    "Flatten<axis=2>", "Flatten<axis=-1>", "LogSoftmax", "Softmax<axis=1>", "Transpose",
    "Transpose<perm=[1, 2, 0]>", "ReduceSum<keepdims=0>", "ReduceMean", "ReduceMax", "ReduceMin",
    "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
    "ReduceLogSumExp<keepdims=0>", "ReduceSum<noop_with_empty_axes=1>",
]
BINARY = ["Add", "Div", "Mul", "Sub", "Max", "Min", "Mean", "Sum", "Pow", "PRelu"]
TRUTHS = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]
LOGIC = ["And", "Or", "Xor"]

X = np.arange(20, dtype="f4").reshape(4, 5)
IMAGE = {"x": (2, 4, 7, 6)}
BLOCKS = {"x": (1, 8, 4, 6)}
MORE = [
    ("y = Conv(x, w)", {**IMAGE, "w": (3, 4, 3, 2)}, {}),
    ("y = Conv<pads=[1, 2, 0, 1], strides=[2, 3]>(x, w, b)",
     {**IMAGE, "w": (3, 4, 3, 2), "b": (3,)}, {}),
    ("y = Conv<group=2, dilations=[2, 1]>(x, w)", {**IMAGE, "w": (6, 2, 2, 3)}, {}),
    ("y = Conv<group=4, kernel_shape=[3, 3]>(x, w)", {**IMAGE, "w": (4, 1, 3, 3)}, {}),
    ('y = Conv<auto_pad="SAME_UPPER", strides=[2, 2]>(x, w)', {**IMAGE, "w": (2, 4, 3, 4)}, {}),
    ('y = Conv<auto_pad="SAME_LOWER", strides=[1, 2]>(x, w)', {**IMAGE, "w": (2, 4, 4, 3)}, {}),
    ('y = Conv<auto_pad="VALID">(x, w)', {**IMAGE, "w": (2, 4, 4, 3)}, {}),
    ("y = Conv<pads=[1, 1]>(x, w)", {"x": (1, 2, 9), "w": (3, 2, 3)}, {}),
    ("y = ConvTranspose(x, w)", {**IMAGE, "w": (4, 3, 3, 2)}, {}),
    ("y = ConvTranspose<strides=[2, 3], pads=[1, 0, 2, 1], output_padding=[1, 2]>(x, w, b)",
     {**IMAGE, "w": (4, 3, 3, 4), "b": (3,)}, {}),
    ('y = ConvTranspose<auto_pad="SAME_UPPER", strides=[2, 2]>(x, w)',
     {**IMAGE, "w": (4, 1, 3, 3)}, {}),
    ("y = MaxPool<kernel_shape=[2, 3], strides=[2, 2], pads=[1, 1, 0, 1]>(x)", IMAGE, {}),
    ("y = MaxPool<kernel_shape=[2, 2], strides=[3, 3], ceil_mode=1>(x)", IMAGE, {}),
    ("y = MaxPool<kernel_shape=[3, 2], dilations=[2, 3]>(x)", IMAGE, {}),
    ("y = AveragePool<kernel_shape=[2, 3], strides=[2, 1]>(x)", IMAGE, {}),
    ("y = AveragePool<kernel_shape=[3, 3], pads=[1, 1, 1, 1]>(x)", IMAGE, {}),
    ("y = AveragePool<kernel_shape=[3, 3], pads=[1, 0, 1, 1], count_include_pad=1>(x)", IMAGE, {}),
    ("y = AveragePool<kernel_shape=[3, 2], strides=[2, 4], ceil_mode=1>(x)", IMAGE, {}),
    ("y = GlobalAveragePool(x)", IMAGE, {}),
    ("y = GlobalMaxPool(x)", IMAGE, {}),
    ("y = MatMul(a, b)", {"a": (3, 4), "b": (4, 5)}, {}),
    ("y = MatMul(a, b)", {"a": (4,), "b": (2, 4, 5)}, {}),
    ("y = MatMul(a, b)", {"a": (2, 1, 3, 4), "b": (5, 4, 2)}, {}),
    ("y = MatMul(a, b)", {"a": (2, 3, 4), "b": (4,)}, {}),
    ("y = MatMul(a, a)", {"a": (3, 3)}, {}),
    ("y = Gemm(a, b)", {"a": (3, 4), "b": (4, 5)}, {}),
    ("y = Gemm<transA=1, transB=1, alpha=0.5, beta=2.0>(a, b, c)",
     {"a": (4, 3), "b": (5, 4), "c": (5,)}, {}),
    ("y = Gemm<beta=0.0>(a, b, c)", {"a": (3, 4), "b": (4, 5), "c": (3, 1)}, {}),
    ("y = BatchNormalization(x, s, b, m, v)", IMAGE,
     {"s": (4,), "b": (4,), "m": (4,), "v": (4,)}),
    ("y = BatchNormalization<epsilon=0.01>(x, s, b, m, v)",
     {**IMAGE, "s": (4,), "b": (4,), "m": (4,), "v": (4,)}, {}),
    ("y = InstanceNormalization<epsilon=0.5>(x, s, b)", {**IMAGE, "s": (4,), "b": (4,)}, {}),
    ("g = GroupNormalization<num_groups=2>(x, s, b)\ny = Neg(g)",
     {**IMAGE, "s": (4,), "b": (4,)}, {}),
    ("y = LayerNormalization(x, s, b)", {"x": (3, 5), "s": (5,), "b": (5,)}, {}),
    ("y = LayerNormalization<axis=1, epsilon=0.1>(x, s)", {"x": (3, 5, 2), "s": (5, 2)}, {}),
    ("y = Softmax<axis=0>(x)", {"x": (3, 5)}, {}),
    ("y = LogSoftmax<axis=1>(x)", {"x": (3, 5, 2)}, {}),
    ("y = Clip(x, low, high)", {"x": (3, 5)},
     {"low": np.float32(-0.5), "high": np.float32(0.25)}),
    ("y = Clip(x, low)", {"x": (3, 5), "low": ()}, {}),
    ("y = Pow(x, n)", {"x": (3, 5)}, {"n": np.float32(3)}),
    ("t = Add(x, n)\ny = ReduceSum<keepdims=0>(t, a)", {"x": (3,)},
     {"n": np.ones((1, 1), "f4"), "a": np.array([0])}),
    ("y = Mul(x, n)", {"x": (3,)}, {"n": np.array([np.inf], "f4")}),
    ("y = Pow(x, n)", {"x": (3, 5)}, {"n": np.float32(5)}),
    ("t = Cast<to=9>(x)\nn = Not(t)\ny = Where(n, x, z)", {"x": (3, 1), "z": (1, 4)}, {}),
    ("y = Reshape(x, s)", {"x": (4, 6)}, {"s": np.array([3, 8])}),
    ("y = Reshape(x, s)", {"x": (2, 3, 4)}, {"s": np.array([0, -1, 2, 1])}),
    ("y = Reshape(x, s)", {"x": (6, 4, 5)}, {"s": np.array([8, 15])}),
    ("y = Squeeze(x, s)", {"x": (1, 3, 1)}, {"s": np.array([0])}),
    ("y = Unsqueeze(x, s)", {"x": (2, 3)}, {"s": np.array([0, -1])}),
    ("y = Slice(x, s, e, a, t)", {"x": (5, 7)},
     {"s": np.array([-1, 1]), "e": np.array([-9, 6]), "a": np.array([0, 1]),
      "t": np.array([-2, 3])}),
    ("y = Slice(x, s, e)", {"x": (5, 7)}, {"s": np.array([1, -3]), "e": np.array([99, -1])}),
    ("p, q = Split<axis=1>(x, s)\ny = Sub(p, q)", {"x": (2, 4)}, {"s": np.array([2, 2])}),
    ("p, q = Split<axis=1, num_outputs=2>(x)\ny = Concat<axis=1>(q, p)", {"x": (2, 5)}, {}),
    ("y = Concat<axis=-2>(a, b, a)", {"a": (2, 3, 2), "b": (2, 1, 2)}, {}),
    ("y = Pad(x, p, v)", {"x": (2, 3)}, {"p": np.array([1, 0, 2, 3]), "v": np.float32(1.5)}),
    ('y = Pad<mode="reflect">(x, p)', {"x": (4, 5)}, {"p": np.array([2, 1, 3, 4])}),
    ('y = Pad<mode="edge">(x, p)', {"x": (2, 3)}, {"p": np.array([2, 0, 1, 2])}),
    ('y = Pad<mode="wrap">(x, p)', {"x": (2, 3)}, {"p": np.array([1, 2, 1, 0])}),
    ("y = Expand(x, s)", {"x": (3, 1)}, {"s": np.array([2, 1, 4])}),
    ("y = Tile(x, r)", {"x": (2, 3)}, {"r": np.array([2, 3])}),
    ("y = DepthToSpace<blocksize=2>(x)", BLOCKS, {}),
    ('y = DepthToSpace<blocksize=2, mode="CRD">(x)', BLOCKS, {}),
    ("y = SpaceToDepth<blocksize=2>(x)", BLOCKS, {}),
    ("y = Gather(x, i)", {"x": (5, 3)}, {"i": np.array([4, -1, 0, 2])}),
    ("y = Gather<axis=1>(x, i)", {"x": (2, 5)}, {"i": np.array([[0, 2], [1, 4]])}),
    ("y = Gather(x, i)", {"x": (5, 3)}, {"i": np.array(3)}),
    ("y = ReduceMax<keepdims=0>(x, a)", {"x": (2, 3, 4)}, {"a": np.array([-1, 0])}),
    ("y = ReduceSum(x, a)", {"x": (2, 3, 4)}, {"a": np.array([1])}),
    ("s = Shape(x)\ny = Reshape(z, s)", {"x": (2, 6), "z": (3, 4)}, {}),
]
HEADS = {"q": (2, 4, 3, 4), "k": (2, 2, 5, 4), "v": (2, 2, 5, 3)}
FLAT = {"q": (2, 3, 16), "k": (2, 5, 8), "v": (2, 5, 6)}
PAST = {"o": (2, 2, 2, 4), "u": (2, 2, 2, 3)}
MASK = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
ATTENTION = [
    ("y = Attention(q, k, v)", HEADS, {}),
    ("y = Attention<is_causal=1, scale=0.25, softcap=2.0>(q, k, v)", HEADS, {}),
    ("y = Attention<q_num_heads=4, kv_num_heads=2>(q, k, v, m)", FLAT, {"m": MASK}),
    ("y = Attention(q, k, v, m)", {**HEADS, "m": (4, 3, 4)}, {}),
    ("y, p, r = Attention<is_causal=1>(q, k, v, , o, u)", {**HEADS, **PAST}, {}),
    ("y, , , p = Attention<qk_matmul_output_mode=3>(q, k, v, m)", HEADS, {"m": MASK}),
    ("y = Attention<left_window_size=1, right_window_size=0>(q, k, v)", HEADS, {}),
    ("y = Attention<is_causal=1>(q, k, v, , , , n)", HEADS, {"n": np.array([2, 5])}),
    ("y = Attention(q, k, v, , , , n)", HEADS, {"n": np.array([1, 4])}),
    ("y = RotaryEmbedding(x, c, s)", {"x": (2, 3, 5, 4), "c": (2, 5, 2), "s": (2, 5, 2)}, {}),
    ("y = RotaryEmbedding<num_heads=2, rotary_embedding_dim=4>(x, c, s, p)",
     {"x": (1, 3, 12)}, {"c": (9, 2), "s": (9, 2), "p": np.array([[4, 5, 6]])}),
    ("y = RotaryEmbedding<interleaved=1, rotary_embedding_dim=4>(x, c, s, p)",
     {"x": (2, 3, 2, 6), "c": (9, 2), "s": (9, 2)}, {"p": np.array([[4, 5], [0, 8]])}),
]
LATER = {"RMSNormalization": 23, "Swish": 24, "Attention": 24, "RotaryEmbedding": 23, "window": 25}
ROWS = [
    *((f"y = {each}(x)", {"x": (2, 3, 4)}, {}) for each in UNARY),
    *((f"y = {each}(x, z)", {"x": (2, 3, 4), "z": (3, 1)}, {}) for each in BINARY),
    *((f"t = {each}(x, z)\ny = Cast<to=1>(t)", {"x": (3, 4), "z": (3, 1)}, {})
      for each in TRUTHS),
    *((f"p = Less(x, z)\nq = Less(z, w)\nt = {each}(p, q)\ny = Cast<to=1>(t)",
       {"x": (3, 4), "z": (3, 1), "w": (4,)}, {}) for each in LOGIC),
    ("y = RMSNormalization<axis=-2>(x, s)", {"x": (3, 5, 2), "s": (5, 2)}, {}),
    ("y = Swish<alpha=0.5>(x)", {"x": (3, 5)}, {}),
    *MORE,
    *ATTENTION,
]


@pytest.mark.wide_after(73)
@pytest.mark.parametrize(("text", "inputs", "known"), ROWS, ids=[row[0] for row in ROWS])
def test_values_are_those_of_the_reference(text, inputs, known):
    draw = np.random.default_rng(5)
    given = {name: draw.normal(size=shape).astype("f4") for name, shape in inputs.items()}
    given |= {name: np.abs(given[name]) + 1 for name in given.keys() & {"v"}}
    fixed = {
        name: abs(draw.normal(size=each)).astype("f4") if isinstance(each, tuple) else each
        for name, each in known.items()
    }
    opset = max((LATER[name] for name in LATER if name in text), default=21)
    model = make_model(text, inputs, fixed, opset)
    with np.errstate(all="ignore"):
        wanted = ReferenceEvaluator(model).run(None, given)
    (got,) = values(extracted(model), given)
    assert got.shape == wanted[0].shape
    assert np.allclose(got, wanted[0], rtol=1e-4, atol=1e-5, equal_nan=True)


def test_every_operator_that_is_known_is_among_these():
    others = {"CastLike"}
    assert {name for name in OPERATORS if not any(f"{name}<" in row[0] or f"{name}(" in row[0]
                                                  for row in ROWS)} == others


def test_the_document_lists_all_of_them():
    path = Path(__file__).parents[3] / "docs" / "graphs.md"
    listed = path.read_text("utf-8").partition("tests/network")[2].partition("<!-- end")[0]
    assert re.findall(r"`(\w+)`", listed) == sorted(OPERATORS)


def test_what_the_reference_gets_wrong_is_as_it_is_defined():
    """Negative padding cuts."""
    pads = {"p": np.array([-1, 1, 2, -2])}
    (got,) = values(extracted(make_model("y = Pad(x, p)", {"x": (4, 5)}, pads)), {"x": X})
    assert np.array_equal(got, np.pad(X[1:, :3], ((0, 2), (1, 0))))


def test_what_follows_windows_that_nobody_computes_has_their_shape():
    text = "p = MaxPool<kernel_shape=[2], strides=[3], ceil_mode=1>(x)\ny = Relu(p)"
    model = make_model(text, {"x": (1, 1, 6)}, {})
    (got,) = values(extracted(model), {"x": np.arange(6, dtype="f4").reshape(1, 1, 6)})
    assert got.tolist() == [[[1, 4]]]
