"""A node, constants folded, ONNX's reference corrected."""

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

# --- Operators that ONNX's own reference gets wrong or does not run: those with windows, in NumPy
#
# Source   ONNX, Operators.md. onnx 1.23.2 pads all dimensions of a MaxPool alike, moves the windows
#          of an AveragePool that is rounded up, and takes a ConvTranspose for one channel a group.

Attributes = Mapping[str, Any]
Sizes = Sequence[int]


def evaluator(model: ModelProto) -> ReferenceEvaluator:
    """Return ONNX's reference for a model, with the operators here instead of its own."""
    return ReferenceEvaluator(model, new_ops=[MaxPool, AveragePool, ConvTranspose])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Windows:
    """How many windows there are along each dimension, of what, and what is around."""

    counts: Shape
    sizes: Shape
    strides: Shape
    dilations: Shape
    around: Sequence[tuple[int, int]]

    def cut(self, padded: Array, beyond: float) -> Array:
        """Return [sample, channel, window..., place within...] of what has its padding.

        The last windows may reach beyond it, to elements of a value.
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
        """The axes of the places within windows."""
        return tuple(range(-len(self.sizes), 0))


def _find(places: Shape, given: Attributes) -> _Windows:
    """Return the windows over places that attributes say."""
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
    """Return what attributes put before and after each dimension."""
    pads = given.get("pads") or [0] * 2 * rank
    if given.get("auto_pad", "NOTSET") != "NOTSET":
        pads = [0] * 2 * rank
    return list(zip(pads[:rank], pads[rank:], strict=True))


def _halve(count: int, given: Attributes) -> tuple[int, int]:
    """Return how many of elements are before and after: the smaller half first for SAME_UPPER."""
    less = count // 2
    return (less, count - less) if given["auto_pad"] == "SAME_UPPER" else (count - less, less)


class MaxPool(OpRun):
    """The largest element of each window; there is nothing around."""

    op_domain = ""

    def _run(self, x: Array, **given: Any) -> tuple[Array]:
        if len(self.output) > 1:
            raise ValueError("the places of the largest elements are asked for")
        windows = _find(x.shape[2:], given)
        least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        padded = np.pad(x, [(0, 0), (0, 0), *windows.around], constant_values=least)
        return (windows.cut(padded, least).max(axis=windows.within),)


class AveragePool(OpRun):
    """The mean of each window, over its elements, or those of its padding as well."""

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
    """Return which places of all that are reached a transposed convolution gives."""
    further = given["output_padding"] or [0] * len(own)
    reach = [r + f for r, f in zip(reach, further, strict=True)]
    if given["output_shape"] is None and not given["auto_pad"].startswith("SAME"):
        pads = _pairs(given, len(own))
        return [slice(b, r - a) for r, (b, a) in zip(reach, pads, strict=True)]
    counts = given["output_shape"] or [n * s for n, s in zip(own, strides, strict=True)]
    starts = [_halve(max(r - n, 0), given)[0] for r, n in zip(reach, counts, strict=True)]
    return [slice(b, b + n) for b, n in zip(starts, counts, strict=True)]

# --- What of a graph depends on no input: computed once, by ONNX's own reference ----------------
#
# Source   ONNX, onnx.reference

PLAIN_WEIGHTS = 4
"""The version of files from which on weights need not be inputs as well."""

MOST_ELEMENTS = 2**27
"""How many elements of known values may be computed; more than that is no weight."""


def shape_of(node: NodeProto, shape: Shape) -> Array:
    """Return what Shape gives for an operand of a known shape."""
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    start, end = given.get("start", 0), given.get("end", len(shape))
    return np.array(shape[slice(start, end)], np.int64)


def fold(
    node: NodeProto, model: ModelProto, constants: Mapping[str, Array], shapes: Sequence[Shape]
) -> dict[str, Array] | None:
    """Return the results of a node whose operands are all known.

    None where the results would be too large. Raises what the reference does.
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
    """Return what ONNX infers of the results of a node, some operands of which are known.

    `operands` says what the others are.
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
    """Return a model of a graph, with the operators of another one."""
    version = max(model.ir_version, PLAIN_WEIGHTS)
    return helper.make_model(graph, opset_imports=list(model.opset_import), ir_version=version)

# --- A node of an ONNX graph, as its operator sees it: operands, attributes, and its results ----

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
class OnnxGraph(KnownOperands):
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


class OnnxNode(NodeOperands):
    """A node, with its operands by number and its attributes by name.

    `results` has the names of what it gives, those that nobody asks for left out; `places` which
    ones they are.
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
