"""A layout in other coordinates: the fabric does the same, and speaks those of the layout."""

import re

import pytest

from lairmake.stages.fabric.coordinates import find_offset, move_layout, to_layer
from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.mapping.records import as_data
from tests.fabric.planned import stop
from tests.fabric.running import from_data
from tests.fabric.test_waiting import WAYS, sent

PE = re.compile(r"PE\[(-?\d+), (-?\d+)\]")


def moved_text(text, x, y):
    return PE.sub(lambda pe: f"PE[{int(pe[1]) + x}, {int(pe[2]) + y}]", text)


@pytest.mark.parametrize("way", WAYS)
def test_a_moved_fabric_stops_alike_and_says_so_of_the_pes_of_its_layout(library, way):
    layout, plans, *figures = WAYS[way]
    moved = as_data(move_layout(from_data(FabricLayout, layout), (5, -3)))
    stood = stop(library, layout, plans, sent(layout), *figures)
    error = stop(library, moved, plans, sent(layout), *figures)
    assert str(error) == moved_text(str(stood), 5, -3) != str(stood)
    assert [(each.waits, each.on) for each in error.waiting.steps] == [
        ((a + 5, b - 3), (c + 5, d - 3)) for (a, b), (c, d) in
        ((each.waits, each.on) for each in stood.waiting.steps)]


def test_a_layout_says_what_layer_yaml_calls_the_pe_from_which_programs_count():
    layout = from_data(FabricLayout, WAYS["each sends first"][0])
    assert to_layer(layout, (0, 0)) == layout and find_offset(layout) == (0, 0)
    moved = to_layer(layout, (1, 2))
    assert find_offset(moved) == (1, 2)
    placed = move_layout(moved, (7, 0)).roles["planned"]
    assert (placed.origin, placed.offset) == ((8, 2), (1, 2))
