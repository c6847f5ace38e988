"""Go through the invocations of a layer: what changes from one to the next.

Source   V Sec. 4.1.2: "delays between different parts of the LAIR
         graph"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.reference.strided import Array

Arrays = Mapping[str, Array]
"""Tensors by name."""

Samples = Sequence[Arrays]
"""The inputs of each invocation; those that stay the same are the same arrays."""

StatementMeaning = Callable[[Statement, Arrays], Array]
"""What a statement defines, from all that is known in an invocation."""


def unroll(layer: Layer, samples: Samples, meaning: StatementMeaning) -> list[Arrays]:
    """Return all tensors in each invocation, from the inputs in each of them.

    What is delayed is zero at first; what is carried is an input of the first invocation only.
    Where nothing is, invocations with the same inputs are the same object.
    """
    found: list[Arrays] = []
    carried = {tensor.name: np.zeros(tensor.shape, tensor.type) for tensor in layer.delayed}
    for n, inputs in enumerate(samples):
        if n and not layer.carries and is_same_input(inputs, samples[n - 1]):
            found.append(found[-1])
            continue
        tensors: dict[str, Array] = {**inputs, **carried}
        for statement in layer.statements:
            tensors[statement.target.tensor] = meaning(statement, tensors)
        found.append(tensors)
        carried = {c.tensor: tensors[c.source] for c in layer.carries}
    return found


def is_same_input(inputs: Arrays, before: Arrays) -> bool:
    """Whether two invocations have the same arrays as inputs."""
    return all(array is before[name] for name, array in inputs.items())


def alike(values: list[Array]) -> list[Array]:
    """Return the values of an input in each invocation; one where all are the same array."""
    return values[:1] if all(value is values[0] for value in values) else values


def column(invocations: Sequence[Arrays], name: str) -> list[Array]:
    """Return one tensor of every invocation; nothing where nothing is known of any."""
    return [tensors[name] for tensors in invocations]
