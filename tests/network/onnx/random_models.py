"""Models of one operator of ONNX, with attributes, shapes and values at random."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

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


@dataclass(kw_only=True)
class Drawn:
    """A model as text, the shapes of its inputs, those that are positive, and its constants.

    `since` is the oldest set of operators that has it so.
    """

    text: str
    inputs: dict[str, tuple[int, ...]]
    known: dict[str, np.ndarray] = field(default_factory=dict)
    positive: frozenset[str] = frozenset()
    since: int = 18


def attributes(**given) -> str:
    """Return attributes as ONNX's parser reads them; those that are None are left out."""
    texts = [
        f'{k}="{v}"' if isinstance(v, str) else f"{k}={v}" for k, v in given.items()
        if v is not None
    ]
    return f"<{', '.join(texts)}>" if texts else ""


def shape(draw: random.Random, least: int = 1, most: int = 4, largest: int = 5):
    """Return a random shape."""
    return tuple(draw.randint(1, largest) for _ in range(draw.randint(least, most)))


def broadcast(draw: random.Random, sizes):
    """Return a shape that is broadcast to another one."""
    kept = sizes[draw.randint(0, len(sizes)) :]
    return tuple(draw.choice([size, size, 1]) for size in kept)


def maybe(draw: random.Random, value):
    """Return a value, or None."""
    return value if draw.random() < 0.6 else None


def axis(draw: random.Random, rank: int) -> int:
    """Return a dimension, counted from one of both ends."""
    return draw.randint(-rank, rank - 1)


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


def reshaping(draw):
    """Return a tensor in another shape, or in the same with more or fewer dimensions of one."""
    sizes = tuple(draw.choice([1, 2, 3, 4, 6]) for _ in range(draw.randint(1, 4)))
    kind = draw.choice(["Reshape", "Reshape", "Flatten", "Unsqueeze", "Squeeze"])
    if kind == "Flatten":
        along = attributes(axis=maybe(draw, axis(draw, len(sizes))))
        return Drawn(text=f"y = Flatten{along}(x)", inputs={"x": sizes})
    if kind == "Reshape":
        factors = [2] * sum(size in (2, 6) for size in sizes)
        factors += [2, 2] * sizes.count(4) + [3] * sum(size in (3, 6) for size in sizes)
        new = [1] * draw.randint(1, 4)
        for factor in factors:
            new[draw.randrange(len(new))] *= factor
        if draw.random() < 0.3:
            new[draw.randrange(len(new))] = -1
        known = {"s": np.array(new, "i8")}
    elif kind == "Unsqueeze":
        places = sorted(draw.sample(range(len(sizes) + 2), 2))
        known = {"s": np.array(places, "i8")}
    else:
        sizes = (1, *sizes)
        known = {"s": np.array([draw.choice([0, -len(sizes)])], "i8")}
    return Drawn(text=f"y = {kind}(x, s)", inputs={"x": sizes}, known=known)


def turning(draw):
    """Return a tensor with its dimensions in another order."""
    sizes = shape(draw)
    order = maybe(draw, draw.sample(range(len(sizes)), len(sizes)))
    return Drawn(text=f"y = Transpose{attributes(perm=order)}(x)", inputs={"x": sizes})


def slicing(draw):
    """Return a slice, forwards or backwards, whose limits may lie outside."""
    sizes = shape(draw, 1, 3, 8)
    axes = sorted(draw.sample(range(len(sizes)), draw.randint(1, len(sizes))))
    starts, ends, steps = [], [], []
    for size in (sizes[k] for k in axes):
        step, low = draw.choice([1, 1, 2, 3]), draw.randrange(size)
        high = draw.randint(low + 1, size)
        if draw.random() < 0.4:
            starts, ends, steps = [*starts, high - 1], [*ends, low - size - 1], [*steps, -step]
        else:
            starts, steps = [*starts, draw.choice([low, low - size])], [*steps, step]
            ends = [*ends, high if high < size else draw.choice([size, 99])]
    known = {name: np.array(values, "i8") for name, values in
             zip("seat", (starts, ends, axes, steps), strict=True)}
    return Drawn(text="y = Slice(x, s, e, a, t)", inputs={"x": sizes}, known=known)


def splitting(draw):
    """Return two parts of a tensor, put together again the other way round."""
    sizes = shape(draw, 1, 3)
    along = axis(draw, len(sizes))
    size = sizes[along] + 1
    sizes = tuple(size if k == along % len(sizes) else s for k, s in enumerate(sizes))
    first = draw.randint(1, size - 1)
    return Drawn(text=f"p, q = Split<axis={along}>(x, s)\ny = Concat<axis={along}>(q, x, p)",
                 inputs={"x": sizes}, known={"s": np.array([first, size - first], "i8")})


def padding(draw):
    """Return what has something around it, of all kinds."""
    sizes = tuple(draw.randint(3, 5) for _ in range(draw.randint(1, 3)))
    mode = maybe(draw, draw.choice(["constant", "reflect", "edge", "wrap"]))
    known = {"p": np.array([draw.randint(0, 2) for _ in range(2 * len(sizes))], "i8")}
    has_value = mode in (None, "constant") and draw.random() < 0.5
    known |= {"v": np.array(1.5, "f4")} if has_value else {}
    return Drawn(text=f"y = Pad{attributes(mode=mode)}({', '.join(['x', *known])})",
                 inputs={"x": sizes}, known=known)


def repeating(draw):
    """Return a tensor again and again."""
    sizes = shape(draw, 1, 3)
    if draw.random() < 0.5:
        known = {"s": np.array([draw.randint(1, 3) for _ in sizes], "i8")}
        return Drawn(text="y = Tile(x, s)", inputs={"x": sizes}, known=known)
    return Drawn(text="y = Expand(x, s)", inputs={"x": broadcast(draw, sizes)},
                 known={"s": np.array(sizes, "i8")})


def blocks(draw):
    """Return blocks of places as channels, or the other way round."""
    size, name = draw.randint(1, 3), draw.choice(["DepthToSpace", "SpaceToDepth"])
    channels, height, width = shape(draw, 3, 3, 3)
    deep = (1, channels * size * size, height, width)
    sizes = deep if name == "DepthToSpace" else (1, channels, height * size, width * size)
    mode = maybe(draw, draw.choice(["DCR", "CRD"])) if name == "DepthToSpace" else None
    return Drawn(text=f"y = {name}{attributes(blocksize=size, mode=mode)}(x)",
                 inputs={"x": sizes})


def gathering(draw):
    """Return some elements along a dimension."""
    sizes = shape(draw)
    along = axis(draw, len(sizes))
    size, wanted = sizes[along], shape(draw, 0, 2, 3)
    found = [draw.randint(-size, size - 1) for _ in range(math.prod(wanted))]
    return Drawn(text=f"y = Gather{attributes(axis=maybe(draw, along) if along == 0 else along)}"
                      "(x, i)",
                 inputs={"x": sizes}, known={"i": np.array(found, "i8").reshape(wanted)})


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
    normalisation, reshaping, reshaping, turning, slicing, slicing, splitting, padding, repeating,
    blocks, gathering, clipping,
]
