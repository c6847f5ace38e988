"""Damaged graphs of TensorFlow are read or refused."""

import random

import pytest
from google.protobuf import text_format

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.network.tensorflow.model import load_graph_def
from lairmake.stages.network.tensorflow.reader import extract_frozen
from tests.network.tensorflow.cases import ROWS
from tests.network.tensorflow.graphs import FILE, draw, make_graph, written
from tests.property.mutator import damage


def check_damaged(count, seed):
    """Fail where a damaged graph is neither read nor refused."""
    rng = random.Random(seed)
    graphs = [
        written(make_graph(text, inputs, draw(inputs, known)[1]))
        for text, inputs, known in rng.choices(ROWS, k=min(count, 60))
    ]
    refused = 0
    for content in rng.choices(graphs, k=count):
        file = "g.pbtxt" if rng.random() < 0.2 else FILE
        if file != FILE:
            content = text_format.MessageToString(load_graph_def(content, FILE)).encode()
        changed = damage(file, content, rng)
        try:
            found = extract_frozen(load_graph_def(changed, file), file, "float32", {})
            found.draft.program("g", list(found.outputs.values()))
        except (UserError, UserErrors):
            refused += 1
    assert count / 2 < refused < count


def test_damaged_graphs_are_read_or_refused():
    check_damaged(100, 1)


@pytest.mark.long
def test_many_damaged_graphs_are_read_or_refused():
    check_damaged(5000, 2)
