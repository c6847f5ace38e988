"""Functions of elements, of operands that are broadcast to each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stages.network.extraction.draft import Draft, Read, Shape, broadcast, label

Operand = str | float | Read
"""A volume, which is broadcast; a number; or an element of a volume for each of the result."""


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
