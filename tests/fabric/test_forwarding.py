"""PEs forward what they take, or get replicas of their own, where routers do not copy."""

import numpy as np
import pytest

from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

COLOURS = {
    "x_even": "{ [PE[x, 0] -> W[]] -> ramp[] : x mod 2 = 0; [PE[x, 0] -> ramp[]] -> E[] :"
    " x = 1 }",
    "x_odd": "{ [PE[x, 0] -> W[]] -> ramp[] : x mod 2 = 1; [PE[x, 0] -> ramp[]] -> E[] :"
    " x mod 2 = 0 and x < 3 }",
}


def machine(**figures):
    return load_profile("ideal", {"multicast": False, **figures})


def dense(row):
    x = {"tensor": "x", "type": "int32", "colour": "x_even", "side": "W", "sparse": False}
    x["order"] = "{ x[i = 0:7] -> [PE[-1, 0] -> index[i]] }"
    local = {"type": "int32", "shape": [8], "address": 0, "tensor": "z", "transfer": "out"}
    local["map"] = "{ [PE[x, 0] -> x_local[i]] -> z[x, i] : 0 <= x <= 3 and 0 <= i < 8 }"
    return row("pass", 4, COLOURS, arrivals={"x": x}, tensors={"x_local": local})


def sparse(row):
    x = {"tensor": "x", "type": "int16", "colour": "x_even", "side": "W", "sparse": True}
    x |= {"order": "{ x[i, j] -> [PE[-1, 0] -> index[i, j]] : 0 <= i <= 1 and 0 <= j <= 7 }"}
    local = {"type": "int32", "shape": [2], "address": 0, "tensor": "z", "transfer": "out"}
    local["map"] = "{ [PE[x, 0] -> sums[i]] -> z[x, i] : 0 <= x <= 3 and 0 <= i < 2 }"
    return row("hand", 4, COLOURS, arrivals={"x": x | {"outer": [[0, 1]]}}, tensors={"sums": local})


@pytest.mark.wide
@pytest.mark.parametrize("invocations", [1, 3])
def test_a_stream_is_forwarded_as_it_comes(library, row, invocations):
    x = np.arange(8, dtype="i4") - 3
    run = run_fabric(library, dense(row), machine(), {"x": x}, invocations)
    expected = np.tile(x, (4, 1))
    expected[1] = 0
    np.testing.assert_array_equal(run.outputs["z"][0], expected)
    assert (run.hops, run.delivered) == (4 * 8 * invocations, 4 * 8 * invocations)


@pytest.mark.parametrize("ramp", [0, 2])
def test_forwarding_costs_the_ramps_of_each_pe_and_no_rate(library, row, ramp):
    run = run_fabric(library, dense(row), machine(ramp=ramp), {"x": np.ones(8, "i4")})
    assert run.cycles == 8 + 3 * (2 * ramp + 2) + ramp + 2


def test_tasks_forward_elements_and_ends(library, row):
    x = np.arange(16, dtype="i2").reshape(2, 8)
    run = run_fabric(library, sparse(row), machine(dispatch=5, ramp=1), {"x": x})
    np.testing.assert_array_equal(run.outputs["z"][0], np.tile(x.sum(axis=1), (4, 1)))
    assert run.delivered == 4 * (15 + 2)


def test_a_task_is_charged_for_what_it_forwards(library, row):
    x = np.ones((2, 8), "i2")
    cheap, dear = (
        run_fabric(library, sparse(row), machine(scalar=scalar), {"x": x}) for scalar in (0, 3)
    )
    assert dear.cycles > cheap.cycles
    assert dear.usage["scalar"].tolist() == [3 * 18] * 3 + [0]


@pytest.mark.parametrize("invocations", [1, 3])
def test_each_pe_gets_a_replica_of_its_own(library, row, invocations):
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "W", "sparse": False}
    x |= {"order": "{ x[i = 0:7] -> [PE[-1, 0] -> index[i]] }", "replicas": "{ PE[0:3, 0] }"}
    local = {"type": "int32", "shape": [8], "address": 0, "tensor": "z", "transfer": "out"}
    local["map"] = "{ [PE[x, 0] -> x_local[i]] -> z[x, i] : 0 <= x <= 3 and 0 <= i < 8 }"
    layout = row("receive", 4, {"x": ""}, arrivals={"x": x}, tensors={"x_local": local})
    layout["colours"]["x"] = {"number": 0, "positions": [
        "{ [PE[0:3, 0] -> W[]] -> ramp[] }",
        "{ [PE[0:2, 0] -> W[]] -> E[]; [PE[3, 0] -> W[]] -> ramp[] }",
    ], "ring": "{ PE[x, 0] -> [0] }"}
    values = [np.arange(8, dtype="i4") + 100 * n for n in range(invocations)]
    run = run_fabric(library, layout, machine(), {"x": values}, invocations)
    np.testing.assert_array_equal(run.outputs["z"][0], np.tile(values[-1], (4, 1)))
    assert run.injected == invocations * 4 * (8 + 1)
    assert run.delivered == invocations * 4 * 8
    assert run.cycles == invocations * 4 * (8 + 1) - 1 + 4 + 1


def test_a_port_sends_replicas_to_itself_then_right_then_left(library, row):
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "N", "sparse": False}
    x |= {"order": "{ x[i = 0:7] -> [PE[2, -1] -> index[i]] }"}
    x |= {"along": "{ PE[x, 0] -> PE[2, -1] : 0 <= x <= 5 }"}
    local = {"type": "int32", "shape": [8], "address": 0, "tensor": "z", "transfer": "out"}
    local["map"] = "{ [PE[x, 0] -> x_local[i]] -> z[x, i] : 0 <= x <= 5 and 0 <= i < 8 }"
    layout = row("receive", 6, {"x": ""}, arrivals={"x": x}, tensors={"x_local": local})
    first = "[PE[0:1, 0] -> E[]] -> ramp[]; [PE[3:5, 0] -> W[]] -> ramp[] }"
    then = (
        "[PE[1, 0] -> E[]] -> W[]; [PE[0, 0] -> E[]] -> ramp[];"
        " [PE[3:4, 0] -> W[]] -> E[]; [PE[5, 0] -> W[]] -> ramp[] }"
    )
    port = "{ [PE[2, 0] -> N[]] -> "
    layout["colours"]["x"] = {"number": 0, "positions": [
        f"{port}ramp[]; {first}", f"{port}E[]; {then}", f"{port}W[]; {then}",
    ], "ring": "{ PE[x, 0] -> [0] }", "pop": "{ PE[2, 0] -> [1] }"}
    values = [np.arange(8, dtype="i4") + 100 * n for n in range(3)]
    run = run_fabric(library, layout, machine(), {"x": values}, 3)
    np.testing.assert_array_equal(run.outputs["z"][0], np.tile(values[-1], (6, 1)))
    assert (run.injected, run.delivered) == (3 * 6 * (8 + 1), 3 * 6 * 8)
