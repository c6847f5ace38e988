"""Nodes of a graph, as far as ONNX and TensorFlow share them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.operators.draft import FITTING, Array, GraphPlace, NetworkDraft, Shape

# --- Operands of a node ---------------------------------------------------------------------------

def misfit(place: GraphPlace, operands: Sequence[str]) -> UserError:
    """Return an error at a node whose operands or attributes do not fit together."""
    read = f": {'; '.join(operands)}" if operands else ""
    return place.error(f"its operands do not fit{read}", FITTING)


@dataclass(slots=True, kw_only=True)
class KnownOperands:
    """The values of a graph that are known so far, by name.

    `volumes` has the volumes of values, `constants` the values that are numbers.
    """

    draft: NetworkDraft
    volumes: dict[str, str] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)

    def volume(self, name: str) -> str:
        """Return the volume of a value; known values become weights."""
        if name not in self.volumes:
            self.volumes[name] = self.draft.weigh(name, self.constants[name])
        return self.volumes[name]


class NodeOperands:
    """A node, with its operands by number.

    `inputs` are the names of the values that it reads; an operand that is left out has an empty
    name.
    """

    def __init__(self, inputs: Sequence[str], known: KnownOperands, place: GraphPlace) -> None:
        self.draft = known.draft
        self.place = place
        self._inputs = list(inputs)
        self._known = known

    def error(self, message: str, hint: str | None = None) -> UserError:
        """Return an error at the node."""
        return self.place.error(message, hint)

    def misfit(self) -> UserError:
        """Return an error for operands and attributes that do not fit each other."""
        known = (k for k in range(self.count) if self.has(k))
        return misfit(self.place, [f"{self._inputs[k]} is {list(self.shape_of(k))}" for k in known])

    @property
    def count(self) -> int:
        """Return the number of operands, including those left out."""
        return len(self._inputs)

    def has(self, k: int) -> bool:
        """Return whether there is an operand k."""
        return k < len(self._inputs) and self._inputs[k] != ""

    def is_known(self, k: int) -> bool:
        """Return whether the values of an operand are known."""
        return self._inputs[k] in self._known.constants

    def known(self, k: int, what: str) -> Array:
        """Return the values of an operand. Raises UserError if they depend on an input."""
        found = self._known.constants.get(self._inputs[k])
        if found is None:
            hint = "what shapes and indices are made of must not depend on an input"
            raise self.error(f"{what}, {self._inputs[k]}, is no constant", hint)
        return found

    def numbers(self, k: int, what: str) -> list[int]:
        """Return the values of an operand of integers. Raises UserError."""
        return [int(each) for each in self.known(k, what).ravel()]

    def operand(self, k: int) -> str | float:
        """Return an operand: a number if it is a single known one that is finite, else a volume.

        A single value of more dimensions than all others is a volume: it gives its rank to the
        result.
        """
        single = self._single(k)
        others = (j for j in range(self.count) if self.has(j) and self._single(j) is None)
        rank = max((len(self.shape_of(j)) for j in others), default=0)
        if single is not None and single.ndim <= rank and np.isfinite(single).all():
            return float(single.ravel()[0])
        return self.volume(k)

    def _single(self, k: int) -> Array | None:
        """Return a known operand of one element; None for others."""
        known = self._known.constants.get(self._inputs[k])
        return known if known is not None and known.size == 1 else None

    def volume(self, k: int) -> str:
        """Return the volume of an operand; known values become weights."""
        return self._known.volume(self._inputs[k])

    def shape_of(self, k: int) -> Shape:
        """Return the shape of an operand."""
        name = self._inputs[k]
        known = self._known.constants.get(name)
        return self.draft.shapes[self._known.volumes[name]] if known is None else known.shape

    def dimension(self, axis: int, rank: int) -> int:
        """Return a dimension counted from 0; `axis` may count from the end. Raises UserError."""
        if not -rank <= axis < rank:
            raise self.error(f"axis {axis} is beyond {rank} dimensions")
        return axis + rank if axis < 0 else axis

    def dimensions(self, axes: Sequence[int], rank: int) -> list[int]:
        """Return dimensions counted from 0, each once, sorted. Raises UserError."""
        return sorted({self.dimension(int(axis), rank) for axis in axes})

# --- Weights as small integers --------------------------------------------------------------------
#
# Source   design, Arithmetic: with `kind: integers` every order of evaluation gives the same bits

GROWTH = 2.0**19
"""Largest growth from inputs, which are small integers in float32, through all sums together."""


def draw_weights(name: str, shape: Shape, terms: float, sums: int, seed: int) -> Array:
    """Return weights of -1, 0 and 1, drawn from a seed and their name.

    Of the `terms` of a sum, only so many are not zero that a chain of `sums` sums remains exact.
    """
    draw = np.random.default_rng([seed, zlib.crc32(name.encode())])
    most = GROWTH ** (1 / max(sums, 1))
    signs = draw.choice([-1, 1], shape)
    found: Array = signs * (draw.random(shape) < most / terms)
    return found
