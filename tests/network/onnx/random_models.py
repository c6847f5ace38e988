"""Models of one operator of ONNX, with attributes, shapes and values at random."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from tests.network.onnx.drawing import Drawn, attributes, axis, broadcast, maybe, shape
from tests.network.onnx.random_moves import MOVES

UNARY = {
    "Abs": "", "Ceil": "", "Cos": "", "Erf": "", "Exp": "", "Floor": "", "HardSwish": "",
    "Identity": "", "Mish": "", "Neg": "", "Relu": "", "Round": "", "Sigmoid": "", "Sign": "",
    "Sin": "", "Softplus": "", "Softsign": "", "Tanh": "", "Celu": "alpha", "Elu": "alpha",
    "HardSigmoid": "alpha beta", "LeakyRelu": "alpha", "Selu": "alpha gamma",
    "Shrink": "lambd bias", "ThresholdedRelu": "alpha",
}
POSITIVE = {"Log", "Reciprocal", "Sqrt", "ReduceLogSum"}
BINARY = ["Add", "Mul", "Sub", "Max", "Min", "Mean", "Sum", "PRelu", "Div", "Pow"]
TRUTHS = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]
REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"]


def unary(draw):
    """Return a function of one tensor."""
    name = draw.choice([*UNARY, *sorted(POSITIVE - {"ReduceLogSum"})])
    given = {each: maybe(draw, draw.choice([0.25, 0.5, 1.5, 2.0]))
             for each in UNARY.get(name, "").split()}
    positive = frozenset("x") if name in POSITIVE else frozenset()
    return Drawn(text=f"y = {name}{attributes(**given)}(x)", inputs={"x": shape(draw)},
                 positive=positive)


def gelu(draw):
    """Return one of both kinds of GELU."""
    kind = maybe(draw, draw.choice(["tanh", "none"]))
    return Drawn(text=f"y = Gelu{attributes(approximate=kind)}(x)", inputs={"x": shape(draw)},
                 since=20)


def binary(draw):
    """Return a function of two tensors, one of which is broadcast.

    ONNX's reference of a mean wants the larger one first.
    """
    name, sizes = draw.choice(BINARY), shape(draw)
    inputs = {"x": sizes, "z": broadcast(draw, sizes)}
    turned = name not in ("PRelu", "Mean") and draw.random() < 0.5
    return Drawn(text=f"y = {name}({'z, x' if turned else 'x, z'})", inputs=inputs,
                 positive=frozenset("xz") if name in ("Div", "Pow") else frozenset())


def truth(draw):
    """Return a comparison, or a choice by one."""
    sizes = shape(draw)
    inputs = {"x": sizes, "z": broadcast(draw, sizes)}
    name = draw.choice(TRUTHS)
    last = draw.choice(["y = Cast<to=1>(t)", "y = Where(t, x, z)", "n = Not(t)\ny = Cast<to=1>(n)",
                        "u = Less(z, x)\nn = Xor(t, u)\ny = Where(n, z, x)"])
    return Drawn(text=f"t = {name}(x, z)\n{last}", inputs=inputs)


def reduction(draw):
    """Return a reduction over some axes, or all."""
    name, sizes = f"Reduce{draw.choice(REDUCTIONS)}", shape(draw)
    axes = maybe(draw, sorted(draw.sample(range(len(sizes)), draw.randint(1, len(sizes)))))
    said = [k - draw.choice([0, len(sizes)]) for k in axes or ()]
    keep = maybe(draw, draw.randint(0, 1))
    known = {"a": np.array(said, "i8")} if axes else {}
    return Drawn(text=f"y = {name}{attributes(keepdims=keep)}(x{', a' if axes else ''})",
                 inputs={"x": sizes}, known=known,
                 positive=frozenset("x") if name in POSITIVE else frozenset())


def softmax(draw):
    """Return a softmax, or its logarithm."""
    sizes, name = shape(draw), draw.choice(["Softmax", "LogSoftmax"])
    along = maybe(draw, axis(draw, len(sizes)))
    return Drawn(text=f"y = {name}{attributes(axis=along)}(x)", inputs={"x": sizes})


def windows(draw, rank):
    """Return the size of an image, and attributes of windows on it."""
    kernel = [draw.randint(1, 3) for _ in range(rank)]
    given = {
        "strides": maybe(draw, [draw.randint(1, 3) for _ in range(rank)]),
        "dilations": maybe(draw, [draw.randint(1, 2) for _ in range(rank)]),
    }
    if draw.random() < 0.5:
        given["pads"] = [draw.randint(0, kernel[k % rank] - 1) for k in range(2 * rank)]
    return [draw.randint(5, 8) for _ in range(rank)], kernel, given


def convolution(draw):
    """Return a convolution, in groups or not."""
    rank, groups = draw.randint(1, 2), draw.choice([1, 1, 2])
    sizes, kernel, given = windows(draw, rank)
    if "pads" not in given and draw.random() < 0.4:
        given["auto_pad"] = draw.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        given["dilations"] = None
    channels, filters = groups * draw.randint(1, 2), groups * draw.randint(1, 2)
    inputs = {"x": (draw.randint(1, 2), channels, *sizes),
              "w": (filters, channels // groups, *kernel)}
    has_bias = draw.random() < 0.5
    if has_bias:
        inputs["b"] = (filters,)
    return Drawn(text=f"y = Conv{attributes(group=groups, **given)}"
                      f"(x, w{', b' if has_bias else ''})", inputs=inputs)


def transposed(draw):
    """Return a transposed convolution; ONNX's reference adds groups and dilations wrongly."""
    rank = draw.randint(1, 2)
    sizes, kernel, given = windows(draw, rank)
    given["dilations"] = None
    channels = draw.randint(1, 3)
    inputs = {"x": (1, channels, *sizes), "w": (channels, draw.randint(1, 2), *kernel)}
    return Drawn(text=f"y = ConvTranspose{attributes(**given)}(x, w)", inputs=inputs)


def pooling(draw):
    """Return a pooling; where windows begin or end outside ONNX's reference takes means only."""
    rank, name = draw.randint(1, 2), draw.choice(["MaxPool", "AveragePool"])
    sizes, kernel, given = windows(draw, rank)
    if name == "MaxPool":
        given.pop("pads", None)
    else:
        given["dilations"] = None
        given["count_include_pad"] = maybe(draw, draw.randint(0, 1))
    kind = attributes(kernel_shape=kernel, **given)
    return Drawn(text=f"y = {name}{kind}(x)", inputs={"x": (1, draw.randint(1, 2), *sizes)})


def whole_pooling(draw):
    """Return a pooling of all places; ONNX's reference forgets a dimension where there is one."""
    name = draw.choice(["GlobalMaxPool", "GlobalAveragePool"])
    return Drawn(text=f"y = {name}(x)", inputs={"x": shape(draw, 4, 4)})


def product(draw):
    """Return a product of matrices, vectors, or batches."""
    batch, (i, j, k) = shape(draw, 0, 2, 3), shape(draw, 3, 3)
    a, b = draw.choice([
        ((*batch, i, k), (k, j)), ((i, k), (*batch, k, j)), ((*batch, i, k), (k,)),
        ((k,), (*batch, k, j)), ((*batch, i, k), (*broadcast(draw, batch), k, j)),
    ])
    return Drawn(text="y = MatMul(a, b)", inputs={"a": a, "b": b})


def general(draw):
    """Return a general product of matrices."""
    i, j, k = shape(draw, 3, 3)
    a, b = maybe(draw, draw.randint(0, 1)), maybe(draw, draw.randint(0, 1))
    inputs = {"a": (k, i) if a else (i, k), "b": (j, k) if b else (k, j)}
    if draw.random() < 0.6:
        inputs["c"] = broadcast(draw, (i, j))
    numbers = [maybe(draw, draw.choice([0.5, 2.0, 1.0])) for _ in range(2)]
    given = attributes(transA=a, transB=b, alpha=numbers[0], beta=numbers[1])
    return Drawn(text=f"y = Gemm{given}({', '.join(inputs)})", inputs=inputs)


def normalisation(draw):
    """Return a normalisation."""
    name = draw.choice(["Batch", "Instance", "Group", "Layer"])
    small = maybe(draw, draw.choice([0.001, 0.5]))
    if name == "Layer":
        sizes = shape(draw, 1, 3)
        along = axis(draw, len(sizes))
        inputs = {"x": sizes, "s": sizes[along:]}
        has_offset = draw.random() < 0.5
        inputs |= {"b": sizes[along:]} if has_offset else {}
        return Drawn(text=f"y = LayerNormalization{attributes(axis=along, epsilon=small)}"
                          f"({', '.join(inputs)})", inputs=inputs)
    groups = draw.randint(1, 3)
    channels = groups * draw.randint(1, 2)
    sizes = (draw.randint(1, 2), channels, *shape(draw, 1, 2))
    given = attributes(epsilon=small, num_groups=groups if name == "Group" else None)
    names = "sbmv" if name == "Batch" else "sb"
    return Drawn(text=f"y = {name}Normalization{given}(x, {', '.join(names)})",
                 inputs={"x": sizes, **{each: (channels,) for each in names}},
                 positive=frozenset("v"), since=21)


def clipping(draw):
    """Return what lies within limits, one or both."""
    known = {"low": np.array(-1, "f4"), "high": np.array(draw.choice([0.5, 2]), "f4")}
    kept = draw.choice([["low"], ["high"], ["low", "high"]])
    names = ["low" if "low" in kept else "", "high" if "high" in kept else ""]
    return Drawn(text=f"y = Clip(x, {', '.join(names)})".replace(", )", ")"),
                 inputs={"x": shape(draw)}, known={name: known[name] for name in kept})


KINDS: list[Callable[[random.Random], Drawn]] = [
    unary, unary, gelu, binary, binary, truth, reduction, reduction, softmax, convolution,
    convolution, transposed, pooling, pooling, whole_pooling, product, general, normalisation,
    normalisation, clipping, *MOVES,
]
