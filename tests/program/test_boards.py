"""Sets of PEs are told by rectangles, checkerboards and stripes, and by nothing else."""

import islpy as isl
import pytest

from lairmake.stages.program.vm.regions import find_rectangles, spell_rectangle

FOUND = {
    "two points on a line": ("PE[0, 1]; PE[5, 2]", ["PE[0, 1]", "PE[5, 2]"]),
    "two columns": (
        "PE[x, y] : (x = 0 or x = 3) and 0 <= y <= 7",
        ["PE[0, y] : 0 <= y <= 7", "PE[3, y] : 0 <= y <= 7"]),
    "rows that meet": (
        "PE[x, 0] : 0 <= x <= 2; PE[x, 0] : 3 <= x <= 5", ["PE[x, 0] : 0 <= x <= 5"]),
    "a checkerboard, put together from borders": (
        "PE[0, y] : y mod 2 = 0 and 0 <= y <= 4; PE[x, 0] : x mod 2 = 0 and 0 <= x <= 5;"
        "PE[x, y] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 1 <= y <= 4",
        ["PE[x, y] : (x + y) mod 2 = 0 and 0 <= x <= 4 and 0 <= y <= 4"]),
    "a column of a checkerboard": (
        "PE[3, y] : (3 + y) mod 2 = 0 and 0 <= y <= 8", ["PE[3, y] : y mod 2 = 1 and 1 <= y <= 7"]),
    "stripes": (
        "PE[x, y] : x mod 2 = 1 and 0 <= x <= 7 and 3 <= y <= 5",
        ["PE[x, y] : x mod 2 = 1 and 1 <= x <= 7 and 3 <= y <= 5"]),
    "a step": (
        "PE[x, y] : 0 <= x <= 1 and 0 <= y <= 3; PE[x, y] : 2 <= x <= 3 and 2 <= y <= 3",
        ["PE[x, y] : 0 <= x <= 1 and 0 <= y <= 3", "PE[x, y] : 2 <= x <= 3 and 2 <= y <= 3"]),
    "nothing": ("PE[x, y] : false", []),
}


@pytest.mark.parametrize("name", FOUND)
def test_sets_of_pes_are_rectangles(name):
    said, wanted = FOUND[name]
    assert [*map(spell_rectangle, find_rectangles(isl.Set(f"{{ {said} }}")))] == wanted


@pytest.mark.parametrize("said", [
    "PE[x, y] : x = y and 0 <= x <= 5", "PE[x, y] : x mod 3 = 0 and 0 <= x <= 9 and 0 <= y <= 1",
    "PE[x, y] : 0 <= x <= y and y <= 5",
])
def test_other_shapes_have_no_rectangles(said):
    assert find_rectangles(isl.Set(f"{{ {said} }}")) is None
