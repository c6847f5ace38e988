"""Operators of TensorFlow that are functions of elements.

Source   TensorFlow, core/ops/{math,nn}_ops.cc: each is an expression of LAIR
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from lairmake.stages.network.operators.elementwise import (
    POWERS,
    SHARED,
    TRUE,
    apply,
    of_channels,
    write_number,
)
from lairmake.stages.network.tensorflow.model import read_type
from lairmake.stages.network.tensorflow.node import Node, Operator, of

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
    """Return how many operands an expression has."""
    return 1 + max(int(each) for each in re.findall(r"{(\d)}", template))


def plain(node: Node) -> None:
    """Add a function of elements that has no attributes."""
    template = EXPRESSIONS[node.operator]
    is_truth = node.operator in TRUTHS or (node.operator == "SelectV2" and node.is_truth(1))
    _give(node, template, is_truth=is_truth)


def leaky(node: Node) -> None:
    """Add LeakyRelu."""
    _give(node, LEAKY.format(alpha=write_number(node.attribute("alpha", 0.2))))


def total(node: Node) -> None:
    """Add AddN: a sum of any number of operands, which are of one shape."""
    node.check(node.attribute("N", node.count) == node.count, "N is not how many operands it has")
    for k in range(node.count):
        node.check(node.shape_of(k) == node.shape_of(0), "its operands have several shapes")
    _give(node, " + ".join(f"{{{k}}}" for k in range(node.count)))


def select(node: Node) -> None:
    """Add Select, which broadcasts nothing but a single condition."""
    shapes = [node.shape_of(k) for k in range(3)]
    if shapes[1] != shapes[2] or shapes[0] not in ((), shapes[1]):
        node.refuse("its operands have several shapes", "use tf.where of version 2")
    _give(node, "select({0}, {1}, {2})", is_truth=node.is_truth(1))


def power(node: Node) -> None:
    """Add a power; small whole exponents are products."""
    exponent = node.operand(1)
    if not isinstance(exponent, str) and exponent in POWERS:
        node.give(apply(node.draft, node.wish, POWERS[exponent], [node.operand(0)]))
    else:
        _give(node, "pow({0}, {1})")


def bias(node: Node) -> None:
    """Add BiasAdd: an element of a vector for each channel."""
    shape, layout = node.shape_of(0), node.attribute("data_format", "NHWC")
    if layout not in ("NHWC", "NCHW"):
        node.refuse(f"the layout {layout} is not known", "NHWC and NCHW are")
    axis = 1 if layout == "NCHW" else len(shape) - 1
    node.check(len(shape) > 1, "its operand has no channels")
    node.check(node.shape_of(1) == (shape[axis],), f"it has not {shape[axis]} numbers to add")
    offset = of_channels(node.volume(1), f"d{axis}")
    node.give(apply(node.draft, node.wish, "{0} + {1}", [node.volume(0), offset]))


def cast(node: Node) -> None:
    """Add another type: a truth of a number, else the same elements."""
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


def _give(node: Node, template: str, *, is_truth: bool = False) -> None:
    operands = [node.operand(k) for k in range(node.count)]
    node.give(apply(node.draft, node.wish, template, operands), is_truth=is_truth)


ARITHMETIC: Mapping[str, Operator] = {
    **{name: of(plain, count_operands(each)) for name, each in EXPRESSIONS.items()},
    "Equal": of(plain, 2, "incompatible_shape_error"),
    "NotEqual": of(plain, 2, "incompatible_shape_error"),
    "AddN": of(total, 1, "N", most=1024), "BiasAdd": of(bias, 2, "data_format"),
    "Cast": of(cast, 1, "Truncate"), "LeakyRelu": of(leaky, 1, "alpha"), "Pow": of(power, 2),
    "Select": of(select, 3),
    **{name: of(Node.alias, 1) for name in ("Identity", "PreventGradient", "Snapshot",
                                            "StopGradient")},
    "PlaceholderWithDefault": of(Node.alias, 1, "dtype shape"),
}
