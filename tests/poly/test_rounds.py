"""What moves between PEs, classified: halos in rounds, or not."""

import islpy as isl
import pytest

from lairmake.stages.movement.halo import NoHaloError, find_rounds, find_turning_routes

PES = isl.Set("{ PE[x, y] : 0 <= x, y <= 3 }")


def moved(step, condition="0 <= i, j <= 7 and 0 <= u, v <= 3"):
    """Return { t[i, j] -> [PE -> PE'] } of blocks of 2 x 2, where PE' is a step away."""
    return isl.Map(
        f"{{ t[i, j] -> [PE[x, y] -> PE[u, v]] : x = j//2 and y = i//2 and {step} "
        f"and {condition} }}")


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("u = x + 1 and v = y", [{"E"}]),
        ("u = x and v = y - 1", [{"N"}]),
        ("v = y and (u = x - 1 or u = x + 1)", [{"E", "W"}]),
        ("u - x + v - y = 1 and 0 <= u - x <= 1", [{"E", "S"}]),
        ("u = x + 1 and v = y + 1", [{"E"}, {"S"}]),
        ("-1 <= u - x <= 1 and -1 <= v - y <= 1 and (u != x or v != y)", [{"E", "W"}, {"S", "N"}]),
        ("(v = y and (u = x + 1 or u = x + 2) or u = x and v = y - 1)", [{"E", "N"}, {"E"}]),
        ("0 <= u - x <= 2 and 0 <= v - y <= 2 and u + v > x + y", [{"E"}, {"E"}, {"S"}, {"S"}]),
    ],
)
def test_what_neighbours_need_moves_to_the_sides_and_corners_in_a_second_round(step, found):
    rounds = find_rounds(moved(step), PES)
    assert [set(each.sides) for each in rounds] == found


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("u = x + 2 and v = y", "which needs nothing of a PE between"),
        ("u = 3 - x and v = y", "which needs nothing of a PE between"),
        ("u = y and v = x and x + y <= 4", "which needs nothing of a PE between"),
        ("x <= u <= x + 5 and v = y", "more than 4 away"),
    ],
)
def test_what_others_need_is_no_halo(step, why):
    wide = "0 <= i, j <= 13 and 0 <= u, v <= 6"
    away = moved(step, wide).subtract_range(isl.Set("{ [PE[x, y] -> PE[x, y]] }"))
    with pytest.raises(NoHaloError, match=r"t\[\d+, \d+\] of PE\[\d, \d\] is needed") as error:
        find_rounds(away, isl.Set("{ PE[x, y] : 0 <= x, y <= 6 }"))
    assert why in str(error.value)


@pytest.mark.parametrize("reach", [1, 2, 3])
def test_every_element_reaches_all_who_need_it(reach):
    """Each round brings elements one step on: from those that have them by then."""
    wanted = moved(f"-{reach} <= u - x, v - y <= {reach} and (u != x or v != y)")
    has = isl.Map("{ t[i, j] -> PE[j//2, i//2] : 0 <= i, j <= 7 }")
    for each in find_rounds(wanted, PES):
        sides = list(each.sides.values())
        assert all(side.range_factor_domain().is_subset(has) for side in sides)
        for side in sides:
            has = has.union(side.range_factor_range())
    assert wanted.range_factor_range().is_subset(has)


def test_corners_go_where_there_are_pes():
    """Where there is no PE between in a row, elements go along columns first."""
    pair = moved("u = x + 1 and v = y + 1", "i = j = 1 and 0 <= x, y")
    pes = isl.Set("{ PE[0, 0]; PE[0, 1]; PE[1, 1] }")
    assert [set(each.sides) for each in find_rounds(pair, pes)] == [{"S"}, {"E"}]
    with pytest.raises(NoHaloError, match="not all PEs between compute"):
        find_rounds(pair, isl.Set("{ PE[0, 0]; PE[1, 1] }"))


@pytest.mark.parametrize("parity", [0, 1])
def test_a_router_hears_what_its_neighbour_sends_in_each_position(parity):
    both = moved("v = y and (u = x - 1 or u = x + 1)")
    (each,) = find_rounds(both, PES)
    sides = each.along("x")
    positions = find_turning_routes(sides, "x", parity)
    sent, heard = (isl.Set(f"{{ PE[x, y] : x mod 2 = {k} }}") for k in (parity, 1 - parity))
    ramp = isl.UnionSet("{ ramp[] }")
    for routes in positions:
        assert routes.domain().unwrap().is_single_valued() and routes.is_single_valued()
        out = routes.subtract_range(ramp).domain().unwrap().domain()
        into = routes.intersect_range(ramp).domain().unwrap().domain()
        assert out.is_equal(isl.UnionSet.from_set(sent.intersect(PES)))
        assert into.is_equal(isl.UnionSet.from_set(heard.intersect(PES)))
