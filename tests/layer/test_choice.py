"""Which option each task takes: the fewest cycles, while configurations last."""

from types import SimpleNamespace

import islpy as isl
import pytest

from lairmake.stages.layer.vector.options import Options, TooManyError, VectorOption, choose
from lairmake.stages.poly.box import together


def task(name, kind="react", **ways):
    """Return the options of a task, each way with its cycles and configurations."""
    possible = tuple(
        VectorOption(way=way, why="", cycles=cycles, configurations=count)
        for way, (cycles, count) in ways.items()
    )
    situation = SimpleNamespace(name=name, task={"kind": kind})
    return Options(situation=situation, operations=(), possible=possible)


def ways_of(tasks, most, prefer=None):
    return [choice.taken.way for choice in choose(tasks, prefer, most)]


PES = ("[PE_X] -> { : PE_X = 1 }", "[PE_X] -> { : PE_X <= 0 }")
STREAM = task("send_y", "send", exact=(0, 1), loops=(0, 1))
LARGE = task("on_x", hull=(90, 1), enumerate=(50, 6), loops=(300, 0))
SMALL = task("on_z", enumerate=(50, 3), loops=(70, 0))


def test_the_fewest_cycles_win_and_of_equal_ones_the_first():
    even = task("on_x", hull=(9, 1), exact=(7, 1), enumerate=(7, 2), loops=(7, 0))
    assert ways_of([LARGE, even], 16) == ["enumerate", "exact"]


def test_what_is_preferred_is_taken_whatever_it_costs():
    assert ways_of([LARGE, SMALL], 16, "hull") == ["hull", "enumerate"]
    first = task("on_x", hull=(9, 1), exact=(7, 1), loops=(1, 0))
    assert ways_of([first, LARGE], 16, "paper") == ["hull", "hull"]


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (10, ["exact", "enumerate", "enumerate"]),
        (9, ["exact", "enumerate", "loops"]),
        (7, ["exact", "enumerate", "loops"]),
        (6, ["exact", "hull", "enumerate"]),
        (2, ["exact", "hull", "loops"]),
        (1, ["exact", "loops", "loops"]),
    ],
)
def test_where_configurations_do_not_last_the_least_useful_give_way(most, expected):
    assert ways_of([STREAM, LARGE, SMALL], most) == expected


def test_several_give_way_to_one_that_saves_more():
    one = task("on_w", hull=(100, 4), loops=(1000, 0))
    each = [task(name, hull=(10, 2), loops=(500, 0)) for name in ("on_x", "on_y")]
    assert ways_of([one, *each], 5) == ["loops", "hull", "hull"]
    few, last = (task(name, hull=(10, 2), loops=(n, 0)) for name, n in (("x", 470), ("z", 30)))
    assert ways_of([one, few, last], 5) == ["hull", "loops", "loops"]


def test_who_gives_way_loses_least_by_what_is_wanted():
    large = task("on_w", hull=(2000, 5), loops=(7200, 0))
    small = task("on_x", hull=(1550, 1), loops=(2600, 0))
    last = task("on_y", hull=(1650, 4), nested=(4240, 3), loops=(5160, 0))
    assert ways_of([large, small, last], 9) == ["hull", "loops", "hull"]


def test_configurations_last_on_each_pe():
    east, west = (task(name, hull=(9, 2), loops=(90, 0)) for name in ("on_x", "on_z"))
    chosen = choose([STREAM, east, west], None, 3, together([None, *map(isl.Set, PES)]))
    assert [choice.taken.way for choice in chosen] == ["exact", "hull", "hull"]
    assert ways_of([STREAM, east, west], 3) == ["exact", "hull", "loops"]


def test_what_gives_way_says_how_many_configurations_it_needs():
    choices = choose([STREAM, LARGE, SMALL], None, 9)
    assert choices[2].unaffordable == {
        "enumerate": "on_z needs 3 configurations of vector instructions, 2 of 9 "
                     "descriptors are free"
    }


@pytest.mark.parametrize(
    ("tasks", "most", "prefer", "text"),
    [
        ([STREAM, STREAM], 1, None, "send_y needs 1 configuration of vector instructions, 0"),
        ([STREAM, SMALL], 3, "enumerate", "on_z needs 3 configurations of vector instructions, 2"),
        ([STREAM, SMALL], 1, "paper", "on_z needs 3 configurations of vector instructions, 0"),
    ],
)
def test_a_stream_or_what_is_preferred_does_not_give_way(tasks, most, prefer, text):
    with pytest.raises(TooManyError) as caught:
        choose(tasks, prefer, most)
    assert caught.value.message == f"{text} of {most} descriptors are free"
