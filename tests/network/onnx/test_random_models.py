"""Random models of one operator: what is extracted has the values of ONNX's own reference."""

import random

import numpy as np
import pytest
from onnx.defs import onnx_opset_version
from onnx.reference import ReferenceEvaluator

from lairmake.stages.diagnose import UserError
from tests.network.onnx.graphs import extracted, make_model, values
from tests.network.onnx.random_models import KINDS

OPSETS = (18, 20, 21, 23, onnx_opset_version())


def make_values(drawn, draw, is_whole):
    """Return the values of the inputs: small integers, or reals."""
    numbers = np.random.default_rng(draw.randrange(1 << 30))
    found = {}
    for name, shape in drawn.inputs.items():
        made = numbers.integers(-3, 4, shape) if is_whole else numbers.normal(size=shape)
        made = np.abs(made) + 0.5 * (2 - is_whole) if name in drawn.positive else made
        found[name] = np.asarray(made, "f4").reshape(shape)
    return found


def check_random(count, seed):
    """Compare a number of models; return how many are refused."""
    refused = []
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        drawn, is_whole = KINDS[number % len(KINDS)](draw), draw.random() < 0.5
        opset = max(drawn.since, draw.choice(OPSETS))
        model = make_model(drawn.text, drawn.inputs, drawn.known, opset)
        given = make_values(drawn, draw, is_whole)
        with np.errstate(all="ignore"):
            (wanted,) = ReferenceEvaluator(model).run(None, given)
        said = f"{number}: {drawn}"
        try:
            found = extracted(model)
        except UserError as error:
            refused.append(f"{said}: {error}")
            continue
        (got,) = values(found, given)
        assert got.shape == wanted.shape, said
        assert np.allclose(got, wanted, rtol=1e-4, atol=1e-5, equal_nan=True), said
    return refused


def test_random_models_are_right():
    assert check_random(60, 1) == []


@pytest.mark.long
def test_many_random_models_are_right():
    """At most one in fifty is refused, none is wrong."""
    assert len(check_random(500, 2)) <= 10
