"""Operators of ONNX that are functions of elements.

Source   ONNX, Operators.md: each is an expression of LAIR
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from onnx import TensorProto

from lairmake.stages.network.onnx.node import Node
from lairmake.stages.network.operators.elementwise import (
    POWERS,
    SHARED,
    TRUE,
    Operand,
    apply,
    write_number,
)

PLAIN: Mapping[str, str] = {
    **SHARED,
    "And": "min({0}, {1})",
    "Equal": "equal({0}, {1})",
    "Greater": "less({1}, {0})",
    "GreaterOrEqual": "less_equal({1}, {0})",
    "HardSwish": "{0} * max(0.0, min(1.0, {0} * 0.16666666666666666 + 0.5))",
    "Less": "less({0}, {1})",
    "LessOrEqual": "less_equal({0}, {1})",
    "Mish": "{0} * tanh(log(1.0 + exp({0})))",
    "Not": "1.0 - {0}",
    "Or": "max({0}, {1})",
    "PRelu": "select(less({0}, 0.0), {1} * {0}, {0})",
    "Where": "select({0}, {1}, {2})",
    "Xor": "abs({0} - {1})",
}
"""Operators without attributes; true is 1, and false 0."""

FOLDED: Mapping[str, str] = {
    "Max": "max({0}, {1})", "Min": "min({0}, {1})", "Sum": "{0} + {1}", "Mean": "{0} + {1}",
}
"""Operators of any number of operands, two by two."""

SHAPED: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "Elu": ("select(less({0}, 0.0), {alpha} * (exp(min({0}, 0.0)) - 1.0), {0})", {"alpha": 1.0}),
    "Celu": (
        "max({0}, 0.0) + min(0.0, {alpha} * (exp(min({0}, 0.0) / {alpha}) - 1.0))",
        {"alpha": 1.0},
    ),
    "HardSigmoid": ("max(0.0, min(1.0, {alpha} * {0} + {beta}))", {"alpha": 0.2, "beta": 0.5}),
    "LeakyRelu": ("select(less({0}, 0.0), {alpha} * {0}, {0})", {"alpha": 0.01}),
    "Selu": (
        "{gamma} * select(less({0}, 0.0), {alpha} * (exp(min({0}, 0.0)) - 1.0), {0})",
        {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    ),
    "ThresholdedRelu": ("select(less({alpha}, {0}), {0}, 0.0)", {"alpha": 1.0}),
    "Shrink": (
        "select(less({lambd}, {0}), {0} - {bias}, select(less({0}, -{lambd}), {0} + {bias}, 0.0))",
        {"lambd": 0.5, "bias": 0.0},
    ),
    "Swish": ("{0} * sigmoid({alpha} * {0})", {"alpha": 1.0}),
}
"""Operators with attributes, and their defaults."""

LARGEST = (65504.0, (2.0 - 2.0**-7) * 2.0**127, (2.0 - 2.0**-23) * 2.0**127)
"""The largest values of a float16, a bfloat16 and a float32."""

SQUARE_ROOT_OF_HALF = 0.7071067811865476
TANH_OF_GELU = (0.7978845608028654, 0.044715)


def plain(node: Node) -> None:
    """Add a function of elements that has no attributes."""
    _give(node, PLAIN[node.operator], [node.operand(k) for k in range(node.count)])


def folded(node: Node) -> None:
    """Add a function of any number of operands."""
    operands = [node.operand(k) for k in range(node.count)]
    template = "{0}"
    for k in range(1, len(operands)):
        template = FOLDED[node.operator].format(template, f"{{{k}}}")
    if node.operator == "Mean":
        template = f"({template}) / {write_number(len(operands))}"
    _give(node, template, operands)


def shaped(node: Node) -> None:
    """Add a function of elements that attributes change."""
    template, defaults = SHAPED[node.operator]
    given = {name: write_number(node.attribute(name, value)) for name, value in defaults.items()}
    _give(node, template.format("{0}", **given), [node.operand(0)])


def clip(node: Node) -> None:
    """Add what lies within limits, those which are finite."""
    template, operands = "{0}", [node.operand(0)]
    for k, function, name in ((1, "max", "min"), (2, "min", "max")):
        limit = node.attribute(name)
        if limit is None and node.has(k):
            limit = node.operand(k)
        if limit is None or (not isinstance(limit, str) and _is_endless(limit)):
            continue
        template = f"{function}({template}, {{{len(operands)}}})"
        operands.append(limit)
    _give(node, template, operands)


def _is_endless(limit: float) -> bool:
    """Whether all finite values of a type of floats lie within a limit."""
    return abs(limit) in LARGEST or abs(limit) >= LARGEST[-1]


def gelu(node: Node) -> None:
    """Add GELU, by the error function or its approximation."""
    x = [node.operand(0)]
    if node.attribute("approximate", "none") == "tanh":
        factor, cubic = (write_number(each) for each in TANH_OF_GELU)
        cube = f"{{0}} + {cubic} * ({{0}} * {{0}} * {{0}})"
        _give(node, f"0.5 * {{0}} * (1.0 + tanh({factor} * ({cube})))", x)
    else:
        root = write_number(SQUARE_ROOT_OF_HALF)
        _give(node, f"0.5 * {{0}} * (1.0 + erf({{0}} * {root}))", x)


def power(node: Node) -> None:
    """Add a power; small whole exponents are products."""
    base, exponent = node.operand(0), node.operand(1)
    if not isinstance(exponent, str) and exponent in POWERS:
        _give(node, POWERS[exponent], [base])
    else:
        _give(node, "pow({0}, {1})", [base, exponent])


def cast(node: Node) -> None:
    """Add another type: a truth of a number, else the same elements."""
    if node.attribute("to") == TensorProto.BOOL and node.type_of(0) != np.bool_:
        _give(node, TRUE, [node.operand(0)])
    else:
        node.alias()


def dropout(node: Node) -> None:
    """Add Dropout, which drops nothing here; its mask is true."""
    node.alias()
    if len(node.results) > 1:
        node.give(node.draft.weigh(node.results[1], np.ones(node.shape_of_result(1))), 1)


def _give(node: Node, template: str, operands: Sequence[Operand]) -> None:
    node.give(apply(node.draft, node.wish, template, operands))


ARITHMETIC: Mapping[str, Callable[[Node], None]] = {
    **dict.fromkeys(PLAIN, plain), **dict.fromkeys(FOLDED, folded),
    **dict.fromkeys(SHAPED, shaped), "Clip": clip, "Gelu": gelu, "Pow": power, "Cast": cast,
    **{name: lambda node: node.alias() for name in ("Identity", "CastLike")}, "Dropout": dropout,
}
