"""Colours shared by streams that pass no router together."""

import islpy as isl
import pytest

from lairmake.stages.movement.flow import find_busiest_router, find_routers, share

ROUTERS = {
    "x": isl.UnionSet("{ PE[0, 0:3] }"),
    "y": isl.UnionSet("{ PE[1, 0:3] }"),
    "z": isl.UnionSet("{ PE[0:2, 3] }"),
    "s": isl.UnionSet("{ PE[2, 0:2] }"),
}


def test_routers_are_those_with_a_route():
    routes = isl.UnionMap("{ [PE[0, y] -> N[]] -> S[] : 0 <= y < 3; [PE[0, 3] -> N[]] -> ramp[] }")
    assert find_routers(routes).is_equal(ROUTERS["x"])


def test_streams_of_one_colour_never_meet():
    assert share(ROUTERS) == [["x", "y"], ["z", "s"]]


def test_streams_that_all_meet_share_nothing():
    routers = {name: isl.UnionSet("{ PE[0, 0] }") for name in "abc"}
    assert share(routers) == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize(
    ("names", "expected"),
    [("xyz", ("PE[0, 3]", ["x", "z"])), ("xys", ("PE[0, 0]", ["x"]))],
)
def test_the_busiest_router_and_the_streams_that_meet_there(names, expected):
    assert find_busiest_router({name: ROUTERS[name] for name in names}) == expected
