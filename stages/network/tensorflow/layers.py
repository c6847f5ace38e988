"""Operators of TensorFlow that compute sums: products, reductions, normalisation.

Source   TensorFlow, core/ops/{math,nn}_ops.cc
"""

from __future__ import annotations

from collections.abc import Mapping

from lairmake.stages.network.operators import elementwise
from lairmake.stages.network.operators.draft import Array
from lairmake.stages.network.tensorflow.convolutions import read_layout
from lairmake.stages.network.tensorflow.node import Node, Operator, of

REDUCTIONS: Mapping[str, str] = {"Sum": "+=", "Max": "max=", "Min": "min=", "Prod": "*="}


def product(node: Node) -> None:
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


def batch_normalisation(node: Node) -> None:
    """Add FusedBatchNorm with the mean and the variance that were learned."""
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


def softmax(node: Node) -> None:
    """Add Softmax or LogSoftmax: along the last dimension."""
    rank = len(node.shape_of(0))
    node.check(rank > 0, "its operand has no dimensions")
    log = node.operator == "LogSoftmax"
    node.give(elementwise.softmax(node.draft, node.wish, node.volume(0), [rank - 1], log))


def reduction(node: Node) -> None:
    """Add a reduction over axes; over none the operand stays."""
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
