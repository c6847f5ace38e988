"""A whole layer by hand: adapters, sparse elements, vector instructions, a chain of sums."""

import numpy as np
import pytest

from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

RANDOM = np.random.default_rng(1)
W = RANDOM.integers(-4, 5, (32, 16)).astype("f2")
X = (RANDOM.integers(-3, 4, 16) * RANDOM.integers(0, 2, 16)).astype("f2")
Y = (W.astype("f4") @ X.astype("f4")).astype("f2")


@pytest.mark.parametrize("name", ["ideal", "paper", "wse1", "wse2", "wse3"])
def test_layer_computes_its_outputs_on_every_machine(library, fc, name):
    run = run_fabric(library, fc, load_profile(name, {}), {"W": W, "x": X})
    np.testing.assert_array_equal(run.outputs["y"][0], Y)


def test_every_invocation_gives_its_outputs(library, fc):
    profile = load_profile("wse2", {})
    run = run_fabric(library, fc, profile, {"W": W, "x": X}, 3)
    assert len(run.outputs["y"]) == 3
    assert all(np.array_equal(y, Y) for y in run.outputs["y"])


def test_zeros_are_not_sent(library, fc, ideal):
    run = run_fabric(library, fc, ideal, {"W": W, "x": X * 0})
    assert run.counters["compute"][1].calls == 0
    np.testing.assert_array_equal(run.outputs["y"][0], Y * 0)


def test_counters_tell_calls_and_points(library, fc, ideal):
    run = run_fabric(library, fc, ideal, {"W": W, "x": X})
    elements = np.count_nonzero(X)
    on_x = run.counters["compute"][1]
    assert (on_x.calls, on_x.points) == (4 * elements, 4 * 8 * elements)
    most = max(np.count_nonzero(X[4 * i : 4 * i + 4]) for i in range(4))
    assert run.points["compute"][:, 1].max() == 8 * most
    assert run.memory == {"spread": 300, "compute": 880}


def test_usage_tells_what_the_cycles_of_a_pe_went_into(library, fc):
    """8 points on 3 lanes take 3 cycles; the vector instruction of `main` does not count."""
    run = run_fabric(library, fc, load_profile("ideal", {"lanes": 3}), {"W": W, "x": X})
    spread, *compute = run.usage.reshape(5, 4)
    elements = np.count_nonzero(X.reshape(4, 4), axis=1)
    assert not spread["points"].any()
    for pes in compute:
        np.testing.assert_array_equal(pes["points"], 8 * elements)
        np.testing.assert_array_equal(pes["lanes"], 3 * elements)
        assert (pes["lanes"] <= pes["until_last"]).all()
        assert (pes["until_last"] <= pes["busy"]).all()
        assert (pes["until_last"] <= pes["last"]).all() and (pes["last"] < run.cycles).all()


def test_two_runs_are_equal(library, fc):
    profile = load_profile("wse2", {"queue_depth": 2})
    arguments = (library, fc, profile, {"W": W, "x": X}, 2)
    one, two = run_fabric(*arguments), run_fabric(*arguments)
    assert (one.cycles, one.hops, one.stalls, one.tasks) == (
        two.cycles, two.hops, two.stalls, two.tasks,
    )
    np.testing.assert_array_equal(one.usage, two.usage)


def test_tensor_of_another_type_is_refused(library, fc, ideal):
    with pytest.raises(ValueError, match=r"^tensor W is float32, not float16$"):
        run_fabric(library, fc, ideal, {"W": W.astype("f4"), "x": X})


def test_missing_tensor_is_refused(library, fc, ideal):
    with pytest.raises(ValueError, match=r"^tensor W is missing$"):
        run_fabric(library, fc, ideal, {"x": X})
