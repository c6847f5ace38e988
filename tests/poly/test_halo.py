"""Rings with a halo: how far windows reach, and where elements lie when a chunk is taken."""

import islpy as isl
import pytest

from lairmake.stages.poly.chunks import Rows, find_reach, repeat_rows, roll_rows

LINE = Rows(
    places=isl.Map("{ x[i] -> [PE[0, 0] -> place[i]] : 0 <= i < 38 }"),
    rows=4, counts=(10,), depth=3, halo=2,
)
ROWS = Rows(
    places=isl.Map("{ x[i, j] -> [PE[0, 0] -> place[8i + j]] : 0 <= i < 4 and 0 <= j < 8 }"),
    rows=4, counts=(4, 2), depth=4, halo=9,
)




@pytest.mark.parametrize(
    ("late", "early", "counts", "rows", "reach"),
    [
        ("chunk[floor((i + 2)/4)]", "place[i + r]", (11,), 4, 2),
        ("chunk[floor((i + r)/4)]", "place[i + r]", (11,), 4, 0),
        ("chunk[floor((i + 6)/4)]", "place[i + 3r]", (12,), 4, 6),
        ("chunk[i + 2]", "place[i + r, 5]", (12,), 1, 2),
    ],
    ids=["a_window", "elements_of_the_chunk", "a_dilation", "rows"],
)
def test_steps_reach_so_many_rows_before_their_chunk(late, early, counts, rows, reach):
    bounds = "0 <= i < 40 and 0 <= r < 3"
    steps = isl.Map(f"{{ S[i, r] -> [PE[0, 0] -> {late}] : {bounds} }}")
    places = isl.Map(f"{{ S[i, r] -> [PE[0, 0] -> {early}] : {bounds} }}")
    assert find_reach(steps, places, counts, rows) == reach


def test_chunks_lie_one_after_the_other_behind_the_halo():
    size, to_local = roll_rows(LINE, "x_local")
    assert size.is_equal(isl.Set("{ x_local[0:13] }"))
    assert to_local.is_equal(isl.Map(
        "[index] -> { [PE[x = 0, y = 0] -> x[i]] -> x_local[l = 2 + i - 12*(index//3)]"
        " : 0 <= l <= 13 and 0 <= index <= 9 }"
    ))


def test_the_halo_is_what_comes_before_the_next_round():
    repeated = repeat_rows(LINE, "x_halo", "x_local")
    assert repeated.is_equal(isl.Map(
        "[index] -> { [PE[x = 0, y = 0] -> x_halo[i]] -> x_local[l = 2 + i - 4*(index + 1)]"
        " : 0 <= l <= 1 and 0 <= i <= 37 and index mod 3 = 2 and 0 <= index < 9 }"
    ))


def test_chunks_of_several_indices_are_counted_through():
    _, to_local = roll_rows(ROWS, "x_local")
    assert to_local.is_equal(isl.Map(
        "[index0, index] -> { [PE[x = 0, y = 0] -> x[i, j]] -> x_local[l]"
        " : l = 9 + 8i + j - 16*((2index0 + index)//4) and 0 <= l <= 24"
        " and 0 <= index0 <= 3 and 0 <= index <= 1 }"
    ))
