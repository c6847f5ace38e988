"""Routes along a border, and which ports may share a stream."""

import islpy as isl
import pytest

from lairmake.stages.movement.border import (
    border_chain,
    find_classes,
    find_feeding,
    stretches,
    with_ports,
)
from lairmake.stages.poly.sides import Rectangle, turn

SQUARE = Rectangle(left=0, top=0, right=5, bottom=5)


def test_a_stretch_goes_from_the_first_to_the_last_lane_of_a_port():
    feeds = isl.Map("{ [2] -> [3]; [2] -> [5]; [0] -> [0] }")
    assert stretches(feeds).is_equal(isl.Map("{ [2] -> [3:5]; [0] -> [0] }"))
    assert stretches(with_ports(feeds)).is_equal(isl.Map("{ [2] -> [2:5]; [0] -> [0] }"))


def test_feeds_go_from_the_lane_of_a_port_to_those_of_its_elements():
    ports = isl.Map("{ x[i] -> PE[-1, i mod 2] : 0 <= i < 4 }")
    places = isl.Map("{ x[i] -> PE[3, i] : 0 <= i < 4 }")
    feeds = find_feeding(ports, places, turn("W", SQUARE))
    assert feeds.is_equal(isl.Map("{ [0] -> [0]; [0] -> [2]; [1] -> [1]; [1] -> [3] }"))


@pytest.mark.parametrize(
    ("feeds", "most", "streams"),
    [
        ("{ [p] -> [l] : 0 <= p < 3 and 2p <= l <= 2p + 1 }", 1, 2),
        ("{ [p] -> [p] : 0 <= p < 6 }", 1, 1),
        ("{ [p] -> [l] : 0 <= p < 3 and 0 <= l < 6 }", 3, 3),
        ("{ [p] -> [l] : 0 <= p < 3 and 0 <= l < 6 }", 2, None),
        ("{ [p] -> [l] : 0 <= p < 100 and p <= l <= p + 1 }", 2, 2),
        ("{ [0] -> [l] : 0 <= l < 6; [4] -> [l] : 0 <= l < 6 }", 2, 2),
    ],
)
def test_ports_whose_stretches_meet_are_in_different_streams(feeds, most, streams):
    parts = find_classes(isl.Map(feeds), max(most, streams or most))
    assert (None if parts is None else len(parts)) == streams
    for part in parts or ():
        assert stretches(with_ports(part)).reverse().is_single_valued()
    if parts is not None:
        union = parts[0]
        for part in parts[1:]:
            union = union.union(part)
        assert union.is_equal(isl.Map(feeds))


@pytest.mark.parametrize(
    ("port", "first", "last", "out"),
    [
        (5, 1, 4, "[PE[4, 0] -> ramp[]] -> E[]; [PE[5, 0] -> W[]] -> N[]"),
        (4, 1, 4, "[PE[4, 0] -> ramp[]] -> N[]"),
        (3, 1, 4, "[PE[4, 0] -> ramp[]] -> W[]; [PE[3, 0] -> E[]] -> N[]"),
        (1, 4, 1, "[PE[1, 0] -> ramp[]] -> N[]"),
        (0, 4, 1, "[PE[1, 0] -> ramp[]] -> W[]; [PE[0, 0] -> E[]] -> N[]"),
    ],
)
def test_sums_flow_towards_the_port_and_out(port, first, last, out):
    feeds = isl.Map(f"{{ [{port}] -> [l] : 1 <= l <= 4 }}")
    chain = border_chain(feeds, "N", turn("N", SQUARE))
    assert chain.starts.is_equal(isl.Set(f"{{ PE[{first}, 0] }}"))
    assert chain.ends.is_equal(isl.Set(f"{{ PE[{last}, 0] }}"))
    assert chain.reach.is_equal(isl.Map(f"{{ PE[{port}, -1] -> PE[1:4, 0] }}"))
    assert chain.out.is_equal(isl.UnionMap(f"{{ {out} }}"))


def test_an_adapter_sends_on_the_colour_of_its_lane_and_hears_the_other():
    chain = border_chain(isl.Map("{ [3] -> [0:3] }"), "N", turn("N", SQUARE))
    sends, hears = "[PE[x, 0] -> ramp[]] -> E[]", "[PE[x, 0] -> W[]] -> ramp[]"
    even = isl.UnionMap(f"{{ {sends} : x = 0 or x = 2; {hears} : x = 1 or x = 3 }}")
    assert chain.even.is_equal(even)
    odd = "{ [PE[1, 0] -> ramp[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[] }"
    assert chain.odd.is_equal(isl.UnionMap(odd))
