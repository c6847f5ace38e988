"""How long wavelets take, on machines on which this can be said in a closed form."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

CHAIN = {
    "y_a": "{ [PE[x, 0] -> ramp[]] -> E[] : x mod 2 = 0;"
    " [PE[x, 0] -> W[]] -> ramp[] : x mod 2 = 1 }",
    "y_b": "{ [PE[x, 0] -> ramp[]] -> E[] : x mod 2 = 1;"
    " [PE[x, 0] -> W[]] -> ramp[] : x mod 2 = 0 and x > 0 }",
}


def chain(row, count, role="chain", elements=16):
    v = {"type": "float32", "shape": [16], "address": 0, "tensor": "v", "transfer": "in"}
    v["map"] = "{ [PE[x, 0] -> v_local[i]] -> v[x, i] }"
    y = {"tensor": "y", "type": "float32", "side": "E", "colours": ["y_a", "y_b"]}
    y["order"] = f"{{ y[i = 0:{elements - 1}] -> [PE[{count}, 0] -> index[i]] }}"
    return row(role, count, CHAIN, departures={"y": y}, tensors={"v_local": v})


@pytest.mark.parametrize("count", [1, 2, 5, 16])
@pytest.mark.parametrize("ramp", [0, 2, 7])
def test_chain_takes_b_plus_two_ramps_and_two_cycles_a_pe(library, row, count, ramp):
    """Luczynski et al., HPDC 2024: B + (2 T_R + 2)(P - 1), here with one more ramp to the port."""
    v = np.arange(16 * count, dtype="f4").reshape(count, 16)
    profile = load_profile("ideal", {"ramp": ramp, "queue_depth": 2})
    run = run_fabric(library, chain(row, count), profile, {"v": v})
    np.testing.assert_array_equal(run.outputs["y"][0], v.sum(axis=0))
    assert run.cycles == 16 + (2 * ramp + 2) * (count - 1) + ramp


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("ramp", [0, 3])
def test_what_passes_is_one_stream_with_own_elements_behind_it(library, row, count, ramp):
    v = np.arange(16 * count, dtype="f4").reshape(count, 16)
    layout = chain(row, count, "turns", 16 * count)
    run = run_fabric(library, layout, load_profile("ideal", {"ramp": ramp}), {"v": v})
    np.testing.assert_array_equal(run.outputs["y"][0], v.reshape(-1))
    assert run.cycles == 16 * count + (2 * ramp + 2) * (count - 1) + ramp


def both(row):
    """Return two PEs that each send what they have on a colour of their own, over one link."""
    layout = chain(row, 2, "both")
    for x, name in enumerate(("y_a", "y_b")):
        routes = f"{{ [PE[{x}, 0] -> ramp[]] -> E[]; [PE[x, 0] -> W[]] -> E[] : {x} < x <= 1 }}"
        layout["colours"][name]["routes"] = routes
        order = "{ y[i = 0:15] -> [PE[2, 0] -> index[i]] }".replace("y", name, 1)
        out = {"tensor": name, "type": "float32", "side": "E", "colours": [name], "order": order}
        layout["departures"][name] = out
    del layout["departures"]["y"]
    return layout


def test_hops_and_wavelets_of_a_chain(library, row, ideal):
    run = run_fabric(library, chain(row, 5), ideal, {"v": np.ones((5, 16), "f4")})
    assert (run.injected, run.hops, run.delivered) == (5 * 16, 5 * 16, 5 * 16)
    assert run.stalls == 0


def broadcast(row, count):
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "W", "sparse": False}
    x["order"] = "{ x[i = 0:7] -> [PE[-1, 0] -> index[i]] }"
    local = {"type": "int32", "shape": [8], "address": 0, "tensor": "z", "transfer": "out"}
    local["map"] = f"{{ [PE[x, 0] -> x_local[i]] -> z[x, i] : 0 <= x < {count} and 0 <= i < 8 }}"
    routes = f"{{ [PE[x, 0] -> W[]] -> ramp[]; [PE[x, 0] -> W[]] -> E[] : x < {count - 1} }}"
    return row("receive", count, {"x": routes}, arrivals={"x": x}, tensors={"x_local": local})


@pytest.mark.parametrize("ramp", [0, 2])
@pytest.mark.parametrize("count", [1, 4, 30])
def test_broadcast_reaches_every_pe_of_a_row(library, row, count, ramp):
    x = np.arange(8, dtype="i4") - 3
    profile = load_profile("ideal", {"ramp": ramp})
    run = run_fabric(library, broadcast(row, count), profile, {"x": x})
    np.testing.assert_array_equal(run.outputs["z"][0], np.tile(x, (count, 1)))
    assert run.cycles == 8 + count + ramp + 1
    assert run.counters["receive"][0].points == 8 * count


def test_a_hop_may_take_longer(library, row):
    profile = load_profile("ideal", {"hop": 5, "queue_depth": 2})
    run = run_fabric(library, broadcast(row, 4), profile, {"x": np.ones(8, "i4")})
    assert run.cycles == 8 + 4 * 5 + 1


def test_queues_of_one_wavelet_halve_the_speed(library, row):
    profile = load_profile("ideal", {"queue_depth": 1})
    run = run_fabric(library, broadcast(row, 4), profile, {"x": np.ones(8, "i4")})
    assert run.cycles == 2 * 7 + 1 + 4 + 1


@pytest.mark.parametrize("ramp", [1, 3])
@pytest.mark.parametrize("count", [1, 4, 9])
def test_on_links_of_half_the_width_a_wavelet_takes_two_cycles(library, row, count, ramp):
    x = np.arange(8, dtype="i4") - 3
    profile = load_profile("ideal", {"ramp": ramp, "link_width": 16})
    run = run_fabric(library, broadcast(row, count), profile, {"x": x})
    np.testing.assert_array_equal(run.outputs["z"][0], np.tile(x, (count, 1)))
    assert run.cycles == 2 * 7 + 2 * count + (ramp + 1) + 1 + 1


@pytest.mark.parametrize(("width", "cycles"), [(16, 66), (32, 32), (64, 17)])
def test_two_colours_share_a_link_that_carries_one_wavelet_a_cycle(library, row, width, cycles):
    """Two PEs beside each other send 16 elements over the same link."""
    layout = both(row)
    profile = load_profile("ideal", {"link_width": width})
    run = run_fabric(library, layout, profile, {"v": np.ones((2, 16), "f4")})
    assert run.cycles == cycles


def test_without_multicast_no_route_goes_to_several_sides(library, row):
    profile = load_profile("ideal", {"multicast": False})
    with pytest.raises(FabricFailure) as failed:
        run_fabric(library, broadcast(row, 4), profile, {"x": np.arange(8, dtype="i4")})
    assert str(failed.value) == (
        "the route of x at PE[0, 0] goes to several sides; routers of this machine do not copy"
    )


def test_start_up_delays_a_stream_once(library, row):
    profile = load_profile("ideal", {"vector_start_up": 6})
    run = run_fabric(library, chain(row, 5), profile, {"v": np.ones((5, 16), "f4")})
    assert run.cycles == 6 + 16 + 2 * 4


def test_main_is_reported_apart(library, row):
    profile = load_profile("ideal", {"configuration": 8})
    run = run_fabric(library, chain(row, 2), profile, {"v": np.ones((2, 16), "f4")})
    assert (run.main_cycles, run.cycles) == (16, 16 + 2)


def test_dense_invocations_follow_back_to_back(library, row, ideal):
    x = np.arange(8, dtype="i4")
    run = run_fabric(library, broadcast(row, 3), ideal, {"x": x}, 4)
    assert run.counters["receive"][0].points == 4 * 8 * 3
    assert run.injected == 4 * 8
    np.testing.assert_array_equal(run.outputs["z"][0], np.tile(x, (3, 1)))


def test_one_dense_value_an_invocation(library, row, ideal):
    values = [np.arange(8, dtype="i4") + 100 * n for n in range(4)]
    run = run_fabric(library, broadcast(row, 3), ideal, {"x": values}, 4)
    same = run_fabric(library, broadcast(row, 3), ideal, {"x": values[0]}, 4)
    assert (run.injected, run.cycles) == (same.injected, same.cycles)
    np.testing.assert_array_equal(run.outputs["z"][0], np.tile(values[-1], (3, 1)))


def test_as_many_values_as_invocations(library, row, ideal):
    values = [np.arange(8, dtype="i4")] * 3
    with pytest.raises(ValueError, match="tensor x has 3 values, not 4"):
        run_fabric(library, broadcast(row, 3), ideal, {"x": values}, 4)


def test_a_control_wavelet_advances_the_route(library, ideal):
    routes = {"E": "{ [PE[0, 0] -> ramp[]] -> E[] }", "S": "{ [PE[0, 0] -> ramp[]] -> S[] }"}
    layout = {
        "grid": "{ PE[0, 0] }",
        "roles": {"turn": {"at": "{ PE[0, 0] }", "memory": {"data": 0, "code": 0}, "tensors": {}}},
        "colours": {"y": {"number": 0, "positions": [routes["E"], routes["S"]]}},
        "arrivals": {},
        "departures": {
            "e": {"tensor": "e", "type": "int32", "side": "E", "colours": ["y"],
                  "order": "{ e[i = 0:3] -> [PE[1, 0] -> index[i]] }"},
            "s": {"tensor": "s", "type": "int32", "side": "S", "colours": ["y"],
                  "order": "{ s[i = 0:3] -> [PE[0, 1] -> index[i]] }"},
        },
    }
    run = run_fabric(library, layout, ideal, {})
    assert run.outputs["e"][0].tolist() == [0, 1, 20, 21]
    assert run.outputs["s"][0].tolist() == [10, 11, 30, 31]
