"""Which positions of an order are complete after which steps."""

import islpy as isl
import pytest

from lairmake.stages.poly.chunks import find_completed, is_in_order, list_stops

PES = isl.Set("{ PE[0, 0] }")
ORDER = isl.Map("{ y[i] -> [PE[0, 0] -> index[i]] : 0 <= i < 8 }")
LAST = isl.Map("{ y[i] -> [PE[0, 0] -> chunk[i + 2]] : 0 <= i < 8 }")
BOX = [[0, 9]]


def stops(text):
    return isl.Set(f"{{ {text} }}")


def completed(text, order=ORDER, last=LAST, pes=PES):
    return find_completed(order, last, stops(text), pes)


def test_an_element_leaves_after_the_last_step_that_adds_to_it():
    found = completed("chunk[k] : 0 <= k <= 9")
    expected = isl.Set(
        "[PE_X, PE_Y, index] -> { index[i] : PE_X = PE_Y = 0 and i = index - 2 and 0 <= i < 8 }"
    )
    assert found.sent(["index"]).is_equal(expected)
    assert found.rest.is_empty()


def test_it_waits_for_the_next_stop():
    found = completed("chunk[k] : k = 4 or k = 7")
    expected = isl.Set(
        "[PE_X, PE_Y, index] -> { index[i] : PE_X = PE_Y = 0 and "
        "((index = 4 and 0 <= i <= 2) or (index = 7 and 3 <= i <= 5)) }"
    )
    assert found.sent(["index"]).is_equal(expected)
    rest = isl.Set("[PE_X, PE_Y] -> { index[i] : PE_X = PE_Y = 0 and 6 <= i < 8 }")
    assert found.rest.is_equal(rest)


def test_what_a_pe_adds_nothing_to_leaves_at_the_first_stop():
    last = isl.Map("{ y[i] -> [PE[0, 0] -> chunk[i]] : 4 <= i < 8 }")
    found = completed("chunk[k] : 3 <= k < 7", last=last)
    first = isl.Set("[PE_X, PE_Y, index] -> { index[i] : PE_X = PE_Y = 0 and 0 <= i < 4 and "
                    "index = 3 }")
    assert first.is_subset(found.sent(["index"]))


def test_pes_that_run_no_steps_send_all_at_the_end():
    order = isl.Map("{ y[i] -> [PE[x, 0] -> index[i]] : 0 <= i < 8 and 0 <= x < 2 }")
    found = completed("chunk[k] : 0 <= k <= 9", order=order)
    rest = isl.Set("[PE_X, PE_Y] -> { index[i] : PE_X = 1 and PE_Y = 0 and 0 <= i < 8 }")
    assert found.rest.is_equal(rest)


@pytest.mark.parametrize(
    ("to", "in_order"),
    [("i", True), ("7 - i", False), ("(i + 4) mod 8", False), ("floor(i/2), i mod 2", True)],
)
def test_positions_leave_in_order_or_not_at_all(to, in_order):
    order = isl.Map(f"{{ y[i] -> [PE[0, 0] -> index[{to}]] : 0 <= i < 8 }}")
    assert is_in_order(completed("chunk[k] : 0 <= k < 9", order=order)) is in_order


def test_a_position_behind_one_that_leaves_at_the_end_is_out_of_order():
    order = isl.Map("{ y[i] -> [PE[0, 0] -> index[7 - i]] : 0 <= i < 8 }")
    assert not is_in_order(completed("chunk[k] : k = 5", order=order))


def test_stops_count_from_the_first_step_that_completes_an_element():
    expected = [
        "chunk[k] : k = 5", "chunk[k] : k = 5 or k = 9",
        "chunk[k] : k = 3 or k = 5 or k = 7", "chunk[k] : k = 3 or k = 5 or k = 7 or k = 9",
        "chunk[k] : 2 <= k < 9", "chunk[k] : 2 <= k < 10",
    ]
    found = list(list_stops(LAST, BOX))
    assert all(f.is_equal(stops(e)) for f, e in zip(found, expected, strict=True)), found


def test_stops_of_two_dimensions_are_ends_of_the_inner_one_first():
    last = isl.Map("{ y[i, j] -> [PE[0, 0] -> chunk[i, j]] : 0 <= i, j < 2 }")
    expected = [
        "chunk[i, 1] : i = 0", "chunk[i, 1] : 0 <= i < 2",
        "chunk[i, j] : 0 <= i < 2 and 0 <= j < 2 and i + j < 2",
        "chunk[i, j] : 0 <= i < 2 and 0 <= j < 2",
    ]
    found = list(list_stops(last, [[0, 1], [0, 1]]))
    assert all(f.is_equal(stops(e)) for f, e in zip(found, expected, strict=True)), found
