"""Graphs of several operators of ONNX that feed one another, at random."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from tests.network.onnx.drawing import maybe
from tests.network.onnx.growing import Growing, UnfitError, any_of
from tests.network.onnx.random_graph_moves import MOVES

EXACT = ["Relu", "Abs", "Neg", "Sign"]
SMOOTH = [
    "Sigmoid", "Tanh", "Elu", "LeakyRelu", "HardSwish", "Gelu", "Softplus", "Erf", "Exp", "Celu",
    "Selu", "Mish", "HardSigmoid", "Softsign", "Sin", "Identity", "Ceil",
]


def unary(g):
    """A function of one tensor."""
    g.one(g.draw.choice(EXACT if g.is_whole else EXACT + SMOOTH), any_of(g))


def clip(g):
    """What lies within limits."""
    low, high = g.know(np.array(-2, "f4")), g.know(np.array(3, "f4"))
    g.one("Clip", any_of(g), *g.draw.choice([(low, high), (low,)]))


def binary(g):
    """A value and a constant that is broadcast."""
    x = any_of(g)
    sizes = g.shape(x)[g.draw.randint(0, len(g.shape(x))):]
    k = g.weigh([g.draw.choice([size, size, 1]) for size in sizes])
    name = g.draw.choice(["Add", "Sub", "Mul", "Max", "Min", "PRelu"])
    turned = name != "PRelu" and g.draw.random() < 0.3
    g.one(name, *((k, x) if turned else (x, k)))


def divide(g):
    """A quotient of reals, or a power."""
    if g.is_whole:
        return binary(g)
    x = any_of(g)
    k = g.weigh(g.shape(x)[-1:], 0.5)
    return g.one("Div", x, k) if g.draw.random() < 0.6 else g.one("Pow", g.one("Abs", x), k)


def residual(g):
    """Two values, of which one may be broadcast to the other."""
    x = any_of(g)
    def fits(other):
        shape = g.shape(other)
        return len(shape) <= len(g.shape(x)) and all(
            s in (1, t) for s, t in zip(reversed(shape), reversed(g.shape(x)), strict=False))
    z = g.draw.choice([n for n in g.numbers() if fits(n)])
    g.one(g.draw.choice(["Add", "Add", "Mul", "Sub", "Max", "Min"]), x, z)


def choose(g):
    """A choice by a comparison."""
    x = any_of(g)
    k = g.weigh(g.shape(x)[-1:])
    t = g.one(g.draw.choice(["Greater", "Less", "GreaterOrEqual"]), x, k)
    kind = g.draw.choice(["x", "k", "cast"])
    if kind == "cast":
        g.one("Mul", g.one("Cast", t, to=1), x)
    else:
        g.one("Where", t, *((x, k) if kind == "x" else (k, x)))


def convolve(g):
    """A convolution, perhaps of groups, with padding and strides."""
    rank = g.draw.choice([3, 4, 4])
    x = any_of(g, rank)
    _, channels, *sizes = g.shape(x)
    groups = g.draw.choice([1, 1, channels, *(d for d in (2, 3) if channels % d == 0)])
    filters = groups * g.draw.randint(1, max(1, 4 // groups))
    kernel = [g.draw.randint(1, min(3, size + 1)) for size in sizes]
    pads = [g.draw.randint(0, kernel[k % (rank - 2)] // 2) for k in range(2 * (rank - 2))]
    operands = [x, g.weigh((filters, channels // groups, *kernel))]
    operands += [g.weigh((filters,))] if g.draw.random() < 0.5 else []
    given = {"pads": maybe(g.draw, pads), "group": groups,
             "strides": maybe(g.draw, [g.draw.randint(1, 2) for _ in sizes])}
    if given["pads"] is None and g.draw.random() < 0.3:
        given["auto_pad"] = g.draw.choice(["SAME_UPPER", "SAME_LOWER"])
    y = g.one("Conv", *operands, **given)
    if g.draw.random() < 0.5:
        y = g.one("Relu", y)
    if rank == 4 and g.draw.random() < 0.3:
        g.one("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])


def transposed(g):
    """A transposed convolution."""
    x = any_of(g, 4)
    w = g.weigh((g.shape(x)[1], g.draw.randint(1, 2), 2, g.draw.randint(1, 3)))
    g.one("ConvTranspose", x, w, strides=maybe(g.draw, [g.draw.randint(1, 2) for _ in "ij"]))


def pool(g):
    """A pooling, of windows or of all places."""
    rank = g.draw.choice([3, 4, 4])
    x = any_of(g, rank)
    if g.draw.random() < 0.2 and not g.is_whole and rank == 4:
        return g.one("GlobalAveragePool", x)
    if g.draw.random() < 0.2 and rank == 4:
        return g.one("GlobalMaxPool", x)
    sizes = g.shape(x)[2:]
    kernel = [g.draw.randint(1, min(3, size)) for size in sizes]
    given = {"kernel_shape": kernel,
             "strides": maybe(g.draw, [g.draw.randint(1, 3) for _ in sizes])}
    if g.is_whole or g.draw.random() < 0.5:
        return g.one("MaxPool", x, **given)
    pads = [g.draw.randint(0, kernel[k % (rank - 2)] - 1) for k in range(2 * (rank - 2))]
    return g.one("AveragePool", x, pads=maybe(g.draw, pads),
                 count_include_pad=maybe(g.draw, g.draw.randint(0, 1)), **given)


def product(g):
    """A product of matrices with weights."""
    x = any_of(g)
    if not g.shape(x):
        raise UnfitError(x)
    k, j = g.shape(x)[-1], g.draw.randint(1, 6)
    if len(g.shape(x)) == 2 and g.draw.random() < 0.6:
        turned = g.draw.randint(0, 1)
        operands = [x, g.weigh((j, k) if turned else (k, j))]
        operands += [g.weigh((j,))] if g.draw.random() < 0.7 else []
        return g.one("Gemm", *operands, transB=turned)
    if len(g.shape(x)) > 1 and g.draw.random() < 0.2:
        return g.one("MatMul", g.weigh((j, g.shape(x)[-2])), x)
    return g.one("MatMul", x, g.weigh((k, j)))


def attention(g):
    """Products of two computed matrices; of reals, attention."""
    rank = g.draw.choice([2, 2, 3])
    x = any_of(g, rank)
    size, width = g.shape(x)[-1], g.draw.randint(1, 4)
    q, v = (g.one("MatMul", x, g.weigh((size, width))) for _ in "qv")
    order = [*range(rank - 2), rank - 1, rank - 2]
    s = g.one("MatMul", q, g.one("Transpose", v, perm=order))
    if not g.is_whole:
        s = g.one("Softmax", s, axis=-1)
    g.one("MatMul", s, v)


def normalise(g):
    """A normalisation."""
    x = any_of(g)
    shape = g.shape(x)
    names = ["Layer", "Softmax", "LogSoftmax", "Softmax"]
    names += ["Batch", "Instance", "Group"] if len(shape) > 2 else []
    name = "Batch" if g.is_whole else g.draw.choice(names)
    if not shape or (g.is_whole and len(shape) < 3):
        raise UnfitError(name)
    if "Softmax" in name:
        return g.one(name, x, axis=g.draw.randrange(-len(shape), len(shape)))
    if name == "Layer":
        along = g.draw.randrange(len(shape))
        return g.one("LayerNormalization", x, g.weigh(shape[along:]), g.weigh(shape[along:]),
                     axis=along)
    scale, offset = g.weigh(shape[1:2]), g.weigh(shape[1:2])
    if name == "Batch":
        if g.is_whole:
            mean, variance = g.weigh(shape[1:2]), g.know(np.ones(shape[1], "f4"))
            return g.one("BatchNormalization", x, scale, offset, mean, variance, epsilon=0.0)
        mean, variance = g.weigh(shape[1:2]), g.weigh(shape[1:2], 0.5)
        return g.one("BatchNormalization", x, scale, offset, mean, variance)
    if name == "Instance":
        return g.one("InstanceNormalization", x, scale, offset)
    return g.one("GroupNormalization", x, scale, offset, num_groups=g.draw.choice([1, shape[1]]))


def reduce(g):
    """A reduction over some axes."""
    x = any_of(g)
    rank = len(g.shape(x))
    if not rank:
        raise UnfitError(x)
    names = ["Sum", "Max", "Min"] + ([] if g.is_whole else ["Mean", "L1", "L2", "SumSquare",
                                                           "LogSumExp"])
    axes = g.know(np.array(sorted(g.draw.sample(range(rank), g.draw.randint(1, rank))), "i8"))
    g.one(f"Reduce{g.draw.choice(names)}", x, axes, keepdims=g.draw.randint(0, 1))


NUMBERS: list[Callable[[Growing], object]] = [
    unary, unary, clip, binary, binary, divide, residual, residual, residual, choose, convolve,
    convolve, convolve, convolve, transposed, pool, pool, pool, product, product, product,
    attention, normalise, normalise, reduce,
]
"""What computes, the first step of each graph: copies alone have no parts."""


def grow(draw: random.Random, steps: int, is_whole: bool) -> Growing:
    """Return a graph of some steps, each of which may be several nodes."""
    graph = Growing(draw=draw, is_whole=is_whole)
    kind = draw.choice(["image", "image", "image", "matrix", "any"])
    if kind == "image":
        graph.give((draw.choice([1, 1, 2]), draw.randint(1, 4), draw.randint(4, 8),
                    draw.randint(3, 8)))
    elif kind == "matrix":
        graph.give((draw.randint(2, 6), draw.randint(2, 8)))
    else:
        graph.give([draw.randint(1, 5) for _ in range(draw.randint(1, 4))])
    if draw.random() < 0.3:
        graph.give(next(iter(graph.inputs.values())))
    done = 0
    while done < steps:
        try:
            draw.choice([*NUMBERS, *MOVES] if done else NUMBERS)(graph)
        except UnfitError:
            continue
        done += 1
    if not graph.outputs():
        graph.one("Relu", any_of(graph))
    return graph
