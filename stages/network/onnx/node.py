"""A node of an ONNX graph, as its operator sees it: operands, attributes, and its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto, helper

from stages.diagnose import UserError
from stages.network.extraction.draft import Array, Draft, Place, Shape
from stages.network.onnx.folding import infer
from stages.network.onnx.model import read_shape, read_type


@dataclass(slots=True, kw_only=True)
class Graph:
    """What is known of a graph so far, by the names of its values.

    `volumes` has the volumes that values are, `constants` the values that are known, `values` what
    was inferred of types and shapes; if it `is_corrected`, what follows is inferred anew.
    """

    draft: Draft
    opset: int
    volumes: dict[str, str] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)
    values: dict[str, ValueInfoProto] = field(default_factory=dict)
    is_corrected: bool = False

    def shape(self, name: str) -> Shape | None:
        """Return the shape of a value; None where it is not known."""
        known = self.constants.get(name)
        return read_shape(self.values.get(name)) if known is None else known.shape

    def correct(self, name: str) -> None:
        """Take the shape of a volume for that of the value which it is, where another was inferred.

        ONNX counts windows that begin behind all elements, and nobody computes them.
        """
        shape = self.draft.shapes[self.volumes[name]]
        if shape != self.shape(name):
            kind = self.values[name].type.tensor_type.elem_type
            self.values[name] = helper.make_tensor_value_info(name, kind, shape)
            self.is_corrected = True

    def infer(self, node: NodeProto, model: ModelProto) -> None:
        """Infer the results of a node from what is known now. Raises what ONNX does."""
        found = infer(node, model, self.constants, self.values)
        self.values.update({value.name: value for value in found})

    def copy_value(self, name: str, to: str) -> None:
        """Say that a value has the type and the shape of another."""
        value = ValueInfoProto()
        value.CopyFrom(self.values[name])
        value.name = to
        self.values[to] = value

    def type(self, name: str) -> np.dtype[Any]:
        """Return the type of a value as NumPy calls it."""
        known = self.constants.get(name)
        return read_type(self.values[name]) if known is None else known.dtype


class Node:
    """A node, with its operands by number and its attributes by name.

    `results` has the names of what it gives, those that nobody asks for left out; `places` which
    ones they are.
    """

    def __init__(self, proto: NodeProto, graph: Graph, place: Place) -> None:
        self.operator = proto.op_type
        self.opset = graph.opset
        self.draft = graph.draft
        self.place = place
        self.results = [name for name in proto.output if name]
        self.places = [place for place, name in enumerate(proto.output) if name]
        self._inputs = list(proto.input)
        self._graph = graph
        self._attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def error(self, message: str, hint: str | None = None) -> UserError:
        """Return an error at the node."""
        return self.place.error(message, hint)

    @property
    def wish(self) -> str:
        """What its first result is called."""
        return str(self.results[0])

    @property
    def shape(self) -> Shape:
        """The shape of its first result."""
        return self.shape_of_result(0)

    def shape_of_result(self, k: int) -> Shape:
        """Return the shape of a result."""
        found = self._graph.shape(self.results[k])
        if found is None:
            hint = "sizes must follow from those of inputs and from constants"
            raise self.error(f"the shape of {self.results[k]} is not known", hint)
        return found

    @property
    def count(self) -> int:
        """How many operands there are, those left out among them."""
        return len(self._inputs)

    def has(self, k: int) -> bool:
        """Return whether there is an operand k."""
        return k < len(self._inputs) and self._inputs[k] != ""

    def is_known(self, k: int) -> bool:
        """Return whether the values of an operand are known."""
        return self._inputs[k] in self._graph.constants

    def known(self, k: int, what: str) -> Array:
        """Return the values of an operand. Raises UserError where they depend on an input."""
        found = self._graph.constants.get(self._inputs[k])
        if found is None:
            hint = "what shapes and indices are made of must not depend on an input"
            raise self.error(f"{what}, {self._inputs[k]}, is no constant", hint)
        return found

    def numbers(self, k: int, what: str) -> list[int]:
        """Return the values of an operand of integers. Raises UserError."""
        return [int(each) for each in self.known(k, what).ravel()]

    def operand(self, k: int) -> str | float:
        """Return an operand: a finite number where it is a known one, else a volume.

        One with more dimensions than all others gives these to the result, and is a volume.
        """
        single = self._single(k)
        others = (j for j in range(self.count) if self.has(j) and self._single(j) is None)
        rank = max((len(self.shape_of(j)) for j in others), default=0)
        if single is not None and single.ndim <= rank and np.isfinite(single).all():
            return float(single.ravel()[0])
        return self.volume(k)

    def _single(self, k: int) -> Array | None:
        """Return a known operand of one element; None for others."""
        known = self._graph.constants.get(self._inputs[k])
        return known if known is not None and known.size == 1 else None

    def volume(self, k: int) -> str:
        """Return the volume that an operand is; known values become weights."""
        name: str = self._inputs[k]
        if name not in self._graph.volumes:
            values = self._graph.constants[name]
            self._graph.volumes[name] = self.draft.weigh(name, values)
        return self._graph.volumes[name]

    def shape_of(self, k: int) -> Shape:
        """Return the shape of an operand."""
        found = self._graph.shape(self._inputs[k])
        assert found is not None
        return found

    def type_of(self, k: int) -> np.dtype[Any]:
        """Return the type of an operand as NumPy calls it."""
        return self._graph.type(self._inputs[k])

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or a default; texts as str."""
        found = self._attributes.get(name, default)
        return found.decode() if isinstance(found, bytes) else found

    def axis(self, name: str, default: int, rank: int) -> int:
        """Return an attribute that is a dimension, from 0. Raises UserError."""
        return self.dimension(int(self.attribute(name, default)), rank)

    def dimension(self, axis: int, rank: int) -> int:
        """Return a dimension, from 0, which may count from the end. Raises UserError."""
        if not -rank <= axis < max(rank, 1):
            raise self.error(f"axis {axis} is beyond {rank} dimensions")
        return axis + rank if axis < 0 else axis

    def dimensions(self, axes: Sequence[int], rank: int) -> list[int]:
        """Return dimensions, from 0, each once, sorted. Raises UserError."""
        return sorted({self.dimension(int(axis), rank) for axis in axes})

    def give(self, volume: str, k: int = 0) -> None:
        """Say which volume a result is."""
        self._graph.volumes[self.results[k]] = volume

    def alias(self, k: int = 0) -> None:
        """Say that the result is what operand k is."""
        self.give(self.volume(k))
