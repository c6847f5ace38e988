import islpy as isl
import pytest

from lairmake.stages.movement.flow import Routes, chain_routes, column_routes, spread_routes
from lairmake.stages.poly.sides import SIDES, Rectangle, turn

RECTANGLE = Rectangle(left=0, top=0, right=3, bottom=4)
NORTH = turn("N", RECTANGLE)
RAGGED = isl.Set("{ [0, 2]; [1, 0]; [1, 3]; [3, 0] }")
FEEDS = isl.Map("{ [1] -> [l] : 0 <= l <= 3 }")
sides = pytest.mark.parametrize("side", SIDES)


def _column(side: str, spread: bool) -> Routes:
    inside = RAGGED.apply(isl.Map("{ [l, d] -> [l, d + 1] }")) if spread else RAGGED
    return column_routes(inside, side, turn(side, RECTANGLE), spread=spread)


def _chains(side: str, first: int) -> list[Routes]:
    chain = chain_routes(RAGGED, side, turn(side, RECTANGLE), first)
    return [chain.even, chain.odd]


def _all_routes(side: str) -> list[Routes]:
    spread = spread_routes(FEEDS, side, turn(side, RECTANGLE))
    columns = [_column(side, True), _column(side, False)]
    return [spread, *columns, *_chains(side, 0), *_chains(side, 1)]


def _turned_from_north(routes: Routes, side: str) -> Routes:
    """Return routes at the north with places and names turned to another side."""
    named = SIDES[side]
    new = {"N": named.name, "S": named.far, "W": named.left, "E": named.right, "ramp": "ramp"}
    names = isl.UnionMap("{ " + "; ".join(f"{a}[] -> {b}[]" for a, b in new.items()) + " }")
    place = NORTH.apply_range(turn(side, RECTANGLE).reverse())
    pairs = isl.UnionMap.from_map(place).product(names)
    return routes.apply_domain(pairs).apply_range(names)


def test_a_column_forwards_what_deeper_pes_take_and_no_more() -> None:
    assert _column("N", False).is_equal(isl.UnionMap(
        "{ [PE[0, y] -> N[]] -> S[] : 0 <= y <= 1; [PE[0, 2] -> N[]] -> ramp[];"
        "  [PE[1, y] -> N[]] -> S[] : 0 <= y <= 2; [PE[1, 0] -> N[]] -> ramp[];"
        "  [PE[1, 3] -> N[]] -> ramp[]; [PE[3, 0] -> N[]] -> ramp[] }"
    ))


def test_a_spread_column_starts_at_the_ramp_of_its_adapter() -> None:
    takers = isl.Set("{ [0, 1]; [0, 2] }")
    assert column_routes(takers, "N", NORTH, spread=True).is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> ramp[]] -> S[]; [PE[0, 1] -> N[]] -> S[];"
        "  [PE[0, y] -> N[]] -> ramp[] : 1 <= y <= 2 }"
    ))


def test_a_port_in_the_middle_is_spread_to_both_directions() -> None:
    assert spread_routes(FEEDS, "N", NORTH).is_equal(isl.UnionMap(
        "{ [PE[1, 0] -> N[]] -> W[]; [PE[1, 0] -> N[]] -> E[]; [PE[1, 0] -> N[]] -> ramp[];"
        "  [PE[0, 0] -> E[]] -> ramp[]; [PE[2, 0] -> W[]] -> E[];"
        "  [PE[x, 0] -> W[]] -> ramp[] : 2 <= x <= 3 }"
    ))


def test_a_lane_that_takes_nothing_only_forwards() -> None:
    feeds = isl.Map("{ [0] -> [3] }")
    assert spread_routes(feeds, "N", NORTH).is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> N[]] -> E[]; [PE[x, 0] -> W[]] -> E[] : 1 <= x <= 2;"
        "  [PE[3, 0] -> W[]] -> ramp[] }"
    ))


def test_two_ports_feed_separate_stretches() -> None:
    feeds = isl.Map("{ [0] -> [l] : 0 <= l <= 1; [3] -> [l] : 2 <= l <= 3 }")
    assert spread_routes(feeds, "N", NORTH).is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> N[]] -> E[]; [PE[0, 0] -> N[]] -> ramp[]; [PE[1, 0] -> W[]] -> ramp[];"
        "  [PE[3, 0] -> N[]] -> W[]; [PE[3, 0] -> N[]] -> ramp[]; [PE[2, 0] -> E[]] -> ramp[] }"
    ))


def test_a_chain_alternates_between_two_colours() -> None:
    chain = chain_routes(isl.Set("{ [0, 3] }"), "N", NORTH, 0)
    assert chain.members.is_equal(isl.Set("{ PE[0, y] : 0 <= y <= 3 }"))
    assert chain.starts.is_equal(isl.Set("{ PE[0, 3] }"))
    assert chain.ends.is_equal(isl.Set("{ PE[0, 0] }"))
    assert chain.even.is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> ramp[]] -> N[]; [PE[0, 1] -> S[]] -> ramp[]; [PE[0, 2] -> ramp[]] -> N[] }"
    ))
    assert chain.odd.is_equal(isl.UnionMap(
        "{ [PE[0, 0] -> S[]] -> ramp[]; [PE[0, 1] -> ramp[]] -> N[]; [PE[0, 2] -> S[]] -> ramp[];"
        "  [PE[0, 3] -> ramp[]] -> N[] }"
    ))


def test_a_chain_starts_where_the_lane_is_deepest() -> None:
    chain = chain_routes(RAGGED, "N", NORTH, 0)
    assert chain.starts.is_equal(isl.Set("{ PE[0, 2]; PE[1, 3]; PE[3, 0] }"))
    assert chain.ends.is_equal(isl.Set("{ PE[0, 0]; PE[1, 0]; PE[3, 0] }"))
    assert chain.members.is_equal(isl.Set("{ PE[0, 0:2]; PE[1, 0:3]; PE[3, 0] }"))


def test_a_border_of_adapters_passes_sums_on_in_the_colour_of_the_last_sender() -> None:
    chain = chain_routes(isl.Set("{ [0, 2] }"), "N", NORTH, 1)
    assert chain.members.is_equal(isl.Set("{ PE[0, 1]; PE[0, 2] }"))
    assert chain.ends.is_equal(isl.Set("{ PE[0, 1] }"))
    assert chain.even.is_equal(isl.UnionMap(
        "{ [PE[0, 2] -> ramp[]] -> N[]; [PE[0, 1] -> S[]] -> ramp[] }"
    ))
    assert chain.odd.is_equal(isl.UnionMap(
        "{ [PE[0, 1] -> ramp[]] -> N[]; [PE[0, 0] -> S[]] -> N[] }"
    ))


@sides
def test_routes_of_every_side_are_those_of_the_north_turned(side: str) -> None:
    for north, here in zip(_all_routes("N"), _all_routes(side), strict=True):
        assert here.is_equal(_turned_from_north(north, side))


@sides
def test_whatever_is_sent_over_a_link_is_heard_at_its_other_end(side: str) -> None:
    grid = isl.UnionSet.from_set(RECTANGLE.as_set())
    for routes in _all_routes(side):
        sent, heard = _links(routes, grid)
        assert sent.is_equal(heard)


def _links(routes: Routes, grid: isl.UnionSet) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Return { PE -> PE' } of the links inside the grid that are sent over, and listened to."""
    steps = {"N": ("0", "-1"), "S": ("0", "1"), "W": ("-1", "0"), "E": ("1", "0")}
    sent, heard = isl.UnionMap("{ }"), isl.UnionMap("{ }")
    goes = routes.domain().unwrap().domain_map().reverse().apply_range(routes)
    listens = routes.domain().unwrap()
    for name, (x, y) in steps.items():
        step = isl.UnionMap(f"{{ PE[x, y] -> PE[x + {x}, y + {y}] }}")
        here = isl.UnionSet(f"{{ {name}[] }}")
        sent = sent.union(step.intersect_domain(goes.intersect_range(here).domain()))
        heard = heard.union(step.intersect_domain(listens.intersect_range(here).domain()).reverse())
    inside = isl.UnionMap.from_domain_and_range(grid, grid)
    return sent.intersect(inside), heard.intersect(inside)


@sides
def test_every_router_listens_to_one_side_per_colour(side: str) -> None:
    assert all(routes.domain().unwrap().is_single_valued() for routes in _all_routes(side))
