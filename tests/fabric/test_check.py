"""Faults of a layout that are found before a run."""

import numpy as np
import pytest

from stages.fabric.check import find_faults
from stages.fabric.grid import read_colours, read_grid
from stages.fabric.layout_yaml import Colour, Layout, Memory, Role
from stages.fabric.library import INLET, OUTLET

GRID = read_grid("{ PE[x, y] : 0 <= x <= 2 and 0 <= y <= 1 }")
NORTH, EAST, WEST = 0, 1, 3


def found(routes, *, at="{ PE[x, y] : 0 <= x <= 2 and 0 <= y <= 1 }", enters=(), leaves=()):
    positions = (routes,) if isinstance(routes, str) else routes
    colours = read_colours({"c": Colour(number=0, positions=positions)}, GRID)
    inlets, outlets = np.zeros(len(enters), INLET), np.zeros(len(leaves), OUTLET)
    for record, (node, side) in zip(inlets, enters, strict=True):
        record["node"], record["side"] = node, side
    for record, (node, side) in zip(outlets, leaves, strict=True):
        record["node"], record["side"], record["colours"] = node, side, 1
    role = Role(at=at, listens=("c",), memory=Memory(data=0, code=0), tensors={})
    layout = Layout(grid="", roles={"r": role}, colours={}, arrivals={}, departures={})
    return find_faults(layout, GRID, colours, inlets, outlets)


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
