"""float16 as pe.h converts it, against NumPy, bit for bit."""

import ctypes

import numpy as np
import pytest

from lairmake.stages.fabric.engine import open_library

ALL = np.arange(65536, dtype=np.uint16)


@pytest.fixture(scope="module")
def convert(library):
    """Return the two conversions, as functions on arrays of bits."""
    with open_library(library) as engine:
        engine.fabric_f32.argtypes, engine.fabric_f32.restype = [ctypes.c_uint16], ctypes.c_float
        engine.fabric_f16.argtypes, engine.fabric_f16.restype = [ctypes.c_float], ctypes.c_uint16
        yield (
            lambda bits: np.array([engine.fabric_f32(int(b)) for b in bits], dtype=np.float32),
            lambda values: np.array([engine.fabric_f16(float(v)) for v in values], np.uint16),
        )


def expected(values):
    with np.errstate(over="ignore"):
        return values.astype(np.float16)


def assert_same(bits, halves):
    nan = np.isnan(halves)
    np.testing.assert_array_equal(bits[~nan], halves.view(np.uint16)[~nan])
    assert np.isnan(bits.view(np.float16)[nan]).all()


def test_every_float16_has_its_value(convert):
    to_float, _ = convert
    np.testing.assert_array_equal(to_float(ALL), ALL.view(np.float16).astype(np.float32))


def test_every_float16_survives_the_way_there_and_back(convert):
    to_float, to_half = convert
    assert_same(to_half(to_float(ALL)), ALL.view(np.float16))


def test_halfway_between_two_is_rounded_to_even(convert):
    _, to_half = convert
    finite = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    halfway = ((finite[:-1].astype("f8") + finite[1:]) / 2).astype(np.float32)
    for values in (halfway, np.nextafter(halfway, 0), np.nextafter(halfway, np.float32(np.inf))):
        assert_same(to_half(values), expected(values))
        assert_same(to_half(-values), expected(-values))


def test_large_and_random_bits(convert):
    _, to_half = convert
    bits = np.random.default_rng(2).integers(0, 2**32, 50000, dtype=np.uint32)
    edges = np.array([65504, 65519.996, 65520, 65536, 1e30, np.inf, np.nan, 6e-8, 2.9e-8, 0], "f4")
    values = np.concatenate([bits.view(np.float32), edges, -edges])
    assert_same(to_half(values), expected(values))
