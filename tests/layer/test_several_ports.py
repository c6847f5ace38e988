"""Tensors that arrive at ports of one side which feed the same rows or columns."""

import islpy as isl
import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import MV, build

TARGET = 'target: "{ PE[3, 3] }"\nplacement: "{ mv[i, j] -> PE[j//2, 1 + i//4] }"\ntensors:\n'
LEAVES = '  y: {leaves: "{ y[i] -> [PE[3, 1 + i//4] -> index[i]] }"}\n'
ARRIVALS = {
    "two that cross": "{ x[i] -> [PE[2 - i mod 2, -1] -> index[i]] }",
    "three, each feeds all": "{ x[i] -> [PE[i mod 3, -1] -> index[i//3, 0]] }",
    "each element at two of three":
        "{ x[i] -> [PE[p, -1] -> index[i, p]] : i mod 2 <= p <= 1 + i mod 2 }",
}


@pytest.mark.wide
@pytest.mark.parametrize("more", ["", ", sparse: true"])
@pytest.mark.parametrize("case", ARRIVALS)
def test_ports_that_feed_the_same_columns_have_streams_of_their_own(case, more):
    mapping = f'{TARGET}  x: {{arrives: "{ARRIVALS[case]}"{more}}}\n{LEAVES}invocations: 2\n'
    results = build(MV, mapping, "simulate").results()
    assert results["check"]["y"]["right"]
    assert results["bound"]["cycles"] <= results["cycles"]["simd"]


def test_an_element_at_several_of_these_ports_is_taken_at_the_first():
    arrives = ARRIVALS["each element at two of three"]
    built = build(MV, f'{TARGET}  x: {{arrives: "{arrives}"}}\n{LEAVES}', "route")
    adapted = built.objects("adapted.isl")
    for part in (0, 1):
        expected = f"{{ x[i] -> PE[{part}, -2] : i mod 2 = {part} and 0 <= i < 6 }}"
        assert adapted[f"x_north_part{part}"].is_equal(isl.UnionMap(expected))
    arrivals = built.yaml("tasks.yaml")["arrivals"]
    assert {n: a["part"] for n, a in arrivals.items()} == {
        "x_stream0": "x_north_part0", "x_stream1": "x_north_part1",
    }


def test_more_ports_than_streams_are_refused():
    mapping = (
        'sizes: {M: 16, N: 26}\ntarget: "{ PE[13, 2] }"\nplacement: "{ mv[i, j] -> PE[j//2, 1] }"\n'
        'tensors:\n  x: {arrives: "{ x[i] -> [PE[i mod 13, -1] -> index[i]] }"}\n'
        '  y: {leaves: "{ y[i] -> [PE[13, 1] -> index[i]] }"}\n'
    )
    with pytest.raises(UserError) as refused:
        build(MV, mapping, "route")
    lines = str(refused.value).splitlines()
    assert lines[0].endswith(
        "error: x arrives at PEs of the north that feed the same columns, and needs more than 12 "
        "streams"
    )
    assert lines[-1] == "hint: let it arrive at one PE, or at the PEs that need it"
