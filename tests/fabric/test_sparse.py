"""Sparse tensors: sequences, their ends, and PEs that take their time."""

import numpy as np
import pytest

from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

ORDER = "{ x[i, j] -> [PE[x, -1] -> index[i, j]] : 0 <= x <= 1 and 0 <= i <= 2 and 0 <= j <= 7 }"


def tally(row, order=ORDER, outer=((0, 2),)):
    x = {"tensor": "x", "type": "int16", "colour": "x", "side": "N", "sparse": True}
    x |= {"order": order, "outer": [list(box) for box in outer]}
    local = {"type": "int16", "shape": [3, 8], "address": 0, "tensor": "z", "transfer": "out"}
    local["map"] = "{ [PE[x, 0] -> seen_local[s, i]] -> z[x, s, i] : 0 <= x <= 1 }"
    routes = "{ [PE[x, 0] -> N[]] -> ramp[] }"
    return row("tally", 2, {"x": routes}, arrivals={"x": x}, tensors={"seen_local": local})


SHAPES = {"z": (2, 3, 8)}
X = np.array([[0, 5, 0, -1, 0, 0, 0, 2], [0] * 8, [9, 0, 0, 0, 0, 0, 0, 0]], dtype="i2")


def test_sequences_end_one_by_one_even_if_empty(library, row, ideal):
    run = run_fabric(library, tally(row), ideal, {"x": X}, shapes=SHAPES)
    np.testing.assert_array_equal(run.outputs["z"][0], np.stack([X, X]))
    calls = [counter.calls for counter in run.counters["tally"]]
    assert calls == [2 * 4, 2 * 3]


def test_a_router_drops_elements_outside_its_filter_but_no_ends(library, row, ideal):
    layout = tally(row)
    layout["colours"]["x"]["filter"] = "{ PE[1, 0] -> [1, 3] }"
    run = run_fabric(library, layout, ideal, {"x": X}, shapes=SHAPES)
    passed = np.where((np.arange(8) >= 1) & (np.arange(8) <= 3), X, 0)
    np.testing.assert_array_equal(run.outputs["z"][0], np.stack([X, passed]))
    assert [counter.calls for counter in run.counters["tally"]] == [4 + 2, 2 * 3]


def test_sequences_without_any_element_are_ended_too(library, row, ideal):
    order = ORDER.replace("0 <= i <= 2", "1 <= i <= 1")
    run = run_fabric(library, tally(row, order), ideal, {"x": X + 1}, shapes=SHAPES)
    expected = np.zeros((2, 3, 8))
    expected[:, 1] = X[1] + 1
    np.testing.assert_array_equal(run.outputs["z"][0], expected)


def test_a_slow_pe_holds_its_port_back(library, row, ideal):
    """Each element takes 20 cycles; the first is there at 2, and an end takes one cycle."""
    run = run_fabric(library, tally(row), ideal, {"x": X + 20}, shapes=SHAPES)
    assert run.cycles == 2 + 24 * 20 + 2
    assert run.usage["busy"].max() == 24 * 20 + 3
    deep = load_profile("ideal", {"queue_depth": 64})
    faster = run_fabric(library, tally(row), deep, {"x": X + 20}, shapes=SHAPES)
    assert faster.cycles == run.cycles
    assert run.stalls > faster.stalls == 0


def test_dispatch_comes_before_every_task(library, row):
    profile = load_profile("ideal", {"dispatch": 10})
    run = run_fabric(library, tally(row), profile, {"x": X + 20}, shapes=SHAPES)
    assert run.cycles == 2 + 24 * 30 + 2 * 10 + 10


def test_an_outer_index_outside_the_stated_box_is_refused(library, row, ideal):
    with pytest.raises(ValueError, match=r"the outer indices of .* are not those of the box"):
        run_fabric(library, tally(row, outer=[(0, 1)]), ideal, {"x": X}, shapes=SHAPES)


def test_a_sparse_index_of_more_than_16_bits_is_refused(library, row, ideal):
    order = "{ x[i, j] -> [PE[x, -1] -> index[i, j + 65530]] : 0 <= x <= 1 and 0 <= j <= 7 and "
    layout = tally(row, order + "0 <= i <= 2 }")
    with pytest.raises(ValueError, match=r"an index below 65536, not 16 bits and indices 65530 to"):
        run_fabric(library, layout, ideal, {"x": X}, shapes=SHAPES)


def test_a_port_that_is_not_next_to_the_grid_is_refused(library, row, ideal):
    layout = tally(row, ORDER.replace("PE[x, -1]", "PE[x, -2]"))
    with pytest.raises(ValueError, match=r"are not all next to the grid's side N"):
        run_fabric(library, layout, ideal, {"x": X}, shapes=SHAPES)
