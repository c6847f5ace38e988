"""Rings: for how many chunks there must be memory, and where their elements lie."""

import islpy as isl
import pytest

from lairmake.stages.poly.chunks import find_reuse, number_chunks, number_order, roll

STEPS = "{ S[i, r] -> [PE[0, 0] -> chunk[floor((i + r)/4)]] : 0 <= i < 40 and 0 <= r < 3 }"
ROWS = "{ S[i, r] -> [PE[0, 0] -> chunk[i + 2, 1]] : 0 <= i < 6 and 0 <= r < 3 }"


def test_chunks_are_numbered_in_lexicographic_order() -> None:
    assert number_chunks((4, 3)).is_equal(isl.Map("{ chunk[p, q] -> [3p + q] }"))


@pytest.mark.parametrize(
    ("steps", "needed", "counts", "reuse"),
    [
        (STEPS, STEPS, (11,), 0),
        (STEPS.replace("(i + r)/4", "(i + 2)/4"), STEPS, (11,), 1),
        (STEPS.replace("(i + r)/4", "(i + 6)/4"), STEPS, (12,), 2),
        (ROWS, ROWS.replace("chunk[i + 2, 1]", "chunk[i + r, 1]"), (8, 2), 4),
        (ROWS, ROWS.replace("chunk[i + 2, 1]", "chunk[i + r, 0]"), (8, 2), 5),
    ],
    ids=["its_own", "the_one_before", "two_before", "rows", "parts_of_rows"],
)
def test_elements_are_used_so_many_steps_later(
    steps: str, needed: str, counts: tuple[int, ...], reuse: int
) -> None:
    assert find_reuse(isl.Map(steps), isl.Map(needed), counts) == reuse


def test_a_chunk_lies_where_one_was_that_came_so_many_before() -> None:
    chunks = isl.Map("{ A[i, k] -> [PE[x, 0] -> chunk[k//4]] : 4x <= i < 4x + 4 and 0 <= k < 40 }")
    size, to_local = roll(number_order(chunks, (10,)), 3, "A_local")
    assert size.is_equal(isl.Set("{ A_local[0:2, 0:3, 0:3] }"))
    assert to_local.is_equal(isl.Map(
        "{ [PE[x, 0] -> A[i, k]] -> A_local[(k//4) mod 3, i - 4x, k mod 4]"
        " : 4x <= i < 4x + 4 and 0 <= k < 40 }"
    ))


def test_the_rest_lies_at_the_beginning_of_its_slot() -> None:
    chunks = isl.Map("{ x[i] -> [PE[0, 0] -> chunk[i//4]] : 0 <= i < 10 }")
    _, to_local = roll(number_order(chunks, (3,)), 2, "x_local")
    last = to_local.intersect_domain(isl.Set("{ [PE[0, 0] -> x[i]] : i >= 8 }"))
    assert last.is_equal(isl.Map("{ [PE[0, 0] -> x[i]] -> x_local[0, i - 8] : 8 <= i < 10 }"))


def test_a_chunk_of_elements_that_are_dealt_leaves_no_holes() -> None:
    chunks = isl.Map(
        "{ A[k] -> [PE[x, 0] -> chunk[k//16]] : k mod 4 = x and 0 <= k < 64 and 0 <= x < 4 }"
    )
    size, to_local = roll(number_order(chunks, (4,)), 2, "A_local")
    assert size.is_equal(isl.Set("{ A_local[0:1, 0:3] }"))
    assert to_local.is_equal(isl.Map(
        "{ [PE[x, 0] -> A[k]] -> A_local[(k//16) mod 2, (k mod 16)//4]"
        " : k mod 4 = x and 0 <= k < 64 and 0 <= x < 4 }"
    ))
