"""A layer: a node of LAIR, or a graph of them, with every size fixed and every rule checked.

Source   V Sec. 4.1.1: the input of the compiler is "always fully
         specialized to fixed integer tensor sizes"
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from lairmake.stages.diagnose import Span
from lairmake.stages.lair.tree import Access, Comparison, Expr

OPS = ("=", "+=", "*=", "max=", "min=")
NEUTRAL: Mapping[str, float] = {"+=": 0, "*=": 1, "max=": -math.inf, "min=": math.inf}
"""With what a reduction leaves an element as it is, by its operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor: a type of TYPES and a size per dimension, in elements."""

    name: str
    type: str
    shape: tuple[int, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """All instances `name[iterators]`, 0 <= iterator < size, of `target op expr`.

    Of these only those for which all `conditions` hold, of numbers and iterators. `reads` has one
    access per tensor of `expr`, in order of first appearance.
    """

    name: str
    iterators: tuple[str, ...]
    sizes: tuple[int, ...]
    conditions: tuple[Comparison, ...] = ()
    target: Access
    op: str
    expr: Expr
    reads: tuple[Access, ...]
    span: Span = field(compare=False, repr=False)

    def __post_init__(self) -> None:
        """Every iterator has a size; the operator is LAIR's."""
        assert len(self.iterators) == len(self.sizes) and self.op in OPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """After each invocation `tensor` takes the value of `source`, of its type and shape."""

    tensor: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What is built: `name` is that of the node or graph at the top.

    A statement comes after those that define what it reads. `internals` go from one statement to
    others; `delayed` are what others were some invocations ago, and zero before the first.
    `carries` stand in the order in which they happen: a tensor gives its value before it changes.
    `fed_back` are results by the names that they have where they come back, once that is known.
    """

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    statements: tuple[Statement, ...]
    internals: tuple[Tensor, ...] = ()
    delayed: tuple[Tensor, ...] = ()
    carries: tuple[Carry, ...] = ()
    fed_back: tuple[Tensor, ...] = ()

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name, inputs first."""
        every = (*self.inputs, *self.outputs, *self.internals, *self.delayed, *self.fed_back)
        return {tensor.name: tensor for tensor in every}


def find_writer(layer: Layer, tensor: str) -> Statement:
    """Return the statement that defines a tensor."""
    return next(s for s in layer.statements if s.target.tensor == tensor)
