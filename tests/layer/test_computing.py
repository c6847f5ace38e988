import ctypes
import operator
import subprocess

import pytest

from lairmake.stages.fabric.compiler import FLAGS, HERE, c_compiler
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.layer.codegen.instruction import (
    InstructionOperands,
    combine,
    count_computed,
    make_literal,
    make_value,
)
from lairmake.stages.pe.nodes import Computed, Element, Field, Loaded, Pointed, Store
from lairmake.stages.pe.speller import spell
from lairmake.stages.poly.expression import Name, Number

VALUES = {
    "a": Element(Field("a"), (Number(0),)), "b": Element(Field("b"), (Name("i"),)), "c": Name("c"),
}
FLOATS = InstructionOperands(values=VALUES, types={"a": "float16", "b": "float32", "c": "float16"})
INTEGERS = InstructionOperands(values=VALUES, types={"a": "int16", "b": "int32", "c": "int32"})


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ("a", "f32(my->a[0])"),
        ("b", "my->b[i]"),
        ("2", "2.0f"),
        ("0.5", "0.5f"),
        ("1e20", "1e+20f"),
        ("-2", "-2.0f"),
        ("--b", "-(-my->b[i])"),
        ("-(b + c)", "-(my->b[i] + f32(c))"),
        ("b + c + b", "my->b[i] + f32(c) + my->b[i]"),
        ("b + (c + b)", "my->b[i] + (f32(c) + my->b[i])"),
        ("b - (c - b)", "my->b[i] - (f32(c) - my->b[i])"),
        ("b - c - b", "my->b[i] - f32(c) - my->b[i]"),
        ("b * (c + b)", "my->b[i] * (f32(c) + my->b[i])"),
        ("b + c * b", "my->b[i] + f32(c) * my->b[i]"),
        ("b / (c * b)", "my->b[i] / (f32(c) * my->b[i])"),
        ("b / c / b", "(my->b[i] / f32(c)) / my->b[i]"),
        ("b * -c", "my->b[i] * (-f32(c))"),
        ("b - -c", "my->b[i] - (-f32(c))"),
        ("relu(b)", "relu(my->b[i])"),
        ("abs(-b)", "fabsf(-my->b[i])"),
        ("max(b, c + 1)", "maximum(my->b[i], f32(c) + 1.0f)"),
        ("min(max(a, b), c)", "minimum(maximum(f32(my->a[0]), my->b[i]), f32(c))"),
        ("exp(b / 2)", "expf(my->b[i] / 2.0f)"),
    ],
)
def test_expressions_of_floats(expr, text):
    assert spell(make_value(parse_expression(expr), FLOATS)) == text


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ("a", "my->a[0]"),
        ("3", "3"),
        ("b + c", "(int32_t)((uint32_t)my->b[i] + (uint32_t)c)"),
        ("-b", "(int32_t)(0u - (uint32_t)my->b[i])"),
        ("b * c - 1", "(int32_t)((uint32_t)(int32_t)((uint32_t)my->b[i] * (uint32_t)c)"
                      " - (uint32_t)1)"),
        ("max(b, -1)", "(int32_t)max(my->b[i], (int32_t)(0u - (uint32_t)1))"),
        ("min(b, c)", "(int32_t)min(my->b[i], c)"),
        ("relu(b)", "(int32_t)max(my->b[i], 0)"),
        ("abs(b)", "(int32_t)max(my->b[i], (int32_t)(0u - (uint32_t)my->b[i]))"),
    ],
)
def test_expressions_of_integers_wrap_around(expr, text):
    assert spell(make_value(parse_expression(expr), INTEGERS)) == text
    narrow = InstructionOperands(values=VALUES, types=dict.fromkeys(VALUES, "int16"))
    narrowed = text.replace("(int32_t)", "(int16_t)")
    assert spell(make_value(parse_expression(expr), narrow)) == narrowed


@pytest.mark.parametrize(
    ("op", "floats", "integers"),
    [
        ("+", "x + f32(c) * my->b[i]", "(int32_t)((uint32_t)x + (uint32_t)(int32_t)("
                                       "(uint32_t)c * (uint32_t)my->b[i]))"),
        ("*", "x * (f32(c) * my->b[i])", "(int32_t)((uint32_t)x * (uint32_t)(int32_t)("
                                         "(uint32_t)c * (uint32_t)my->b[i]))"),
        ("max", "maximum(x, f32(c) * my->b[i])", "(int32_t)max(x, (int32_t)("
                                                 "(uint32_t)c * (uint32_t)my->b[i]))"),
    ],
)
def test_what_is_combined_keeps_its_operands(op, floats, integers):
    expr = parse_expression("c * b")
    assert spell(combine(op, Name("x"), expr, FLOATS)) == floats
    assert spell(combine(op, Name("x"), expr, INTEGERS)) == integers


@pytest.mark.parametrize(
    ("expr", "operations"),
    [("a", 0), ("3", 0), ("-a", 1), ("a + b * c", 2), ("max(a, b) - 1", 2), ("relu(exp(a))", 2)],
)
def test_operations_are_counted(expr, operations):
    assert count_computed(parse_expression(expr), "float32").total() == operations


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (0, ["f16(0.0f)", "0.0f", "0", "0"]),
        (-3, ["f16(-3.0f)", "-3.0f", "-3", "-3"]),
        ("inf", ["f16(INFINITY)", "INFINITY", "32767", "2147483647"]),
        ("-inf", ["f16(-INFINITY)", "-INFINITY", "-32768", "INT32_MIN"]),
        (-32768, ["f16(-32768.0f)", "-32768.0f", "-32768", "-32768"]),
    ],
)
def test_literals_of_every_type(value, texts):
    types = ["float16", "float32", "int16", "int32"]
    assert [spell(make_literal(value, t)) for t in types] == texts


def test_the_least_integer_has_a_name_in_c():
    assert spell(make_literal(-(2.0**31), "int32")) == "INT32_MIN"


def test_a_value_is_rounded_once_where_it_is_stored():
    product, element = Computed("*", (Name("a"), Name("b")), "float32"), Pointed(Name("element"))
    assert spell(Store(element, product, "float16")) == "*element = f16(a * b);"
    assert spell(Store(element, product, "float32")) == "*element = a * b;"


def test_an_integer_is_read_as_a_float32():
    assert spell(Loaded(Name("x"), "int16")) == "(float)x"


EXPRESSIONS = [
    "a - (b - c) * -a", "-(a - b) / c", "a / (b / c)", "a - b - c", "max(a, -b) - min(b, c) * 2",
    "abs(a - b) * relu(c - a)", "--a * (b + -c)", "a * b / c", "-abs(-a) + 3 - -b",
    "select(a * b + 32, less(a, a), equal(a, a))", "less_equal(c, c) - select(0, a, less(b, a))",
]


@pytest.mark.parametrize("type_", ["float", "int32_t"])
def test_c_has_the_value_of_the_expression(type_, tmp_path):
    """Operands are such that every quotient is exact; integers have no division."""
    integral = type_ == "int32_t"
    texts = [e for e in EXPRESSIONS if not (integral and "/" in e)]
    types = dict.fromkeys("abc", "int32" if integral else "float32")
    operands = InstructionOperands(values={n: Name(n) for n in "abc"}, types=types)
    values = [spell(make_value(parse_expression(text), operands)) for text in texts]
    lines = [
        f"{type_} at{k}({', '.join(f'{type_} {n}' for n in 'abc')}) "
        f"{{ (void)a; (void)b; (void)c; return {value}; }}"
        for k, value in enumerate(values)
    ]
    library = compiled("\n".join(['#include "pe.h"', *lines, ""]), tmp_path)
    kind = ctypes.c_int32 if integral else ctypes.c_float
    known = {"max": max, "min": min, "abs": abs, "relu": lambda v: max(v, 0), "less": operator.lt,
             "less_equal": operator.le, "equal": operator.eq,
             "select": lambda c, a, b: a if c else b}
    for k, text in enumerate(texts):
        function = library[f"at{k}"]
        function.argtypes, function.restype = [kind] * 3, kind
        for a, b, c in [(8, 4, 2), (-8, 4, -2), (16, -8, 4), (-4, -8, -1)]:
            expected = eval(text, known, {"a": a, "b": b, "c": c})
            assert (text, function(a, b, c)) == (text, expected)


def compiled(text, folder):
    """Compile C with the flags of PE programs, and return the library."""
    source, library = folder / "expressions.c", folder / "expressions.so"
    source.write_text(text, encoding="utf-8")
    command = [*c_compiler(), *FLAGS, "-shared", f"-I{HERE}", str(source), "-o", str(library)]
    subprocess.run([*command, "-lm"], check=True)
    return ctypes.CDLL(str(library))
