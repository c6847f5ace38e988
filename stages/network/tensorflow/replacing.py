"""Weights of a graph as small integers, so that the whole is computed without rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.operators.draft import Place
from lairmake.stages.network.operators.node import draw_weights
from lairmake.stages.network.tensorflow.model import TensorError, read_tensor
from lairmake.stages.network.tensorflow.reading import read_name
from lairmake.stages.network.tensorflow.schema import TYPES

SUMS = "BatchMatMul BatchMatMulV2 BatchMatMulV3 Conv2D DepthwiseConv2dNative MatMul"
ADDED = "Add AddV2 BiasAdd Maximum Minimum Mul Sub"
SAME = "ExpandDims Identity Reshape Squeeze Transpose"


def replace_constants(graph: Any, file: str, seed: int) -> None:
    """Replace the weights of a GraphDef by -1, 0 and 1, drawn from a seed.

    These are what is summed, added or multiplied with what depends on an input. Single numbers,
    and what roots, quotients and normalisations are of, stay as they are. Raises UserError for a
    constant that is none.
    """
    sums = sum(node.op in SUMS.split() for node in graph.node)
    weights = set(_weights(graph))
    for node in graph.node:
        if node.name not in weights:
            continue
        tensor = node.attr["value"].tensor
        try:
            values = read_tensor(tensor)
        except TensorError as error:
            raise _error(node, file, str(error)) from error
        if values.dtype.kind == "f" and values.size > 1:
            shape = values.shape
            terms = math.prod(shape) / min(shape[-2:]) if len(shape) > 1 else 1
            drawn = draw_weights(node.name, shape, terms, sums, seed).astype("<f4")
            _put(tensor, drawn)


def _error(node: Any, file: str, said: str) -> UserError:
    place = Place(file=file, node=node.name, operator=node.op)
    return place.error(said, "is the graph whole?")


def _put(tensor: Any, values: np.ndarray) -> None:
    sizes = values.shape
    tensor.Clear()
    tensor.dtype = TYPES.index("FLOAT")
    tensor.tensor_content = values.tobytes()
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)


def _weights(graph: Any) -> Iterator[str]:
    """Yield the names of constants that nothing is done with but sums and products."""
    nodes = {node.name: node for node in graph.node}
    readers: dict[str, list[str]] = {name: [] for name in nodes}
    for node in graph.node:
        for text in node.input:
            if not text.startswith("^"):
                readers.setdefault(read_name(text), []).append(node.name)
    moving = _depending(nodes, readers)
    for name, node in nodes.items():
        if node.op == "Const" and _is_weight(name, nodes, readers, moving):
            yield name


def _depending(nodes: dict[str, Any], readers: dict[str, list[str]]) -> set[str]:
    """Return the nodes that depend on an input."""
    found, ready = set[str](), [name for name, node in nodes.items() if node.op == "Placeholder"]
    while ready:
        name = ready.pop()
        if name not in found:
            found.add(name)
            ready += readers[name]
    return found


def _is_weight(
    name: str, nodes: dict[str, Any], readers: dict[str, list[str]], moving: set[str]
) -> bool:
    """Return whether all that reads a constant, or the same elements, computes with inputs."""
    ready, seen = [name], set[str]()
    while ready:
        here = ready.pop()
        if here in seen:
            continue
        seen.add(here)
        for reader in readers[here]:
            if nodes[reader].op in SAME.split() and reader not in moving:
                ready.append(reader)
            elif reader not in moving or nodes[reader].op not in (SUMS + " " + ADDED).split():
                return False
    return True
