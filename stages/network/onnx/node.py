"""Nodes of ONNX, folded constants, and corrections of ONNX's reference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    ValueInfoProto,
    helper,
    numpy_helper,
    shape_inference,
)
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.onnx.model import describe, read_shape, read_type
from lairmake.stages.network.operators.draft import Array, GraphPlace, Shape
from lairmake.stages.network.operators.node import KnownOperands, NodeOperands, misfit
from lairmake.stages.reference.error_bound import list_types, name_types

# --- Windows corrected in NumPy -------------------------------------------------------------------
#
# ONNX's own reference gets operators with windows wrong, or does not run them.
#
# Source   ONNX, Operators.md. onnx 1.23.2 pads all dimensions of a MaxPool alike, moves the windows
#          of an AveragePool that is rounded up, and takes a ConvTranspose for one channel a group.

Attributes = Mapping[str, Any]
Sizes = Sequence[int]


def evaluator(model: ModelProto) -> ReferenceEvaluator:
    """Return ONNX's reference for a model, with the operators of this module."""
    return ReferenceEvaluator(model, new_ops=[MaxPool, AveragePool, ConvTranspose])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Windows:
    """Windows along each dimension: their number, sizes, strides, dilations, and the padding."""

    counts: Shape
    sizes: Shape
    strides: Shape
    dilations: Shape
    around: Sequence[tuple[int, int]]

    def cut(self, padded: Array, beyond: float) -> Array:
        """Return [sample, channel, window..., place within...] of a padded array.

        Where the last windows reach beyond the padding, elements are `beyond`.
        """
        reach = [(k - 1) * d + 1 for k, d in zip(self.sizes, self.dilations, strict=True)]
        ends = [(c - 1) * s + r for c, s, r in zip(self.counts, self.strides, reach, strict=True)]
        more = [(0, max(e - n, 0)) for e, n in zip(ends, padded.shape[2:], strict=True)]
        whole = np.pad(padded, [(0, 0), (0, 0), *more], constant_values=beyond)
        every = sliding_window_view(whole, reach, axis=tuple(range(2, whole.ndim)))
        steps = zip(self.counts, self.strides, strict=True)
        starts = (slice(0, (c - 1) * s + 1, s) for c, s in steps)
        at: tuple[Any, ...] = (..., *starts, *(slice(None, None, d) for d in self.dilations))
        found: Array = every[at]
        return found

    @property
    def within(self) -> Shape:
        """Return the axes of the places within windows."""
        return tuple(range(-len(self.sizes), 0))


def _find(places: Shape, given: Attributes) -> _Windows:
    """Return the windows that attributes define over places."""
    sizes = given["kernel_shape"]
    ones = [1] * len(sizes)
    strides, dilations = given.get("strides") or ones, given.get("dilations") or ones
    around, counts = [], []
    pads = _pairs(given, len(sizes))
    for n, k, s, d, (b, a) in zip(places, sizes, strides, dilations, pads, strict=True):
        reach = (k - 1) * d + 1
        if given.get("auto_pad", "").startswith("SAME"):
            b, a = _halve(max((-(-n // s) - 1) * s + reach - n, 0), given)
        room = n + b + a - reach
        last = min(-(-room // s), (n + b - 1) // s) if given.get("ceil_mode") else room // s
        counts.append(last + 1)
        around.append((b, a))
    return _Windows(
        counts=tuple(counts), sizes=tuple(sizes), strides=tuple(strides),
        dilations=tuple(dilations), around=around,
    )


def _pairs(given: Attributes, rank: int) -> list[tuple[int, int]]:
    """Return the padding before and after each dimension, from attributes."""
    pads = given.get("pads") or [0] * 2 * rank
    if given.get("auto_pad", "NOTSET") != "NOTSET":
        pads = [0] * 2 * rank
    return list(zip(pads[:rank], pads[rank:], strict=True))


def _halve(count: int, given: Attributes) -> tuple[int, int]:
    """Return the elements before and after: the smaller half first for SAME_UPPER."""
    less = count // 2
    return (less, count - less) if given["auto_pad"] == "SAME_UPPER" else (count - less, less)


class MaxPool(OpRun):
    """The largest element of each window; padding does not count."""

    op_domain = ""

    def _run(self, x: Array, **given: Any) -> tuple[Array]:
        if len(self.output) > 1:
            raise ValueError("the places of the largest elements are asked for")
        windows = _find(x.shape[2:], given)
        least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        padded = np.pad(x, [(0, 0), (0, 0), *windows.around], constant_values=least)
        return (windows.cut(padded, least).max(axis=windows.within),)


class AveragePool(OpRun):
    """The mean of each window, over its elements, with or without those of the padding."""

    op_domain = ""

    def _run(self, x: Array, **given: Any) -> tuple[Array]:
        windows = _find(x.shape[2:], given)
        around = [(0, 0), (0, 0), *windows.around]
        counted = np.pad(
            np.ones((1, 1, *x.shape[2:])), around,
            constant_values=given.get("count_include_pad") or 0,
        )
        total = windows.cut(np.pad(x, around), 0).sum(axis=windows.within, dtype=float)
        return ((total / windows.cut(counted, 0).sum(axis=windows.within)).astype(x.dtype),)


class ConvTranspose(OpRun):
    """Each element adds a window of weights, [channel][channel within group][place]..."""

    op_domain = ""

    def _run(self, x: Array, w: Array, b: Array | None = None, **given: Any) -> tuple[Array]:
        groups, own, sizes = given["group"], x.shape[2:], w.shape[2:]
        ones = [1] * len(sizes)
        strides, dilations = given["strides"] or ones, given["dilations"] or ones
        spans = [(n - 1) * s + 1 for n, s in zip(own, strides, strict=True)]
        reach = [n + (k - 1) * d for n, k, d in zip(spans, sizes, dilations, strict=True)]
        kept = _keep(own, reach, strides, given)
        room = [max(r, k.stop) for r, k in zip(reach, kept, strict=True)]
        whole = np.zeros((len(x), groups, w.shape[1], *room))
        volume = x.reshape(len(x), groups, -1, *own)
        filters = w.reshape(groups, -1, *w.shape[1:])
        for within in np.ndindex(sizes):
            starts = [k * d for k, d in zip(within, dilations, strict=True)]
            ends = [f + n for f, n in zip(starts, spans, strict=True)]
            at: tuple[Any, ...] = (..., *map(slice, starts, ends, strides))
            by = filters[(..., *within)]
            whole[at] += np.einsum("ngc...,gcm->ngm...", volume, by)
        places: tuple[Any, ...] = (..., *kept)
        result = whole[places].reshape(len(x), -1, *(k.stop - k.start for k in kept))
        bias = 0 if b is None else b.reshape(-1, *ones)
        return ((result + bias).astype(x.dtype),)


def _keep(own: Sizes, reach: Sizes, strides: Sizes, given: Attributes) -> list[slice]:
    """Return the slices of all places reached that the result of a transposed convolution has."""
    further = given["output_padding"] or [0] * len(own)
    reach = [r + f for r, f in zip(reach, further, strict=True)]
    if given["output_shape"] is None and not given["auto_pad"].startswith("SAME"):
        pads = _pairs(given, len(own))
        return [slice(b, r - a) for r, (b, a) in zip(reach, pads, strict=True)]
    counts = given["output_shape"] or [n * s for n, s in zip(own, strides, strict=True)]
    starts = [_halve(max(r - n, 0), given)[0] for r, n in zip(reach, counts, strict=True)]
    return [slice(b, b + n) for b, n in zip(starts, counts, strict=True)]

# --- Values that depend on no input ---------------------------------------------------------------
#
# ONNX's own reference computes them once.
#
# Source   ONNX, onnx.reference

PLAIN_WEIGHTS = 4
"""The first version of files whose weights need not be inputs as well."""

MOST_ELEMENTS = 2**27
"""Largest number of elements of a computed value; larger values are no weights."""


def shape_of(node: NodeProto, shape: Shape) -> Array:
    """Return the result of Shape for an operand of a known shape."""
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    start, end = given.get("start", 0), given.get("end", len(shape))
    return np.array(shape[slice(start, end)], np.int64)


def fold(
    node: NodeProto, model: ModelProto, constants: Mapping[str, Array], shapes: Sequence[Shape]
) -> dict[str, Array] | None:
    """Return the results of a node whose operands are all known.

    Returns None for results that would be too large. Raises any exception of the reference.
    """
    if any(math.prod(shape) > MOST_ELEMENTS for shape in shapes):
        return None
    graph = helper.make_graph(
        [node], "fold",
        [helper.make_empty_tensor_value_info(name) for name in dict.fromkeys(node.input) if name],
        [helper.make_empty_tensor_value_info(name) for name in node.output if name],
    )
    alone = _alone(graph, model)
    given = {name: constants[name] for name in node.input if name}
    names = [name for name in node.output if name]
    with np.errstate(all="ignore"):
        found = evaluator(alone).run(None, given)
    return {name: np.asarray(each) for name, each in zip(names, found, strict=True)}


def infer(
    node: NodeProto, model: ModelProto, constants: Mapping[str, Array],
    operands: Mapping[str, ValueInfoProto],
) -> list[ValueInfoProto]:
    """Return the types and shapes that ONNX infers for the results of a node.

    `constants` are the known values of its operands, `operands` the types and shapes of the others.
    """
    names = list(dict.fromkeys(name for name in node.input if name))
    graph = helper.make_graph(
        [node], "infer", [operands[name] for name in names if name not in constants],
        [helper.make_empty_tensor_value_info(name) for name in node.output if name],
        [numpy_helper.from_array(constants[name], name) for name in names if name in constants],
    )
    alone = _alone(graph, model)
    return list(shape_inference.infer_shapes(alone, strict_mode=True, data_prop=True).graph.output)


def _alone(graph: GraphProto, model: ModelProto) -> ModelProto:
    """Return a model of a graph, with the operators of another model."""
    version = max(model.ir_version, PLAIN_WEIGHTS)
    return helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=version)

# --- A node with operands, attributes and results -------------------------------------------------

NUMBERS = frozenset(list_types())
"""The types that are computed, all in the one type of the network."""

INTEGERS = "integers that say where elements are must be constants"


def explain_type(kind: np.dtype[Any]) -> str:
    """Return the remedy for values of a type that is not computed."""
    if kind.kind in "iu":
        return INTEGERS
    if kind.kind in "OUc":
        return "real numbers and truths are known"
    return f"types that are known: {name_types()}"


@dataclass(slots=True, kw_only=True)
class OnnxGraph(KnownOperands):
    """The known types, shapes and values of a graph, by the names of values.

    `values` has the inferred types and shapes. After a correction, `is_corrected`, later nodes are
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
        """Correct the inferred shape of a value to that of its volume.

        ONNX also counts windows that begin behind all elements, which are not computed.
        """
        shape = self.draft.shapes[self.volumes[name]]
        if shape != self.shape(name):
            kind = self.values[name].type.tensor_type.elem_type
            self.values[name] = helper.make_tensor_value_info(name, kind, shape)
            self.is_corrected = True

    def infer(self, node: NodeProto, model: ModelProto) -> None:
        """Infer the results of a node from current knowledge. Raises any exception of ONNX."""
        found = infer(node, model, self.constants, self.values)
        self.values.update({value.name: value for value in found})

    def copy_value(self, name: str, to: str) -> None:
        """Give a value the type and the shape of another."""
        value = ValueInfoProto()
        value.CopyFrom(self.values[name])
        value.name = to
        self.values[to] = value

    def describe(self, names: Iterable[str]) -> list[str]:
        """Return descriptions of values."""
        return [describe(n, self.values.get(n), self.constants.get(n)) for n in names]

    def type(self, name: str) -> np.dtype[Any]:
        """Return the type of a value as a NumPy type."""
        known = self.constants.get(name)
        return read_type(self.values[name]) if known is None else known.dtype


class OnnxNode(NodeOperands):
    """A node, with its operands by number and its attributes by name.

    `results` has the names of its results, without unused ones, and `places` their numbers.
    """

    def __init__(self, proto: NodeProto, graph: OnnxGraph, place: GraphPlace) -> None:
        super().__init__(proto.input, graph, place)
        self.operator = proto.op_type
        self.opset = graph.opset
        self.results = [name for name in proto.output if name]
        self.places = [place for place, name in enumerate(proto.output) if name]
        self._graph = graph
        self._attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def misfit(self) -> UserError:
        """Return the error for operands and attributes that do not fit each other."""
        return misfit(self.place, self._graph.describe(filter(None, self._inputs)))

    @property
    def wish(self) -> str:
        """Return the name of the first result."""
        return str(self.results[0])

    @property
    def shape(self) -> Shape:
        """Return the shape of the first result."""
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
        """Return the type of an operand as a NumPy type."""
        return self._graph.type(self._inputs[k])

    def volume(self, k: int) -> str:
        """Return the volume of an operand. Raises UserError for computed integers."""
        if not self.is_known(k) and self.type_of(k).name not in NUMBERS:
            message = f"{self._inputs[k]} is of {self.type_of(k)}, and depends on an input"
            raise self.error(message, explain_type(self.type_of(k)))
        return super().volume(k)

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or a default; texts as str."""
        found = self._attributes.get(name, default)
        return found.decode() if isinstance(found, bytes) else found

    def axis(self, name: str, default: int, rank: int) -> int:
        """Return an attribute that is a dimension, counted from 0. Raises UserError."""
        return self.dimension(int(self.attribute(name, default)), rank)

    def dimension(self, axis: int, rank: int) -> int:
        """Return a dimension counted from 0; `axis` may count from the end. Raises UserError."""
        return 0 if rank == axis == 0 else super().dimension(axis, rank)

    def give(self, volume: str, k: int = 0) -> None:
        """Set the volume of a result."""
        self._graph.volumes[self.results[k]] = self.draft.rounded(volume)

    def alias(self, k: int = 0) -> None:
        """Make the result the same value as operand k."""
        self.give(self.volume(k))
