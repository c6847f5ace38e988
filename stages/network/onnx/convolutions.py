"""Operators of ONNX whose windows move over places: convolutions and poolings.

Source   ONNX, Operators.md
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from lairmake.stages.network.onnx.node import Node
from lairmake.stages.network.operators import elementwise, windows
from lairmake.stages.network.operators.draft import Shape
from lairmake.stages.network.operators.elementwise import apply, of_channels
from lairmake.stages.network.operators.windows import Windows


def convolution(node: Node) -> None:
    """Add Conv: a sum over windows and channels, and a bias."""
    x, w = node.volume(0), node.volume(1)
    around = _windows(node, node.shape_of(1)[2:])
    wish = node.wish if not node.has(2) else f"{node.wish}_sum"
    filters = windows.outer_first(node.draft, w, node.attribute("group", 1))
    found = windows.convolve(node.draft, wish, x, filters, around)
    _biased(node, found, 2)


def transposed(node: Node) -> None:
    """Add ConvTranspose: each element of the operand adds a window to the result."""
    x, w = node.volume(0), node.volume(1)
    sizes, places = node.shape_of(1)[2:], node.shape[2:]
    strides, dilations = _steps(node, "strides", sizes), _steps(node, "dilations", sizes)
    before = _outside(node, sizes, strides, dilations, places)
    around = Windows(
        sizes=sizes, strides=strides, dilations=dilations, before=before, after=before
    )
    wish = node.wish if not node.has(2) else f"{node.wish}_sum"
    groups = node.attribute("group", 1)
    _biased(node, windows.spread(node.draft, wish, x, w, around, groups, places), 2)


def _outside(
    node: Node, sizes: Shape, strides: Shape, dilations: Shape, places: Shape
) -> Shape:
    """Return how many places at the start of a transposed convolution are left out."""
    further = node.attribute("output_padding", [0] * len(sizes))
    own = node.shape_of(0)[2:]
    reach = [
        (n - 1) * s + (k - 1) * d + 1 + f
        for n, k, s, d, f in zip(own, sizes, strides, dilations, further, strict=True)
    ]
    kind = node.attribute("auto_pad", "NOTSET")
    if kind == "NOTSET" and "output_shape" not in _named(node):
        return tuple(node.attribute("pads", [0] * 2 * len(sizes))[: len(sizes)])
    left_out = [max(r - p, 0) for r, p in zip(reach, places, strict=True)]
    return tuple(-(-n // 2) if kind != "SAME_UPPER" else n // 2 for n in left_out)


def _named(node: Node) -> set[str]:
    return {name for name in ("output_shape",) if node.attribute(name) is not None}


def _biased(node: Node, found: str, k: int) -> None:
    """Give a result with a bias for each channel, if the node has one."""
    if not node.has(k):
        node.give(found)
        return
    bias = of_channels(node.volume(k))
    node.give(apply(node.draft, node.wish, "{0} + {1}", [found, bias]))


def _windows(node: Node, sizes: Shape) -> Windows:
    """Return the windows that attributes say, with what is around as they or the sizes say."""
    strides, dilations = _steps(node, "strides", sizes), _steps(node, "dilations", sizes)
    before, after = _around(node, sizes, strides, dilations)
    return Windows(
        sizes=tuple(sizes), strides=strides, dilations=dilations, before=before, after=after
    )


def _steps(node: Node, name: str, sizes: Sequence[int]) -> Shape:
    return tuple(node.attribute(name, [1] * len(sizes)))


def _around(
    node: Node, sizes: Shape, strides: Shape, dilations: Shape
) -> tuple[Shape, Shape]:
    """Return what is put before and after the places of a volume."""
    kind, places = node.attribute("auto_pad", "NOTSET"), node.shape_of(0)[2:]
    pads = list(node.attribute("pads", [0] * 2 * len(sizes)))
    if kind == "VALID":
        pads = [0] * len(pads)
    if kind in ("NOTSET", "VALID"):
        return tuple(pads[: len(sizes)]), tuple(pads[len(sizes) :])
    less, more = windows.find_same(places, sizes, strides, dilations)
    return (less, more) if kind == "SAME_UPPER" else (more, less)


def pooling(node: Node) -> None:
    """Add MaxPool, AveragePool or LpPool of windows."""
    if len(node.results) > 1:
        raise node.error("the places of the largest elements are asked for", "leave them out")
    exact = _windows(node, tuple(node.attribute("kernel_shape")))
    reached = _reach(node, exact) if node.attribute("ceil_mode", 0) else exact
    x = node.volume(0)
    if node.operator == "MaxPool":
        node.give(windows.pool(node.draft, node.wish, x, reached, "max="))
        return
    nothing = (0,) * len(exact.sizes)
    counts = node.attribute("count_include_pad", 0)
    counted = exact if counts else dataclasses.replace(exact, before=nothing, after=nothing)
    node.give(windows.average(node.draft, node.wish, x, reached, counted))


def _reach(node: Node, exact: Windows) -> Windows:
    """Return windows with as much after the places as the last one reaches that begins in them.

    So it is where the number of windows is rounded up; what is before the places counts as one.
    """
    after = []
    for n, k, s, d, b, a in zip(
        node.shape_of(0)[2:], exact.sizes, exact.strides, exact.dilations, exact.before,
        exact.after, strict=True,
    ):
        reach = (k - 1) * d + 1
        count = min(-(-(n + b + a - reach) // s), (n + b - 1) // s) + 1
        after.append(max((count - 1) * s + reach - b - n, 0))
    return dataclasses.replace(exact, after=tuple(after))


def global_pooling(node: Node) -> None:
    """Add GlobalAveragePool or GlobalMaxPool: over all places."""
    x, axes = node.volume(0), range(2, len(node.shape))
    if node.operator == "GlobalMaxPool":
        node.give(elementwise.reduce(node.draft, node.wish, x, axes, "max="))
    else:
        node.give(elementwise.mean(node.draft, node.wish, x, axes))


CONVOLUTIONS: Mapping[str, Callable[[Node], None]] = {
    "Conv": convolution, "ConvTranspose": transposed, "MaxPool": pooling,
    "AveragePool": pooling, "GlobalAveragePool": global_pooling,
    "GlobalMaxPool": global_pooling,
}
