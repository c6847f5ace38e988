import islpy as isl
import pytest

from lairmake.stages.poly.sides import (
    Rectangle,
    apply_filter,
    at_index,
    at_pe,
    at_places,
    behind_ports,
    find_index_filter,
    heard,
    on_side,
    relocate,
    taken_by,
)

RECTANGLE = Rectangle(left=0, top=0, right=3, bottom=2)
FROM_NORTH = isl.Map("{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] : 0 <= i <= 15 }")
TWO_SIDES = isl.Map(
    "{ x[i, j] -> [PE[i, -1] -> index[j, 0]] : 0 <= i <= 3 and 0 <= j <= 1;"
    "  x[i, j] -> [PE[-1, j] -> index[i, 7]] : 0 <= i <= 3 and 0 <= j <= 1 }"
)


def test_a_part_of_an_order_is_that_at_the_ports_of_a_side() -> None:
    expected = isl.Map("{ x[i, j] -> [PE[-1, j] -> index[i, 7]] : 0 <= i <= 3 and 0 <= j <= 1 }")
    assert on_side(TWO_SIDES, "W", RECTANGLE).is_equal(expected)
    assert on_side(TWO_SIDES, "S", RECTANGLE).is_empty()


def test_a_part_of_an_order_is_that_at_some_pes() -> None:
    expected = isl.Map("{ x[i] -> [PE[2, -1] -> index[i mod 4]] : 8 <= i <= 11 }")
    assert at_places(FROM_NORTH, isl.Set("{ PE[2, y] }")).is_equal(expected)


@pytest.mark.parametrize(
    ("side", "port", "behind"),
    [
        ("N", "PE[1, -1]", "PE[1, y] : y >= 0"),
        ("S", "PE[1, 3]", "PE[1, y] : y <= 2"),
        ("W", "PE[-1, 1]", "PE[x, 1] : x >= 0"),
        ("E", "PE[4, 1]", "PE[x, 1] : x <= 3"),
    ],
)
def test_what_enters_at_a_port_passes_all_pes_behind_it(side: str, port: str, behind: str) -> None:
    order = isl.Map(f"{{ x[i] -> [{port} -> index[i]] : 0 <= i <= 5 }}")
    places, condition = behind.split(" : ")
    expected = isl.Map(f"{{ x[i] -> [{places} -> index[i]] : 0 <= i <= 5 and {condition} }}")
    assert behind_ports(order, side, RECTANGLE).is_equal(expected)


def test_an_order_moves_with_its_pes_and_keeps_its_indices() -> None:
    moved = relocate(TWO_SIDES, isl.Map("{ PE[x, y] -> PE[x - 1, y + 1] }"))
    expected = isl.Map(
        "{ x[i, j] -> [PE[i - 1, 0] -> index[j, 0]] : 0 <= i <= 3 and 0 <= j <= 1;"
        "  x[i, j] -> [PE[-2, j + 1] -> index[i, 7]] : 0 <= i <= 3 and 0 <= j <= 1 }"
    )
    assert moved.is_equal(expected)


def test_what_pes_take_is_a_part_of_what_passes_them() -> None:
    everywhere = behind_ports(FROM_NORTH, "N", RECTANGLE)
    taken = isl.Map("{ x[i] -> PE[i//4, 1] : 0 <= i <= 15 and i mod 2 = 0 }")
    expected = isl.Map(
        "{ x[i] -> [PE[i//4, 1] -> index[i mod 4]] : 0 <= i <= 15 and i mod 2 = 0 }"
    )
    assert taken_by(everywhere, taken).is_equal(expected)


def test_an_order_at_a_pe_is_a_relation_from_indices_to_elements() -> None:
    expected = isl.Map("[PE_X, PE_Y] -> { index[k] -> x[4PE_X + k] : "
                       "0 <= k <= 3 and 0 <= PE_X <= 3 and PE_Y = -1 }")
    assert at_pe(FROM_NORTH).is_equal(expected)


def test_indices_are_named_from_the_outermost_and_the_innermost_is_index() -> None:
    expected = isl.Set(
        "[PE_X, PE_Y, index0, index] -> { x[PE_X, index0] : "
        "PE_Y = -1 and index = 0 and 0 <= PE_X <= 3 and 0 <= index0 <= 1;"
        " x[index0, PE_Y] : PE_X = -1 and index = 7 and 0 <= index0 <= 3 and 0 <= PE_Y <= 1 }"
    )
    assert at_index(TWO_SIDES).is_equal(expected)


ROW = isl.Map("{ x[i] -> [PE[x, 0] -> index[i]] : 0 <= i <= 15 and 0 <= x <= 3 }")


def test_a_filter_lets_the_interval_pass_that_a_pe_wants() -> None:
    wanted = taken_by(ROW, isl.Map("{ x[i] -> PE[i//4, 0] }"))
    interval = find_index_filter(ROW, wanted)
    expected = isl.Map("{ PE[x, 0] -> [4x, 4x + 3] : 0 <= x <= 3 }")
    assert interval is not None and interval.is_equal(expected)
    assert apply_filter(ROW, interval).is_equal(wanted)


@pytest.mark.parametrize(
    "wants",
    ["{ x[i] -> PE[i mod 4, 0] }", "{ x[i] -> PE[x, 0] : i = 3 or i = 5 }", "{ x[i] -> PE[x, 0] }"],
)
def test_there_is_no_filter_where_no_interval_tells_or_all_is_wanted(wants: str) -> None:
    assert find_index_filter(ROW, taken_by(ROW, isl.Map(wants))) is None


def test_an_adapter_hears_all_that_its_port_sends() -> None:
    source = isl.Map("{ x[i] -> [PE[9*(i//8), -2] -> index[i]] : 0 <= i <= 15 }")
    sent = isl.Map("{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] : 0 <= i <= 15 }")
    expected = isl.Map("{ x[i] -> [PE[x, -1] -> index[i]] : 0 <= i <= 15 and x//2 = i//8 }")
    assert heard(source, source.range_factor_domain(), sent).is_equal(expected)


ARRIVING = isl.Map(
    "{ x[h, i] -> [PE[x, 0] -> index[h, i]] : 0 <= h <= 1 and 0 <= i <= 7 and 0 <= x <= 1 }"
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("4x <= i <= 4x + 3", "{ PE[x, 0] -> [4x, 4x + 3] : 0 <= x <= 1 }"),
        ("x <= i <= 6 and h = 0 or x <= i <= 6 and h = 1", "{ PE[x, 0] -> [x, 6] : 0 <= x <= 1 }"),
        ("0 <= i <= 7", None),
        ("i mod 2 = 0", None),
        ("i <= 3 and h = 0", None),
    ],
)
def test_a_filter_is_an_interval_of_the_inner_index_for_all_outer_ones(
    wanted: str, expected: str | None
) -> None:
    condition = isl.Map(f"{{ x[h, i] -> [PE[x, y] -> index[h, i]] : {wanted} }}")
    some = ARRIVING.intersect(condition)
    found = find_index_filter(ARRIVING, some)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found.is_equal(isl.Map(expected))
        assert apply_filter(ARRIVING, found).is_equal(some)
