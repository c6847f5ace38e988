"""A graph of ONNX that grows node by node, with its values, so that each node fits those before."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import onnx.parser
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from tests.network.onnx.drawing import attributes
from tests.network.onnx.graphs import make_model

OPSET = 21
MOST_ELEMENTS = 256
LARGEST = 2.0**12
"""Integers up to this size and their sums and products are exact; reals are kept smaller."""


class UnfitError(Exception):
    """A node that is not added: its values would be too many, too large, or none."""


@dataclass(kw_only=True)
class Growing:
    """A graph so far: the lines of its nodes, values by name, inputs and constants among them.

    With `is_whole`, all values are small integers. `used` has what some node reads.
    """

    draw: random.Random
    is_whole: bool
    inputs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    known: dict[str, np.ndarray] = field(default_factory=dict)
    values: dict[str, np.ndarray] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def give(self, shape) -> str:
        """Add an input of a shape. Return its name."""
        name = f"x{len(self.inputs)}"
        self.inputs[name], self.values[name] = tuple(shape), self._numbers(shape, 3)
        return name

    def weigh(self, shape, least: float | None = None) -> str:
        """Add a constant: small numbers, all above `least` if there is one. Return its name."""
        numbers = self._numbers(shape, 1)
        return self.know(numbers if least is None else (np.abs(numbers) + least).astype("f4"))

    def know(self, values) -> str:
        """Add a constant of given values. Return its name."""
        name = f"k{len(self.known)}"
        self.known[name] = self.values[name] = np.asarray(values)
        return name

    def add(self, operator: str, *operands: str, results: int = 1, **given) -> list[str]:
        """Add a node, compute it, and return the names of its results. Raises UnfitError."""
        names = [f"v{len(self.values)}_{k}" for k in range(results)]
        said = f"{operator}{attributes(**given)}({', '.join(operands)})"
        found = self._computed(f"{', '.join(names)} = {said}", operands, names)
        for each in found:
            if not 0 < each.size <= MOST_ELEMENTS or not np.isfinite(each).all():
                raise UnfitError(said)
            if np.abs(each.astype("f8")).max() > (LARGEST if self.is_whole else 64):
                raise UnfitError(said)
        self.lines.append(f"{', '.join(names)} = {said}")
        self.values.update(zip(names, found, strict=True))
        self.used.update(operands)
        return names

    def one(self, operator: str, *operands: str, **given) -> str:
        """Add a node with one result. Return its name."""
        return self.add(operator, *operands, **given)[0]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a value."""
        return tuple(self.values[name].shape)

    def numbers(self) -> list[str]:
        """Return the names of inputs and of what was computed, the last ones often twice."""
        found = [name for name, each in self.values.items()
                 if name not in self.known and each.dtype == np.float32]
        return found + found[-3:] + found[-1:]

    def outputs(self) -> list[str]:
        """Return the names of results that no node reads."""
        return [name for name in dict.fromkeys(self.numbers())
                if name not in self.used and name not in self.inputs]

    def model(self):
        """Return the model."""
        used = {name: self.known[name] for name in self.known if name in self.used}
        inputs = {name: shape for name, shape in self.inputs.items() if name in self.used}
        outputs = self.outputs()
        made = make_model("\n".join(self.lines), inputs, used, OPSET, " ".join(outputs))
        for k, name in enumerate(outputs):
            value = helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape(name))
            made.graph.output[k].CopyFrom(value)
        return made

    def given(self) -> dict[str, np.ndarray]:
        """Return the values of the inputs."""
        return {name: self.values[name] for name in self.inputs if name in self.used}

    def _computed(self, line, operands, names):
        graph = helper.make_graph(
            [onnx.parser.parse_node(line)], "n",
            [self._described(n) for n in dict.fromkeys(operands)],
            [helper.make_empty_tensor_value_info(n) for n in names],
        )
        imports = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=10)
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(model).run(
                None, {n: self.values[n] for n in operands}
            )
        return [np.asarray(each) for each in found]

    def _described(self, name):
        kind = helper.np_dtype_to_tensor_dtype(self.values[name].dtype)
        return helper.make_tensor_value_info(name, kind, self.shape(name))

    def _numbers(self, shape, most):
        draw = np.random.default_rng(self.draw.randrange(1 << 30))
        made = draw.integers(-most, most + 1, shape) if self.is_whole else draw.normal(size=shape)
        return np.asarray(made, "f4").reshape(shape)


def any_of(g: Growing, rank: int | None = None) -> str:
    """Return a value, of a rank if one is wanted. Raises UnfitError."""
    found = [n for n in g.numbers() if rank is None or len(g.shape(n)) == rank]
    if not found:
        raise UnfitError(rank)
    return g.draw.choice(found)
