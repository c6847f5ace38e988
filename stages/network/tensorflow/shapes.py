"""Operators of TensorFlow that move elements.

Source   TensorFlow, core/ops/array_ops.cc
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lairmake.stages.network.operators import copies
from lairmake.stages.network.operators.draft import Piece, Shape, iterators
from lairmake.stages.network.tensorflow.node import Node, Operator, of
from lairmake.stages.network.tensorflow.slicing import MASKS, read_slices


def reshape(node: Node) -> None:
    """Add Reshape; a size of -1 is what the others leave."""
    given, sizes = node.shape_of(0), node.numbers(1, "the shape")
    rest = math.prod(size for size in sizes if size != -1)
    node.check(sizes.count(-1) < 2 and min(sizes, default=1) >= -1, f"its shape is {sizes}")
    whole = math.prod(given)
    shape = tuple(whole // max(rest, 1) if size == -1 else size for size in sizes)
    node.check(math.prod(shape) == whole, f"{whole} elements do not fit the shape {sizes}")
    _reshaped(node, shape)


def squeeze(node: Node) -> None:
    """Add Squeeze: dimensions of size 1, all if none are said, are left out."""
    shape = node.shape_of(0)
    axes = node.dimensions(node.attribute("squeeze_dims", list[int]()), len(shape))
    axes = axes or [k for k, size in enumerate(shape) if size == 1]
    node.check(all(shape[k] == 1 for k in axes), f"a dimension of {list(shape)} is not of size 1")
    _reshaped(node, tuple(size for k, size in enumerate(shape) if k not in axes))


def expand_dimensions(node: Node) -> None:
    """Add ExpandDims: a dimension of size 1."""
    shape = node.shape_of(0)
    axis = node.dimension(node.number(1, "the axis"), len(shape) + 1)
    _reshaped(node, (*shape[:axis], 1, *shape[axis:]))


def _reshaped(node: Node, shape: Shape) -> None:
    node.give(copies.reshape(node.draft, node.wish, node.volume(0), shape))


def transpose(node: Node) -> None:
    """Add Transpose."""
    order, rank = node.numbers(1, "the order"), len(node.shape_of(0))
    order = [node.dimension(axis, rank) for axis in order]
    node.check(sorted(order) == list(range(rank)), f"its order {order} names not each once")
    node.give(copies.transpose(node.draft, node.wish, node.volume(0), order))


def concatenate(node: Node) -> None:
    """Add ConcatV2, or Concat, which has the axis first."""
    is_new = node.operator == "ConcatV2"
    numbers = range(node.count - 1) if is_new else range(1, node.count)
    rank = len(node.shape_of(numbers[0]))
    axis = node.dimension(node.number(node.count - 1 if is_new else 0, "the axis"), rank)
    others = {_without(node.shape_of(k), axis) for k in numbers}
    node.check(len(others) == 1, "its operands have several shapes")
    volumes = [node.volume(k) for k in numbers if node.shape_of(k)[axis]]
    node.give(copies.concatenate(node.draft, node.wish, volumes, axis))


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], -1, *shape[axis + 1 :])


def pack(node: Node) -> None:
    """Add Pack: values of one shape along a new dimension."""
    shape = node.shape_of(0)
    axis = node.dimension(node.attribute("axis", 0), len(shape) + 1)
    plain = all(node.shape_of(k) == shape for k in range(node.count))
    node.check(plain, "its operands have several shapes")
    whole = (*shape[:axis], node.count, *shape[axis:])
    at = [name for k, name in enumerate(iterators(whole)) if k != axis]
    node.give(node.draft.copy(node.wish, whole, [
        Piece(volume=node.volume(k), at=at, where=f"d{axis} = {k}") for k in range(node.count)
    ]))


def unpack(node: Node) -> None:
    """Add Unpack: a value for each element of a dimension."""
    shape = node.shape_of(0)
    axis = node.dimension(node.attribute("axis", 0), len(shape))
    count = node.attribute("num", shape[axis])
    node.check(count == shape[axis], f"it has {count} results of {shape[axis]}")
    rest = (*shape[:axis], *shape[axis + 1 :])
    names = iterators(rest)
    for k in range(count):
        at = [*names[:axis], str(k), *names[axis:]]
        piece = Piece(volume=node.volume(0), at=at)
        node.give(node.draft.copy(node.result(k), rest, [piece]), k)


def split(node: Node) -> None:
    """Add Split into equal parts, or SplitV into parts of given sizes."""
    if node.operator == "Split":
        k, shape = 1, node.shape_of(1)
        axis, count = node.number(0, "the axis"), node.attribute("num_split", 1)
        axis = node.dimension(axis, len(shape))
        node.check(count > 0 and shape[axis] % count == 0, f"{count} parts of {shape[axis]}")
        sizes = [shape[axis] // count] * count
    else:
        k, shape = 0, node.shape_of(0)
        sizes = node.numbers(1, "the sizes")
        axis = node.dimension(node.number(2, "the axis"), len(shape))
        rest = shape[axis] - sum(size for size in sizes if size != -1)
        sizes = [rest if size == -1 else size for size in sizes]
        fits = sum(sizes) == shape[axis] and min(sizes) > 0
        node.check(fits, f"parts of {sizes} are not {shape[axis]}")
    _cut_into(node, node.volume(k), axis, sizes)


def _cut_into(node: Node, x: str, axis: int, sizes: Sequence[int]) -> None:
    shape, start = node.draft.shapes[x], 0
    for k, size in enumerate(sizes):
        first = [start if n == axis else 0 for n in range(len(shape))]
        part = (*shape[:axis], size, *shape[axis + 1 :])
        found = copies.cut(node.draft, node.result(k), x, first, [1] * len(shape), part)
        node.give(found, k)
        start += size


def cut(node: Node) -> None:
    """Add Slice: from a start, so many; -1 is all that are left."""
    shape = node.shape_of(0)
    first, sizes = node.numbers(1, "the start"), node.numbers(2, "the size")
    node.check(len(first) == len(sizes) == len(shape), "its start and size do not fit")
    sizes = [n - a if s == -1 else s for n, a, s in zip(shape, first, sizes, strict=True)]
    inside = all(0 <= a <= a + s <= n for n, a, s in zip(shape, first, sizes, strict=True))
    node.check(inside, f"{sizes} from {first} on are not in {list(shape)}")
    x, steps = node.volume(0), [1] * len(shape)
    node.give(copies.cut(node.draft, node.wish, x, first, steps, tuple(sizes)))


def strided_slice(node: Node) -> None:
    """Add StridedSlice: a copy with a piece for each dimension, or without it."""
    sizes = list(node.shape_of(0))
    at, shape = list[str](), list[int]()
    for entry in read_slices(node, len(sizes)):
        index = f"d{len(shape)}"
        if entry is None:
            shape.append(1)
            continue
        size = sizes[len(at)]
        if isinstance(entry, int):
            at.append(str(node.dimension(entry, size)))
            continue
        start, end, step = slice(*entry).indices(size)
        at.append(f"{step}*{index} + {start}")
        shape.append(len(range(start, end, step)))
    node.give_copy(shape, at)


def pad(node: Node) -> None:
    """Add Pad or PadV2, with a number, or MirrorPad."""
    shape, low, high = _around(node)
    sizes = tuple(n + b + a for n, b, a in zip(shape, low, high, strict=True))
    x = node.volume(0)
    if node.operator == "MirrorPad":
        node.give(_mirrored(node, shape, sizes, low, high))
        return
    value = 0.0
    if node.operator == "PadV2":
        given = node.known(2, "the value around")
        node.check(given.size == 1, "the value around is not one number")
        value = float(given.ravel()[0])
    node.give(copies.pad(node.draft, node.wish, x, sizes, low, value))


def _around(node: Node) -> tuple[Shape, list[int], list[int]]:
    """Return the shape of what something is put around, and how much before and after."""
    shape, pairs = node.shape_of(0), node.numbers(1, "what is put around")
    fits = len(pairs) == 2 * len(shape) and min(pairs, default=0) >= 0
    node.check(fits, f"what is put around, {pairs}, does not fit {len(shape)} dimensions")
    return shape, pairs[::2], pairs[1::2]


def _mirrored(
    node: Node, shape: Shape, sizes: Shape, low: Sequence[int], high: Sequence[int]
) -> str:
    mode = node.attribute("mode", "")
    if mode != "REFLECT":
        node.refuse(f"the mode {mode or 'that is not said'} is not known", "REFLECT is")
    inside = all(max(b, a) < n for n, b, a in zip(shape, low, high, strict=True))
    node.check(inside, f"what is put around is more than {list(shape)} have")
    return copies.mirror(node.draft, node.wish, node.volume(0), sizes, low, "reflect")


def tile(node: Node) -> None:
    """Add Tile."""
    times, shape = node.numbers(1, "how often"), node.shape_of(0)
    fits = len(times) == len(shape) and min(times, default=1) > 0
    node.check(fits, f"how often, {times}, does not fit {len(shape)} dimensions")
    node.give(copies.repeat(node.draft, node.wish, node.volume(0), times))


def expand(node: Node) -> None:
    """Add BroadcastTo."""
    given, shape = node.shape_of(0), tuple(node.numbers(1, "the shape"))
    pairs = zip(reversed(given), reversed(shape), strict=False)
    fits = len(given) <= len(shape) and all(a in (1, b) for a, b in pairs)
    node.check(fits, f"{list(given)} is not broadcast to {list(shape)}")
    node.give(copies.expand(node.draft, node.wish, node.volume(0), shape))


def gather(node: Node) -> None:
    """Add GatherV2 with known indices."""
    if node.attribute("batch_dims", 0) != 0:
        node.refuse("its indices differ from sample to sample", "gather without batch_dims")
    shape, indices = node.shape_of(0), node.known(1, "the index")
    node.check(indices.dtype.kind in "iu", f"the index has the type {indices.dtype}")
    axis = node.number(2, "the axis") if node.count > 2 else 0
    axis = node.dimension(axis, len(shape))
    inside = ((indices >= 0) & (indices < shape[axis])).all()
    node.check(bool(inside), f"an index is beyond {shape[axis]} elements")
    node.give(copies.take(node.draft, node.wish, node.volume(0), indices, axis))


SHAPES: Mapping[str, Operator] = {
    "Reshape": of(reshape, 2), "Squeeze": of(squeeze, 1, "squeeze_dims"),
    "ExpandDims": of(expand_dimensions, 2), "Transpose": of(transpose, 2),
    "ConcatV2": of(concatenate, 2, "N", most=1024), "Concat": of(concatenate, 2, "N", most=64),
    "Pack": of(pack, 1, "N axis", most=1024), "Unpack": of(unpack, 1, "num axis"),
    "Split": of(split, 2, "num_split"), "SplitV": of(split, 3, "num_split"),
    "Slice": of(cut, 3), "StridedSlice": of(strided_slice, 4, MASKS),
    "Pad": of(pad, 2), "PadV2": of(pad, 3), "MirrorPad": of(pad, 2, "mode"),
    "Tile": of(tile, 2), "BroadcastTo": of(expand, 2),
    "Gather": of(gather, 2, "validate_indices"), "GatherV2": of(gather, 3, "batch_dims"),
}
