"""Damage to graphs of TensorFlow: to their nodes, attributes, shapes and edges."""

from __future__ import annotations

from random import Random

from google.protobuf import text_format

from lairmake.stages.diagnose import UserError
from lairmake.stages.network.tensorflow.model import load_graph_def
from lairmake.stages.network.tensorflow.reader import OPERATORS

OTHERS = ["If", "Range", "Fill", "Shape"]
SIZES = [-1, 0, 1, 2, 50, 1 << 31, 1 << 40]


def damage_graph_def(content: bytes, choose: Random, file: str = "g.pb") -> bytes | None:
    """Return a graph with a few parts changed; None where it is none any more."""
    try:
        graph = load_graph_def(content, file)
    except UserError:
        return None
    if not graph.node:
        return None
    for _ in range(choose.choice([1, 1, 2])):
        _change(graph, choose)
    if file.endswith(".pbtxt"):
        return text_format.MessageToString(graph).encode()
    return graph.SerializeToString()


def _change(graph, choose: Random) -> None:
    node = choose.choice(graph.node)
    if choose.random() < 0.3:
        node.op = choose.choice([*sorted(OPERATORS), *OTHERS])
    for value in node.attr.values():
        if value.list.i and choose.random() < 0.5:
            value.list.i[choose.randrange(len(value.list.i))] = choose.choice([-1, 0, 7, 1 << 40])
        if value.WhichOneof("value") == "type" and choose.random() < 0.2:
            value.type = choose.choice([0, 3, 7, 10, 99])
        if value.WhichOneof("value") == "i" and choose.random() < 0.5:
            value.i = choose.choice([-1, 0, 3, 63, 1 << 40])
    if node.attr and choose.random() < 0.2:
        del node.attr[choose.choice(sorted(node.attr))]
    names = ["", "x", "x:1", "^x", "zz", *(each.name for each in graph.node)]
    if node.input and choose.random() < 0.3:  # that of a later node makes a cycle
        node.input[choose.randrange(len(node.input))] = choose.choice(names)
    if choose.random() < 0.1:
        node.name = choose.choice(names)
    dims = [d for n in graph.node if "shape" in n.attr for d in n.attr["shape"].shape.dim]
    if dims and choose.random() < 0.5:
        choose.choice(dims).size = choose.choice(SIZES)
