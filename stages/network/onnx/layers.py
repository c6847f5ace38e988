"""Operators of ONNX that compute sums: products, reductions, normalisation.

Source   ONNX, Operators.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from lairmake.stages.network.onnx.node import Node
from lairmake.stages.network.operators import copies, elementwise
from lairmake.stages.network.operators.draft import Array
from lairmake.stages.network.operators.elementwise import apply, of_channels

PER_CHANNEL = 21
"""The opset from which on a group normalisation scales channels, and not groups."""

NEW_SOFTMAX = 13
"""The opset from which on softmax is along one axis, and not along all from one on."""


def product(node: Node) -> None:
    """Add MatMul."""
    node.give(elementwise.multiply(node.draft, node.wish, node.volume(0), node.volume(1)))


def general_product(node: Node) -> None:
    """Add Gemm: alpha A B + beta C."""
    turned = bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0))
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    has_bias = node.has(2) and beta != 0
    plain = alpha == 1 and not has_bias
    found = elementwise.multiply(
        node.draft, node.wish if plain else f"{node.wish}_sum", node.volume(0), node.volume(1),
        turned=turned,
    )
    if not plain:
        factor = "{0}" if alpha == 1 else "{1} * {0}"
        offset = "" if not has_bias else " + {2}" if beta == 1 else " + {3} * {2}"
        bias = node.operand(2) if has_bias else 0.0
        found = apply(node.draft, node.wish, factor + offset, [found, alpha, bias, beta])
    node.give(found)


def batch_normalisation(node: Node) -> None:
    """Add BatchNormalization with known statistics: a factor and an offset for each channel."""
    if node.attribute("training_mode", 0) or len(node.results) > 1:
        raise node.error("it is in training mode", "export the model for inference")
    small, x = node.attribute("epsilon", 1e-5), node.volume(0)
    numbers = range(1, 5)
    is_known = all(map(node.is_known, numbers))
    statistics: list[str | Array] = [
        node.known(k, "a statistic") if is_known else node.volume(k) for k in numbers
    ]
    node.give(elementwise.scale_batches(node.draft, node.wish, x, statistics, small))


def instance_normalisation(node: Node) -> None:
    """Add InstanceNormalization: over the places of each channel of each sample."""
    rank = len(node.shape)
    normal = elementwise.normalise(
        node.draft, f"{node.wish}_normal", node.volume(0), range(2, rank),
        node.attribute("epsilon", 1e-5),
    )
    by, to = (of_channels(node.volume(k)) for k in (1, 2))
    node.give(elementwise.scale(node.draft, node.wish, normal.result, by, to))


def group_normalisation(node: Node) -> None:
    """Add GroupNormalization: over the channels of a group, and all places."""
    draft, x, groups = node.draft, node.volume(0), node.attribute("num_groups")
    samples, channels, *places = node.shape
    per_channel = node.opset >= PER_CHANNEL
    shape = (samples, groups, channels // groups, *places)
    parted = copies.reshape(draft, f"{node.wish}_groups", x, shape)
    normal = elementwise.normalise(
        draft, f"{node.wish}_normal", parted, range(2, len(shape)),
        node.attribute("epsilon", 1e-5),
    )
    at = f"{channels // groups}*d1 + d2" if per_channel else "d1"
    by, to = (of_channels(node.volume(k), at) for k in (1, 2))
    scaled = elementwise.scale(draft, f"{node.wish}_scaled", normal.result, by, to)
    node.give(copies.reshape(draft, node.wish, scaled, node.shape))


def layer_normalisation(node: Node) -> None:
    """Add LayerNormalization or RMSNormalization: over all dimensions from `axis` on."""
    rank = len(node.shape)
    normal = elementwise.normalise(
        node.draft, f"{node.wish}_normal", node.volume(0),
        range(node.axis("axis", -1, rank), rank), node.attribute("epsilon", 1e-5),
        centred=node.operator == "LayerNormalization",
    )
    offset = node.operand(2) if node.has(2) else None
    node.give(elementwise.scale(node.draft, node.wish, normal.result, node.operand(1), offset))
    if len(node.results) > 1:
        assert normal.mean is not None
        node.give(normal.mean, 1)
    if len(node.results) > 2:
        inverse = apply(node.draft, node.results[2], "1.0 / {0}", [normal.deviation])
        node.give(inverse, 2)


def softmax(node: Node) -> None:
    """Add Softmax or LogSoftmax: along an axis, before opset 13 along all from one on."""
    rank, new = len(node.shape), node.opset >= NEW_SOFTMAX
    axis = node.axis("axis", -1 if new else 1, rank)
    axes = [axis] if new else range(axis, rank)
    log = node.operator == "LogSoftmax"
    node.give(elementwise.softmax(node.draft, node.wish, node.volume(0), axes, log))


REDUCTIONS: Mapping[str, tuple[str, str, str]] = {
    "ReduceSum": ("+=", "{0}", "{0}"), "ReduceMean": ("+=", "{0}", "{0} / {1}"),
    "ReduceMax": ("max=", "{0}", "{0}"), "ReduceMin": ("min=", "{0}", "{0}"),
    "ReduceProd": ("*=", "{0}", "{0}"), "ReduceL1": ("+=", "abs({0})", "{0}"),
    "ReduceL2": ("+=", "{0} * {0}", "sqrt({0})"),
    "ReduceSumSquare": ("+=", "{0} * {0}", "{0}"),
    "ReduceLogSum": ("+=", "{0}", "log({0})"),
}
"""The operator, what is reduced, and what is made of that, and of the number of elements."""


def reduction(node: Node) -> None:
    """Add a reduction over axes, all if none are said."""
    x, rank = node.volume(0), len(node.shape_of(0))
    axes = node.attribute("axes")
    if axes is None and node.has(1):
        axes = node.numbers(1, "the axes")
    if not axes and node.attribute("noop_with_empty_axes", 0):
        node.alias()
        return
    found = node.dimensions(axes or range(rank), rank)
    keep = bool(node.attribute("keepdims", 1))
    if node.operator == "ReduceLogSumExp":
        _log_sum_exp(node, x, found, keep)
        return
    operator, value, after = REDUCTIONS[node.operator]
    wish = node.wish if after == "{0}" else f"{node.wish}_sum"
    total = elementwise.reduce(node.draft, wish, x, found, operator, value, keep)
    if after != "{0}":
        number = float(math.prod(node.shape_of(0)[k] for k in found))
        total = apply(node.draft, node.wish, after, [total, number])
    node.give(total)


def _log_sum_exp(node: Node, x: str, axes: Sequence[int], keep: bool) -> None:
    """Give the logarithm of the sum of powers, the largest of which is taken off before."""
    draft, wish = node.draft, node.wish
    largest = elementwise.reduce(draft, f"{wish}_max", x, axes, "max=")
    power = apply(draft, f"{wish}_exp", "exp({0} - {1})", [x, largest])
    total = elementwise.reduce(draft, f"{wish}_sum", power, axes, "+=")
    if keep:
        node.give(apply(draft, wish, "{0} + log({1})", [largest, total]))
        return
    found = apply(draft, f"{wish}_kept", "{0} + log({1})", [largest, total])
    node.give(copies.reshape(draft, wish, found, node.shape))


LAYERS: Mapping[str, Callable[[Node], None]] = {
    "MatMul": product, "Gemm": general_product,
    "BatchNormalization": batch_normalisation,
    "InstanceNormalization": instance_normalisation,
    "GroupNormalization": group_normalisation, "LayerNormalization": layer_normalisation,
    "RMSNormalization": layer_normalisation, "Softmax": softmax, "LogSoftmax": softmax,
    "ReduceLogSumExp": reduction, **dict.fromkeys(REDUCTIONS, reduction),
}
