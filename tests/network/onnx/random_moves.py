"""Models of one operator of ONNX that moves elements, with attributes and shapes at random."""

from __future__ import annotations

import math

import numpy as np

from tests.network.onnx.drawing import Drawn, attributes, axis, broadcast, maybe, shape


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


MOVES = [
    reshaping, reshaping, turning, slicing, slicing, splitting, padding, repeating, blocks,
    gathering,
]
