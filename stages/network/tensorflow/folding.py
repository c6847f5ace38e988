"""Constants of a graph of TensorFlow: values that depend on no input, mostly by NumPy.

Functions of elements of real numbers are those that operations would compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.network.operators.draft import Array
from lairmake.stages.network.tensorflow.model import MOST_ELEMENTS, TensorFlowNode, read_type
from lairmake.stages.network.tensorflow.operators import EXPRESSIONS, PLAIN, TRUTHS, read_slices
from lairmake.stages.reference.evaluate import value

Fold = Callable[[TensorFlowNode, Sequence[Array]], Array | Sequence[Array]]

INTEGERS: Mapping[str, Callable[..., Array]] = {
    "Abs": np.abs, "Add": np.add, "AddV2": np.add, "Equal": np.equal,
    "FloorDiv": np.floor_divide, "FloorMod": np.remainder, "Greater": np.greater,
    "GreaterEqual": np.greater_equal, "Less": np.less, "LessEqual": np.less_equal,
    "Maximum": np.maximum, "Minimum": np.minimum, "Mul": np.multiply, "Neg": np.negative,
    "NotEqual": np.not_equal, "Square": np.square, "Sub": np.subtract,
    "SelectV2": lambda c, a, b: np.asarray(np.where(c, a, b)),
}
"""Functions of elements of integers."""

REDUCED: Mapping[str, Callable[..., Array]] = {
    "Sum": np.sum, "Prod": np.prod, "Max": np.max, "Min": np.min, "Mean": np.mean,
}


def fold(node: TensorFlowNode) -> bool:
    """Compute the results of a node whose operands are all known. Return whether that was possible.

    Raises UserError for operands that do not fit.
    """
    if node.operator in SIZES and node.count == 1:
        node.give_constant(_size(node))
        return True
    if not node.count or not all(map(node.is_known, range(node.count))):
        return False
    operands = [node.known(k, "an operand") for k in range(node.count)]
    found = _folded(node, operands)
    if found is None:
        return False
    for k, array in enumerate([found] if isinstance(found, np.ndarray | np.generic) else found):
        node.check(array.size > 0 or array.dtype.kind in "iu", "its result has no elements")
        node.give_constant(np.asarray(array), k)
    return True


def _folded(node: TensorFlowNode, operands: Sequence[Array]) -> Array | Sequence[Array] | None:
    whole = all(each.dtype.kind in "iub" for each in operands[-2:])
    with np.errstate(all="ignore"):
        if node.operator in INTEGERS and whole:
            return INTEGERS[node.operator](*operands)
        if node.operator in EXPRESSIONS:
            return None if whole and node.operator in PLAIN else _evaluated(node, operands)
        return FOLDS[node.operator](node, operands) if node.operator in FOLDS else None


def _evaluated(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    """Return the value of an expression of LAIR for known operands."""
    node.check(_elements(np.broadcast_shapes(*(o.shape for o in operands))), TOO_LARGE)
    expression = EXPRESSIONS[node.operator].format(*(f"v{k}" for k in range(len(operands))))
    wide = {f"v{k}": each.astype(np.float64) for k, each in enumerate(operands)}
    found = value(parse_expression(expression), lambda access: wide[access.tensor])
    return np.asarray(found).astype(np.bool_ if node.operator in TRUTHS else operands[-1].dtype)


SIZES = ("Shape", "Size", "Rank")
TOO_LARGE = "its result is too large for a constant"


def _size(node: TensorFlowNode) -> Array:
    """Return the shape of an operand, the number of its elements, or of its dimensions."""
    shape = node.shape_of(0)
    number = node.type_number("out_type")
    kind = read_type(number) if number is not None else None
    found = {"Shape": shape, "Size": math.prod(shape), "Rank": len(shape)}[node.operator]
    return np.array(found, np.int32 if kind is None else kind)


def _elements(shape: Sequence[int]) -> bool:
    return math.prod(map(int, shape)) <= MOST_ELEMENTS


def _cast(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    to = node.type_number("DstT")
    kind = None if to is None else read_type(to)
    if kind is None:
        node.refuse("it makes a type that is not known")
    return operands[0].astype(kind)


def _fill(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    shape = node.numbers(0, "the shape")
    node.check(min(shape, default=1) >= 0 and _elements(shape), TOO_LARGE)
    return np.full(shape, operands[1].reshape(()))


def _range(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    start, end, step = (each.item() for each in operands)
    node.check(abs((end - start) / step) <= MOST_ELEMENTS, TOO_LARGE)
    return np.asarray(np.arange(start, end, step), operands[0].dtype)


def _reduce(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    axes, x = node.numbers(1, "the axes"), operands[0]
    keep = node.attribute("keep_dims", False)
    found = REDUCED[node.operator](x, axis=tuple(axes), keepdims=keep)
    return np.asarray(found).astype(x.dtype)


def _squeeze(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    return np.squeeze(operands[0], tuple(node.attribute("squeeze_dims", list[int]())) or None)


def _transpose(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    return np.transpose(operands[0], node.numbers(1, "the order"))


def _slice(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    return operands[0][tuple(
        slice(*each) if isinstance(each, tuple) else each
        for each in read_slices(node, operands[0].ndim)
    )]


def _cut(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    first, sizes = node.numbers(1, "the start"), node.numbers(2, "the size")
    return operands[0][tuple(
        slice(a, None if s == -1 else a + s) for a, s in zip(first, sizes, strict=True)
    )]


def _join(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    is_new = node.operator == "ConcatV2"
    axis = node.number(node.count - 1 if is_new else 0, "the axis")
    return np.concatenate(operands[:-1] if is_new else operands[1:], axis)


def _pad(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    pairs = np.array(node.numbers(1, "what is put around")).reshape(-1, 2)
    around = operands[2].reshape(()) if node.operator == "PadV2" else 0
    shape = [n + int(b) + int(a) for n, (b, a) in zip(operands[0].shape, pairs, strict=True)]
    node.check(_elements(shape), TOO_LARGE)
    return np.pad(operands[0], pairs, constant_values=around)


def _tile(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    times = node.numbers(1, "how often")
    node.check(_elements([*operands[0].shape, *times]), TOO_LARGE)
    return np.tile(operands[0], times)


def _expand(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    shape = node.numbers(1, "the shape")
    node.check(_elements(shape), TOO_LARGE)
    return np.broadcast_to(operands[0], shape)


def _gather(node: TensorFlowNode, operands: Sequence[Array]) -> Array:
    axis = node.number(2, "the axis") if node.count > 2 else 0
    if node.attribute("batch_dims", 0) != 0:
        node.refuse("its indices differ from sample to sample", "gather without batch_dims")
    return np.take(operands[0], operands[1], axis)


def _unpack(node: TensorFlowNode, operands: Sequence[Array]) -> Sequence[Array]:
    axis = node.attribute("axis", 0)
    return [np.take(operands[0], k, axis) for k in range(operands[0].shape[axis])]


FOLDS: Mapping[str, Fold] = {
    "Cast": _cast, "Fill": _fill, "Range": _range, "Squeeze": _squeeze, "Transpose": _transpose,
    **dict.fromkeys(REDUCED, _reduce),
    "Reshape": lambda node, operands: operands[0].reshape(node.numbers(1, "the shape")),
    "ExpandDims": lambda node, operands: np.expand_dims(operands[0], node.number(1, "the axis")),
    "StridedSlice": _slice, "Slice": _cut, "ConcatV2": _join, "Concat": _join, "Pad": _pad,
    "PadV2": _pad, "Tile": _tile, "BroadcastTo": _expand, "Gather": _gather, "GatherV2": _gather,
    "Pack": lambda node, operands: np.stack(operands, node.attribute("axis", 0)),
    "Unpack": _unpack,
}
"""Operators other than functions of elements that are computed if all operands are known."""
