"""Operators of ONNX that move elements.

Source   ONNX, Operators.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lairmake.stages.network.onnx.node import Node
from lairmake.stages.network.operators import copies
from lairmake.stages.network.operators.draft import Piece


def transpose(node: Node) -> None:
    """Add Transpose: all dimensions the other way round if none are said."""
    rank = len(node.shape)
    order = node.attribute("perm", list(reversed(range(rank))))
    node.give(copies.transpose(node.draft, node.wish, node.volume(0), order))


def reshape(node: Node) -> None:
    """Add what has the same elements in another shape: Reshape, Flatten, Squeeze, Unsqueeze."""
    node.give(copies.reshape(node.draft, node.wish, node.volume(0), node.shape))


def cut(node: Node) -> None:
    """Add Slice."""
    sizes = node.shape_of(0)
    axes, starts, steps = _slices(node, len(sizes))
    first, by = [0] * len(sizes), [1] * len(sizes)
    for axis, start, step in zip(axes, starts, steps, strict=True):
        size = sizes[axis]
        start = start + size if start < 0 else start
        first[axis] = min(max(start, 0), size - 1 if step < 0 else size)
        by[axis] = step
    node.give(copies.cut(node.draft, node.wish, node.volume(0), first, by, node.shape))


def _slices(node: Node, rank: int) -> tuple[list[int], list[int], list[int]]:
    """Return the axes that are cut, where they start, and in which steps."""
    starts = node.attribute("starts")
    axes, steps = node.attribute("axes"), None
    if starts is None:
        starts = node.numbers(1, "the starts")
        axes = node.numbers(3, "the axes") if node.has(3) else None
        steps = node.numbers(4, "the steps") if node.has(4) else None
    axes = list(range(len(starts))) if axes is None else axes
    found = [node.dimension(int(axis), rank) for axis in axes]
    return found, list(starts), [1] * len(starts) if steps is None else steps


def split(node: Node) -> None:
    """Add Split: slices one after another."""
    rank, start = len(node.shape_of(0)), 0
    axis, x = node.axis("axis", 0, rank), node.volume(0)
    for k, name in enumerate(node.results):
        shape = node.shape_of_result(k)
        first = [start if n == axis else 0 for n in range(rank)]
        node.give(copies.cut(node.draft, name, x, first, [1] * rank, shape), k)
        start += shape[axis]


def concatenate(node: Node) -> None:
    """Add Concat."""
    axis = node.axis("axis", 1, len(node.shape))
    volumes = [node.volume(k) for k in range(node.count) if node.shape_of(k)[axis]]
    node.give(copies.concatenate(node.draft, node.wish, volumes, axis))


def pad(node: Node) -> None:
    """Add Pad: with a number, or as `reflect`, `edge` and `wrap` say."""
    rank, x = len(node.shape), node.volume(0)
    pads = node.attribute("pads")
    pads = node.numbers(1, "what is put around") if pads is None else pads
    axes = node.numbers(3, "the axes") if node.has(3) else range(rank)
    low = [0] * rank
    for n, axis in enumerate(axes):
        low[node.dimension(int(axis), rank)] = pads[n]
    mode = node.attribute("mode", "constant")
    if mode == "constant":
        value = node.attribute("value", 0.0)
        if node.has(2):
            value = float(node.known(2, "the value around").ravel()[0])
        node.give(copies.pad(node.draft, node.wish, x, node.shape, low, value))
    else:
        node.give(copies.mirror(node.draft, node.wish, x, node.shape, low, mode))


def expand(node: Node) -> None:
    """Add Expand."""
    node.give(copies.expand(node.draft, node.wish, node.volume(0), node.shape))


def tile(node: Node) -> None:
    """Add Tile."""
    times = node.numbers(1, "how often")
    node.give(copies.repeat(node.draft, node.wish, node.volume(0), times))


def to_space(node: Node) -> None:
    """Add DepthToSpace: channels become places of blocks."""
    size, channels = node.attribute("blocksize"), node.shape[1]
    first = node.attribute("mode", "DCR") == "DCR"
    within = f"({size}*(d2 mod {size}) + d3 mod {size})"
    channel = f"{channels}*{within} + d1" if first else f"{size * size}*d1 + {within}"
    at = ["d0", channel, f"floor(d2/{size})", f"floor(d3/{size})"]
    node.give(_moved(node, at))


def to_depth(node: Node) -> None:
    """Add SpaceToDepth: places of blocks become channels."""
    size, channels = node.attribute("blocksize"), node.shape_of(0)[1]
    if node.attribute("mode", "DCR") == "DCR":
        block, channel = f"floor(d1/{channels})", f"d1 mod {channels}"
    else:
        block, channel = f"(d1 mod {size * size})", f"floor(d1/{size * size})"
    at = [
        "d0", channel, f"{size}*d2 + floor({block}/{size})", f"{size}*d3 + ({block}) mod {size}"
    ]
    node.give(_moved(node, at))


def _moved(node: Node, at: Sequence[str]) -> str:
    piece = Piece(volume=node.volume(0), at=at)
    return node.draft.copy(node.wish, node.shape, [piece])


def gather(node: Node) -> None:
    """Add Gather with known indices."""
    indices = node.known(1, "the index")
    axis = node.axis("axis", 0, len(node.shape_of(0)))
    if np.any((indices < -node.shape_of(0)[axis]) | (indices >= node.shape_of(0)[axis])):
        raise node.error(f"an index is beyond {node.shape_of(0)[axis]} elements")
    node.give(copies.take(node.draft, node.wish, node.volume(0), indices, axis))


SHAPES: Mapping[str, Callable[[Node], None]] = {
    "Concat": concatenate, "DepthToSpace": to_space, "Expand": expand, "Gather": gather,
    "Pad": pad, "Slice": cut, "SpaceToDepth": to_depth, "Split": split, "Tile": tile,
    "Transpose": transpose,
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze"), reshape),
}
