import islpy as isl
import pytest

from lairmake.stages.poly.chunks import (
    IndexBox,
    bind_chunk,
    chunks,
    count_most_in_step,
    cut_order,
    find_first,
    find_index_box,
    find_last_step,
    list_cuts,
)

ORDER = isl.Map("{ x[n, k] -> [PE[x, 0] -> index[n, k - 4x]] : 0 <= n < 6 and 0 <= k - 4x < 4 }")
COLUMNS = ORDER.intersect_range(isl.Set("{ [PE[x, y] -> index[i, j]] : 0 <= x <= 1 }"))
CUTS = [
    ((2,), 12, 12, "{ index[i, j] -> chunk[i // 3] }"),
    ((3,), 8, 8, "{ index[i, j] -> chunk[i // 2] }"),
    ((6,), 4, 4, "{ index[i, j] -> chunk[i] }"),
    ((6, 2), 2, 2, "{ index[i, j] -> chunk[i, j // 2] }"),
    ((6, 4), 1, 1, "{ index[i, j] -> chunk[i, j] }"),
]
UNEVEN = [((2,), 4, 3), ((3,), 3, 1), ((4,), 2, 1), ((7,), 1, 1)]


def test_the_index_box_is_that_of_every_pe() -> None:
    assert find_index_box(COLUMNS) == IndexBox(least=(0, 0), sizes=(6, 4))


@pytest.mark.parametrize(
    "order",
    [
        "{ x[i] -> [PE[0, 0] -> index[2i]] : 0 <= i < 6 }",
        "{ x[i] -> [PE[p, 0] -> index[i]] : 0 <= i < 4 + p and 0 <= p <= 1 }",
        "{ x[i] -> [PE[0, 0] -> index[i]] : 0 <= i }",
    ],
    ids=["gaps", "two_lengths", "no_end"],
)
def test_there_is_no_index_box_with(order: str) -> None:
    assert find_index_box(isl.Map(order)) is None


def test_cuts_are_into_equal_chunks_the_largest_first() -> None:
    cuts = [cut for (cut,) in list_cuts([IndexBox(least=(0, 0), sizes=(6, 4))], 2)]
    assert [(cut.counts, cut.size, cut.rest) for cut in cuts] == [cut[:3] for cut in CUTS]
    assert all(cut.of.is_equal(isl.Map(of)) for cut, (*_, of) in zip(cuts, CUTS, strict=True))


def test_the_last_of_uneven_chunks_is_the_rest() -> None:
    cuts = [cut for (cut,) in list_cuts([IndexBox(least=(2,), sizes=(7,))], 1)]
    assert [(cut.counts, cut.size, cut.rest) for cut in cuts] == UNEVEN


def test_boxes_are_cut_along_the_indices_that_they_share() -> None:
    boxes = [IndexBox(least=(0, 0), sizes=(4, 3)), IndexBox(least=(0, 2), sizes=(4, 8))]
    cuts = list(list_cuts(boxes, 1))
    assert [[(cut.counts, cut.size) for cut in each] for each in cuts] == [
        [((2,), 6), ((2,), 16)], [((4,), 3), ((4,), 8)]
    ]


def test_fine_cuts_are_by_powers_of_two_however_many_chunks_there_are() -> None:
    cuts = [cut for (cut,) in list_cuts([IndexBox(least=(0, 0), sizes=(700, 2))], 1, fine=True)]
    assert [cut.size // 2 for cut in cuts] == [512, 256, 128, 64, 32, 16, 8, 4, 2, 1]


def test_chunks_count_from_zero_and_leave_out_outer_indices_of_one_value() -> None:
    ((cut,),) = list_cuts([IndexBox(least=(3, 5), sizes=(1, 2))], 2)
    assert cut.of.is_equal(isl.Map("{ index[i, j] -> chunk[j - 5] }"))
    assert cut.counts == (2,)


def test_an_order_by_chunks() -> None:
    expected = isl.Map(
        "{ x[n, k] -> [PE[x, 0] -> chunk[n // 3]] : 0 <= n < 6 and 0 <= k - 4x < 4 and"
        "  0 <= x <= 1 }"
    )
    assert cut_order(COLUMNS, isl.Map(CUTS[0][-1])).is_equal(expected)


def test_the_elements_of_a_chunk() -> None:
    cut = isl.Map(CUTS[3][-1])
    expected = isl.Set("[index0, index] -> { index[i, j] : i = index0 and j // 2 = index }")
    assert bind_chunk(cut).is_equal(expected)
    assert find_first(cut).is_equal(isl.Set("{ chunk[0, 0] }"))
    known = isl.Set("[index0, index] -> { : 0 <= index0 < 6 and 0 <= index < 2 }")
    assert chunks([6, 2]).is_equal(known)


def test_the_last_step_of_an_element_is_one_of_its_pe() -> None:
    steps = isl.Map("{ S[i, r] -> [PE[r // 2, 0] -> chunk[i + r]] : 0 <= i < 3 and 0 <= r < 4 }")
    writes = isl.Map("{ S[i, r] -> y[i] }")
    expected = isl.Map(
        "{ y[i] -> [PE[x, 0] -> chunk[i + 2x + 1]] : 0 <= i < 3 and 0 <= x <= 1 }"
    )
    assert find_last_step(steps, writes).is_equal(expected)


def test_the_most_instances_of_a_step() -> None:
    step = "S[i, r] -> [PE[0, 0] -> chunk[(i + r) // 2]]"
    steps = isl.Map(f"{{ {step} : 0 <= i < 8 and 0 <= r < 3 }}")
    assert count_most_in_step(steps) == 4 * 3
