"""Wavelets that wait in memory: a slow PE holds back neither its port nor its neighbours."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure, FabricStuck
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

SHAPES = {"z": (2, 2, 32)}
X = np.arange(1, 65, dtype="i2").reshape(2, 32)


def patient(y):
    """Return two PEs in row y: the first takes half of each of two sequences."""
    local = {"type": "int16", "shape": [2, 32], "address": 0, "tensor": "z", "transfer": "out"}
    local["map"] = f"{{ [PE[x, {y}] -> seen_local[s, i]] -> z[x, s, i] : 0 <= x <= 1 }}"
    order = f"{{ x[i, j] -> [PE[-1, {y}] -> index[i, j]] : 0 <= i <= 1 and 0 <= j <= 31 }}"
    arrival = {"tensor": "x", "type": "int16", "colour": "x", "side": "W", "sparse": True}
    colour = {
        "number": 0,
        "routes": f"{{ [PE[x, {y}] -> W[]] -> ramp[]; [PE[0, {y}] -> W[]] -> E[] }}",
        "filter": f"{{ PE[x, {y}] -> [16x, 16x + 15] }}",
    }
    pes = f"{{ PE[x, {y}] : 0 <= x <= 1 }}"
    role = {"at": pes, "memory": {"data": 0, "code": 0}, "tensors": {"seen_local": local}}
    return {
        "grid": pes,
        "roles": {"patient": role},
        "colours": {"x": colour},
        "arrivals": {"x": arrival | {"order": order, "outer": [[0, 1]]}},
        "departures": {},
    }


def run(library, y, **figures):
    shallow = load_profile("ideal", {"queue_depth": 2, **figures})
    return run_fabric(library, patient(y), shallow, {"x": X}, shapes=SHAPES)


def test_what_waits_in_memory_stays_in_order(library):
    seen = run(library, 1).outputs["z"][0]
    first = np.arange(32) < 16
    np.testing.assert_array_equal(seen, [np.where(first, X, 0), np.where(first, 0, X)])


def test_with_room_both_pes_work_at_once(library):
    """PE 1 has its first element at 19; 32 take 20 cycles each, and an end one."""
    roomy = run(library, 1)
    assert roomy.cycles == 19 + 32 * 20 + 1
    assert roomy.stalls == 0


def test_without_room_each_pe_waits_for_its_turn(library):
    narrow = run(library, 0)
    assert narrow.cycles > 1.4 * 32 * 20
    assert narrow.stalls > 0


def test_a_fifo_takes_a_cycle_for_what_comes_in_and_an_operation_for_what_goes_out(library):
    """The first element is there one later; 32 take 21 each, both ends one."""
    filled = run(library, 1, fifo=1)
    assert filled.cycles == 20 + 32 * 21 + 2
    np.testing.assert_array_equal(filled.outputs["z"][0], run(library, 1).outputs["z"][0])


def test_a_fifo_takes_a_thread(library):
    assert run(library, 1, fifo=1, threads=2).cycles == run(library, 1, fifo=1).cycles
    with pytest.raises(FabricStuck, match="leaves 34 wavelets on x waiting: all threads are taken"):
        run(library, 1, fifo=1, threads=1)


FAILURES = [
    (2, "PE[0, 2] gives x room that is not in its memory"),
    (3, "PE[0, 3] gives room to x twice, or after main"),
    (4, "PE[0, 4] gives room to x twice, or after main"),
]


@pytest.mark.parametrize("y, text", FAILURES)
def test_room_that_a_pe_cannot_give_is_a_failure(library, y, text):
    with pytest.raises(FabricFailure) as caught:
        run(library, y)
    assert str(caught.value) == text
