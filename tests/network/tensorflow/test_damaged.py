"""Damaged graphs of TensorFlow are read or refused."""

import random

import pytest
from google.protobuf import text_format

from stages.diagnose import UserError
from stages.network.tensorflow.model import load_graph_def
from stages.network.tensorflow.reading import OPERATORS, extract_frozen
from tests.network.tensorflow.cases import ROWS
from tests.network.tensorflow.graphs import FILE, draw, make_graph, written


def damaged(content, draw):
    """Return a graph with a few bytes, or a few parts of its nodes, changed."""
    if draw.random() < 0.4:
        text = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text))
            text[at : at + draw.randint(0, 3)] = bytes(draw.choices(range(256), k=2))
        return bytes(text)
    graph = load_graph_def(content, FILE)
    node = draw.choice(graph.node)
    if draw.random() < 0.3:
        node.op = draw.choice([*sorted(OPERATORS), "If", "Range", "Fill", "Shape"])
    for value in node.attr.values():
        if value.list.i and draw.random() < 0.5:
            at = draw.randrange(len(value.list.i))
            value.list.i[at] = draw.choice([-1, 0, 7, 1 << 40])
        if value.WhichOneof("value") == "type" and draw.random() < 0.2:
            value.type = draw.choice([0, 3, 7, 10, 99])
        if value.WhichOneof("value") == "i" and draw.random() < 0.5:
            value.i = draw.choice([-1, 0, 3, 63, 1 << 40])
    if node.input and draw.random() < 0.3:
        node.input[draw.randrange(len(node.input))] = draw.choice(["", "x", "x:1", "^x", "zz"])
    dims = [d for n in graph.node if "shape" in n.attr
            for d in n.attr["shape"].shape.dim]
    if dims and draw.random() < 0.5:
        draw.choice(dims).size = draw.choice([-1, 0, 1, 2, 50, 1 << 31])
    return written(graph)


def check_damaged(count, seed):
    """Fail where a damaged graph is neither read nor refused."""
    rng = random.Random(seed)
    graphs = [
        written(make_graph(text, inputs, draw(inputs, known)[1]))
        for text, inputs, known in rng.choices(ROWS, k=min(count, 60))
    ]
    refused = 0
    for content in rng.choices(graphs, k=count):
        changed = damaged(content, rng)
        is_text = rng.random() < 0.2
        try:
            if is_text:
                changed = text_format.MessageToString(load_graph_def(changed, FILE)).encode()
            file = "g.pbtxt" if is_text else FILE
            found = extract_frozen(load_graph_def(changed, file), file, "float32", {})
            found.draft.program("g", list(found.outputs.values()))
        except UserError:
            refused += 1
    assert count / 2 < refused < count


def test_damaged_graphs_are_read_or_refused():
    check_damaged(100, 1)


@pytest.mark.long
def test_many_damaged_graphs_are_read_or_refused():
    check_damaged(5000, 2)
