"""Where the critical path leads on the grid: journeys of its wavelets, and the corners of these."""

import numpy as np
import pytest

from lairmake.stages.fabric.engine import SEGMENT
from lairmake.stages.fabric.grid import Grid, read_colours
from lairmake.stages.fabric.outcome import DEEDS
from lairmake.stages.movement.flow import RouterColour
from lairmake.stages.picture import run
from lairmake.stages.picture.run import Journeys, find_corners, find_journeys

GRID = Grid(west=2, north=-1, width=4, height=3)


def make_path(*parts):
    """Return a path of (deed, node, begin, end, colour), the last one first."""
    path = np.zeros(len(parts), SEGMENT)
    for row, (deed, node, begin, end, colour) in zip(path, parts, strict=True):
        row["deed"], row["node"] = DEEDS.index(deed), node
        row["begin"], row["end"], row["colour"] = begin, end, colour
    return path


def follow(texts, source, target, colour=0, enters=False, leaves=False, most=20):
    """Return the corners of one journey on routes by colour, of which one may have positions."""
    colours = {
        f"c{number}": RouterColour(
            number=number, positions=(text,) if isinstance(text, str) else text
        )
        for number, text in enumerate(texts)
    }
    routes = np.bitwise_or.reduce(read_colours(colours, GRID).routes, axis=0)
    given = (source, target, colour, -1, enters, leaves, most)
    names = ("source", "target", "colour", "before", "enters", "leaves", "most")
    journeys = Journeys(**{name: np.array([value])
                           for name, value in zip(names, given, strict=True)})
    journey, x, y = find_corners(journeys, routes, GRID)
    assert not journey.any()
    return list(zip(x.tolist(), y.tolist(), strict=True))


ROUND_A_CORNER = ("{ [PE[2, 1] -> ramp[]] -> E[]; [PE[x, 1] -> W[]] -> E[] : 3 <= x <= 4; "
                  "[PE[5, 1] -> W[]] -> N[]; [PE[5, 0] -> S[]] -> N[]; [PE[5, 0] -> S[]] -> ramp[];"
                  "[PE[5, -1] -> S[]] -> ramp[] }")


def test_a_journey_has_corners_where_it_turns_only():
    assert follow([ROUND_A_CORNER], 8, 3) == [(2, 1), (5, 1), (5, -1)]
    assert follow([ROUND_A_CORNER], 8, 7) == [(2, 1), (5, 1), (5, 0)]


def test_a_journey_follows_its_own_colour():
    """The other one takes the way over the north to the same PE."""
    north = ("{ [PE[2, 1] -> ramp[]] -> N[]; [PE[2, 0] -> S[]] -> N[]; [PE[2, -1] -> S[]] -> E[]; "
             "[PE[x, -1] -> W[]] -> E[] : 3 <= x <= 4; [PE[5, -1] -> W[]] -> ramp[] }")
    assert follow([ROUND_A_CORNER, north], 8, 3, colour=1) == [(2, 1), (2, -1), (5, -1)]


def test_a_journey_begins_at_a_port_and_another_one_ends_at_one():
    enters = "{ [PE[3, -1] -> N[]] -> S[]; [PE[3, 0] -> N[]] -> ramp[] }"
    assert follow([enters], 1, 5, enters=True) == [(3, -2), (3, 0)]
    leaves = "{ [PE[4, 0] -> ramp[]] -> E[]; [PE[5, 0] -> W[]] -> E[] }"
    assert follow([leaves], 6, 7, leaves=True) == [(4, 0), (6, 0)]


def test_what_a_pe_sends_to_itself_is_at_one_place():
    assert follow(["{ [PE[2, -1] -> ramp[]] -> ramp[] }"], 0, 0) == [(2, -1)]


def test_hops_may_be_of_different_positions_of_switches_and_are_as_few_as_can_be():
    """In the second position wavelets go on around, and come to the ramp from the other side."""
    first = "{ [PE[2, -1] -> ramp[]] -> E[]; [PE[3, -1] -> W[]] -> ramp[] }"
    second = ("{ [PE[2, -1] -> ramp[]] -> E[]; [PE[3, -1] -> W[]] -> S[]; [PE[3, 0] -> N[]] -> E[];"
              "[PE[4, 0] -> W[]] -> N[]; [PE[4, -1] -> S[]] -> W[]; [PE[3, -1] -> E[]] -> ramp[] }")
    assert follow([(first, second)], 0, 1) == [(2, -1), (3, -1)]
    assert follow([second], 0, 1) == [(2, -1), (3, -1), (3, 0), (4, 0), (4, -1), (3, -1)]


def test_a_search_on_a_circle_ends():
    """No wavelet is on its way for longer than the path says."""
    circle = ("{ [PE[2, -1] -> S[]] -> E[]; [PE[3, -1] -> W[]] -> S[]; [PE[3, 0] -> N[]] -> W[]; "
              "[PE[2, 0] -> E[]] -> N[]; [PE[3, 0] -> N[]] -> ramp[] }")
    assert follow([circle], 11, 5) == []


PATH = make_path(
    ("routers", 5, 28, 30, 1), ("links", 5, 20, 28, 1), ("stream", 3, 15, 20, 1),
    ("links", 3, 10, 15, 0), ("port", 1, 0, 10, 0),
)


def test_journeys_are_those_of_the_path_with_what_came_before():
    found, left_out = find_journeys(PATH, has_outlets=True)
    assert [getattr(found, name).tolist() for name in Journeys.__slots__] == [
        [3, 1], [5, 3], [1, 0], [0, -1], [False, True], [True, False], [10, 5]]
    assert left_out == 0
    assert not find_journeys(PATH, has_outlets=False)[0].leaves.any()


def test_two_journeys_without_a_time_between_them_are_two():
    path = make_path(("links", 2, 5, 9, 0), ("links", 1, 1, 5, 0), ("started", 0, 0, 1, -1))
    found, _ = find_journeys(path, has_outlets=False)
    assert (found.source.tolist(), found.target.tolist()) == ([1, 0], [2, 1])


def test_a_journey_that_is_made_again_is_drawn_once_and_of_many_the_last_ones(monkeypatch):
    again = np.concatenate([PATH[:3], PATH[:3], PATH])
    found, left_out = find_journeys(again, has_outlets=False)
    assert (found.source.tolist(), left_out) == ([3, 3, 1], 0)
    assert found.before.tolist() == [1, 0, -1]
    monkeypatch.setattr(run, "MOST_LINES", 1)
    found, left_out = find_journeys(again, has_outlets=False)
    assert (found.target.tolist(), left_out) == ([5], 2)


@pytest.mark.parametrize("path", [make_path(), PATH[:2]])
def test_a_path_whose_begin_is_not_known_has_no_journey(path):
    found, _ = find_journeys(path, has_outlets=True)
    assert len(found.source) == 0
    routes = np.zeros((1, 5, GRID.size), np.uint8)
    assert [each.tolist() for each in find_corners(found, routes, GRID)] == [[], [], []]
