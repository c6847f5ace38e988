"""Switches of routers: positions of each PE and colour, and what moves them."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure
from lairmake.stages.fabric.grid import read_colours, read_grid
from lairmake.stages.movement.flow import RouterColour
from tests.fabric.running import run_fabric

GRID = read_grid("{ PE[x, 0] : 0 <= x <= 2 }")
EAST, SOUTH = (f"{{ [PE[0, 0] -> ramp[]] -> {side}[] }}" for side in "ES")


def turning(**switch):
    """Return the layout of a PE that sends eight elements, two before each advance."""
    place = {"E": "PE[1, 0]", "S": "PE[0, 1]"}
    return {
        "grid": "{ PE[0, 0] }",
        "roles": {"turn": {"at": "{ PE[0, 0] }", "memory": {"data": 0, "code": 0}, "tensors": {}}},
        "colours": {"y": {"number": 0, "positions": [EAST, SOUTH], **switch}},
        "arrivals": {},
        "departures": {
            side: {"tensor": side, "type": "int32", "side": side, "colours": ["y"],
                   "order": f"{{ {side}[i = 0:{count - 1}] -> [{place[side]} -> index[i]] }}"}
            for side, count in zip("ES", sizes(switch), strict=True) if count
        },
    }


def sizes(switch):
    if "counts" in switch:
        return 8, 0
    return (2, 6) if "ring" in switch else (4, 4)


@pytest.mark.parametrize(("switch", "east", "south"), [
    ({}, [0, 1, 20, 21], [10, 11, 30, 31]),
    ({"ring": "{ PE[0, 0] -> [0] }"}, [0, 1], [10, 11, 20, 21, 30, 31]),
    ({"counts": "{ PE[0, 0] -> [1] }"}, [0, 1, 10, 11, 20, 21, 30, 31], None),
], ids=["ring", "no ring", "one position"])
def test_an_advance_goes_round_in_a_ring_and_else_ends_in_the_last_position(
    library, ideal, switch, east, south
):
    run = run_fabric(library, turning(**switch), ideal, {})
    assert run.outputs["E"][0].tolist() == east
    assert south is None or run.outputs["S"][0].tolist() == south


def test_a_router_turns_behind_what_its_pe_sent(library, ideal):
    layout = turning()
    layout["roles"] = {"behind": layout["roles"]["turn"]}
    for leaves in layout["departures"].values():
        leaves["order"] = leaves["order"].replace("0:3", "0:1")
    run = run_fabric(library, layout, ideal, {})
    assert [run.outputs[side][0].tolist() for side in "ES"] == [[0, 1], [10, 11]]


def test_each_pe_has_a_switch_of_its_own_for_each_colour():
    counts, ring = "{ PE[0, 0] -> [1]; PE[1, 0] -> [2] }", "{ PE[x, 0] -> [0] : x >= 1 }"
    hears = "{ [PE[x, 0] -> W[]] -> ramp[] }"
    switched = RouterColour(number=1, positions=(hears,) * 3, counts=counts, ring=ring)
    colours = read_colours({"a": RouterColour(number=0, routes=hears), "b": switched}, GRID)
    assert colours.switches.tolist() == [[0b10000, 0b10000], [0b10000, 0b00100], [0b10000, 0b01000]]
    assert (colours.routes[:, 1, 3] > 0).tolist() == [
        [True, True, True], [False, True, True], [False, False, True],
    ]


@pytest.mark.parametrize(("key", "text", "fault"), [
    ("counts", "{ PE[1, 0] -> [3] }", "counts is 3 at PE[1, 0]; it is from 1 to 2"),
    ("counts", "{ PE[1, 0] -> [0] }", "counts is 0 at PE[1, 0]; it is from 1 to 2"),
    ("ring", "{ PE[x, 0] -> [x] }", "ring is 2 at PE[2, 0]; it is from 0 to 1"),
])
def test_what_a_switch_cannot_be_is_refused_with_its_place(key, text, fault):
    with pytest.raises(ValueError) as caught:
        read_colours({"a": RouterColour(number=0, positions=("{ }", "{ }"), **{key: text})}, GRID)
    assert str(caught.value) == fault


def test_a_side_that_is_heard_in_no_position_of_a_pe_is_a_fault(library, row, ideal):
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "W", "sparse": False,
         "order": "{ x[i = 0:3] -> [PE[-1, 0] -> index[i]] }"}
    layout = row("receive", 2, {"x": None}, arrivals={"x": x})
    first = "{ [PE[0, 0] -> W[]] -> ramp[] }"
    then = "{ [PE[0, 0] -> W[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }"
    layout["colours"]["x"] = {
        "number": 0, "positions": [first, then], "counts": "{ PE[1, 0] -> [1] }"
    }
    with pytest.raises(FabricFailure) as caught:
        run_fabric(library, layout, ideal, {"x": np.ones(4, "i4")})
    assert str(caught.value) == (
        "colour x leaves PE[0, 0] on side E and ends nowhere in position 2"
    )
