"""Arrays as they go into a page, and what is done if they do not fit."""

import base64
import zlib

import numpy as np
import pytest

from lairmake.stages.picture.page import pack, pack_within


def unpacked(packed):
    """Return the numbers that a page shows, one for each PE or square of PEs."""
    bytes_ = zlib.decompress(base64.b64decode(packed.deflated))
    differences = np.frombuffer(bytes_, np.dtype(packed.type).newbyteorder("<"))
    whole = np.add.accumulate(differences.reshape(packed.shape), axis=-1, dtype=differences.dtype)
    return packed.least + packed.step * whole


@pytest.mark.parametrize(("numbers", "type_"), [
    ([[0, 255, 3], [7, 7, 7]], "u1"), ([[-1, 127], [0, -128]], "i1"), ([[0, 65535]], "u2"),
    ([[-1, 32767]], "i2"), ([[-(2**31), 2**31 - 1]], "i4"),
])
def test_an_array_is_packed_in_the_least_type_that_holds_it(numbers, type_):
    packed = pack(np.array(numbers))
    assert packed.type == type_
    assert unpacked(packed).tolist() == numbers


def test_an_array_of_nothing_is_packed():
    assert unpacked(pack(np.zeros(0, np.int64))).tolist() == []


def test_rows_that_are_alike_take_few_characters():
    assert len(pack(np.tile(np.arange(750), (994, 1))).deflated) < 6000


def test_what_fits_is_exact():
    array = np.arange(600).reshape(20, 30)
    packed = pack_within(array, 10_000)
    assert (packed.block, packed.step) == (1, 1) and (unpacked(packed) == array).all()


def test_what_does_not_fit_becomes_means_of_squares():
    array = np.random.default_rng(0).integers(0, 100_000, (101, 67))
    packed = pack_within(array, 1000)
    block = packed.block
    assert len(packed.deflated) <= 1000 and block == 4
    assert packed.shape == (26, 17)
    means = [[array[y:y + block, x:x + block].mean() for x in range(0, 67, block)]
             for y in range(0, 101, block)]
    assert np.abs(unpacked(packed) - means).max() <= packed.step / 2 + 1e-6
