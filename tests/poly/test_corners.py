"""Routes of what is fed back: back along a lane, and from one border to another."""

import islpy as isl
import pytest

from lairmake.stages.movement.border import corner_routes
from lairmake.stages.movement.flow import feedback_routes
from lairmake.stages.poly.sides import SIDES, Rectangle, turn

GRID = Rectangle(left=0, top=0, right=4, bottom=3)
STEPS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}


def reached(routes, x, y):
    """Return the PEs whose ramps hear what PE[x, y] sends, each once."""
    ways, found = {}, []

    def keep(point):
        names = [str(isl.UnionSet.from_set(s)) for s in _sets(point)]
        ways.setdefault(names[0], []).append(names[1])

    routes.foreach_map(lambda m: m.wrap().foreach_point(lambda p: keep(isl.Set.from_point(p))))
    heads = [(x, y, "ramp")]
    for x, y, side in heads:
        for to in ways.get(_key(x, y, side), ()):
            if to == _side("ramp"):
                found.append((x, y))
            else:
                name = next(n for n in STEPS if _side(n) == to)
                heads.append((x + STEPS[name][0], y + STEPS[name][1], SIDES[name].far))
    return sorted(found)


def _sets(point):
    return point.unwrap().domain(), point.unwrap().range()


def _key(x, y, side):
    return str(isl.UnionSet(f"{{ [PE[{x}, {y}] -> {side}[]] }}"))


def _side(name):
    return str(isl.UnionSet(f"{{ {name}[] }}"))


@pytest.mark.parametrize(("leaves", "sender"), [
    ("N", (2, 0)), ("S", (2, 3)), ("W", (0, 1)), ("E", (4, 2)),
])
def test_one_border_goes_to_those_of_the_same_and_of_the_next_sides(leaves, sender):
    adapters = {"N": [(1, 0), (3, 0)], "S": [(1, 3), (3, 3)],
                "W": [(0, 1), (0, 2)], "E": [(4, 1), (4, 2)]}
    for comes in (leaves, SIDES[leaves].left, SIDES[leaves].right):
        takers = "; ".join(f"PE[{x}, {y}]" for x, y in adapters[comes])
        start = isl.Set(f"{{ PE[{sender[0]}, {sender[1]}] }}")
        routes = corner_routes(start, isl.Set(f"{{ {takers} }}"), leaves, comes, GRID)
        assert reached(routes, *sender) == adapters[comes]
        assert routes.domain().unwrap().is_single_valued()


def test_the_first_pe_of_a_lane_sends_back_to_all_that_take_it_itself_included():
    takers = isl.Set("{ [lane, depth] : lane = 1 and 1 <= depth <= 3 and depth != 2 }")
    routes = feedback_routes(takers, "E", turn("E", GRID), 1)
    assert reached(routes, 3, 1) == [(1, 1), (3, 1)]
    assert reached(routes, 4, 1) == []
