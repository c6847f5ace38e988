"""Damaged models of ONNX are read or refused; what is read of volumes is there."""

import random
import signal

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.network.onnx.model import load_model
from lairmake.stages.network.onnx.reader import extract
from tests.network.onnx.graphs import make_model
from tests.network.onnx.test_operators import LATER, ROWS
from tests.network.parts.in_numpy import supply
from tests.property.mutator import damage

MOST_SECONDS = 20


@pytest.fixture(autouse=True)
def in_time():
    """Fail a test that takes long."""
    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda: signal.alarm(MOST_SECONDS)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def models(draw, count):
    """Yield damaged models of one or a few nodes, and what they were."""
    known = {}
    for number in range(count):
        text, inputs, weights = draw.choice(ROWS)
        if text not in known:
            values = {
                n: np.ones(v, "f4") if isinstance(v, tuple) else v for n, v in weights.items()
            }
            opset = max((LATER[name] for name in LATER if name in text), default=21)
            made = make_model(text, inputs, values, opset)
            known[text] = made.SerializeToString()
        yield f"{number}: {text}", damage("g.onnx", known[text], draw)


def check_extracted(count, seed, in_time):
    """Fail where a damaged model is neither read nor refused, or for too many that are one."""
    refused = 0
    for _, content in models(random.Random(seed), count):
        in_time()
        try:
            found = extract(load_model(content, "g.onnx", {}), "g.onnx", "float32")
            found.draft.program("g", list(found.outputs.values()))
        except (UserError, UserErrors):
            refused += 1
    assert count / 2 < refused < count


def test_damaged_models_are_read_or_refused(in_time):
    check_extracted(100, 1, in_time)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 7))
def test_many_damaged_models_are_read_or_refused(in_time, seed):
    check_extracted(1000, seed, in_time)


def check_supplied(graph, count, seed, in_time):
    """Fail where parts of a damaged model are neither made, with their inputs, nor refused."""
    made = 0
    for _, content in models(random.Random(seed), count):
        in_time()
        try:
            supply(graph.write(content).build())
            made += 1
        except (UserError, UserErrors):
            continue
    assert 0 < made < count


@pytest.mark.wide
def test_parts_of_damaged_models_are_made_or_refused(graph, in_time):
    check_supplied(graph, 20, 7, in_time)


@pytest.mark.long
def test_parts_of_many_damaged_models_are_made_or_refused(graph, in_time):
    check_supplied(graph, 500, 8, in_time)
