"""Which dimensions of a schedule are time, and from where they count."""

import islpy as isl
import pytest

from tests.skewing.nests import nest

BLOCKS = "{ S[i, j] -> PE[j // 4, i // 8] }"
DOMAIN = "{ S[i, j] : 0 <= i < 32 and 0 <= j < 16 }"


@pytest.mark.parametrize(
    ("schedule", "placement", "given", "times", "loops"),
    [
        ("[i, j]", "PE[i, j]", False, "[0]", ()),
        ("[i, j]", "PE[i, 0]", True, "[j]", (1,)),
        ("[j, i, j]", "PE[j // 4, i // 8]", False, "[j mod 4, i mod 8]", (0, 1)),
        ("[j]", "PE[j // 4, i // 8]", True, "[j]", (0,)),
        ("[j + i]", "PE[0, i]", True, "[j + i]", (0,)),
        ("[j + i]", "PE[0, i]", False, "[j]", (0,)),
        ("[j // 8, i, j]", "PE[0, i // 8]", True, "[j // 8, i mod 8, j mod 8]", (0, 1, 2)),
        ("[j // 8 + i // 8, j]", "PE[0, i // 8]", True, "[j // 8 + i // 8, j mod 8]", (0, 1)),
        ("[i, j]", "PE[i + j, 0]", True, "[i]", (0,)),
    ],
)
def test_time_is_what_the_pe_does_not_determine(schedule, placement, given, times, loops):
    space = nest(
        DOMAIN, f"{{ S[i, j] -> {schedule} }}", f"{{ S[i, j] -> {placement} }}",
        given=["S"] if given else [],
    )
    expected = isl.Map(f"{{ S[i, j] -> {times} }}").intersect_domain(isl.Set(DOMAIN))
    assert space.times("S").is_equal(expected)
    assert space.clocks["S"].loops == loops


def test_statements_share_loops_only_where_a_schedule_of_one_length_is_given():
    texts = (
        "{ S[i] : 0 <= i < 4; T[i] : 0 <= i < 4; U[i] : 0 <= i < 4 }",
        "{ S[i] -> [i, 0]; T[i] -> [i, 1]; U[i] -> [i, 0] }",
        "{ S[i] -> PE[0, 0]; T[i] -> PE[0, 0]; U[i] -> PE[0, 0] }",
    )
    assert nest(*texts, given=["S", "T"]).groups == [["S", "T"], ["U"]]
    assert nest(*texts).groups == [["S"], ["T"], ["U"]]


def test_coordinates_of_fusion_and_fission_stay():
    space = nest(
        "{ S[i, j] : 0 <= i, j < 4; T[i] : 0 <= i < 4 }",
        "{ S[i, j] -> [0, i, 0, j]; T[i] -> [0, i, 1, 0] }",
        "{ S[i, j] -> PE[0, 0]; T[i] -> PE[0, 0] }",
        given=["S", "T"],
    )
    assert space.times("S").is_equal(isl.Map("{ S[i, j] -> [i, 0, j] : 0 <= i, j < 4 }"))
    assert space.times("T").is_equal(isl.Map("{ T[i] -> [i, 1, 0] : 0 <= i < 4 }"))
