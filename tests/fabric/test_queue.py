"""What a PE sends leaves in the order of the program, and a full queue holds its tasks back."""

import numpy as np
import pytest

from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

ROUTES = {"x": "{ [PE[0, 0] -> W[]] -> ramp[] }", "y": "{ [PE[0, 0] -> ramp[]] -> E[] }"}


@pytest.fixture
def burst(row):
    x = {"tensor": "x", "type": "int16", "colour": "x", "side": "W", "sparse": True, "outer": []}
    x["order"] = "{ x[i = 0:9] -> [PE[-1, 0] -> index[i]] }"
    y = {"tensor": "y", "type": "int32", "side": "E", "colours": ["y"]}
    y["order"] = "{ y[i = 0:9, j = 0:2] -> [PE[1, 0] -> index[i, j]] }"
    return row("burst", 1, ROUTES, arrivals={"x": x}, departures={"y": y})


@pytest.mark.parametrize("queue", [1, 8])
def test_wavelets_leave_in_order(library, burst, queue):
    x = np.arange(1, 11, dtype="i2")
    profile = load_profile("ideal", {"threads": queue})
    run = run_fabric(library, burst, profile, {"x": x})
    expected = 4 * x[:, None].astype("i4") + np.arange(3)
    np.testing.assert_array_equal(run.outputs["y"][0], expected)


def test_a_full_queue_holds_tasks_back(library, burst):
    """With room for one, a task waits until the three wavelets before it have left."""
    x = {"x": np.ones(10, "i2")}
    one, many = (load_profile("ideal", {"threads": n}) for n in (1, 64))
    narrow = run_fabric(library, burst, one, x)
    wide = run_fabric(library, burst, many, x)
    assert narrow.cycles == wide.cycles == 2 + 1 + 10 * 3
    assert narrow.stalls > wide.stalls == 0
