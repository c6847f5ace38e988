"""Inputs of a layer that are generated: exact, of the densities and kinds that are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from lairmake.stages.mapping.layer_yaml import Data
from lairmake.stages.reference.data import as_sent, find_origins, generate, is_exact
from tests.reference.layers import fc, layer_of
from tests.reference.single import evaluate


def test_integers_are_in_the_types_and_shapes_of_the_inputs() -> None:
    (inputs,), exact = generate(fc(32, 16), 0, "integers", 0.5, {"x"})
    assert exact
    assert {name: (a.shape, a.dtype.name) for name, a in inputs.items()} == {
        "W": ((32, 16), "float16"), "x": ((16,), "float16"),
    }


def test_origins_are_files_integers_or_reals() -> None:
    (inputs,), _ = generate(fc(32, 16), 7, "reals", 0.5, ())
    values = {**inputs, "n": np.zeros(3, "int16")}
    assert find_origins(Data(seed=7), values, ["inputs/x.npy"]) == {
        "W": "reals, seed 7", "x": "inputs/x.npy", "n": "integers, seed 7",
    }


def test_only_what_is_sparse_has_0_for_negative_zeros_and_one_array_stays_one() -> None:
    zero = np.array([-0.0, 1], "float16")
    first, second = as_sent([{"x": zero, "W": zero}, {"x": zero, "W": zero}], ["x"])
    assert first["x"] is second["x"] and first["W"] is zero
    assert not np.signbit(first["x"]).any() and np.signbit(zero[0])


def test_only_sparse_tensors_have_zeros_where_exactness_allows() -> None:
    (inputs,), _ = generate(fc(32, 256), 0, "integers", 0.5, {"x"})
    assert (inputs["W"] != 0).all()
    assert 0.4 < (inputs["x"] != 0).mean() < 0.6


@pytest.mark.parametrize("kind", ["integers", "reals"])
def test_parts_in_which_values_are_drawn_are_of_no_account(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = fc(5, 300, "int16" if kind == "reals" else "float16")
    (whole,), _ = generate(layer, 3, kind, 0.5, {"x"})
    monkeypatch.setattr("lairmake.stages.reference.data.PART", 7)
    (parts,), _ = generate(layer, 3, kind, 0.5, {"x"})
    for name, array in whole.items():
        np.testing.assert_array_equal(parts[name], array)


@pytest.mark.parametrize("density", [0.0, 1.0])
def test_densities_at_the_ends(density: float) -> None:
    (inputs,), exact = generate(fc(4, 16), 0, "integers", density, {"x"})
    assert exact
    assert (inputs["x"] != 0).mean() == density


def test_values_are_of_both_signs() -> None:
    (inputs,), _ = generate(fc(32, 16), 0, "integers", 1, set())
    assert inputs["W"].min() < 0 < inputs["W"].max()


@pytest.mark.parametrize(("n", "type_", "limit"), [
    (16, "float16", 2**11), (1000, "float16", 2**11), (9000, "float16", 2**11),
    (9000, "float32", 2**24), (5000, "int16", 2**15 - 1), (64, "int32", 2**31 - 1),
])
def test_no_sum_of_absolute_terms_passes_the_limit(n: int, type_: str, limit: int) -> None:
    layer = fc(3, n, type_)
    (inputs,), exact = generate(layer, 0, "integers", 0.5, {"x"})
    assert exact
    sums = np.abs(inputs["W"].astype(float)) @ np.abs(inputs["x"].astype(float))
    assert 0 < sums.max() <= limit


def test_exact_data_sums_to_the_same_bits_in_any_order() -> None:
    layer = fc(5, 3000)
    (inputs,), exact = generate(layer, 7, "integers", 0.5, {"x"})
    assert exact
    total = np.zeros(5, np.float16)
    for j in np.random.default_rng(0).permutation(3000):
        total += inputs["W"][:, j] * inputs["x"][j]
    assert np.array_equal(total, evaluate(layer, inputs)["y"])


def test_the_seed_and_the_name_decide() -> None:
    layer = layer_of("""lair f(): float16 a[64], float16 b[64] -> float16 y[64]
      { all (i) in (64) y[i] = a[i] + b[i] }""")
    first, again, other = (generate(layer, s, "integers", 0.5, set())[0][0] for s in (1, 1, 2))
    assert np.array_equal(first["a"], again["a"])
    assert not np.array_equal(first["a"], other["a"])
    assert not np.array_equal(first["a"], first["b"])


@pytest.mark.parametrize("kind", ["integers", "reals"])
def test_what_arrives_differs_from_one_invocation_to_the_next(kind: str) -> None:
    samples, exact = generate(fc(32, 16), 0, kind, 0.5, {"x"}, 3, {"x"})
    (alone,), _ = generate(fc(32, 16), 0, kind, 0.5, {"x"})
    assert exact == (kind == "integers") and len(samples) == 3
    assert all(each["W"] is samples[0]["W"] for each in samples)
    assert len({each["x"].tobytes() for each in samples}) == 3
    assert all(np.array_equal(samples[0][name], alone[name]) for name in alone)


def test_data_that_differs_is_exact_in_every_invocation() -> None:
    text = "lair f(): float16 s, float16 x[1000] -> float16 y { all (i) in (1000) y += x[i] * 2 }"
    samples, exact = generate(layer_of(text), 0, "integers", 0.5, set(), 40, {"x"})
    assert exact
    assert max(2 * np.abs(each["x"].astype(int)).sum() for each in samples) <= 2**11


def test_reals_lie_between_minus_one_and_one() -> None:
    (inputs,), exact = generate(fc(32, 64), 0, "reals", 0.5, {"x"})
    assert not exact
    assert np.abs(inputs["W"].astype(float)).max() <= 1
    assert not np.array_equal(inputs["W"], np.rint(inputs["W"]))
    assert 0.2 < (inputs["x"] == 0).mean() < 0.8


@pytest.mark.parametrize("expr", ["x[i] * 0.25", "max(0, min(1, 0.125 * x[i] + 0.5))"])
def test_multiples_of_a_power_of_two_are_exact(expr: str) -> None:
    text = f"lair f(): float16 x[4] -> float16 y[4] {{ all (i) in (4) y[i] = {expr} }}"
    assert generate(layer_of(text), 0, "integers", 0.5, set())[1]


@pytest.mark.parametrize(("most", "exact"), [(682, True), (683, False)])
def test_quarters_are_exact_up_to_512(most: int, exact: bool) -> None:
    text = "lair f(): float16 x[1] -> float16 y[1] { all (i) in (1) y[i] = x[i] * 0.75 }"
    assert is_exact(layer_of(text), [{"x": np.array([most], np.float16)}]) is exact


@pytest.mark.parametrize(("most", "exact"), [(45, True), (46, False)])
def test_what_is_made_of_quarters_is_finer(most: int, exact: bool) -> None:
    text = """lair f(): float16 x[1] -> float16 a[1], float16 y[1]
      { all (i) in (1) a[i] = x[i] * 0.25  all (i) in (1) y[i] = a[i] * a[i] }"""
    assert is_exact(layer_of(text), [{"x": np.array([most], np.float16)}]) is exact


@pytest.mark.parametrize("expr", ["exp(x[i])", "x[i] / 2", "x[i] * 0.1", "x[i] * 0.0001220703125"])
def test_what_is_too_fine_is_not_exact(expr: str) -> None:
    text = f"lair f(): float16 x[4] -> float16 y[4] {{ all (i) in (4) y[i] = {expr} }}"
    assert not generate(layer_of(text), 0, "integers", 0.5, set())[1]


def test_a_sum_that_no_data_makes_exact() -> None:
    text = """lair f(): float16 x[3000] -> float16 y[1]
      { all (i, j) in (1, 3000) y[i] += x[j] + 1 }"""
    assert not generate(layer_of(text), 0, "integers", 0.5, set())[1]


@pytest.mark.parametrize(("values", "exact"), [
    ([1000, 1000, 48], True),
    ([1000, 1000, 49], False),
    ([1000, -1000, 49], False),
    ([0.5, 0, 0], False),
])
def test_is_exact_for_sums(values: list[float], exact: bool) -> None:
    layer = layer_of("lair f(): float16 x[3] -> float16 y { all (i) in (3) y += x[i] }")
    assert is_exact(layer, [{"x": np.array(values, np.float16)}]) is exact


@pytest.mark.parametrize(("values", "exact"), [([2, 1024, 1], True), ([64, 64, 0], False)])
def test_is_exact_for_products(values: list[float], exact: bool) -> None:
    layer = layer_of("lair f(): float16 x[3] -> float16 y { all (i) in (3) y *= x[i] }")
    assert is_exact(layer, [{"x": np.array(values, np.float16)}]) is exact


@pytest.mark.parametrize(("text", "exact"), [
    ("float16 x[2] -> float16 y[2] { all (i) in (2) y[i] = x[1 - i] }", True),
    ("int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] }", True),
    ("float32 x[2] -> float16 y[2] { all (i) in (2) y[i] = x[i] }", False),
    ("float16 x[2] -> float16 y[2] { all (i) in (2) y[i] = -x[i] }", False),
    ("float16 x[2] -> float16 y { all (i) in (2) y += x[i] }", False),
])
def test_a_copy_is_exact_whatever_it_copies(text: str, exact: bool) -> None:
    layer = layer_of(f"lair f(): {text}")
    (x,) = layer.inputs
    values = np.array([-32768, 17] if x.type == "int16" else [65504, 0.1], x.type)
    assert is_exact(layer, [{"x": values}]) is exact
