import islpy as isl
import pytest

from lairmake.stages.movement.border import (
    BorderLine,
    backwards,
    border_chain,
    border_line,
    feedback_line,
    inward_line,
    port_line,
)
from lairmake.stages.movement.flow import Routes, chain_routes
from lairmake.stages.movement.gather import border_replicas, replica_routes
from lairmake.stages.poly.sides import SIDES, Rectangle, turn

RECTANGLE = Rectangle(left=0, top=0, right=3, bottom=4)
NORTH = turn("N", RECTANGLE)
RAGGED = isl.Set("{ [0, 3]; [1, 1]; [1, 4]; [3, 1] }")
FEEDS = isl.Map("{ [2] -> [l] : l = 0 or l = 1 or l = 3 }")


def _lines(side: str) -> list[BorderLine]:
    turned = turn(side, RECTANGLE)
    lines = [inward_line(RAGGED, side, turned, 1, spread=spread) for spread in (False, True)]
    return [*lines, border_line(FEEDS, side, turned)]


def test_a_lane_listens_and_sends_in_turn() -> None:
    line = inward_line(isl.Set("{ [0, 0]; [0, 2] }"), "N", NORTH, 0, spread=False)
    assert line.even.is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> N[]] -> ramp[]; [PE[0, 2] -> N[]] -> ramp[]; [PE[0, 1] -> ramp[]] -> S[] }"
    ))
    assert line.odd.is_equal(isl.UnionMap(
        "{ [PE[0, 1] -> N[]] -> ramp[]; [PE[0, 0] -> ramp[]] -> S[] }"
    ))
    assert line.members.is_equal(isl.Set("{ PE[0, y] : 0 <= y <= 2 }"))
    assert line.forwarding.is_equal(isl.Set("{ PE[0, y] : 0 <= y <= 1 }"))
    assert line.between.is_equal(isl.Set("{ PE[0, 1] }"))
    assert line.nearest.is_empty()


def test_what_was_spread_enters_at_the_ramp_of_its_adapter() -> None:
    line = inward_line(isl.Set("{ [0, 1] }"), "N", NORTH, 1, spread=True)
    assert line.odd.is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> ramp[]] -> S[]; [PE[0, 1] -> N[]] -> ramp[] }"
    ))
    assert line.even.is_empty() and line.forwarding.is_empty()


def test_what_enters_above_a_border_of_adapters_passes_them() -> None:
    line = inward_line(isl.Set("{ [0, 1] }"), "N", NORTH, 1, spread=False)
    assert line.odd.is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> N[]] -> S[]; [PE[0, 1] -> N[]] -> ramp[] }"
    ))


def test_a_port_in_the_middle_of_its_adapters_feeds_them_from_one_end() -> None:
    line = border_line(FEEDS, "N", NORTH)
    assert line.entry.is_equal(isl.UnionMap(
        "{ [PE[2, 0] -> N[]] -> E[]; [PE[3, 0] -> W[]] -> ramp[] }"
    ))
    assert line.even.is_equal(isl.UnionMap(
        "{ [PE[3, 0] -> ramp[]] -> W[]; [PE[2, 0] -> E[]] -> ramp[]; [PE[1, 0] -> ramp[]] -> W[];"
        "  [PE[0, 0] -> E[]] -> ramp[] }"
    ))
    assert line.nearest.is_equal(isl.Set("{ PE[3, 0] }"))
    assert line.between.is_equal(isl.Set("{ PE[2, 0] }"))


@pytest.mark.parametrize("side", SIDES)
def test_no_router_copies_or_listens_to_two_sides(side: str) -> None:
    for line in _lines(side):
        for routes in (line.even, line.odd, line.entry):
            assert routes.is_single_valued()
            assert routes.domain().unwrap().is_single_valued()


@pytest.mark.parametrize("side", SIDES)
def test_lines_are_sums_that_flow_backwards(side: str) -> None:
    turned = turn(side, RECTANGLE)
    sums, along = chain_routes(RAGGED, side, turned, 1), border_chain(FEEDS, side, turned)
    straight, _, border = _lines(side)
    pairs: list[tuple[Routes, Routes]] = [
        (straight.even, sums.even), (straight.odd, sums.odd), (border.entry, along.out),
    ]
    assert all(backwards(line).is_equal(routes) for line, routes in pairs)


def test_routers_that_hand_over_have_two_positions() -> None:
    now, then = replica_routes(isl.Set("{ [0, 1]; [0, 3] }"), "N", NORTH)
    assert now.is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> N[]] -> S[]; [PE[0, 1] -> N[]] -> ramp[]; [PE[0, 2] -> N[]] -> S[];"
        "  [PE[0, 3] -> N[]] -> ramp[] }"
    ))
    assert then.is_equal(isl.UnionMap(
        "{ [PE[0, y] -> N[]] -> S[] : 0 <= y <= 2; [PE[0, 3] -> N[]] -> ramp[] }"
    ))


def test_what_turns_is_heard_first_by_the_pe_that_sends_it() -> None:
    line = feedback_line(isl.Set("{ [0, 1]; [0, 2] }"), "N", NORTH, 1)
    assert line.entry.is_equal(isl.UnionMap("{ [PE[0, 1] -> ramp[]] -> ramp[] }"))
    assert line.odd.is_empty()
    assert line.even.is_equal(isl.UnionMap(
        "{ [PE[0, 1] -> ramp[]] -> S[]; [PE[0, 2] -> N[]] -> ramp[] }"
    ))
    assert line.nearest.is_equal(line.forwarding) and line.between.is_empty()


def test_a_port_sends_replicas_three_ways() -> None:
    feeds = isl.Map("{ [2] -> [0]; [2] -> [2]; [2] -> [3]; [2] -> [4] }")
    port = "[PE[2, 0] -> N[]] -> "
    before = "[PE[0, 0] -> E[]] -> ramp[]; [PE[1, 0] -> E[]] -> W[]; [PE[3, 0] -> W[]] -> ramp[]"
    last = "[PE[4, 0] -> W[]] -> ramp[]"
    after = before.replace("3, 0] -> W[]] -> ramp", "3, 0] -> W[]] -> E")
    assert [routes.is_equal(isl.UnionMap(f"{{ {port}{to}[]; {others}; {last} }}"))
            for routes, to, others in zip(
                border_replicas(feeds, "N", NORTH), ("ramp", "E", "W"),
                (before, after, after), strict=True,
            )] == [True] * 3


def test_a_port_at_the_end_of_its_adapters_needs_no_third_colour() -> None:
    line = port_line(isl.Map("{ [1] -> [2]; [1] -> [3] }"), "N", NORTH)
    assert line.entry.is_empty() and line.nearest.is_empty() and line.enters == 0
    assert line.even.is_equal(isl.UnionMap(
        "{ [PE[1, 0] -> N[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[] }"
    ))
    assert port_line(FEEDS, "N", NORTH).enters is None
