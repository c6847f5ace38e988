"""Faults of a layout that are found before a run."""

import numpy as np
import pytest

from lairmake.stages.fabric.check import find_faults
from lairmake.stages.fabric.engine import INLET, OUTLET
from lairmake.stages.fabric.grid import read_colours, read_grid
from lairmake.stages.fabric.layout import FabricLayout, Role, RoleMemory
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.movement.flow import RouterColour

GRID = read_grid("{ PE[x, y] : 0 <= x <= 2 and 0 <= y <= 1 }")
NORTH, EAST, WEST = 0, 1, 3


def found(routes, *, at="{ PE[x, y] : 0 <= x <= 2 and 0 <= y <= 1 }", enters=(), leaves=(),
          machine="ideal", number=0, **changed):
    positions = (routes,) if isinstance(routes, str) else routes
    colours = read_colours({"c": RouterColour(number=number, positions=positions)}, GRID)
    inlets, outlets = np.zeros(len(enters), INLET), np.zeros(len(leaves), OUTLET)
    for record, (node, side) in zip(inlets, enters, strict=True):
        record["node"], record["side"], record["colour"] = node, side, number
    for record, (node, side) in zip(outlets, leaves, strict=True):
        record["node"], record["side"], record["colours"] = node, side, 1
    role = Role(at=at, listens=("c",), memory=RoleMemory(data=0, code=0), tensors={})
    layout = FabricLayout(grid="", roles={"r": role}, colours={}, arrivals={}, departures={})
    faults = find_faults(layout, GRID, colours, inlets, outlets, load_profile(machine, changed))
    return [fault.said for fault in faults]


STRAIGHT = "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> W[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[] }"


def test_a_layout_without_faults():
    assert found(STRAIGHT) == []
    columns = "{ [PE[x, 0] -> N[]] -> ramp[] : 0 <= x <= 1 }"
    assert found(columns, enters=[(0, NORTH), (1, NORTH)]) == []
    assert found("{ [PE[2, 0] -> ramp[]] -> E[] }", leaves=[(2, EAST)]) == []


@pytest.mark.parametrize(
    ("routes", "options", "fault"),
    [
        (
            "{ [PE[1, 0] -> W[]] -> ramp[]; [PE[1, 0] -> N[]] -> ramp[] }", {},
            "colour c enters PE[1, 0] on the sides N and W",
        ),
        (
            "{ [PE[1, 0] -> N[]] -> ramp[] }", {"enters": [(0, NORTH)]},
            "colour c enters PE[0, 0] from N, and has no route",
        ),
        (
            "{ [PE[0, 0] -> ramp[]] -> E[] }", {},
            "colour c leaves PE[0, 0] on side E and ends nowhere",
        ),
        (
            "{ [PE[2, 0] -> ramp[]] -> E[] }", {"leaves": [(1, EAST)]},
            "colour c leaves PE[2, 0] on side E and ends nowhere",
        ),
        (STRAIGHT, {"at": "{ PE[0, 0] }"}, "colour c reaches PE[2, 0], where nobody reads it"),
        (
            "{ [PE[0, 0] -> S[]] -> E[]; [PE[1, 0] -> W[]] -> S[];"
            "  [PE[1, 1] -> N[]] -> W[]; [PE[0, 1] -> E[]] -> N[] }", {},
            "colour c goes round in a circle through PE[1, 1]",
        ),
    ],
)
def test_a_fault_is_said_with_its_place(routes, options, fault):
    assert fault in found(routes, **options)


def test_a_clash_is_said_with_its_position():
    clash = "{ [PE[1, 0] -> W[]] -> ramp[]; [PE[1, 0] -> N[]] -> ramp[] }"
    passing = "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }"
    text = "colour c enters PE[1, 0] on the sides N and W in position 2"
    assert found((passing, clash)) == [text]


def test_routers_may_be_in_different_positions():
    first = "{ [PE[x, 0] -> ramp[]] -> E[] : 0 <= x <= 1; [PE[2, 0] -> W[]] -> ramp[] }"
    assert found((first, "{ [PE[1, 0] -> W[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[] }")) == []


TURNING = (
    "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }",
    "{ [PE[0, 0] -> ramp[]] -> E[]; [PE[1, 0] -> N[]] -> E[]; [PE[2, 0] -> W[]] -> ramp[] }",
)


def test_inputs_and_outputs_change_together_only_where_the_machine_lets_them():
    enters = {"enters": [(1, NORTH)]}
    assert found(TURNING, machine="wse3", **enters) == []
    assert found(TURNING, machine="wse2", **enters) == [
        "colour c has at PE[1, 0] another input and other outputs in position 2; on wse2 only one "
        "of these changes"
    ]
    output = (TURNING[0], TURNING[1].replace("-> N[]", "-> W[]"))
    assert found(output, machine="wse2") == []


def test_a_colour_has_as_many_positions_as_routers_of_the_machine():
    enters = {"enters": [(1, NORTH)], "machine": "wse3"}
    text = "colour c has 2 positions at PE[1, 0]; routers of wse3 have 1 for number 14"
    assert found(TURNING, number=14, **enters) == [text]
    text = "colour c has 2 positions at PE[1, 0]; routers of wse3 have 1 for number 0"
    assert found(TURNING, positions=1, **enters) == [text]
    assert found((STRAIGHT, STRAIGHT), number=14, machine="wse3") == []


ROUND = [("1, 0", "W", "S"), ("1, 1", "N", "W"), ("0, 1", "E", "N")]


def test_routers_of_different_positions_may_lead_round():
    there = "; ".join(f"[PE[{pe}] -> {side}[]] -> {to}[]" for pe, side, to in ROUND)
    first = f"{{ {there}; [PE[0, 0] -> ramp[]] -> E[]; [PE[0, 0] -> ramp[]] -> ramp[] }}"
    closing = "{ [PE[0, 0] -> S[]] -> E[]; [PE[1, 0] -> W[]] -> ramp[] }"
    assert found((first, closing)) == [
        "colour c goes round in a circle through PE[1, 1] when routers are in different positions"
    ]
    ending = "{ [PE[0, 0] -> S[]] -> ramp[]; [PE[1, 0] -> W[]] -> ramp[] }"
    assert found((first, ending)) == []


def test_a_router_on_a_circle_twice_cannot_be_in_both_positions():
    """West to east in the first position of PE[1, 0], then down, round and up through it."""
    there = "[PE[1, 0] -> W[]] -> E[]; [PE[2, 0] -> W[]] -> S[]; [PE[2, 1] -> N[]] -> W[]"
    back = "[PE[1, 1] -> E[]] -> N[]; [PE[1, 0] -> S[]] -> W[]; [PE[0, 0] -> E[]] -> E[]"
    assert found((f"{{ {there} }}", f"{{ {back} }}")) == []
