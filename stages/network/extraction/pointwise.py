"""Functions of elements, of operands that are broadcast to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lairmake.stages.network.extraction.draft import Draft, Read, Shape, broadcast, label

Operand = str | float | Read
"""A volume, which is broadcast; a number; or an element of a volume for each of the result."""

SHARED: Mapping[str, str] = {
    "Abs": "abs({0})",
    "Add": "{0} + {1}",
    "Ceil": "ceil({0})",
    "Cos": "cos({0})",
    "Div": "{0} / {1}",
    "Erf": "erf({0})",
    "Exp": "exp({0})",
    "Floor": "floor({0})",
    "Log": "log({0})",
    "Mul": "{0} * {1}",
    "Neg": "-{0}",
    "Reciprocal": "1.0 / {0}",
    "Relu": "relu({0})",
    "Round": "round({0})",
    "Sigmoid": "sigmoid({0})",
    "Sign": "less(0.0, {0}) - less({0}, 0.0)",
    "Sin": "sin({0})",
    "Softplus": "max({0}, 0.0) + log(1.0 + exp(-abs({0})))",
    "Softsign": "{0} / (1.0 + abs({0}))",
    "Sqrt": "sqrt({0})",
    "Sub": "{0} - {1}",
    "Tanh": "tanh({0})",
}
"""Operators that ONNX and TensorFlow call the same, and that are the same expression."""

TRUE = "less(0.0, abs({0}))"
POWERS = {
    -1.0: "1.0 / {0}", -0.5: "1.0 / sqrt({0})", 0.5: "sqrt({0})", 1.0: "{0}", 2.0: "{0} * {0}",
    3.0: "{0} * {0} * {0}", 4.0: "{0} * {0} * ({0} * {0})",
}


def apply(draft: Draft, wish: str, template: str, operands: Sequence[Operand]) -> str:
    """Add `template` of operands, such as `{0} + {1}`, element by element. Return its name.

    A number stands in the expression; of numbers alone the result is a single element.
    """
    volumes = dict.fromkeys(each for each in operands if isinstance(each, str))
    shape = broadcast_shape([draft.shapes[each] for each in volumes])
    whole = {each: broadcast(each, draft.shapes[each], len(shape)) for each in volumes}
    single = [each for each in operands if isinstance(each, Read)]
    reads = label([*whole.values(), *single])
    labels = {id(read): name for name, read in reads.items()}
    texts = [
        labels[id(whole[each])] if isinstance(each, str)
        else labels[id(each)] if isinstance(each, Read) else write_number(each)
        for each in operands
    ]
    return draft.compute(wish, shape, reads, template.format(*texts))


def of_channels(volume: str, at: str = "d1") -> Read:
    """Return the element of a vector for the channel of each element of a result."""
    return Read(volume=volume, at=[at])


def broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """Return the shape to which others are broadcast. Raises ValueError where they do not fit."""
    return np.broadcast_shapes(*shapes)


def write_number(value: float) -> str:
    """Return a number as LAIR writes it; it may stand in an expression as it is."""
    number = float(value)
    text = repr(abs(number))
    return f"(-{text})" if number < 0 or (number == 0 and np.signbit(number)) else text
