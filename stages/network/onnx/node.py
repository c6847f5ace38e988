"""A node of an ONNX graph, as its operator sees it: operands, attributes, and its results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto, helper

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.onnx.folding import infer
from lairmake.stages.network.onnx.model import describe, read_shape, read_type
from lairmake.stages.network.operators.draft import Place, Shape
from lairmake.stages.network.operators.node import Known, Operands, misfit
from lairmake.stages.reference.error_bound import list_types, name_types

NUMBERS = frozenset(list_types())
"""The types of what is computed; all of it is in the one type of the network."""

INTEGERS = "integers that say where elements are must be constants"


def explain_type(kind: np.dtype[Any]) -> str:
    """Return what to do about values of a type that is not computed with."""
    if kind.kind in "iu":
        return INTEGERS
    if kind.kind in "OUc":
        return "real numbers and truths are known"
    return f"types that are known: {name_types()}"


@dataclass(slots=True, kw_only=True)
class Graph(Known):
    """What is known of a graph so far, by the names of its values.

    `values` has what was inferred of types and shapes; if it `is_corrected`, what follows is
    inferred anew.
    """

    opset: int
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

    def describe(self, names: Iterable[str]) -> list[str]:
        """Return what is known of values."""
        return [describe(n, self.values.get(n), self.constants.get(n)) for n in names]

    def type(self, name: str) -> np.dtype[Any]:
        """Return the type of a value as NumPy calls it."""
        known = self.constants.get(name)
        return read_type(self.values[name]) if known is None else known.dtype


class Node(Operands):
    """A node, with its operands by number and its attributes by name.

    `results` has the names of what it gives, those that nobody asks for left out; `places` which
    ones they are.
    """

    def __init__(self, proto: NodeProto, graph: Graph, place: Place) -> None:
        super().__init__(proto.input, graph, place)
        self.operator = proto.op_type
        self.opset = graph.opset
        self.results = [name for name in proto.output if name]
        self.places = [place for place, name in enumerate(proto.output) if name]
        self._graph = graph
        self._attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def misfit(self) -> UserError:
        """Return an error for operands and attributes that do not fit each other."""
        return misfit(self.place, self._graph.describe(filter(None, self._inputs)))

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

    def shape_of(self, k: int) -> Shape:
        """Return the shape of an operand. Raises UserError for one that is left out."""
        found = self._graph.shape(self._inputs[k])
        if found is None:
            raise self.error(f"operand {k + 1} is left out", "is the graph whole?")
        return found

    def type_of(self, k: int) -> np.dtype[Any]:
        """Return the type of an operand as NumPy calls it."""
        return self._graph.type(self._inputs[k])

    def volume(self, k: int) -> str:
        """Return the volume that an operand is. Raises UserError for integers that are computed."""
        if not self.is_known(k) and self.type_of(k).name not in NUMBERS:
            message = f"{self._inputs[k]} is of {self.type_of(k)}, and depends on an input"
            raise self.error(message, explain_type(self.type_of(k)))
        return super().volume(k)

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or a default; texts as str."""
        found = self._attributes.get(name, default)
        return found.decode() if isinstance(found, bytes) else found

    def axis(self, name: str, default: int, rank: int) -> int:
        """Return an attribute that is a dimension, from 0. Raises UserError."""
        return self.dimension(int(self.attribute(name, default)), rank)

    def dimension(self, axis: int, rank: int) -> int:
        """Return a dimension, from 0, which may count from the end. Raises UserError."""
        return 0 if rank == axis == 0 else super().dimension(axis, rank)

    def give(self, volume: str, k: int = 0) -> None:
        """Say which volume a result is."""
        self._graph.volumes[self.results[k]] = self.draft.rounded(volume)

    def alias(self, k: int = 0) -> None:
        """Say that the result is what operand k is."""
        self.give(self.volume(k))
