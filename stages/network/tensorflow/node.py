"""A node of a graph of TensorFlow, as its operator sees it: operands, attributes, its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from lairmake.stages.network.operators.draft import Array, Indices, Piece, Place
from lairmake.stages.network.operators.node import Known, Operands

T = TypeVar("T", str, int, float, bool, list[int])
KINDS: Mapping[type, tuple[str, str]] = {
    str: ("s", "text"), int: ("i", "whole number"), float: ("f", "number"), bool: ("b", "truth"),
    list: ("list", "list of whole numbers"),
}


@dataclass(slots=True, kw_only=True)
class Graph(Known):
    """What is known of a graph so far, by the names of its values: `node`, or `node:1`.

    `sources` has what values are that are the same as another, `truths` the volumes of 1 and 0.
    """

    sources: dict[str, str] = field(default_factory=dict)
    truths: set[str] = field(default_factory=set)


class Node(Operands):
    """A node, with its operands by number and its attributes by name.

    `inputs` are the values that it reads, without those that it only waits for.
    """

    def __init__(self, proto: Any, inputs: Sequence[str], graph: Graph, place: Place) -> None:
        super().__init__([graph.sources.get(name, name) for name in inputs], graph, place)
        self.operator: str = proto.op
        self.wish: str = proto.name
        self._graph = graph
        self._attributes = proto.attr

    def refuse(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise an error at the node."""
        raise self.error(message, hint)

    def name_of(self, k: int) -> str:
        """Return what the graph calls an operand."""
        return self._inputs[k]

    def numbers(self, k: int, what: str) -> list[int]:
        """Return the values of an operand of integers. Raises UserError."""
        found = self.known(k, what)
        if found.dtype.kind not in "iu":
            raise self.error(f"{what}, {self._inputs[k]}, has the type {found.dtype}")
        return super().numbers(k, what)

    def number(self, k: int, what: str) -> int:
        """Return the value of an operand that is one integer. Raises UserError."""
        found = self.numbers(k, what)
        if len(found) != 1:
            raise self.error(f"{what}, {self._inputs[k]}, is not one number")
        return found[0]

    def is_truth(self, k: int) -> bool:
        """Return whether an operand is 1 where something is true, and 0 elsewhere."""
        known = self._graph.constants.get(self._inputs[k])
        if known is not None:
            return bool(known.dtype == np.bool_)
        return self._graph.volumes[self._inputs[k]] in self._graph.truths

    def attribute(self, name: str, default: T) -> T:
        """Return an attribute of the type of a default. Raises UserError for one of another."""
        if name not in self._attributes:
            return default
        value, (kind, noun) = self._attributes[name], KINDS[type(default)]
        found: Any = getattr(value, kind)
        if value.WhichOneof("value") != kind or (kind == "list" and _has_others(found)):
            self.refuse(f"{name} is no {noun}")
        if kind == "s":
            found = found.decode(errors="replace")
        return cast(T, list(found.i) if kind == "list" else found)

    @property
    def attribute_names(self) -> list[str]:
        """What attributes it has."""
        return sorted(self._attributes)

    def type_number(self, name: str) -> int | None:
        """Return the number of the type that an attribute is; None where there is none."""
        given = name in self._attributes and self._attributes[name].WhichOneof("value") == "type"
        return self._attributes[name].type if given else None

    def tensor(self, name: str) -> Any:
        """Return an attribute that is a tensor. Raises UserError."""
        if name not in self._attributes or self._attributes[name].WhichOneof("value") != "tensor":
            self.refuse(f"{name} is no tensor")
        return self._attributes[name].tensor

    def check(self, holds: bool, message: str) -> None:
        """Raise UserError with a message, unless something holds."""
        if not holds:
            raise self.error(message, "is the graph whole? TensorFlow would not run it")

    def result(self, k: int = 0) -> str:
        """Return the name of a result."""
        return self.wish if k == 0 else f"{self.wish}:{k}"

    def give(self, volume: str, k: int = 0, *, is_truth: bool = False) -> None:
        """Say which volume a result is, and whether that is of 1 and 0."""
        self._graph.volumes[self.result(k)] = self.draft.rounded(volume)
        if is_truth:
            self._graph.truths.add(volume)

    def give_copy(self, shape: Sequence[int], at: Indices) -> None:
        """Add a copy of the first operand, the elements `at`, as the result. Raises UserError."""
        if 0 in shape:
            raise self.error("its result has no elements")
        piece = Piece(volume=self.volume(0), at=at)
        self.give(self.draft.copy(self.wish, tuple(shape), [piece]))

    def give_constant(self, values: Array, k: int = 0) -> None:
        """Say which values a result has."""
        self._graph.constants[self.result(k)] = values

    def alias(self, k: int = 0) -> None:
        """Say that the result is what operand k is."""
        self._graph.sources[self.result()] = self._inputs[k]


def _has_others(values: Any) -> bool:
    """Return whether a list has anything but whole numbers."""
    return any(each.name != "i" for each, _ in values.ListFields())


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """How operations of an operator are added: its `least` to `most` operands, its attributes.

    Those that say types are known of all.
    """

    add: Callable[[Node], None]
    least: int
    most: int
    attributes: frozenset[str] = frozenset()


def of(add: Callable[[Node], None], count: int, attributes: str = "", most: int = 0) -> Operator:
    """Return an operator of `count` operands, or of up to `most`."""
    names = frozenset(attributes.split())
    return Operator(add=add, least=count, most=most or count, attributes=names)
