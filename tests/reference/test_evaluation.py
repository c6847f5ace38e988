"""The NumPy evaluator against plain Python loops."""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.lair import Layer, Statement, parse_lair, specialise
from lairmake.stages.lair.tree import (
    AccessSyntax,
    Affine,
    Binary,
    CallSyntax,
    Expr,
    NumberSyntax,
    Unary,
)
from lairmake.stages.reference.error_bound import is_exact
from lairmake.stages.reference.strided import blocks, reduce
from tests.reference.single import evaluate, magnitude

FC = """lair ff<T=float16>(M=6, N=5): T W[M][N], T x[N] -> T y[M]
  { all (i, j) in (M, N) y[i] += W[i][j] * x[j] }"""
CONV = """lair C(): float16 x[7][6], float16 W[2][3][2] -> float16 y[2][5][5]
  { all (k, w, h, r, s) in (2, 5, 5, 3, 2) y[k][w][h] += x[w + r][h + s] * W[k][r][s] }"""
POINTWISE = """lair C(): float16 x[4][4][3], float16 f[3][2] -> float16 y[4][4][2]
  { all (k, h, w, c) in (2, 4, 4, 3) y[h][w][k] += x[h][w][c] * f[c][k] }"""
TRANSPOSED = """lair up(): float32 x[3], float32 w[4] -> float32 y[8]
  { all (i, r) in (3, 4) y[2*i + r] += x[i] * w[r] }"""
REVERSED = """lair rev(): int16 x[5] -> int16 y[5] { all (i) in (5) y[4 - i] = x[i] - 1 }"""
DIAGONAL = """lair d(): int32 x[3][3] -> int32 y[3] { all (i, j) in (3, 2) y[i] += x[i][i] }"""
POOL = """lair p(): float16 x[8] -> float16 y[4] { all (i, r) in (4, 2) y[i] max= x[2*i + r] }"""
LEAST = """lair p(): int16 x[8] -> int16 y[4] { all (i, r) in (4, 2) y[i] min= -x[7 - 2*i - r] }"""
PRODUCT = """lair p(): int32 x[3][4] -> int32 y[3] { all (i, j) in (3, 4) y[i] *= x[i][j] + 1 }"""
SCALAR = """lair s(): float16 x[4], float16 b -> float16 y
  { all (i) in (4) y += relu(x[i] - b) }"""
DOT = """lair dot(): float16 a[4], float16 b[4] -> float16 y { all (i) in (4) y += a[i] * b[i] }"""
WRAPPING = """lair w(): int16 x[4] -> int16 y[1] { all (i, j) in (1, 4) y[i] += x[j] * 9000 }"""
CHOICE = """lair c(): int32 x[3][4], int32 b[4] -> int32 y[3]
  { all (i, j) in (3, 4)
      y[i] += select(less(x[i][j], b[j]), x[i][j] + equal(b[j], 2), less_equal(b[j], 1) - 2) }"""
BIAS = """lair affine(): float16 x[3][4], float16 b[4] -> float16 y[3][4], float16 z[4]
  { all (i, j) in (3, 4) y[i][j] = max(x[i][j] + b[j], 0)
    all (j) in (4) z[j] = b[j] * 3 }"""
ALL = {
    name: value
    for name, value in list(globals().items())
    if isinstance(value, str) and value.startswith("lair ")
}


def layer_of(text: str) -> Layer:
    return specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})


def integers(layer: Layer, seed: int = 0, largest: int = 4) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {
        t.name: generator.integers(-largest, largest, t.shape, endpoint=True).astype(t.type)
        for t in layer.inputs
    }


REDUCTIONS: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "=": (operator.add, 0),
    "+=": (operator.add, 0),
    "*=": (operator.mul, 1),
    "max=": (max, -math.inf),
    "min=": (min, math.inf),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "relu": lambda a: max(a, 0), "abs": abs, "max": max, "min": min,
    "exp": math.exp, "sqrt": math.sqrt, "tanh": math.tanh, "log": math.log,
    "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
    "erf": math.erf, "sin": math.sin, "cos": math.cos, "floor": math.floor, "ceil": math.ceil,
    "round": round, "pow": math.pow,
    "less": lambda a, b: int(a < b), "less_equal": lambda a, b: int(a <= b),
    "equal": lambda a, b: int(a == b), "select": lambda c, a, b: a if c else b,
}
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def loops(layer: Layer, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Evaluate instance by instance, element by element."""
    result = {}
    for statement in layer.statements:
        reduction, neutral = REDUCTIONS[statement.op]
        output = layer.tensors[statement.target.tensor]
        values = np.full(output.shape, neutral, dtype=object)
        for point in itertools.product(*map(range, statement.sizes)):
            at = dict(zip(statement.iterators, point, strict=True))
            place = element(statement.target, at)
            values[place] = reduction(values[place], number(statement.expr, at, inputs))
        whole = values.astype(np.int64 if output.type.startswith("int") else np.float64)
        result[output.name] = whole.astype(output.type)
    return result


def element(access: AccessSyntax, at: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(row.constant + sum(c * at[n] for n, c in row.coefficients) for row in access.rows)


def number(expr: Expr, at: Mapping[str, int], inputs: Mapping[str, np.ndarray]) -> Any:
    match expr:
        case NumberSyntax():
            return expr.value
        case AccessSyntax():
            return inputs[expr.tensor][element(expr, at)].item()
        case Unary():
            return -number(expr.operand, at, inputs)
        case Binary():
            left, right = number(expr.left, at, inputs), number(expr.right, at, inputs)
            return OPERATORS[expr.op](left, right)
        case CallSyntax():
            return FUNCTIONS[expr.function](*(number(a, at, inputs) for a in expr.arguments))
    raise AssertionError(expr)


def same(a: Mapping[str, np.ndarray], b: Mapping[str, np.ndarray]) -> bool:
    if a.keys() != b.keys() or not all(isinstance(array, np.ndarray) for array in a.values()):
        return False
    return all(a[k].dtype == b[k].dtype and np.array_equal(a[k], b[k]) for k in a)


@pytest.mark.parametrize("name", ALL)
def test_integers_equal_loops(name: str) -> None:
    layer = layer_of(ALL[name])
    inputs = integers(layer)
    assert same(evaluate(layer, inputs), loops(layer, inputs))


@pytest.mark.parametrize("seed", range(40))
def test_random_layers_equal_loops(seed: int) -> None:
    layer = random_layer(random.Random(seed))
    inputs = integers(layer, seed, 2)
    assert same(evaluate(layer, inputs), loops(layer, inputs))


def random_layer(choose: random.Random) -> Layer:
    """Return a sum with strides, offsets, unused and reversed iterators, and any target order."""
    names = ["a", "b", "c", "d"][: choose.randint(1, 4)]
    sizes = [choose.randint(1, 4) for _ in names]
    extents = dict(zip(names, sizes, strict=True))
    kept = choose.sample(names, choose.randint(1, len(names)))
    x, x_sizes = random_access(choose, extents)
    w, w_sizes = random_access(choose, extents)
    op = choose.choice(["+=", "+=", "max=", "min="])
    expr = choose.choice([f"x{x} * w{w}", f"x{x} - 2 * w{w}", f"relu(x{x}) + max(w{w}, 1)"])
    target = "".join(f"[{name}]" for name in kept)
    output = "".join(f"[{extents[name]}]" for name in kept)
    return layer_of(
        f"lair f(): float32 x{x_sizes}, float32 w{w_sizes} -> float32 y{output} "
        f"{{ all ({', '.join(names)}) in ({', '.join(map(str, sizes))}) y{target} {op} {expr} }}"
    )


def random_access(choose: random.Random, extents: Mapping[str, int]) -> tuple[str, str]:
    """Return the text of an access, and of the sizes that it stays within."""
    indices, sizes = "", ""
    for _ in range(choose.randint(0, 3)):
        row = {n: choose.choice([-1, 1, 2]) for n in extents if choose.random() < 0.5}
        least = sum(min(c * (extents[n] - 1), 0) for n, c in row.items())
        most = sum(max(c * (extents[n] - 1), 0) for n, c in row.items())
        offset = choose.randint(0, 2) - least
        indices += "[" + " + ".join([*(f"{c}*{n}" for n, c in row.items()), str(offset)]) + "]"
        sizes += f"[{most + offset + 1}]"
    return indices, sizes


@pytest.mark.parametrize("expr", [
    "erf(x[i])", "sin(x[i]) * cos(x[i])", "floor(x[i]) + ceil(x[i] / 2) - round(x[i] / 2)",
    "pow(abs(x[i]) + 0.25, 0.75)", "pow(x[i], 3)",
    "exp(x[i])", "sqrt(abs(x[i]))", "tanh(x[i])", "log(abs(x[i]) + 1)", "sigmoid(x[i])",
    "x[i] / (abs(x[i]) + 0.5)", "exp(x[i]) * 0.25 - tanh(x[i] + 1)",
])
@pytest.mark.parametrize("type_", ["float16", "float32"])
def test_calls_are_within_the_bound_of_float64(expr: str, type_: str) -> None:
    head = f"lair f(): {type_} x[64] -> {type_} y[64]"
    layer = layer_of(f"{head} {{ all (i) in (64) y[i] = {expr} }}")
    inputs = {"x": np.linspace(-4, 4, 64).astype(type_)}
    error = np.abs(evaluate(layer, inputs)["y"].astype(np.float64)
                   - [number(layer.statements[0].expr, {"i": i}, inputs) for i in range(64)])
    assert (error <= magnitude(layer, inputs)["y"]).all()


def test_a_call_is_rounded_to_float32_before_the_output() -> None:
    layer = layer_of("lair f(): float32 x[9] -> float32 y[9] { all (i) in (9) y[i] = exp(x[i]) }")
    x = np.linspace(-2, 2, 9, dtype=np.float32)
    assert np.array_equal(evaluate(layer, {"x": x})["y"], np.exp(x))


def test_sums_are_rounded_once() -> None:
    layer = layer_of("lair f(): float16 x[4] -> float16 y { all (i) in (4) y += x[i] }")
    inputs = {"x": np.array([2048, 0.75, 0.75, 0.5], np.float16)}
    assert evaluate(layer, inputs)["y"] == np.float16(2050)


def test_products_of_whole_numbers_do_not_wrap_in_floats() -> None:
    layer = layer_of("lair p(): float32 x[1] -> float32 y[1]\n{ all (i, k) in (96, 1) y[k] *= 2 }")
    inputs = {"x": np.zeros(1, "float32")}
    assert evaluate(layer, inputs)["y"] == np.float32(2.0**96)
    assert not is_exact(layer, [inputs])


def test_blocks_hold_every_instance_once() -> None:
    sizes = (3, 5, 2, 4)
    for limit in (1, 7, 8, 30, 1000):
        parts = list(blocks(sizes, (1, 3), limit))
        points = [point for block in parts for point in itertools.product(*block)]
        assert sorted(points) == list(itertools.product(*map(range, sizes)))
        assert all(math.prod(map(len, block)) <= limit for block in parts)


def test_blocks_cut_reduced_iterators_last() -> None:
    assert [tuple(map(len, block)) for block in blocks((4, 6), (0,), 8)] == [(4, 2)] * 3


@pytest.mark.parametrize("name", ["POOL", "PRODUCT", "TRANSPOSED", "REVERSED", "SCALAR"])
def test_results_do_not_depend_on_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = layer_of(ALL[name])
    inputs = integers(layer)
    whole = evaluate(layer, inputs)
    monkeypatch.setattr(
        "lairmake.stages.reference.strided.blocks", lambda s, inner: blocks(s, inner, 3))
    assert same(evaluate(layer, inputs), whole)


def test_reduce_of_a_target_that_is_no_box() -> None:
    span = layer_of(REVERSED).statements[0].span
    row = Affine(coefficients=(("a", 1), ("b", 2)), constant=0)
    statement = Statement(
        name="s",
        iterators=("a", "b"),
        sizes=(2, 2),
        op="+=",
        expr=NumberSyntax(value=1, span=span),
        target=AccessSyntax(tensor="y", rows=(row,), span=span),
        reads=(),
        span=span,
    )
    ones = reduce(statement, (4,), np.int64, lambda block: np.asarray(1))
    assert ones.tolist() == [1, 1, 1, 1]


def test_magnitude_counts_terms_and_products_and_adds_their_absolute_values() -> None:
    layer = layer_of(FC)
    inputs = integers(layer)
    absolute = np.abs(inputs["W"].astype(float)) @ np.abs(inputs["x"].astype(float))
    expected = 7 * (2.0**-11 * absolute + 2.0**-25)
    assert np.allclose(magnitude(layer, inputs)["y"], expected, rtol=1e-12)


def test_magnitude_counts_the_terms_of_each_element() -> None:
    layer = layer_of(TRANSPOSED)
    inputs = {"x": np.ones(3, np.float32), "w": np.ones(4, np.float32)}
    terms = np.array([1, 1, 2, 2, 2, 2, 1, 1])
    expected = (terms + 1) * (2.0**-24 * terms + 2.0**-150)
    assert np.allclose(magnitude(layer, inputs)["y"], expected, rtol=1e-12)


def test_magnitude_of_a_minimum_is_that_of_the_largest_term() -> None:
    text = "lair m(): float16 x[2] -> float16 y { all (i) in (2) y min= x[i] * 2 }"
    inputs = {"x": np.array([-4, 1], np.float16)}
    expected = 3 * (2.0**-11 * 8 + 2.0**-25)
    assert magnitude(layer_of(text), inputs)["y"] == expected


def test_magnitude_of_integers_is_zero() -> None:
    layer = layer_of(WRAPPING)
    assert magnitude(layer, integers(layer))["y"].tolist() == [0]


@pytest.mark.parametrize("seed", range(5))
def test_sums_rounded_at_every_step_are_within_the_magnitude(seed: int) -> None:
    layer = layer_of(FC)
    generator = np.random.default_rng(seed)
    inputs = {t.name: generator.uniform(-1, 1, t.shape).astype(t.type) for t in layer.inputs}
    stepwise = np.zeros(6, np.float16)
    for j in generator.permutation(5):
        product = inputs["W"][:, j].astype(np.float32) * inputs["x"][j].astype(np.float32)
        stepwise = (stepwise.astype(np.float32) + product).astype(np.float16)
    error = np.abs(stepwise.astype(float) - evaluate(layer, inputs)["y"].astype(float))
    assert (error <= magnitude(layer, inputs)["y"]).all()


@pytest.mark.parametrize(("types", "wanted"), [
    (("int32", "int32"), [0, 7]), (("int16", "int16"), [0, 7]), (("int16", "int32"), [2**15 + 4, 7])
])
def test_integers_wrap_at_every_operation_to_the_widest_type(types, wanted) -> None:
    text = """lair a(): {0} x[2], {0} b[2] -> {1} y[2]
      {{ all (i) in (2) y[i] = max(x[i] + b[i], 0) }}""".format(*types)
    layer = specialise(parse_lair(Source(path="a.lair", text=text)), None, {}, {})
    inputs = {
        "x": np.array([np.iinfo(types[0]).max, 3], types[0]), "b": np.array([5, 4], types[0])
    }
    assert evaluate(layer, inputs)["y"].tolist() == wanted


@pytest.mark.parametrize("expr", ["x[i]", "-y[i]", "x[i] * 3", "relu(x[i])", "max(x[i], y[i])"])
def test_what_is_assigned_keeps_the_sign_of_a_zero_as_programs_do(expr: str) -> None:
    tensors = "float16 x[2], float16 y[2] -> float16 z[2]"
    text = f"lair f(): {tensors} {{ all (i) in (2) z[i] = {expr} }}"
    layer = specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})
    inputs = {"x": np.array([-0.0, 1], "float16"), "y": np.array([0.0, 1], "float16")}
    assert np.signbit(evaluate(layer, inputs)["z"][0])
