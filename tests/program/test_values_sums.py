"""The order of sums, against one element after the other as the machine adds them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from lairmake.stages.program.values.arithmetic import (
    add_global,
    add_locally,
    add_up,
    order_columns,
    order_rows,
)

FIELDS = [(1, 1), (1, 2), (2, 1), (1, 7), (6, 1), (4, 4), (5, 4), (5, 7), (8, 3)]
PLACES = [((0, 0), (0, 0)), ((0, 0), (3, 2)), ((2, 1), (3, 3)), ((1, 4), (1, 9))]
"""An origin, and how much larger the field is."""


def step(op, a, b):
    """One addition of float32 or wrapping one of integers; or what pe.h takes."""
    if op == "sum":
        with np.errstate(all="ignore"):
            return a + b
    takes = a >= b if op == "max" else a <= b
    return a if takes or a != a else b


def one_by_one(op, values, origin, field):
    """As the issue says it: PEs, columns, strips, and the four in the middle."""
    type_ = np.float32 if values.dtype == "float16" else values.dtype.type
    bounds = (-np.inf, np.inf) if values.dtype.kind == "f" else (
        np.iinfo(type_).min, np.iinfo(type_).max)
    neutral = type_({"sum": 0, "max": bounds[0], "min": bounds[1]}[op])
    width, height = field

    def on_pe(x, y):
        found = neutral
        x, y = x - origin[0], y - origin[1]
        if 0 <= x < values.shape[0] and 0 <= y < values.shape[1]:
            for each in values[x, y].ravel():
                found = step(op, found, type_(each))
        return found

    def along(found):
        """What arrives is the first operand."""
        total = found[0] if found else neutral
        for each in found[1:]:
            total = step(op, each, total)
        return total

    upper = [along([on_pe(x, y) for y in range(height // 2 - 1, -1, -1)]) for x in range(width)]
    lower = [along([on_pe(x, y) for y in range(height // 2, height)]) for x in range(width)]
    left, right = range(width // 2 - 1, -1, -1), range(width // 2, width)
    total = along([upper[x] for x in right])
    for strip, columns in ((upper, left), (lower, right), (lower, left)):
        total = step(op, along([strip[x] for x in columns]), total)
    return values.dtype.type(total)


def random_values(type_, shape, seed):
    rng = np.random.default_rng(seed)
    if type_.startswith("int"):
        bounds = np.iinfo(type_)
        return rng.integers(bounds.min, bounds.max, shape, dtype=type_, endpoint=True)
    values = (rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(type_)
    values.flat[:: 5] = -0.0
    return values


def bits(value):
    found = np.asarray(value)
    return "nan" if found != found else found.tobytes()


@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("type_", ["float16", "float32", "int16", "int32"])
def test_all_fields_are_added_in_the_order_of_the_machine(type_, op):
    for seed, (w, h) in enumerate(FIELDS):
        for origin, more in PLACES:
            field = (w + more[0], h + more[1])
            for memory in [(), (3,), (2, 3)]:
                values = random_values(type_, (w, h, *memory), seed)
                found = add_up(op, values, origin, field)
                assert found.shape == () and found.dtype == type_
                assert bits(found) == bits(one_by_one(op, values, origin, field))


@pytest.mark.parametrize("op", ["sum", "max", "min"])
def test_nan_infinities_and_zeros_are_those_of_the_order(op):
    rng = np.random.default_rng(7)
    for _ in range(60):
        values = rng.choice([0.0, -0.0, 0.0, -0.0, math.inf, -math.inf, math.nan, 1.0],
                            (3, 3, 2), p=[0.3, 0.3, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
        values = values.astype("float32")
        assert bits(add_up(op, values, (1, 0), (5, 4))) == bits(
            one_by_one(op, values, (1, 0), (5, 4)))


def test_a_sum_of_float16_is_rounded_once():
    values = np.array([[[2048.0, 1.0]], [[1.0, 1.0]]], "float16")
    assert add_up("sum", values, (0, 0), (2, 1)) == 2052
    assert add_locally("sum", values, (2,)).ravel().tolist() == [2048, 2]
    assert add_global("sum", values) == 2052
    rng = np.random.default_rng(8)
    values = rng.uniform(0, 1, (4, 4, 40)).astype("float16")
    exact = sum(Fraction(float(each)) for each in values.ravel())
    assert float(add_up("sum", values, (0, 0), (4, 4))) == float(np.float16(float(exact)))


def test_a_sum_of_zeros_below_zero_is_zero():
    values = np.full((2, 2, 3), -0.0, "float32")
    assert not np.signbit(add_up("sum", values, (0, 0), (2, 2)))
    assert not np.signbit(add_locally("sum", values, (2,))).any()
    assert not np.signbit(add_global("sum", values))


@pytest.mark.parametrize("type_", ["float16", "float32", "int16"])
def test_an_axis_of_memory_is_added_in_order(type_):
    values = random_values(type_, (2, 3, 4, 5), 9)
    for op in ("sum", "max", "min"):
        found = add_locally(op, values, (2,))
        assert found.shape == (2, 3, 5) and found.dtype == type_
        for x, y, k in np.ndindex(2, 3, 5):
            column = values[x, y, :, k].reshape(1, 1, 4)
            assert bits(found[x, y, k]) == bits(one_by_one(op, column, (0, 0), (1, 1)))


def test_a_global_array_is_added_in_order():
    for seed, shape in enumerate([(9,), (3, 4), (1, 1)]):
        values = random_values("float32", shape, seed)
        expected = one_by_one("sum", values.reshape(1, 1, -1), (0, 0), (1, 1))
        assert bits(add_global("sum", values)) == bits(expected)


def test_a_part_of_memory_backwards_is_added_backwards():
    values = random_values("float32", (2, 2, 30), 3)
    expected = one_by_one("sum", values[:, :, ::-2].copy(), (0, 0), (2, 2))
    assert bits(add_up("sum", values[:, :, ::-2], (0, 0), (2, 2))) == bits(expected)


def test_rows_and_columns_leave_from_the_middle():
    assert order_rows(5) == {"upper": range(1, -1, -1), "lower": range(2, 5)}
    assert order_rows(1) == {"upper": range(-1, -1, -1), "lower": range(0, 1)}
    assert order_columns(4) == {"left": range(1, -1, -1), "right": range(2, 4)}
