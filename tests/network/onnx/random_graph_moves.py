"""Nodes of a random graph of ONNX that move elements only."""

from __future__ import annotations

import math

import numpy as np

from tests.network.onnx.growing import UnfitError, any_of


def transpose(g):
    """Dimensions in another order."""
    x = any_of(g)
    rank = len(g.shape(x))
    g.one("Transpose", x, perm=g.draw.sample(range(rank), rank) or None)


def factors(size):
    """Return the prime factors of a size."""
    found = []
    for prime in (2, 3, 5, 7, 11, 13):
        while size % prime == 0:
            found, size = [*found, prime], size // prime
    return [*found, size] if size > 1 else found


def reshape(g):
    """The same elements in another shape."""
    x = any_of(g)
    if g.draw.random() < 0.3:
        return g.one("Flatten", x, axis=g.draw.randint(0, len(g.shape(x))))
    new = [1] * g.draw.randint(1, 4)
    for factor in factors(math.prod(g.shape(x))):
        new[g.draw.randrange(len(new))] *= factor
    if g.draw.random() < 0.3:
        new[g.draw.randrange(len(new))] = -1
    return g.one("Reshape", x, g.know(np.array(new, "i8")))


def image(g):
    """The same elements as an image: a sample, channels, and places."""
    x = any_of(g)
    sizes = [1, 1, 1]
    for factor in factors(math.prod(g.shape(x))):
        sizes[sizes.index(min(sizes))] *= factor
    g.one("Reshape", x, g.know(np.array([1, *sizes], "i8")))


def slice_(g):
    """A slice along some dimensions, perhaps backwards."""
    x = any_of(g)
    shape = g.shape(x)
    if not shape:
        raise UnfitError(x)
    axis = g.draw.randrange(len(shape))
    size = shape[axis]
    low = g.draw.randrange(size)
    high, step = g.draw.randint(low + 1, size), g.draw.choice([1, 1, 2])
    start, end = low, high
    if g.draw.random() < 0.2:
        start, end, step = high - 1, low - size - 1, -step
    g.one("Slice", x, *(g.know(np.array([v], "i8")) for v in (start, end, axis, step)))


def split(g):
    """Parts of a value along a dimension."""
    x = any_of(g)
    shape = g.shape(x)
    axis = g.draw.randrange(max(1, len(shape)))
    if not shape or shape[axis] < 2:
        raise UnfitError(x)
    first = g.draw.randint(1, shape[axis] - 1)
    sizes = g.know(np.array([first, shape[axis] - first], "i8"))
    p, q = g.add("Split", x, sizes, results=2, axis=axis)
    if g.draw.random() < 0.5:
        g.one("Concat", q, g.one("Relu", p), axis=axis)


def concat(g):
    """Values one after the other, along a dimension."""
    x = any_of(g)
    shape = g.shape(x)
    if not shape:
        raise UnfitError(x)
    axis = g.draw.randrange(len(shape))
    def fits(other):
        return len(g.shape(other)) == len(shape) and all(
            s == t or k == axis for k, (s, t) in enumerate(zip(shape, g.shape(other), strict=True)))
    others = [n for n in g.numbers() if fits(n)]
    g.one("Concat", x, *g.draw.choices(others, k=g.draw.randint(1, 2)), axis=axis)


def pad(g):
    """A value with something around it."""
    x = any_of(g)
    rank = len(g.shape(x))
    sizes = g.know(np.array([g.draw.randint(0, 1) for _ in range(2 * rank)], "i8"))
    kind = g.draw.choice(["constant", "constant", "edge", "number"])
    if kind == "number":
        return g.one("Pad", x, sizes, g.know(np.array(2, "f4")))
    return g.one("Pad", x, sizes, mode=kind)


def repeat(g):
    """A value again and again."""
    x = any_of(g)
    g.one("Tile", x, g.know(np.array([g.draw.randint(1, 2) for _ in g.shape(x)], "i8")))


def gather(g):
    """Some elements along a dimension."""
    x = any_of(g)
    if not g.shape(x):
        raise UnfitError(x)
    axis = g.draw.randrange(len(g.shape(x)))
    size = g.shape(x)[axis]
    wanted = [g.draw.randint(-size, size - 1) for _ in range(g.draw.randint(1, 3))]
    one = g.draw.random() < 0.4
    g.one("Gather", x, g.know(np.array(wanted[0] if one else wanted, "i8")), axis=axis)


def blocks(g):
    """Blocks of places as channels, or the other way round."""
    x = any_of(g, 4)
    name = g.draw.choice(["SpaceToDepth", "DepthToSpace"])
    _, c, h, w = g.shape(x)
    if (name == "SpaceToDepth" and (h % 2 or w % 2)) or (name == "DepthToSpace" and c % 4):
        raise UnfitError(x)
    g.one(name, x, blocksize=2)


MOVES = [
    transpose, reshape, reshape, image, image, slice_, split, concat, concat, pad, repeat, gather,
    blocks,
]
