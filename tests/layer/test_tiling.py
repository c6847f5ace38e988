import islpy as isl
import pytest

from stages.diagnose import UserError
from stages.layer.routes.tiling import name_iterators, tile
from stages.poly.side import Rectangle
from tests.layer.built import MV, build

INSTANCES = isl.UnionSet("{ S[i, j] : 0 <= i <= 7 and 0 <= j <= 6; R[j] : 0 <= j <= 3 }")
CORE = Rectangle(left=0, top=1, right=2, bottom=4)
FROM_NORTH = '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"}\n'
TO_EAST = '  y: {leaves: "{ y[i] -> [PE[3, i//2] -> index[i mod 2]] }"}\n'


def placement(text, tensors="", target="{ PE[3, 4] }"):
    below = f"tensors:\n{tensors}" if tensors else ""
    given = f"placement: {text}\n" if text else ""
    built = build(MV, f'target: "{target}"\n{given}{below}', "place")
    return built.objects("placement.isl")["placement"]


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ((None, None), "{ S[i, j] -> PE[0, 1]; R[j] -> PE[0, 1] }"),
        (("j", None), "{ S[i, j] -> PE[j//3, 1]; R[j] -> PE[j//2, 1] }"),
        ((None, "j"), "{ S[i, j] -> PE[0, 1 + j//2]; R[j] -> PE[0, 1 + j] }"),
    ],
)
def test_tiles_are_the_smallest_that_fit(direction, expected):
    assert tile(INSTANCES, direction, CORE).is_equal(
        isl.UnionMap(expected).intersect_domain(INSTANCES)
    )


def test_both_directions():
    instances = isl.UnionSet("{ S[i, j] : 0 <= i <= 7 and 0 <= j <= 6 }")
    expected = isl.UnionMap("{ S[i, j] -> PE[j//3, 1 + i//2] }").intersect_domain(instances)
    assert tile(instances, ("j", "i"), CORE).is_equal(expected)


def test_iterators_without_a_name_are_numbered():
    assert name_iterators(isl.Set("{ S[a, 3, b] }")) == ["a", "i1", "b"]


def test_a_direction_is_tiled_over_all_of_the_target():
    expected = isl.UnionMap("{ mv[i, j] -> PE[j//2, i//2] : 0 <= i <= 7 and 0 <= j <= 5 }")
    assert placement("(j, i)").is_equal(expected)


def test_a_direction_leaves_the_border_to_adapters():
    expected = isl.UnionMap("{ mv[i, j] -> PE[j//2, 1 + i//3] : 0 <= i <= 7 and 0 <= j <= 5 }")
    assert placement("(j, i)", FROM_NORTH).is_equal(expected)


def test_one_direction_runs_to_the_east():
    expected = isl.UnionMap("{ mv[i, j] -> PE[i//3, 0] : 0 <= i <= 7 and 0 <= j <= 5 }")
    assert placement('"(i)"').is_equal(expected)


def test_a_column_behind_its_port_needs_no_adapters():
    expected = isl.UnionMap("{ mv[i, j] -> PE[0, i//2] : 0 <= i <= 7 and 0 <= j <= 5 }")
    assert placement("", FROM_NORTH, "{ PE[1, 4] }").is_equal(expected)


def test_the_placement_chosen_keeps_whole_what_stays_in_memory():
    expected = isl.UnionMap("{ mv[i, j] -> PE[0, i//2] : 0 <= i <= 7 and 0 <= j <= 5 }")
    assert placement("").is_equal(expected)


def test_the_placement_chosen_sums_along_the_rows_of_its_ports():
    expected = isl.UnionMap("{ mv[i, j] -> PE[j//2, i//2] : 0 <= i <= 7 and 0 <= j <= 5 }")
    assert placement("", TO_EAST).is_equal(expected)


def test_the_placement_chosen_has_the_fewest_instances_on_a_pe_of_those_that_let_data_flow():
    to_south = '  y: {leaves: "{ y[i] -> [PE[i//3, 4] -> index[i mod 3]] }"}\n'
    expected = isl.UnionMap("{ mv[i, j] -> PE[i//3, j//2] : 0 <= i <= 7 and 0 <= j <= 5 }")
    assert placement("", to_south).is_equal(expected)


def test_there_is_no_room_for_adapters_in_one_row():
    with pytest.raises(UserError) as caught:
        placement("(j, i)", FROM_NORTH, "{ PE[3, 1] }")
    assert caught.value.message == "the target { PE[3, 1] } has no room for adapters"


def test_if_no_direction_will_do_the_reason_of_the_last_one_is_said():
    apart = '  y: {leaves: "{ y[i] -> [PE[1, i mod 3] -> index[i//3]] }"}\n'
    with pytest.raises(UserError) as caught:
        placement("", apart, "{ PE[1, 3] }")
    assert caught.value.message == "the target { PE[1, 3] } has no room for adapters"
    assert caught.value.hint == "make it larger"
