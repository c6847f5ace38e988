"""A step of a transformer as parts: what these compute is what ONNX's reference says of the whole.

The step takes the keys and values of the tokens before, and gives them with its own behind.
"""

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from lairmake.stages.reference.evaluate import is_within
from tests.network.onnx.graphs import make_model
from tests.network.parts.in_numpy import outputs_of, parts_of, supply

PAIRS, BEFORE = 2, 3
STEP = """n = RMSNormalization<axis=-1>(x, g)
q = MatMul(n, wq)
k = MatMul(n, wk)
v = MatMul(n, wv)
a = RotaryEmbedding<num_heads=2>(q, cosine, sine)
b = RotaryEmbedding<num_heads=1>(k, cosine, sine)
o, keys, values = Attention<q_num_heads=2, kv_num_heads=1, is_causal=1>(a, b, v, , c, d)
p = MatMul(o, wo)
r = Add(x, p)
m = RMSNormalization<axis=-1>(r, h)
e = MatMul(m, w1)
u = MatMul(m, w2)
s = Sigmoid(e)
t = Mul(e, s)
f = Mul(t, u)
w = MatMul(f, w3)
y = Add(r, w)"""
SHAPES = {
    "wq": (8, 8), "wk": (8, 4), "wv": (8, 4), "wo": (8, 8), "w1": (8, 6), "w2": (8, 6),
    "w3": (6, 8), "g": (8,), "h": (8,),
}


@pytest.mark.wide
@pytest.mark.parametrize("tokens", [3, pytest.param(1, marks=pytest.mark.long)])
def test_a_step_is_what_onnx_says(graph, tokens):
    """Of one token, and of several, each of which sees those before it."""
    draw = np.random.default_rng(tokens)
    known = {name: draw.normal(size=shape).astype("f4") for name, shape in SHAPES.items()}
    shapes = {
        "x": (1, tokens, 8), "cosine": (1, tokens, PAIRS), "sine": (1, tokens, PAIRS),
        "c": (1, 1, BEFORE, 4), "d": (1, 1, BEFORE, 4),
    }
    model = make_model(STEP, shapes, known, 23, "y keys values")
    given = {name: draw.normal(size=shape).astype("f4") for name, shape in shapes.items()}
    (graph.path / "inputs").mkdir()
    for name, values in given.items():
        np.save(graph.path / "inputs" / f"{name}.npy", values)
    folder = graph.write(model.SerializeToString()).build()
    supply(folder)
    wanted = ReferenceEvaluator(model).run(None, given)
    got = outputs_of(folder, given)
    for name, values in zip(("y", "keys", "values"), wanted, strict=True):
        most = np.abs(values)
        assert is_within(got[name], values, 1e-4 * (most + most.max()))
    found = parts_of(folder)
    assert sum(part.startswith("attention") for part in found) == 1
    assert list(found["attention1"]["arrives"]["x2"]["from"]) == ["d", "matmul3.y"]
