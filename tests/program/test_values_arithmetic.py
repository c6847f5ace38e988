"""Operations of programs, against fractions rounded once and integers without bounds."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from lairmake.stages.program.values.arithmetic import cast, compute, round_number
from lairmake.stages.program.values.forms import ProgramError

BITS = {"float16": (11, -24, 65504), "float32": (24, -149, float(np.finfo("float32").max))}
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 6e-8, -6e-8, 65504.0, 3.5, -2.25]
SYMBOLS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def round_once(exact, type_):
    """Return the float nearest to a fraction, ties to even."""
    digits, least, largest = BITS[type_]
    if not exact:
        return 0.0
    size = math.floor(math.log2(abs(exact.numerator))) - math.floor(math.log2(exact.denominator))
    at = max(size - digits - 1, least)
    while abs(exact) >= Fraction(2) ** (at + digits):
        at += 1
    unit = Fraction(2) ** at
    found = round(exact / unit) * unit
    while abs(found) < Fraction(2) ** (at + digits - 1) and at > least:
        at -= 1
        unit = Fraction(2) ** at
        found = round(exact / unit) * unit
    return float(found) if abs(found) <= largest else math.copysign(math.inf, found)


def random_floats(type_, count, seed):
    """Return floats of every size: random bits, without infinities and NaN."""
    bits = np.random.default_rng(seed).integers(0, 1 << 32, 2 * count, dtype="uint32")
    shape = bits.astype("uint16") if type_ == "float16" else bits
    values = shape.view(type_)
    return values[np.isfinite(values)][:count]


def same(a, b):
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a) & ~np.isnan(a), np.signbit(b) & ~np.isnan(b))


@pytest.mark.parametrize("type_", BITS)
@pytest.mark.parametrize("op", SYMBOLS)
def test_an_operation_on_floats_rounds_once(op, type_):
    a, b = random_floats(type_, 400, 1), random_floats(type_, 400, 2)
    a[200:], b[200:] = a[200:] % 100, b[200:] % 7 + 1
    b[b == 0] = 1
    exact = [SYMBOLS[op](Fraction(float(x)), Fraction(float(y))) for x, y in zip(a, b, strict=True)]
    found = compute(op, type_, a, b)
    assert found.dtype == type_
    assert np.array_equal(found, np.array([round_once(e, type_) for e in exact], type_))


@pytest.mark.parametrize("type_", BITS)
def test_a_root_is_the_nearest_float(type_):
    a = np.abs(random_floats(type_, 200, 3))
    for x, root in zip(a, compute("sqrt", type_, a), strict=True):
        below, above = (Fraction(float(np.nextafter(root, end))) for end in (-root, 2 * root + 1))
        square, root = Fraction(float(x)), Fraction(float(root))
        assert ((below + root) / 2) ** 2 <= square <= ((above + root) / 2) ** 2


@pytest.mark.parametrize(("op", "function"), [("exp", math.exp), ("log", math.log)])
@pytest.mark.parametrize("type_", BITS)
def test_exp_and_log_are_rounded_from_float64(op, function, type_):
    a = np.random.default_rng(4).uniform(0.01, 9, 300).astype(type_)
    single = [struct.unpack("f", struct.pack("f", function(float(x))))[0] for x in a]
    assert np.array_equal(compute(op, type_, a), np.array(single, "float32").astype(type_))
    ends = compute(op, type_, np.array([math.inf, 0.0, math.nan, -math.inf], type_))
    expected = {"exp": [math.inf, 1, math.nan, 0], "log": [math.inf, -math.inf, math.nan, math.nan]}
    assert same(ends, np.array(expected[op], type_))


def wrap(value, type_):
    bits = 8 * np.dtype(type_).itemsize
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def shift(op, a, n, type_):
    bits = 8 * np.dtype(type_).itemsize
    fits = 0 <= n < bits
    if op == "shl":
        return wrap(a << n, type_) if fits else 0
    if op == "shr":
        return a >> n if fits else -(a < 0)
    return wrap(a % (1 << bits) >> n, type_) if fits else 0


INTEGERS = {
    "add": lambda a, b, t: wrap(a + b, t), "sub": lambda a, b, t: wrap(a - b, t),
    "mul": lambda a, b, t: wrap(a * b, t), "maximum": lambda a, b, t: max(a, b),
    "minimum": lambda a, b, t: min(a, b), "and": lambda a, b, t: a & b,
    "or": lambda a, b, t: a | b, "xor": lambda a, b, t: a ^ b,
    "eq": lambda a, b, t: a == b, "ne": lambda a, b, t: a != b, "lt": lambda a, b, t: a < b,
    "le": lambda a, b, t: a <= b, "gt": lambda a, b, t: a > b, "ge": lambda a, b, t: a >= b,
    **{op: lambda a, b, t, op=op: shift(op, a, b, t) for op in ("shl", "shr", "shr_logical")},
}


@pytest.mark.parametrize("type_", ["int16", "int32"])
@pytest.mark.parametrize("op", INTEGERS)
def test_integers_wrap_and_shift_as_integers_without_bounds_say(op, type_):
    bounds, rng = np.iinfo(type_), np.random.default_rng(5)
    ends = [bounds.min, bounds.min + 1, -1, 0, 1, 2, bounds.max, 5, 15, 16, 31, 32, -2]
    a = np.concatenate([np.repeat(ends, len(ends)), rng.integers(bounds.min, bounds.max, 99)])
    b = np.concatenate([np.tile(ends, len(ends)), rng.integers(-3, 40, 99)])
    a, b = a.astype(type_), b.astype(type_)
    expected = [INTEGERS[op](int(x), int(y), type_) for x, y in zip(a, b, strict=True)]
    found = compute(op, type_, a, b)
    assert found.dtype == ("int16" if op in ("eq", "ne", "lt", "le", "gt", "ge") else type_)
    assert found.tolist() == [int(each) for each in expected]


@pytest.mark.parametrize("type_", BITS)
@pytest.mark.parametrize("op", ["maximum", "minimum"])
def test_the_larger_of_two_floats_is_what_pe_h_takes(op, type_):
    a, b = (each.ravel() for each in np.meshgrid(*[np.array(SPECIAL, type_)] * 2))
    takes = {"maximum": lambda x, y: x >= y, "minimum": lambda x, y: x <= y}[op]
    expected = [x if takes(x, y) or x != x else y for x, y in zip(a, b, strict=True)]
    assert same(compute(op, type_, a, b), np.array(expected, type_))


def test_comparisons_of_floats_are_0_or_1():
    a, b = (each.ravel() for each in np.meshgrid(*[np.array(SPECIAL, "float32")] * 2))
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert compute("lt", "float32", a, b).tolist() == [int(x < y) for x, y in pairs]
    assert compute("ne", "float32", a, b).tolist() == [int(x != y) for x, y in pairs]
    assert compute("ge", "float32", a, 1).tolist() == [int(x >= 1) for x in a.tolist()]


def test_signs_of_zeros_and_the_least_integer():
    zeros = np.array([0.0, -0.0, -math.nan], "float32")
    assert same(compute("neg", "float32", zeros[:2]), np.array([-0.0, 0.0], "float32"))
    assert not np.signbit(compute("abs", "float32", zeros)).any()
    least = np.array(-32768, "int16")
    assert compute("abs", "int16", least) == compute("neg", "int16", least) == -32768


def test_where_takes_what_is_not_0_and_results_may_go_into_views():
    mask, a = np.array([0, 1, -2], "int16"), np.array([1.0, 2.0, 3.0], "float32")
    room = np.zeros((2, 3), "float32")
    assert compute("where", "float32", mask, a, 9, out=room[1]) is not room
    assert room.tolist() == [[0, 0, 0], [9, 2, 3]]
    compute("add", "float32", a[:-1], a[1:], out=a[1:])
    assert a.tolist() == [1, 3, 5]
    masks = np.zeros(3, "int16")
    compute("gt", "float32", a, 2, out=masks)
    assert masks.tolist() == [0, 1, 1]


def test_casts_to_integers_cut_saturate_and_give_0_for_nan():
    floats = np.array([1.9, -1.9, 4e9, -4e9, math.inf, math.nan, 32768, -0.5], "float32")
    large, small = 2**31 - 1, -(2**31)
    assert cast(floats, "int32").tolist() == [1, -1, large, small, large, 0, 32768, 0]
    assert cast(floats, "int16").tolist() == [1, -1, 32767, -32768, 32767, 0, 32767, 0]
    assert cast(np.array([65537, -32769], "int32"), "int16").tolist() == [1, 32767]
    assert cast(np.array([-7], "int16"), "int32").tolist() == [-7]


def test_casts_to_floats_round_once():
    """Through float32, 33570816 + 1 would become a tie of float16, and another value."""
    integers = np.array([2049, 2051, 65519, 65520, 16777217, 4097 * 2**3 + 1, -5], "int32")
    expected = [round_once(Fraction(int(each)), "float16") for each in integers]
    assert cast(integers, "float16").tolist() == expected
    expected = [round_once(Fraction(int(each)), "float32") for each in integers]
    assert cast(integers, "float32").tolist() == expected
    random = random_floats("float32", 500, 6)
    expected = [round_once(Fraction(float(each)), "float16") for each in random]
    assert np.array_equal(cast(random, "float16"), np.array(expected, "float16"))


def test_numbers_take_a_type_rounded_once():
    halfway = 2**60 + 2**36
    assert round_number(halfway, "float32") == 2.0**60
    assert round_number(halfway + 1, "float32") == 2.0**60 + 2.0**37
    assert round_number(-halfway - 1, "float32") == -(2.0**60) - 2.0**37
    assert round_number(10**400, "float16") == math.inf
    assert round_number(0.1, "float16").dtype == "float16"
    with pytest.raises(ProgramError, match="40000 is no int16\nhint: from -32768 to 32767"):
        round_number(40000, "int16")
    with pytest.raises(ProgramError, match=r"0\.5 is no int32"):
        round_number(0.5, "int32")
