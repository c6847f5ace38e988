import islpy as isl
import pytest

from lairmake.stages.layer.routes.adaptation import find_delivered, peel, reindex
from lairmake.stages.poly.sides import Rectangle, turn
from tests.layer.built import MV, build

TARGET = Rectangle(left=0, top=0, right=3, bottom=4)
ROWS = '{ mv[i, j] -> PE[0, i//2] }'


def adapted(target, placement, tensors):
    text = f'target: "{target}"\nplacement: "{placement}"\ntensors:\n{tensors}'
    return build(MV, text, "adapt").objects("adapted.isl")


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ("", Rectangle(left=0, top=0, right=3, bottom=4)),
        ("N", Rectangle(left=0, top=1, right=3, bottom=4)),
        ("SE", Rectangle(left=0, top=0, right=2, bottom=3)),
        ("NWSE", Rectangle(left=1, top=1, right=2, bottom=3)),
    ],
)
def test_peeling_takes_one_row_or_column_a_side(sides, expected):
    assert peel(TARGET, sides) == expected


def test_an_element_is_delivered_to_the_whole_column_of_its_port():
    order = isl.Map("{ x[i] -> [PE[i, -1] -> index[i]] : 0 <= i <= 3 }")
    expected = isl.Map("{ x[i] -> PE[i, y] : 0 <= i <= 3 and y >= 0 }")
    assert find_delivered(order, "N", TARGET).is_equal(expected)
    assert find_delivered(order, "W", TARGET).is_empty()


def test_eq_5_every_lane_counts_from_the_first_element_that_it_needs():
    lanes = isl.Map("{ x[i] -> [i//4] : 0 <= i <= 15 }")
    order = isl.Map("{ x[i] -> index[i] : 0 <= i <= 15 }")
    expected = isl.Map("{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] : 0 <= i <= 15 }")
    assert reindex(lanes, order, turn("N", TARGET)).is_equal(expected)


def test_lanes_that_share_elements_count_each_from_its_own_first():
    lanes = isl.Map("{ x[i] -> [l] : 0 <= i <= 9 and 0 <= l <= 3 and 2l <= i <= 2l + 3 }")
    order = isl.Map("{ x[i] -> index[i] : 0 <= i <= 9 }")
    expected = isl.Map("{ x[i] -> [PE[l, -1] -> index[i - 2l]] : 0 <= l <= 3 and "
                       "2l <= i <= 2l + 3 }")
    assert reindex(lanes, order, turn("N", TARGET)).is_equal(expected)


def test_outer_indices_are_kept_where_inner_ones_are_counted_anew():
    lanes = isl.Map("{ x[h, i] -> [i//4] : 0 <= h <= 2 and 0 <= i <= 7 }")
    order = isl.Map("{ x[h, i] -> index[h, i] : 0 <= h <= 2 and 0 <= i <= 7 }")
    expected = isl.Map("{ x[h, i] -> [PE[i//4, -1] -> index[h, i mod 4]] : "
                       "0 <= h <= 2 and 0 <= i <= 7 }")
    assert reindex(lanes, order, turn("N", TARGET)).is_equal(expected)


def test_what_flows_straight_peels_nothing():
    tensors = '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"}\n'
    found = adapted("{ PE[1, 4] }", ROWS, tensors)
    assert found["target"].is_equal(found["grid"])
    assert found["arrivals"].is_equal(found["sources"])


@pytest.mark.parametrize(
    ("side", "placement", "target", "port", "grid", "arrives"),
    [
        ("north", "PE[j//3, 1 + i//4]", "PE[2, 3]", "PE[0, -1]", "PE[0:1, -1:1]", "[j, -1]"),
        ("south", "PE[j//3, i//4]", "PE[2, 3]", "PE[1, 3]", "PE[0:1, 0:2]", "[j, 2]"),
        ("west", "PE[1 + i//4, j//3]", "PE[3, 2]", "PE[-1, 1]", "PE[-1:1, 0:1]", "[-1, j]"),
        ("east", "PE[i//4, j//3]", "PE[3, 2]", "PE[3, 0]", "PE[0:2, 0:1]", "[2, j]"),
    ],
)
def test_a_border_of_any_side_is_peeled_off_and_the_rest_counts_from_zero(
    side, placement, target, port, grid, arrives
):
    tensors = (
        f'  x: {{arrives: "{{ x[i] -> [{port} -> index[i]] }}"}}\n'
        f'  y: {{leaves: "{{ y[i] -> [{_leaves(side)} -> index[i mod 4]] }}"}}\n'
    )
    found = adapted(f"{{ {target} }}", f"{{ mv[i, j] -> {placement} }}", tensors)
    assert found["target"].is_equal(isl.UnionSet("{ PE[0:1, 0:1] }"))
    assert found["grid"].is_equal(isl.UnionSet(f"{{ {grid} }}"))
    expected = f"{{ x[i] -> [PE{arrives} -> index[i mod 3]] : 0 <= i <= 5 and j = i//3 }}"
    assert found["arrivals"].is_equal(isl.UnionMap(expected))


def _leaves(side):
    """Return the port of y[i], where the rows of the matrix lie across the side."""
    at = "1 + i//4" if side in ("north", "west") else "i//4"
    return f"PE[2, {at}]" if side in ("north", "south") else f"PE[{at}, 2]"


def test_a_tensor_that_is_spread_from_several_ports_has_stretches_of_its_own():
    tensors = (
        '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] : i < 3; '
        'x[i] -> [PE[3, -1] -> index[i - 3]] : i >= 3 }"}\n'
        '  y: {leaves: "{ y[i] -> [PE[4, 1 + i//4] -> index[i mod 4]] }"}\n'
    )
    found = adapted("{ PE[4, 3] }", "{ mv[i, j] -> PE[(2*j)//3, 1 + i//4] }", tensors)
    arrivals = found["arrivals"].range_factor_domain()
    expected = "{ x[i] -> PE[(2*i)//3, -1] : 0 <= i <= 5 }"
    assert arrivals.is_equal(isl.UnionMap(expected))


LEAVES = '  y: {leaves: "{ y[i] -> [PE[X, 1 + i//4] -> index[i mod 4]] }"}\n'
FOUR = (
    "{ x[i] -> [PE[0, -1] -> index[i]] : i < 2; x[i] -> [PE[-1, 3] -> index[i]] : i = 2; "
    "x[i] -> [PE[0, 4] -> index[i]] : 3 <= i <= 4; x[i] -> [PE[4, 2] -> index[i]] : i = 5 }"
)


def test_a_tensor_is_spread_on_every_side_where_some_of_it_arrives():
    tensors = f'  x: {{arrives: "{FOUR}"}}\n' + LEAVES.replace("X", "4")
    found = adapted("{ PE[4, 4] }", "{ mv[i, j] -> PE[1 + j//3, 1 + i//4] }", tensors)
    assert found["grid"].is_equal(isl.UnionSet("{ PE[-1:2, -1:2] }"))
    expected = (
        "{ x[i] -> [PE[0, -1] -> index[i]] : 0 <= i < 2; x[2] -> [PE[-1, y] -> index[0]] : "
        "0 <= y <= 1; x[i] -> [PE[1, 2] -> index[i - 3]] : 3 <= i <= 4; "
        "x[5] -> [PE[2, y] -> index[0]] : 0 <= y <= 1 }"
    )
    assert found["arrivals"].is_equal(isl.UnionMap(expected))


def test_what_flows_straight_from_another_side_is_not_spread():
    tensors = (
        '  x: {arrives: "{ x[i] -> [PE[1 + i//3, 3] -> index[i mod 3]] : i < 4; '
        'x[i] -> [PE[0, -1] -> index[i]] : i >= 2 }"}\n' + LEAVES.replace("X", "3")
    )
    found = adapted("{ PE[3, 3] }", "{ mv[i, j] -> PE[1 + j//3, 1 + i//4] }", tensors)
    expected = (
        "{ x[i] -> [PE[1 + i//3, 2] -> index[i mod 3]] : 0 <= i < 4; "
        "x[i] -> [PE[2, -1] -> index[i - 4]] : 4 <= i <= 5 }"
    )
    assert found["arrivals"].is_equal(isl.UnionMap(expected))


def test_of_two_sides_one_where_no_instance_runs_spreads():
    tensors = (
        '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]]; x[i] -> [PE[-1, 0] -> index[i]] }"}\n'
        + LEAVES.replace("X", "3").replace("1 + ", "")
    )
    found = adapted("{ PE[3, 2] }", "{ mv[i, j] -> PE[1 + j//3, i//4] }", tensors)
    assert found["grid"].is_equal(isl.UnionSet("{ PE[-1:1, 0:1] }"))


def test_unread_inputs_arrive_nowhere():
    lair = ("lair n(): float16 x[4], float16 z[4] -> float16 y[4] "
            "{ all (i) in (4) y[i] = x[i] }")
    text = ('target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\ntensors:\n'
            '  z: {arrives: "{ z[i] -> [PE[0, -1] -> index[i]] }"}\n')
    found = build(lair, text, "adapt").objects("adapted.isl")
    assert found["arrivals"].is_equal(found["sources"])
