"""The start of a task: one that is activated when the one before it ends may take less."""

import numpy as np
import pytest

from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric


@pytest.mark.parametrize(
    ("figures", "next_"), [({}, 10), ({"dispatch_next": 3}, 3), ({"dispatch_next": 0}, 0)]
)
def test_a_task_that_is_activated_when_one_ends(library, row, figures, next_):
    """The first task, and the one that a wavelet starts though it waits, take the dispatch."""
    stamp = {"type": "int32", "shape": [4], "address": 0, "tensor": "stamp", "transfer": "out",
             "map": "{ [PE[x, 0] -> stamp_local[i]] -> stamp[x, i] }"}
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "W", "sparse": False,
         "order": "{ x[i = 0:0] -> [PE[-1, 0] -> index[i]] }"}
    layout = row("dispatch", 1, {"x": "{ [PE[x, y] -> W[]] -> ramp[] }"}, arrivals={"x": x},
                 tensors={"stamp_local": stamp})
    profile = load_profile("ideal", {"dispatch": 10, **figures})
    run = run_fabric(library, layout, profile, {"x": np.ones(1, "i4")}, shapes={"stamp": (1, 4)})
    first, second, third, arrived = run.outputs["stamp"][0][0].tolist()
    assert first == 10
    assert second == first + 20 + next_
    assert third == second + 4 + next_
    assert arrived == third + 1 - (next_ > 0) + 10
    assert (run.usage[0]["dispatch"], run.usage[0]["dispatch_next"]) == (2 * 10, 2 * next_)
