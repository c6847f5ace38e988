"""ResNet-18 and MobileNetV2 in ONNX, of any width and image, with weights that are drawn.

Source   K. He et al., Deep Residual Learning for Image Recognition, CVPR 2016, Table 1; M. Sandler
         et al., MobileNetV2, CVPR 2018, Table 2; nodes as those of the ONNX model zoo
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

RESNET = ((1, 1), (2, 2), (4, 2), (8, 2))
"""Channels of the stages of two blocks, of those of the first one, and the stride of each."""

MOBILENET = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Table 2: expansion, channels, repetitions, and the stride of the first."""


class Drawing:
    """A graph under construction: `add` returns the name of the result of a node."""

    def __init__(self, seed: int) -> None:
        self.nodes: list[NodeProto] = []
        self.known: dict[str, np.ndarray] = {}
        self.draw = np.random.default_rng(seed)

    def add(self, operator: str, *operands: str, **attributes: Any) -> str:
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, operands, [name], name, **attributes))
        return name

    def weight(self, values: np.ndarray) -> str:
        name = f"w{len(self.known)}"
        self.known[name] = values.astype("f4")
        return name

    def normal(self, *shape: int) -> str:
        """Return weights that neither let values grow nor vanish: He et al., ICCV 2015."""
        fan = int(np.prod(shape[1:]))
        return self.weight(self.draw.normal(size=shape) * (2 / fan) ** 0.5)

    def uniform(self, low: float, high: float, size: int) -> str:
        return self.weight(self.draw.uniform(low, high, size))

    def convolution(
        self, x: str, before: int, after: int, kernel: int, stride: int = 1, groups: int = 1
    ) -> str:
        """Return a convolution without bias, and the normalisation of batches after it."""
        pads, size = [kernel // 2] * 4, [kernel, kernel]
        weights = self.normal(after, before // groups, kernel, kernel)
        found = self.add("Conv", x, weights, group=groups, kernel_shape=size, pads=pads,
                         strides=[stride, stride])
        spread = [self.uniform(*each, after)
                  for each in ((0.8, 1.2), (-0.1, 0.1), (-0.1, 0.1), (0.8, 1.2))]
        return self.add("BatchNormalization", found, *spread)

    def model(self, name: str, shape: Sequence[int], result: str, classes: int) -> ModelProto:
        graph = helper.make_graph(
            self.nodes, name, [helper.make_tensor_value_info("data", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, (shape[0], classes))],
            [numpy_helper.from_array(values, each) for each, values in self.known.items()],
        )
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
        )


def make_resnet(width: int = 64, image: int = 224, classes: int = 1000) -> ModelProto:
    """Return ResNet-18 with `width` channels in its first stage, 64 in the paper."""
    net = Drawing(18)
    x = net.add("Relu", net.convolution("data", 3, width, 7, 2))
    x, before = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), width
    for times, stride in RESNET:
        for first in (stride, 1):
            x, before = _basic(net, x, before, times * width, first), times * width
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    weights = net.normal(classes, before)
    result = net.add("Gemm", x, weights, net.uniform(-0.1, 0.1, classes), transB=1)
    return net.model("resnet18", (1, 3, image, image), result, classes)


def _basic(net: Drawing, x: str, before: int, after: int, stride: int) -> str:
    """Return a block of two convolutions, to which its input is added."""
    first = net.add("Relu", net.convolution(x, before, after, 3, stride))
    second = net.convolution(first, after, after, 3)
    same = stride == 1 and before == after
    short = x if same else net.convolution(x, before, after, 1, stride)
    return net.add("Relu", net.add("Add", second, short))


def make_mobilenet(
    width: float = 1.0, image: int = 224, classes: int = 1000
) -> ModelProto:
    """Return MobileNetV2, its channels times `width`; eight at least."""
    net = Drawing(2)
    before = _channels(32, width)
    x = _six(net, net.convolution("data", 3, before, 3, 2))
    for expansion, channels, repeated, stride in MOBILENET:
        for k in range(repeated):
            after = _channels(channels, width)
            x = _inverted(net, x, before, after, expansion, stride if k == 0 else 1)
            before = after
    last = _channels(1280, max(width, 1.0)) if width >= 1 else _channels(1280, width)
    x = net.add("GlobalAveragePool", _six(net, net.convolution(x, before, last, 1)))
    weights = net.normal(classes, last)
    result = net.add("Gemm", net.add("Flatten", x), weights, net.uniform(-0.1, 0.1, classes),
                     transB=1)
    return net.model("mobilenet", (1, 3, image, image), result, classes)


def _inverted(
    net: Drawing, x: str, before: int, after: int, expansion: int, stride: int
) -> str:
    """Return an inverted residual: wider, by channel, narrower again without a function."""
    wide = before * expansion
    inner = _six(net, net.convolution(x, before, wide, 1)) if expansion > 1 else x
    inner = _six(net, net.convolution(inner, wide, wide, 3, stride, groups=wide))
    found = net.convolution(inner, wide, after, 1)
    return net.add("Add", x, found) if stride == 1 and before == after else found


def _six(net: Drawing, x: str) -> str:
    """Return min(max(x, 0), 6)."""
    limits = [net.weight(np.array(each)) for each in (0, 6)]
    return net.add("Clip", x, *limits)


def _channels(count: int, width: float) -> int:
    """Return so many channels times `width`, a multiple of eight."""
    return max(8, int(count * width + 4) // 8 * 8)
