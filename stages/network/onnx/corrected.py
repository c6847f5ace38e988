"""Operators that ONNX's own reference gets wrong or does not run: those with windows, in NumPy.

Source   ONNX, Operators.md. onnx 1.23.2 pads all dimensions of a MaxPool alike, moves the windows
         of an AveragePool that is rounded up, and takes a ConvTranspose for one channel a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from lairmake.stages.network.operators.draft import Array, Shape

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
