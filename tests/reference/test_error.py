"""How far errors of what a statement reads move what it defines."""

from __future__ import annotations

import numpy as np
import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.lair import Layer, parse_lair, specialise
from lairmake.stages.reference.error_bound import is_exact, magnitudes, moved
from lairmake.stages.reference.evaluate import evaluate_all
from tests.reference.single import evaluate, magnitude


def layer_of(text: str, **more: dict) -> Layer:
    return specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {}, **more)


EXPRESSIONS = [
    "a[i] + b[i]", "a[i] - b[i] * 3", "a[i] * b[i]", "a[i] / (b[i] + 4)", "-relu(a[i] + 2)",
    "max(a[i], b[i])", "min(a[i], 1000 - b[i] * 9)", "abs(a[i]) * 0.5", "tanh(a[i] * b[i])",
    "exp(a[i]) - b[i]",
    "sqrt(a[i] * a[i] + 1) / exp(b[i])", "sigmoid(a[i]) * log(b[i] * b[i] + 1)",
    "select(less(a[i], b[i]), 2 - a[i], b[i])", "less_equal(b[i], a[i] + 0.5)",
    "erf(a[i]) + sin(b[i] * 2)", "cos(a[i]) * 0.5", "floor(a[i] * 2)", "ceil(a[i]) - round(b[i])",
    "pow(a[i] + 2, b[i])", "pow(a[i], 2)",
]


@pytest.mark.wide_after(16)
@pytest.mark.parametrize("op", ["=", "+=", "max=", "min=", "*="])
@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_what_errors_do_stays_within_what_is_foreseen(expr: str, op: str) -> None:
    """Values are moved, at random and to the ends, as far as their errors allow."""
    sizes, iterators = ("3, 4", "k, i") if op != "=" else ("4", "i")
    shape = "" if op != "=" else "[4]"
    target = "y" if op != "=" else "y[i]"
    layer = layer_of(f"lair f(): float32 a[4], float32 b[4] -> float32 y{shape}\n"
                     f"{{ all ({iterators}) in ({sizes}) {target} {op} {expr} }}")
    (statement,) = layer.statements
    draw = np.random.default_rng(7)
    tensors = {name: draw.uniform(-1.5, 1.5, 4).astype("f4") for name in "ab"}
    errors = {"a": draw.uniform(0, 0.2, 4), "b": draw.uniform(0, 0.2, 4)}
    bound = moved(statement, layer, tensors, errors)
    here = evaluate(layer, tensors)["y"].astype(float)
    reached = np.zeros_like(here)
    for k in range(200):
        by = draw.choice([-1, 0, 1], 4) if k % 2 else draw.uniform(-1, 1, 4)
        there = {n: (tensors[n] + draw.permuted(by) * errors[n]).astype("f4") for n in "ab"}
        reached = np.maximum(reached, np.abs(evaluate(layer, there)["y"].astype(float) - here))
    assert (reached <= bound * (1 + 1e-4) + 1e-6).all()
    assert (bound <= 40 * reached + 1e-6).all()


def test_no_errors_move_nothing() -> None:
    layer = layer_of("lair f(): float16 a[2] -> float16 y[2] { all (i) in (2) y[i] = exp(a[i]) }")
    assert moved(layer.statements[0], layer, {"a": np.ones(2)}, {}).tolist() == [0, 0]


CHAIN = """lair half(): float16 x[2] -> float16 h[2] { all (i) in (2) h[i] = x[i] * 0.3 }
lair sum(): float16 h[2] -> float16 y { all (i) in (2) y += h[i] }
graph g(): float16 x[2] -> float16 y { h = half()(x) y = sum()(h) }"""


def test_the_error_of_an_internal_tensor_is_added_to_that_of_what_reads_it() -> None:
    inputs = {"x": np.array([1, 2], np.float16)}
    own = 2 * (2.0**-11 * 0.3 * np.array([1, 2]) + 2.0**-25)
    found = magnitude(layer_of(CHAIN), inputs)
    assert np.allclose(found["h"], own)
    sums = np.abs(evaluate_all(layer_of(CHAIN), [inputs])[0]["h"].astype(float)).sum()
    assert np.allclose(found["y"], own.sum() + 3 * (2.0**-11 * sums + 2.0**-25))


MASKED = """lair f(): float32 x[3] -> float32 m[3] {
  all (i) in (3) m[i] = select(less(x[i], 2), x[i], -1e30) }
lair g(): float32 m[3] -> float32 t[1] { all (i) in (3) t[0] max= m[i] }
lair h(): float32 t[1] -> float32 s[1] { all (i) in (1) s[i] = max(t[i], -1e9) }
lair e(): float32 m[3], float32 s[1] -> float32 y[3] { all (i) in (3) y[i] = exp(m[i] - s[0]) }
graph k(): float32 x[3] -> float32 y[3] { m = f()(x) t = g()(m) s = h()(t) y = e()(m, s) }"""


def test_what_is_not_selected_moves_nothing() -> None:
    found = magnitude(layer_of(MASKED), {"x": np.array([1, 2, -3], np.float32)})
    assert (found["t"] < 1e-6).all()
    assert (found["y"] < 1e-5).all() and found["m"][1] > 0


ENDLESS = """lair f(): float32 x[2][2], float32 w[2][2] -> float32 y[2][2] {
  float32 s[2][2], float32 t[2][2], float32 m[2], float32 e[2][2], float32 z[2]
  all (i, j) in (2, 2) s[i][j] = x[i][j] * 0.3 + w[i][j]
  all (i, j) in (2, 2) t[i][j] = 0.7 * s[i][j]
  all (i, j) in (2, 2) m[i] max= t[i][j]
  all (i, j) in (2, 2) e[i][j] = exp(t[i][j] - max(m[i], -3e38))
  all (i, j) in (2, 2) z[i] += e[i][j]
  all (i, j) in (2, 2) y[i][j] = e[i][j] / max(z[i], 0.5) }"""


def test_infinities_are_exact_and_so_is_what_follows_from_them() -> None:
    """As a softmax with a mask: nothing is seen where that is -inf, and of the second row nothing.

    What is foreseen is small, so that a wrong value is seen.
    """
    far = -np.inf
    inputs = {"x": np.array([[1, 2], [3, 4]], "f4"), "w": np.array([[0, far], [far, far]], "f4")}
    found = magnitude(layer_of(ENDLESS), inputs)
    assert all((bound < 1e-5).all() for bound in found.values())
    assert found["e"][0][0] > 0
    assert found["y"][:, 1].max() < 1e-40


GROWING = """lair f(): float16 s[1], float16 x[1] -> float16 y[1]
{ all (i) in (1) y[i] = s[i] + x[i] }"""


def test_values_are_exact_in_every_invocation_or_not_at_all() -> None:
    layer = layer_of(GROWING, following={"s": "y"})
    inputs = {"s": np.array([2044], np.float16), "x": np.array([1], np.float16)}
    assert is_exact(layer, [inputs] * 4)
    assert not is_exact(layer, [inputs] * 5)


def test_errors_are_carried_on() -> None:
    layer = layer_of(GROWING, following={"s": "y"})
    inputs = {"s": np.array([0], np.float16), "x": np.array([0.5], np.float16)}
    bounds = magnitudes(layer, evaluate_all(layer, [inputs] * 3))
    first = 2 * (2.0**-11 * 0.5 + 2.0**-25)
    second = first + 2 * (2.0**-11 * 1 + 2.0**-25)
    assert [float(b["y"][0]) for b in bounds[:2]] == pytest.approx([first, second])


def test_what_is_delayed_is_zero_at_first_and_what_is_next_is_what_was_given() -> None:
    layer = layer_of(GROWING, following={"s": "y"}, delays={"f.x": 2})
    inputs = {"s": np.array([10], np.float16), "x": np.array([3], np.float16)}
    history = evaluate_all(layer, [inputs] * 4)
    assert [float(tensors["y"][0]) for tensors in history] == [10, 10, 13, 16]


def test_samples_in_a_row() -> None:
    layer = layer_of(GROWING, following={"s": "y"}, delays={"f.x": 1})
    s, xs = np.array([10], np.float16), (3, 5, 7)
    samples = [{"s": s, "x": np.array([x], np.float16)} for x in xs]
    assert [float(t["y"][0]) for t in evaluate_all(layer, samples)] == [10, 13, 18]


def test_errors_are_those_of_each_sample() -> None:
    layer = layer_of("lair f(): float16 x[1] -> float16 y[1] { all (i) in (1) y[i] = x[i] * 0.3 }")
    samples = [{"x": np.array([x], np.float16)} for x in (1, 1, 4)]
    bounds = magnitudes(layer, evaluate_all(layer, samples))
    assert [float(b["y"][0]) for b in bounds] == pytest.approx(
        [2 * (2.0**-11 * 0.3 * x + 2.0**-25) for x in (1, 1, 4)]
    )
    assert not is_exact(layer_of(GROWING), [
        {"s": np.array([2044], np.float16), "x": np.array([x], np.float16)} for x in (1, 2, 5)
    ])


RATE = """lair f(): float16 s[1], float16 x[1] -> float16 y[1]
{ all (i) in (1) y[i] = s[i] - 0.25 * x[i] }"""
HALVES = """lair f(): float16 s[1] -> float16 y[1] { all (i) in (1) y[i] = 0.5 * s[i] }"""


def test_multiples_of_a_power_of_two_are_carried_on() -> None:
    layer = layer_of(RATE, following={"s": "y"})
    inputs = {"s": np.array([-511], np.float16), "x": np.array([1], np.float16)}
    assert is_exact(layer, [inputs] * 4)
    assert not is_exact(layer, [inputs] * 5)


def test_what_is_halved_in_every_invocation_is_exact_for_some() -> None:
    layer = layer_of(HALVES, following={"s": "y"})
    inputs = {"s": np.array([0], np.float16)}
    assert is_exact(layer, [inputs] * 12)
    assert not is_exact(layer, [inputs] * 13)
