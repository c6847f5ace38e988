"""Operators of TensorFlow whose windows move over places: convolutions and poolings.

Source   TensorFlow, core/ops/nn_ops.cc; core/util/tensor_format.h
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from lairmake.stages.network.operators import windows
from lairmake.stages.network.operators.draft import Shape
from lairmake.stages.network.operators.windows import Filters, Layout, Windows
from lairmake.stages.network.tensorflow.node import Node, Operator, of

LAYOUTS: Mapping[str, Layout] = {"NHWC": Layout(last=True), "NCHW": Layout()}


def convolution(node: Node) -> None:
    """Add Conv2D with filters[place]...[channel within group][channel of result]."""
    layout, (*sizes, inner, channels) = read_layout(node), _four(node, 1)
    given = layout.channels(_four(node, 0))
    groups = given // inner
    fits = inner * groups == given and channels % groups == 0
    node.check(fits, f"filters of {inner} channels to {channels} do not fit {given}")
    per_group = channels // groups
    _convolve(node, layout, tuple(sizes), Filters(
        volume=node.volume(1), groups=groups, per_group=per_group, inner=inner,
        at=lambda g, m, c, within: [*within, c, f"{per_group}*{g} + {m}"],
    ))


def depthwise(node: Node) -> None:
    """Add DepthwiseConv2dNative with filters[place]...[channel][channel of its own results]."""
    layout, (*sizes, channels, own) = read_layout(node), _four(node, 1)
    given = layout.channels(_four(node, 0))
    node.check(channels == given, f"filters of {channels} channels do not fit {given}")
    _convolve(node, layout, tuple(sizes), Filters(
        volume=node.volume(1), groups=channels, per_group=own, inner=1,
        at=lambda g, m, c, within: [*within, g, m],
    ))


def _convolve(node: Node, layout: Layout, sizes: Shape, filters: Filters) -> None:
    around = _windows(node, layout, sizes)
    found = windows.convolve(node.draft, node.wish, node.volume(0), filters, around, layout)
    node.give(found)


def pooling(node: Node) -> None:
    """Add MaxPool or AvgPool; a mean is over what lies in the places."""
    layout = read_layout(node)
    around = _windows(node, layout, _places(node, layout, "ksize"))
    if node.operator == "MaxPool":
        found = windows.pool(node.draft, node.wish, node.volume(0), around, "max=", layout)
    else:
        none = (0,) * len(around.sizes)
        counted = dataclasses.replace(around, before=none, after=none)
        found = windows.average(
            node.draft, node.wish, node.volume(0), around, counted, layout
        )
    node.give(found)


def read_layout(node: Node) -> Layout:
    """Return where the channel is. Raises UserError for layouts that are not known."""
    name = node.attribute("data_format", "NHWC")
    if name not in LAYOUTS:
        raise node.error(f"the layout {name} is not known", "NHWC and NCHW are")
    return LAYOUTS[name]


def _four(node: Node, k: int) -> Shape:
    """Return the shape of an operand that must have four dimensions."""
    shape = node.shape_of(k)
    node.check(len(shape) == 4, f"{node.name_of(k)} has {len(shape)} dimensions, and not 4")
    return shape


def _places(node: Node, layout: Layout, name: str) -> Shape:
    """Return what an attribute says of places, which must be 1 for samples and channels."""
    given = node.attribute(name, [1, 1, 1, 1])
    node.check(len(given) == 4 and min(given) > 0, f"{name} is {given}")
    if given[0] != 1 or layout.channels(given) != 1:
        node.refuse(f"{name} of samples and channels are {given[0]} and {layout.channels(given)}",
                    "windows over places alone are known")
    return tuple(layout.places(given))


def _windows(node: Node, layout: Layout, sizes: Shape) -> Windows:
    """Return the windows that attributes say, with what is around as they or the sizes say."""
    strides = _places(node, layout, "strides")
    dilations = _places(node, layout, "dilations")
    places = layout.places(_four(node, 0))
    kind = node.attribute("padding", "")
    if kind == "SAME":
        before, after = windows.find_same(places, sizes, strides, dilations)
    elif kind == "EXPLICIT":
        before, after = _explicit(node, layout)
    else:
        node.check(kind == "VALID", f"padding is {kind or 'not said'}")
        before = after = (0,) * len(sizes)
    found = Windows(
        sizes=sizes, strides=strides, dilations=dilations, before=before, after=after
    )
    node.check(min(found.fit(places)) > 0, "its windows are larger than what they move over")
    return found


def _explicit(node: Node, layout: Layout) -> tuple[Shape, Shape]:
    """Return what is put before and after places, as an attribute says."""
    given = node.attribute("explicit_paddings", list[int]())
    node.check(len(given) == 8 and min(given) >= 0, f"explicit_paddings is {given}")
    before, after = given[::2], given[1::2]
    plain = [each[0] == layout.channels(each) == 0 for each in (before, after)]
    node.check(all(plain), "explicit_paddings puts something around samples or channels")
    return tuple(layout.places(before)), tuple(layout.places(after))


_WINDOWS = "data_format dilations explicit_paddings padding strides use_cudnn_on_gpu"

CONVOLUTIONS: Mapping[str, Operator] = {
    "Conv2D": of(convolution, 2, _WINDOWS),
    "DepthwiseConv2dNative": of(depthwise, 2, _WINDOWS),
    "MaxPool": of(pooling, 1, "data_format explicit_paddings ksize padding strides"),
    "AvgPool": of(pooling, 1, "data_format ksize padding strides"),
}
