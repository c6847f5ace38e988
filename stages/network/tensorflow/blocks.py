"""Operators of TensorFlow that move blocks of places to channels or samples, and back.

Source   TensorFlow, core/ops/array_ops.cc
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from lairmake.stages.network.operators import copies
from lairmake.stages.network.operators.draft import Piece, Shape, iterators
from lairmake.stages.network.tensorflow.convolutions import read_layout
from lairmake.stages.network.tensorflow.node import Node, Operator, of


def to_space(node: Node) -> None:
    """Add DepthToSpace: channels become places of blocks."""
    layout, (size, shape) = read_layout(node), _blocks(node)
    channels = layout.channels(shape) // size**2
    node.check(channels * size**2 == layout.channels(shape), f"no blocks of {size} times {size}")
    places = [n * size for n in layout.places(shape)]
    names = iterators(shape)
    i, j = layout.places(names)
    within = f"({size}*({i} mod {size}) + {j} mod {size})"
    channel = f"{channels}*{within} + {layout.channels(names)}"
    at = layout.order("d0", channel, [f"floor({i}/{size})", f"floor({j}/{size})"])
    node.give_copy(layout.order(shape[0], channels, places), at)


def to_depth(node: Node) -> None:
    """Add SpaceToDepth: places of blocks become channels."""
    layout, (size, shape) = read_layout(node), _blocks(node)
    channels, places = layout.channels(shape), layout.places(shape)
    plain = all(n % size == 0 for n in places)
    node.check(plain, f"{list(places)} are no blocks of {size} times {size}")
    names = iterators(shape)
    (i, j), c = layout.places(names), layout.channels(names)
    block = f"floor({c}/{channels})"
    at = layout.order("d0", f"{c} mod {channels}", [
        f"{size}*{i} + floor({block}/{size})", f"{size}*{j} + ({block}) mod {size}"
    ])
    whole = layout.order(shape[0], channels * size**2, [n // size for n in places])
    node.give_copy(whole, at)


def _blocks(node: Node) -> tuple[int, Shape]:
    """Return the size of blocks, and the shape that has them."""
    size, shape = node.attribute("block_size", 0), node.shape_of(0)
    node.check(size > 1 and len(shape) == 4, f"no blocks of {size} in {len(shape)} dimensions")
    return size, shape


def space_to_batch(node: Node) -> None:
    """Add SpaceToBatchND: places, with zeros around, become samples, phase by phase."""
    shape, blocks, pairs = _phases(node)
    low, high = [0, *pairs[::2]], [0, *pairs[1::2]]
    rest = [0] * (len(shape) - len(low))
    low, high = low + rest, high + rest
    sizes = tuple(n + b + a for n, b, a in zip(shape, low, high, strict=True))
    places = sizes[1 : len(blocks) + 1]
    node.check(
        all(n % b == 0 for n, b in zip(places, blocks, strict=True)),
        f"{list(places)} are no blocks of {blocks}",
    )
    padded = copies.pad(node.draft, f"{node.wish}_padded", node.volume(0), sizes, low, 0.0)
    at, phase = iterators(shape), f"floor(d0/{shape[0]})"
    for k in reversed(range(len(blocks))):
        at[k + 1] = f"{blocks[k]}*d{k + 1} + ({phase}) mod {blocks[k]}"
        phase = f"floor(({phase})/{blocks[k]})"
    at[0] = f"d0 mod {shape[0]}"
    few = [n // b for n, b in zip(places, blocks, strict=True)]
    whole = [shape[0] * math.prod(blocks), *few, *sizes[len(blocks) + 1 :]]
    found = node.draft.copy(node.wish, tuple(whole), [Piece(volume=padded, at=at)])
    node.give(found)


def batch_to_space(node: Node) -> None:
    """Add BatchToSpaceND: samples of phases become places, of which some are left out."""
    shape, blocks, crops = _phases(node)
    samples = shape[0] // math.prod(blocks)
    node.check(samples * math.prod(blocks) == shape[0], f"{shape[0]} samples have no phases")
    at, phase, places = iterators(shape), "0", list[int]()
    for k, block in enumerate(blocks):
        place = f"(d{k + 1} + {crops[2 * k]})"
        at[k + 1] = f"floor({place}/{block})"
        phase = f"({block}*{phase} + {place} mod {block})"
        places.append(shape[k + 1] * block - crops[2 * k] - crops[2 * k + 1])
    at[0] = f"{samples}*{phase} + d0"
    node.give_copy([samples, *places, *shape[len(blocks) + 1 :]], at)


def _phases(node: Node) -> tuple[Shape, list[int], list[int]]:
    """Return a shape, the sizes of blocks, and what is put around or left out."""
    shape, blocks = node.shape_of(0), node.numbers(1, "the sizes of blocks")
    pairs = node.numbers(2, "what is around")
    fits = 0 < len(blocks) < len(shape) and len(pairs) == 2 * len(blocks)
    plain = min(blocks, default=0) > 0 and min(pairs, default=0) >= 0
    node.check(fits and plain, f"blocks of {blocks}, with {pairs} around, do not fit")
    return shape, blocks, pairs


BLOCKS: Mapping[str, Operator] = {
    "DepthToSpace": of(to_space, 1, "block_size data_format"),
    "SpaceToDepth": of(to_depth, 1, "block_size data_format"),
    "SpaceToBatchND": of(space_to_batch, 3), "BatchToSpaceND": of(batch_to_space, 3),
}
