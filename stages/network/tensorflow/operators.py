"""Operators of TensorFlow as operations on volumes."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from lairmake.stages.network.operators import copies, elementwise, windows
from lairmake.stages.network.operators.draft import Array, PaddedPiece, Shape, iterators
from lairmake.stages.network.operators.elementwise import (
    POWERS,
    SHARED,
    TRUE,
    apply,
    of_channels,
    write_number,
)
from lairmake.stages.network.operators.windows import Filters, WindowLayout, Windows
from lairmake.stages.network.tensorflow.model import Operator, TensorFlowNode, of, read_type

# --- Functions of elements ------------------------------------------------------------------------
#
# Source   TensorFlow, core/ops/{math,nn}_ops.cc: each is an expression of LAIR

PLAIN: Mapping[str, str] = {
    **SHARED,
    "AddV2": "{0} + {1}",
    "ClipByValue": "min(max({0}, {1}), {2})",
    "DivNoNan": "select(equal({1}, 0.0), 0.0, {0} / {1})",
    "Elu": "select(less({0}, 0.0), exp(min({0}, 0.0)) - 1.0, {0})",
    "Inv": "1.0 / {0}",
    "Maximum": "max({0}, {1})",
    "Minimum": "min({0}, {1})",
    "RealDiv": "{0} / {1}",
    "Relu6": "min(max({0}, 0.0), 6.0)",
    "Rint": "round({0})",
    "Rsqrt": "1.0 / sqrt({0})",
    "SelectV2": "select({0}, {1}, {2})",
    "Selu": "1.0507009873554805 * "
    "select(less({0}, 0.0), 1.6732632423543772 * (exp(min({0}, 0.0)) - 1.0), {0})",
    "Square": "{0} * {0}",
    "SquaredDifference": "({0} - {1}) * ({0} - {1})",
}
"""Operators without attributes; true is 1, and false 0."""

TRUTHS: Mapping[str, str] = {
    "Equal": "equal({0}, {1})",
    "Greater": "less({1}, {0})",
    "GreaterEqual": "less_equal({1}, {0})",
    "Less": "less({0}, {1})",
    "LessEqual": "less_equal({0}, {1})",
    "LogicalAnd": "min({0}, {1})",
    "LogicalNot": "1.0 - {0}",
    "LogicalOr": "max({0}, {1})",
    "NotEqual": "1.0 - equal({0}, {1})",
}
"""Operators whose results are truths."""

EXPRESSIONS: Mapping[str, str] = {**PLAIN, **TRUTHS}
LEAKY = "select(less({{0}}, 0.0), {alpha} * {{0}}, {{0}})"


def count_operands(template: str) -> int:
    """Return the number of operands of an expression."""
    return 1 + max(int(each) for each in re.findall(r"{(\d)}", template))


def plain(node: TensorFlowNode) -> None:
    """Add a function of elements without attributes."""
    template = EXPRESSIONS[node.operator]
    is_truth = node.operator in TRUTHS or (node.operator == "SelectV2" and node.is_truth(1))
    _give(node, template, is_truth=is_truth)


def leaky(node: TensorFlowNode) -> None:
    """Add LeakyRelu."""
    _give(node, LEAKY.format(alpha=write_number(node.attribute("alpha", 0.2))))


def total(node: TensorFlowNode) -> None:
    """Add AddN: a sum of any number of operands, which are of one shape."""
    node.check(node.attribute("N", node.count) == node.count, "N is not how many operands it has")
    for k in range(node.count):
        node.check(node.shape_of(k) == node.shape_of(0), "its operands have several shapes")
    _give(node, " + ".join(f"{{{k}}}" for k in range(node.count)))


def select(node: TensorFlowNode) -> None:
    """Add Select, which broadcasts only a single condition."""
    shapes = [node.shape_of(k) for k in range(3)]
    if shapes[1] != shapes[2] or shapes[0] not in ((), shapes[1]):
        node.refuse("its operands have several shapes", "use tf.where of version 2")
    _give(node, "select({0}, {1}, {2})", is_truth=node.is_truth(1))


def power(node: TensorFlowNode) -> None:
    """Add a power; small whole exponents are products."""
    exponent = node.operand(1)
    if not isinstance(exponent, str) and exponent in POWERS:
        node.give(apply(node.draft, node.wish, POWERS[exponent], [node.operand(0)]))
    else:
        _give(node, "pow({0}, {1})")


def bias(node: TensorFlowNode) -> None:
    """Add BiasAdd: an element of a vector for each channel."""
    shape, layout = node.shape_of(0), node.attribute("data_format", "NHWC")
    if layout not in ("NHWC", "NCHW"):
        node.refuse(f"the layout {layout} is not known", "NHWC and NCHW are")
    axis = 1 if layout == "NCHW" else len(shape) - 1
    node.check(len(shape) > 1, "its operand has no channels")
    node.check(node.shape_of(1) == (shape[axis],), f"it has not {shape[axis]} numbers to add")
    offset = of_channels(node.volume(1), f"d{axis}")
    node.give(apply(node.draft, node.wish, "{0} + {1}", [node.volume(0), offset]))


def cast(node: TensorFlowNode) -> None:
    """Add Cast: to a truth from a number, else the same elements."""
    to = node.type_number("DstT")
    kind = None if to is None else read_type(to)
    if kind is None or kind.kind in "iu":
        node.refuse("it makes integers of what depends on an input", "leave them real numbers")
    if kind == np.bool_ and not node.is_truth(0):
        found = apply(node.draft, node.wish, TRUE, [node.volume(0)])
        node.give(found, is_truth=True)
    elif kind != np.bool_ and node.is_truth(0):
        node.give(apply(node.draft, node.wish, "{0}", [node.volume(0)]))
    else:
        node.alias()


def _give(node: TensorFlowNode, template: str, *, is_truth: bool = False) -> None:
    operands = [node.operand(k) for k in range(node.count)]
    node.give(apply(node.draft, node.wish, template, operands), is_truth=is_truth)


ARITHMETIC: Mapping[str, Operator] = {
    **{name: of(plain, count_operands(each)) for name, each in EXPRESSIONS.items()},
    "Equal": of(plain, 2, "incompatible_shape_error"),
    "NotEqual": of(plain, 2, "incompatible_shape_error"),
    "AddN": of(total, 1, "N", most=1024), "BiasAdd": of(bias, 2, "data_format"),
    "Cast": of(cast, 1, "Truncate"), "LeakyRelu": of(leaky, 1, "alpha"), "Pow": of(power, 2),
    "Select": of(select, 3),
    **{name: of(TensorFlowNode.alias, 1) for name in ("Identity", "PreventGradient", "Snapshot",
                                            "StopGradient")},
    "PlaceholderWithDefault": of(TensorFlowNode.alias, 1, "dtype shape"),
}

# --- Convolutions and poolings --------------------------------------------------------------------
#
# Source   TensorFlow, core/ops/nn_ops.cc; core/util/tensor_format.h

LAYOUTS: Mapping[str, WindowLayout] = {"NHWC": WindowLayout(last=True), "NCHW": WindowLayout()}


def convolution(node: TensorFlowNode) -> None:
    """Add Conv2D with filters[place]...[channel within group][channel of result]."""
    layout, (*sizes, inner, channels) = read_layout(node), _four(node, 1)
    given = layout.channels(_four(node, 0))
    groups = given // inner
    fits = inner * groups == given and channels % groups == 0
    node.check(fits, f"filters of {inner} channels to {channels} do not fit {given}")
    per_group = channels // groups
    _convolve(node, layout, tuple(sizes), Filters(
        volume=node.volume(1), groups=groups, per_group=per_group, inner=inner,
        at=lambda g, m, c, within: [*within, c, f"{per_group}*{g} + {m}"],
    ))


def depthwise(node: TensorFlowNode) -> None:
    """Add DepthwiseConv2dNative with filters[place]...[channel][channel of its own results]."""
    layout, (*sizes, channels, own) = read_layout(node), _four(node, 1)
    given = layout.channels(_four(node, 0))
    node.check(channels == given, f"filters of {channels} channels do not fit {given}")
    _convolve(node, layout, tuple(sizes), Filters(
        volume=node.volume(1), groups=channels, per_group=own, inner=1,
        at=lambda g, m, c, within: [*within, g, m],
    ))


def _convolve(node: TensorFlowNode, layout: WindowLayout, sizes: Shape, filters: Filters) -> None:
    around = _windows(node, layout, sizes)
    found = windows.convolve(node.draft, node.wish, node.volume(0), filters, around, layout)
    node.give(found)


def pooling(node: TensorFlowNode) -> None:
    """Add MaxPool or AvgPool; a mean is over the elements within the places."""
    layout = read_layout(node)
    around = _windows(node, layout, _places(node, layout, "ksize"))
    if node.operator == "MaxPool":
        found = windows.pool(node.draft, node.wish, node.volume(0), around, "max=", layout)
    else:
        none = (0,) * len(around.sizes)
        counted = dataclasses.replace(around, before=none, after=none)
        found = windows.average(
            node.draft, node.wish, node.volume(0), around, counted, layout
        )
    node.give(found)


def read_layout(node: TensorFlowNode) -> WindowLayout:
    """Return the layout of channels. Raises UserError for an unknown one."""
    name = node.attribute("data_format", "NHWC")
    if name not in LAYOUTS:
        raise node.error(f"the layout {name} is not known", "NHWC and NCHW are")
    return LAYOUTS[name]


def _four(node: TensorFlowNode, k: int) -> Shape:
    """Return the shape of an operand that must have four dimensions."""
    shape = node.shape_of(k)
    node.check(len(shape) == 4, f"{node.name_of(k)} has {len(shape)} dimensions, and not 4")
    return shape


def _places(node: TensorFlowNode, layout: WindowLayout, name: str) -> Shape:
    """Return the entries of an attribute for places; those for sample and channel must be 1."""
    given = node.attribute(name, [1, 1, 1, 1])
    node.check(len(given) == 4 and min(given) > 0, f"{name} is {given}")
    if given[0] != 1 or layout.channels(given) != 1:
        node.refuse(f"{name} of samples and channels are {given[0]} and {layout.channels(given)}",
                    "windows over places alone are known")
    return tuple(layout.places(given))


def _windows(node: TensorFlowNode, layout: WindowLayout, sizes: Shape) -> Windows:
    """Return the windows of a node, with padding from its attributes or from the sizes."""
    strides = _places(node, layout, "strides")
    dilations = _places(node, layout, "dilations")
    places = layout.places(_four(node, 0))
    kind = node.attribute("padding", "")
    if kind == "SAME":
        before, after = windows.find_same(places, sizes, strides, dilations)
    elif kind == "EXPLICIT":
        before, after = _explicit(node, layout)
    else:
        node.check(kind == "VALID", f"padding is {kind or 'not said'}")
        before = after = (0,) * len(sizes)
    found = Windows(
        sizes=sizes, strides=strides, dilations=dilations, before=before, after=after
    )
    node.check(min(found.fit(places)) > 0, "its windows are larger than what they move over")
    return found


def _explicit(node: TensorFlowNode, layout: WindowLayout) -> tuple[Shape, Shape]:
    """Return the padding before and after places in an attribute."""
    given = node.attribute("explicit_paddings", list[int]())
    node.check(len(given) == 8 and min(given) >= 0, f"explicit_paddings is {given}")
    before, after = given[::2], given[1::2]
    plain = [each[0] == layout.channels(each) == 0 for each in (before, after)]
    node.check(all(plain), "explicit_paddings puts something around samples or channels")
    return tuple(layout.places(before)), tuple(layout.places(after))


_WINDOWS = "data_format dilations explicit_paddings padding strides use_cudnn_on_gpu"

CONVOLUTIONS: Mapping[str, Operator] = {
    "Conv2D": of(convolution, 2, _WINDOWS),
    "DepthwiseConv2dNative": of(depthwise, 2, _WINDOWS),
    "MaxPool": of(pooling, 1, "data_format explicit_paddings ksize padding strides"),
    "AvgPool": of(pooling, 1, "data_format ksize padding strides"),
}

# --- Sums, reductions and normalisation -----------------------------------------------------------
#
# Source   TensorFlow, core/ops/{math,nn}_ops.cc

REDUCTIONS: Mapping[str, str] = {"Sum": "+=", "Max": "max=", "Min": "min=", "Prod": "*="}


def product(node: TensorFlowNode) -> None:
    """Add a product of matrices, or of batches of them."""
    kinds = ("transpose_a", "transpose_b") if node.operator == "MatMul" else ("adj_x", "adj_y")
    turned = node.attribute(kinds[0], False), node.attribute(kinds[1], False)
    a, b = node.shape_of(0), node.shape_of(1)
    plain = len(a) == len(b) == 2 if node.operator == "MatMul" else min(len(a), len(b)) >= 2
    node.check(plain, f"its operands have {len(a)} and {len(b)} dimensions")
    inner = a[-2 if turned[0] else -1], b[-1 if turned[1] else -2]
    node.check(inner[0] == inner[1], f"{inner[0]} columns do not fit {inner[1]} rows")
    x, y = node.volume(0), node.volume(1)
    node.give(elementwise.multiply(node.draft, node.wish, x, y, turned=turned))


def batch_normalisation(node: TensorFlowNode) -> None:
    """Add FusedBatchNorm with the learned mean and variance."""
    if node.attribute("is_training", True):
        node.refuse("it is in training mode", "export the model for inference")
    layout, shape = read_layout(node), node.shape_of(0)
    axis = len(shape) - 1 if layout.last else 1
    node.check(len(shape) == 4, f"its operand has {len(shape)} dimensions, and not 4")
    numbers = range(1, 5)
    for k in numbers:
        fits = node.shape_of(k) == (shape[axis],)
        node.check(fits, f"{node.name_of(k)} has not {shape[axis]} numbers")
    is_known = all(map(node.is_known, numbers))
    statistics: list[str | Array] = [
        node.known(k, "a statistic") if is_known else node.volume(k) for k in numbers
    ]
    small = node.attribute("epsilon", 0.0001)
    x, at = node.volume(0), f"d{axis}"
    node.give(elementwise.scale_batches(node.draft, node.wish, x, statistics, small, at))


def softmax(node: TensorFlowNode) -> None:
    """Add Softmax or LogSoftmax: along the last dimension."""
    rank = len(node.shape_of(0))
    node.check(rank > 0, "its operand has no dimensions")
    log = node.operator == "LogSoftmax"
    node.give(elementwise.softmax(node.draft, node.wish, node.volume(0), [rank - 1], log))


def reduction(node: TensorFlowNode) -> None:
    """Add a reduction over axes; without axes the operand stays."""
    rank = len(node.shape_of(0))
    axes = node.dimensions(node.numbers(1, "the axes"), rank) if rank else []
    keep = node.attribute("keep_dims", False)
    if not axes:
        node.alias()
    elif node.operator == "Mean":
        node.give(elementwise.mean(node.draft, node.wish, node.volume(0), axes, keep))
    else:
        by, x = REDUCTIONS[node.operator], node.volume(0)
        node.give(elementwise.reduce(node.draft, node.wish, x, axes, by, keep=keep))


_BATCHES = "data_format epsilon exponential_avg_factor is_training"

LAYERS: Mapping[str, Operator] = {
    "MatMul": of(product, 2, "transpose_a transpose_b grad_a grad_b"),
    **{
        name: of(product, 2, "adj_x adj_y grad_x grad_y Ta Tb Tout")
        for name in ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
    },
    **{
        name: of(batch_normalisation, 5, _BATCHES)
        for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
    },
    "Softmax": of(softmax, 1), "LogSoftmax": of(softmax, 1),
    **{name: of(reduction, 2, "keep_dims") for name in (*REDUCTIONS, "Mean")},
}

# --- Blocks of places -----------------------------------------------------------------------------
#
# Blocks of places become channels or samples, and back.
#
# Source   TensorFlow, core/ops/array_ops.cc

def to_space(node: TensorFlowNode) -> None:
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


def to_depth(node: TensorFlowNode) -> None:
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


def _blocks(node: TensorFlowNode) -> tuple[int, Shape]:
    """Return the size of blocks, and the shape that has them."""
    size, shape = node.attribute("block_size", 0), node.shape_of(0)
    node.check(size > 1 and len(shape) == 4, f"no blocks of {size} in {len(shape)} dimensions")
    return size, shape


def space_to_batch(node: TensorFlowNode) -> None:
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
    found = node.draft.copy(node.wish, tuple(whole), [PaddedPiece(volume=padded, at=at)])
    node.give(found)


def batch_to_space(node: TensorFlowNode) -> None:
    """Add BatchToSpaceND: samples of phases become places, some of which are left out."""
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


def _phases(node: TensorFlowNode) -> tuple[Shape, list[int], list[int]]:
    """Return a shape, the sizes of blocks, and the padding or the places to leave out."""
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

# --- Slices of StridedSlice -----------------------------------------------------------------------
#
# Source   TensorFlow, core/util/strided_slice_op.h

Slice = tuple[int | None, int | None, int] | int | None
"""Start, end and step of a dimension; the index of a dropped one; None for a new one."""

MASKS = "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask"


def read_slices(node: TensorFlowNode, rank: int) -> list[Slice]:
    """Return a slice for each dimension of a value, and None for new dimensions, in order.

    Raises UserError for slices that do not fit the `rank`.
    """
    starts, ends, steps = (
        node.numbers(k, what) for k, what in ((1, "the starts"), (2, "the ends"), (3, "the steps"))
    )
    node.check(len(starts) == len(ends) == len(steps), "its starts, ends and steps do not fit")
    node.check(0 not in steps, "a step is 0")
    masks = {name: node.attribute(name, 0) for name in MASKS.split()}
    found: list[Slice] = []
    ellipsis = [k for k in range(len(starts)) if masks["ellipsis_mask"] >> k & 1]
    node.check(len(ellipsis) < 2, "it has several ellipses")
    named = [k for k in range(len(starts)) if k not in ellipsis
             and not masks["new_axis_mask"] >> k & 1]
    node.check(len(named) <= rank, f"it has slices for {len(named)} of {rank} dimensions")
    for k, (start, end, step) in enumerate(zip(starts, ends, steps, strict=True)):
        if k in ellipsis:
            found += [(None, None, 1)] * (rank - len(named))
        elif masks["new_axis_mask"] >> k & 1:
            found.append(None)
        elif masks["shrink_axis_mask"] >> k & 1:
            found.append(start)
        else:
            first = None if masks["begin_mask"] >> k & 1 else start
            last = None if masks["end_mask"] >> k & 1 else end
            found.append((first, last, step))
    return found + [(None, None, 1)] * (0 if ellipsis else rank - len(named))

# --- Moves of elements ----------------------------------------------------------------------------
#
# Source   TensorFlow, core/ops/array_ops.cc

def reshape(node: TensorFlowNode) -> None:
    """Add Reshape; a size of -1 follows from the others."""
    given, sizes = node.shape_of(0), node.numbers(1, "the shape")
    rest = math.prod(size for size in sizes if size != -1)
    node.check(sizes.count(-1) < 2 and min(sizes, default=1) >= -1, f"its shape is {sizes}")
    whole = math.prod(given)
    shape = tuple(whole // max(rest, 1) if size == -1 else size for size in sizes)
    node.check(math.prod(shape) == whole, f"{whole} elements do not fit the shape {sizes}")
    _reshaped(node, shape)


def squeeze(node: TensorFlowNode) -> None:
    """Add Squeeze: without dimensions of size 1, all of them if none are given."""
    shape = node.shape_of(0)
    axes = node.dimensions(node.attribute("squeeze_dims", list[int]()), len(shape))
    axes = axes or [k for k, size in enumerate(shape) if size == 1]
    node.check(all(shape[k] == 1 for k in axes), f"a dimension of {list(shape)} is not of size 1")
    _reshaped(node, tuple(size for k, size in enumerate(shape) if k not in axes))


def expand_dimensions(node: TensorFlowNode) -> None:
    """Add ExpandDims: a dimension of size 1."""
    shape = node.shape_of(0)
    axis = node.dimension(node.number(1, "the axis"), len(shape) + 1)
    _reshaped(node, (*shape[:axis], 1, *shape[axis:]))


def _reshaped(node: TensorFlowNode, shape: Shape) -> None:
    node.give(copies.reshape(node.draft, node.wish, node.volume(0), shape))


def transpose(node: TensorFlowNode) -> None:
    """Add Transpose."""
    order, rank = node.numbers(1, "the order"), len(node.shape_of(0))
    order = [node.dimension(axis, rank) for axis in order]
    node.check(sorted(order) == list(range(rank)), f"its order {order} names not each once")
    node.give(copies.transpose(node.draft, node.wish, node.volume(0), order))


def concatenate(node: TensorFlowNode) -> None:
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


def pack(node: TensorFlowNode) -> None:
    """Add Pack: values of one shape along a new dimension."""
    shape = node.shape_of(0)
    axis = node.dimension(node.attribute("axis", 0), len(shape) + 1)
    plain = all(node.shape_of(k) == shape for k in range(node.count))
    node.check(plain, "its operands have several shapes")
    whole = (*shape[:axis], node.count, *shape[axis:])
    at = [name for k, name in enumerate(iterators(whole)) if k != axis]
    node.give(node.draft.copy(node.wish, whole, [
        PaddedPiece(volume=node.volume(k), at=at, where=f"d{axis} = {k}") for k in range(node.count)
    ]))


def unpack(node: TensorFlowNode) -> None:
    """Add Unpack: a value for each element of a dimension."""
    shape = node.shape_of(0)
    axis = node.dimension(node.attribute("axis", 0), len(shape))
    count = node.attribute("num", shape[axis])
    node.check(count == shape[axis], f"it has {count} results of {shape[axis]}")
    rest = (*shape[:axis], *shape[axis + 1 :])
    names = iterators(rest)
    for k in range(count):
        at = [*names[:axis], str(k), *names[axis:]]
        piece = PaddedPiece(volume=node.volume(0), at=at)
        node.give(node.draft.copy(node.result(k), rest, [piece]), k)


def split(node: TensorFlowNode) -> None:
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


def _cut_into(node: TensorFlowNode, x: str, axis: int, sizes: Sequence[int]) -> None:
    shape, start = node.draft.shapes[x], 0
    for k, size in enumerate(sizes):
        first = [start if n == axis else 0 for n in range(len(shape))]
        part = (*shape[:axis], size, *shape[axis + 1 :])
        found = copies.cut(node.draft, node.result(k), x, first, [1] * len(shape), part)
        node.give(found, k)
        start += size


def cut(node: TensorFlowNode) -> None:
    """Add Slice: from a start, with a size; -1 stands for the rest."""
    shape = node.shape_of(0)
    first, sizes = node.numbers(1, "the start"), node.numbers(2, "the size")
    node.check(len(first) == len(sizes) == len(shape), "its start and size do not fit")
    sizes = [n - a if s == -1 else s for n, a, s in zip(shape, first, sizes, strict=True)]
    inside = all(0 <= a <= a + s <= n for n, a, s in zip(shape, first, sizes, strict=True))
    node.check(inside, f"{sizes} from {first} on are not in {list(shape)}")
    x, steps = node.volume(0), [1] * len(shape)
    node.give(copies.cut(node.draft, node.wish, x, first, steps, tuple(sizes)))


def strided_slice(node: TensorFlowNode) -> None:
    """Add StridedSlice: a copy of the slices' elements, with dimensions dropped or added."""
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


def pad(node: TensorFlowNode) -> None:
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


def _around(node: TensorFlowNode) -> tuple[Shape, list[int], list[int]]:
    """Return the shape of an operand, and the padding before and after each dimension."""
    shape, pairs = node.shape_of(0), node.numbers(1, "what is put around")
    fits = len(pairs) == 2 * len(shape) and min(pairs, default=0) >= 0
    node.check(fits, f"what is put around, {pairs}, does not fit {len(shape)} dimensions")
    return shape, pairs[::2], pairs[1::2]


def _mirrored(
    node: TensorFlowNode, shape: Shape, sizes: Shape, low: Sequence[int], high: Sequence[int]
) -> str:
    mode = node.attribute("mode", "")
    if mode != "REFLECT":
        node.refuse(f"the mode {mode or 'that is not said'} is not known", "REFLECT is")
    inside = all(max(b, a) < n for n, b, a in zip(shape, low, high, strict=True))
    node.check(inside, f"what is put around is more than {list(shape)} have")
    return copies.mirror(node.draft, node.wish, node.volume(0), sizes, low, "reflect")


def tile(node: TensorFlowNode) -> None:
    """Add Tile."""
    times, shape = node.numbers(1, "how often"), node.shape_of(0)
    fits = len(times) == len(shape) and min(times, default=1) > 0
    node.check(fits, f"how often, {times}, does not fit {len(shape)} dimensions")
    node.give(copies.repeat(node.draft, node.wish, node.volume(0), times))


def expand(node: TensorFlowNode) -> None:
    """Add BroadcastTo."""
    given, shape = node.shape_of(0), tuple(node.numbers(1, "the shape"))
    pairs = zip(reversed(given), reversed(shape), strict=False)
    fits = len(given) <= len(shape) and all(a in (1, b) for a, b in pairs)
    node.check(fits, f"{list(given)} is not broadcast to {list(shape)}")
    node.give(copies.expand(node.draft, node.wish, node.volume(0), shape))


def gather(node: TensorFlowNode) -> None:
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
