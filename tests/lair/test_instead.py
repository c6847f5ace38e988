"""What is written for functions and types of other languages: each remedy, typed, is right."""

import math
import re

import numpy as np
import pytest

from lairmake.stages.diagnose import TYPES as FOREIGN_TYPES, Source, UserErrors, nearest
from lairmake.stages.lair import parse_lair, specialise
from lairmake.stages.lair.slips import FUNCTIONS_INSTEAD
from lairmake.stages.machine.types import TYPES
from lairmake.stages.reference.evaluate import evaluate_all

N = 8
DRAWN = np.random.default_rng(5)
X = DRAWN.uniform(-2.0, 2.0, N).astype("float32")
A, B = DRAWN.uniform(-1.0, 1.0, (2, N)).astype("float32")
C, D = DRAWN.integers(0, 2, (2, N)).astype("float32")
M = DRAWN.uniform(-1.0, 1.0, (N, N)).astype("float32")
VALUES = {"x": X, "a": A, "b": B, "c": C, "d": D}
POSITIVE = ("rsqrt", "cbrt", "log2", "log10", "log1p", "ln", "mod", "remainder", "pow")
SETS = {
    "x * x": lambda v: v.x * v.x, "1 / x": lambda v: 1 / v.x, "-x": lambda v: -v.x,
    "abs(x)": lambda v: np.abs(v.x), "a + b": lambda v: v.a + v.b, "a - b": lambda v: v.a - v.b,
    "a * b": lambda v: v.a * v.b, "a / b": lambda v: v.a / v.b,
    "max(a, b)": lambda v: np.maximum(v.a, v.b), "min(a, b)": lambda v: np.minimum(v.a, v.b),
    "sigmoid(x)": lambda v: 1 / (1 + np.exp(-v.x)), "round(x)": lambda v: np.rint(v.x),
    "log(x)": lambda v: np.log(v.x), "a * b + c": lambda v: v.a * v.b + v.c,
    "less(b, a)": lambda v: v.b < v.a, "less(a, b)": lambda v: v.a < v.b,
    "less_equal(b, a)": lambda v: v.b <= v.a, "less_equal(a, b)": lambda v: v.a <= v.b,
    "equal(a, b)": lambda v: v.a == v.b, "1 - equal(a, b)": lambda v: v.a != v.b,
}
"""Remedies that several names have."""
EXPECTED = {
    "rsqrt": lambda v: 1 / np.sqrt(v.x), "cbrt": lambda v: np.cbrt(v.x),
    "power": lambda v: np.power(v.x, 2),
    "clip": lambda v: np.maximum(v.a, np.minimum(v.x, v.b)),
    "clamp": lambda v: np.maximum(v.a, np.minimum(v.x, v.b)),
    "relu6": lambda v: np.clip(v.x, 0, 6),
    "leaky_relu": lambda v: np.where(v.x < 0, 0.01 * v.x, v.x),
    "prelu": lambda v: np.where(v.x < 0, v.a * v.x, v.x),
    "elu": lambda v: np.where(v.x < 0, np.exp(v.x) - 1, v.x),
    "silu": lambda v: v.x / (1 + np.exp(-v.x)), "swish": lambda v: v.x / (1 + np.exp(-v.x)),
    "gelu": lambda v: np.array([x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in v.x]),
    "hardsigmoid": lambda v: np.clip(v.x + 3, 0, 6) / 6,
    "hardswish": lambda v: v.x * np.clip(v.x + 3, 0, 6) / 6,
    "softplus": lambda v: np.log1p(np.exp(v.x)),
    "mish": lambda v: v.x * np.tanh(np.log1p(np.exp(v.x))),
    "softsign": lambda v: v.x / (1 + np.abs(v.x)),
    "exp2": lambda v: np.exp2(v.x), "exp10": lambda v: np.power(10.0, v.x),
    "expm1": lambda v: np.expm1(v.x), "log2": lambda v: np.log2(v.x),
    "log10": lambda v: np.log10(v.x), "log1p": lambda v: np.log1p(v.x),
    "tan": lambda v: np.tan(v.x), "sinh": lambda v: np.sinh(v.x), "cosh": lambda v: np.cosh(v.x),
    "erfc": lambda v: np.array([math.erfc(x) for x in v.x]),
    "hypot": lambda v: np.hypot(v.a, v.b), "sign": lambda v: np.sign(v.x),
    "sgn": lambda v: np.sign(v.x), "trunc": lambda v: np.trunc(v.x),
    "mod": lambda v: np.mod(v.a, v.b), "remainder": lambda v: np.mod(v.a, v.b),
    "where": lambda v: np.where(v.c != 0, v.a, v.b), "cond": lambda v: np.where(v.c != 0, v.a, v.b),
    "iif": lambda v: np.where(v.c != 0, v.a, v.b), "ifelse": lambda v: np.where(v.c != 0, v.a, v.b),
    "isnan": lambda v: np.isnan(v.x),
    "logical_and": lambda v: np.logical_and(v.c, v.d),
    "logical_or": lambda v: np.logical_or(v.c, v.d), "logical_not": lambda v: np.logical_not(v.c),
    "logical_xor": lambda v: np.logical_xor(v.c, v.d),
}
ROWS = {
    "sum": lambda m, x: m.sum(1), "mean": lambda m, x: m.mean(1), "prod": lambda m, x: m.prod(1),
    "amax": lambda m, x: m.max(1), "amin": lambda m, x: m.min(1), "matmul": lambda m, x: m @ x,
    "softmax": lambda m, x: np.exp(m) / np.exp(m).sum(1, keepdims=True),
}
"""What statements do for each row of a matrix."""
EXPRESSIONS = [name for name, hint in FUNCTIONS_INSTEAD.items() if hint.startswith("`")]


class Values:
    """The values of the tensors of a test, positive ones where a function needs them."""

    def __init__(self, name):
        for each, value in VALUES.items():
            self.__dict__[each] = np.abs(value) + np.float32(0.5) if name in POSITIVE else value


def compute(text, inputs):
    layer = specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})
    return evaluate_all(layer, [inputs])[0]["y"]


def test_an_expression_gives_what_the_function_gives():
    """All of them as the outputs of one node."""
    for name in EXPRESSIONS:
        (code,) = re.findall(r"`([^`]+)`", FUNCTIONS_INSTEAD[name].partition(", with")[0])
        values = Values(name)
        typed = re.sub(r"\b([xabcd])\b(?!\()", r"\1[i]", code)
        tensors = ", ".join(f"float32 {each}[{N}]" for each in VALUES if f"{each}[i]" in typed)
        found = compute(
            f"lair f(N={N}): {tensors} -> float32 y[N] {{ all (i) in (N) y[i] = {typed} }}",
            {each: getattr(values, each) for each in VALUES if f"{each}[i]" in typed})
        expected = EXPECTED.get(name) or SETS[code]
        assert np.allclose(found, expected(values), rtol=1e-5, atol=2e-6), name


@pytest.mark.parametrize("name", ROWS)
def test_statements_do_what_the_function_does(name):
    codes = [code for code in re.findall(r"`([^`]+)`", FUNCTIONS_INSTEAD[name]) if "=" in code]
    if name == "softmax":
        head = f"float32 x[{N}][{N}] -> float32 y[{N}][{N}] {{ float32 m[{N}], float32 z[{N}]"
    elif name == "matmul":
        head = f"float32 W[{N}][{N}], float32 x[{N}] -> float32 y[{N}] {{"
    else:
        head = f"float32 x[{N}][{N}] -> float32 y[{N}] {{"
    statements = " ".join(f"all (i, j) in (N, N) {code}" for code in codes)
    inputs = {"W": M, "x": X} if name == "matmul" else {"x": M}
    assert np.allclose(compute(f"lair f(N={N}): {head} {statements} }}", inputs), ROWS[name](M, X),
                       rtol=1e-5, atol=1e-6)


def test_every_function_of_other_languages_has_its_remedy_in_the_error():
    functions = [name for name in FUNCTIONS_INSTEAD if name not in TYPES]
    calls = "\n".join(f"all (i) in (8) y{k}[i] = {n}(x[i])" for k, n in enumerate(functions))
    outputs = ", ".join(f"float16 y{k}[8]" for k in range(len(functions)))
    with pytest.raises(UserErrors) as caught:
        compute(f"lair f(): float16 x[8] -> {outputs}\n{{\n  {calls}\n}}\n", {})
    assert [(each.message, each.hint) for each in caught.value.errors] == [
        (f"unknown function {name}", FUNCTIONS_INSTEAD[name]) for name in functions]


@pytest.mark.parametrize(("word", "hint"), [
    ("rsqrt", "`1 / sqrt(x)`"), ("sqrtt", "did you mean sqrt?"), ("SQRT", "did you mean sqrt?"),
    ("tahn", "did you mean tanh?"), ("frobnicate", "functions: relu, exp, sqrt, abs"),
    ("gemm", "functions: relu, exp"), ("elf", "did you mean erf?"), ("sigmiod", "mean sigmoid?"),
])
def test_only_slips_are_meant_for_another_function(word, hint):
    text = f"lair f(): float16 x[8] -> float16 y[8] {{ all (i) in (8) y[i] = {word}(x[i]) }}"
    with pytest.raises(UserErrors) as caught:
        compute(text, {})
    assert hint in str(caught.value.errors[0].hint)


def test_types_of_other_languages_are_no_slips():
    listed = "types: float16, float32, int16, int32"
    hints = {**dict.fromkeys(FOREIGN_TYPES, listed), "flaot16": "did you mean float16?",
             "Float32": "did you mean float32?", "in16": "did you mean int16?"}
    for name, hint in hints.items():
        text = f"lair f(): {name} x[8] -> float16 y[8] {{ all (i) in (8) y[i] = x[i] }}"
        with pytest.raises(UserErrors) as caught:
            compute(text, {})
        assert [(each.message, each.hint) for each in caught.value.errors] == [
            (f"unknown type {name}", hint)]


def test_a_type_that_layer_yaml_gives_is_no_slip_either():
    text = "lair f<T=float16>(): T x[8] -> T y[8] { all (i) in (8) y[i] = x[i] }"
    with pytest.raises(UserErrors) as caught:
        specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {"T": "bfloat16"})
    assert caught.value.errors[0].hint == "types: float16, float32, int16, int32"


@pytest.mark.parametrize(("word", "known", "meant"), [
    ("Tan", ["Tanh", "Sin"], None), ("Asin", ["Sin"], None), ("Gelu", ["Relu"], None),
    ("Rsqrt", ["Sqrt"], None), ("SIN", ["sin"], "sin"), ("Tanhh", ["Tanh"], "Tanh"),
    ("placemnet", ["placement", "pin"], "placement"), ("mach", ["machine"], "machine"),
    ("ff.x", ["u_ff.x"], "u_ff.x"), ("arrives", ["leaves"], None), ("skw", ["skew"], "skew"),
    ("n", ["m"], None), ("lnaes", ["lanes"], "lanes"), ("size", ["sizes", "types"], "sizes"),
    ("tiles", ["types", "tensors"], None),
])
def test_a_slip_is_counted_in_letters(word, known, meant):
    assert nearest(word, known) == meant
