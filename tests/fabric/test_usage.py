"""What cycles of PEs and links go into: all of them, and what PEs were made to wait for."""

import io
from dataclasses import replace

import numpy as np
import pytest
import yaml

from lairmake.stages.fabric.engine import ACTIVE
from lairmake.stages.fabric.grid import SIDES
from lairmake.stages.fabric.usage import CYCLES, find_usage, sum_up, write_usage
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric
from tests.fabric.test_fc import W, X

ELEMENTS = 32
RAMP = SIDES.index("ramp")
WAITING = ACTIVE[ACTIVE.index("moving") + 1 :]


def states(row):
    """Return seven PEs: x comes to each but the last from the north, z to all from the west."""
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "N", "sparse": False}
    x["order"] = "{ x[i] -> [PE[x, -1] -> index[i]] : 0 <= x <= 5 and 0 <= i < 32 }"
    z = {"tensor": "z", "type": "int32", "colour": "z", "side": "W", "sparse": False}
    z["order"] = "{ z[0] -> [PE[-1, 0] -> index[0]] }"
    hand = "{{ [PE[{0}, 0] -> ramp[]] -> E[]; [PE[{1}, 0] -> W[]] -> ramp[] }}"
    return row("states", 7, {
        "x": "{ [PE[x, 0] -> N[]] -> ramp[] : x <= 5 }",
        "z": "{ [PE[x, 0] -> W[]] -> ramp[]; [PE[x, 0] -> W[]] -> E[] : x < 6 }",
        "q": hand.format(3, 4), "r": hand.format(5, 6),
    }, arrivals={"x": x, "z": z})


@pytest.fixture(scope="module")
def ran(library):
    from tests.fabric.conftest import row_layout

    profile = load_profile("ideal", {"hop": 10, "queue_depth": 2, "threads": 1})
    values = {"x": np.arange(ELEMENTS, dtype="i4"), "z": np.ones(1, "i4")}
    return run_fabric(library, states(row_layout), profile, values)


@pytest.mark.parametrize("pe, state, why", [
    (1, "blocked", "x is blocked until z comes"),
    (2, "under_way", "the only thread waits for z, and an element of x for a task"),
    (3, "no_space", "it sends what PE 4 takes from when z has come"),
    (4, "no_input", "it waits for z, and has taken all of x"),
    (5, "full_queue", "it forwards what PE 6 takes from when z has come"),
])
def test_a_pe_that_waits_says_for_what(ran, pe, state, why):
    waits = {name: int(ran.activity["cycles"][pe, ACTIVE.index(name)]) for name in WAITING}
    assert {name for name, count in waits.items() if count} == {state}, (why, waits)


def test_what_streams_move_is_counted_by_the_cycle(ran):
    """PE 4 receives 32 elements, one a cycle, when z has come; PE 0 runs a task beside one."""
    moving = ACTIVE.index("moving")
    assert ran.activity["cycles"][[0, 4], moving].tolist() == [ELEMENTS - 1, ELEMENTS]


@pytest.fixture(params=["states", "fc", "fc on two samples, with narrow queues"])
def any_run(request, ran, library):
    from tests.fabric.conftest import HERE

    if request.param == "states":
        return ran
    fc = yaml.safe_load((HERE / "fc.yaml").read_text(encoding="utf-8"))
    several = "two" in request.param
    profile = load_profile("wse2", {"queue_depth": 2} if several else {})
    return run_fabric(library, fc, profile, {"W": W, "x": X}, 2 if several else 1)


def test_cycles_of_all_kinds_add_up_to_the_run(any_run):
    usage = find_usage(any_run)
    assert (sum(usage.pes[name] for name in CYCLES) == usage.until).all()
    assert all((usage.pes[name] >= 0).all() for name in CYCLES)
    assert (usage.pes["last"] <= usage.until).all()
    np.testing.assert_array_equal(
        any_run.activity["cycles"][:, ACTIVE.index("busy")], any_run.usage["busy"]
    )


def test_links_add_up_to_the_traffic(any_run):
    """Hops are wavelets that routers heard, but from their PEs, and those that left to ports."""
    usage, left = find_usage(any_run), sum(map(np.size, any_run.outputs["y"])) \
        if "y" in any_run.outputs else 0
    wavelets, stalls = usage.links["link_wavelets"], usage.links["link_stalls"]
    assert wavelets[:RAMP].sum() + left == any_run.hops
    assert stalls.sum() == any_run.stalls
    assert usage.pes["sent"].sum() == wavelets[RAMP].sum()
    assert usage.pes["received"].sum() + left == any_run.delivered


def test_bins_have_the_cycles_of_pes_over_time(any_run):
    usage = find_usage(any_run)
    np.testing.assert_array_equal(
        usage.bins.sum(axis=1), any_run.activity["cycles"].sum(axis=0)
    )
    assert usage.hops.sum() == any_run.hops
    assert (usage.bins.sum(axis=0) <= usage.width * any_run.activity.size).all()


def test_a_long_run_has_wider_bins(library, row):
    """A PE takes eight elements, then runs a task: it is active in each bin but at the ends."""
    layout = row("receive", 1, {"x": "{ [PE[0, 0] -> W[]] -> ramp[] }"}, arrivals={"x": {
        "tensor": "x", "type": "int32", "colour": "x", "side": "W", "sparse": False,
        "order": "{ x[i] -> [PE[-1, 0] -> index[i]] : 0 <= i < 8 }"}})
    usage = find_usage(run_fabric(
        library, layout, load_profile("ideal", {}), {"x": np.zeros(8, "i4")}, 625
    ))
    busy, moving = (usage.bins[ACTIVE.index(name)] for name in ("busy", "moving"))
    assert (usage.width, moving.size) == (8, -(-usage.until // 8))
    assert moving.sum() == 5000 and (busy + moving)[1:-1].tolist() == [8] * (moving.size - 2)


def test_the_busiest_link_is_the_first_of_those_with_most_wavelets(ran):
    used = sum_up(ran)
    assert (used.busiest_link.pe, used.busiest_link.side) == ((4, 0), "W")
    assert used.busiest_link.wavelets == ELEMENTS + 1  # q, and z
    assert used.cycles["blocked"] == ran.activity["cycles"][1, ACTIVE.index("blocked")]


def test_the_same_usage_gives_the_same_bytes_which_numpy_reads(any_run):
    usage = find_usage(any_run)
    content = write_usage(usage)
    assert content == write_usage(find_usage(any_run))
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert {*CYCLES, "rounding", "received", "sent", "first", "last"} <= {*arrays}
        np.testing.assert_array_equal(arrays["link_stalls"], usage.links["link_stalls"])
        assert arrays["bin_width"] == usage.width and arrays["until"] == usage.until


def test_pes_that_are_alike_take_few_bytes_of_a_file(any_run):
    usage = find_usage(any_run)
    maps = {name: np.full((300, 300), 7, np.int32) for name in usage.pes}
    assert len(write_usage(replace(usage, pes=maps))) < len(maps) * 300 * 300 * 4 / 100


def test_what_is_kept_of_a_pe_has_at_most_two_hundred_bytes(ran):
    kept = ran.usage.itemsize + ran.activity.itemsize + 5 * ran.links.itemsize
    assert kept <= 200
