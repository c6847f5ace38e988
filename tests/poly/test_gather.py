import islpy as isl
import pytest

from lairmake.stages.movement.gather import find_gather
from lairmake.stages.poly.sides import Rectangle, behind_ports, turn

LINE = Rectangle(left=0, top=0, right=3, bottom=0)
PES = LINE.as_set()


def gathered(order, computed, chain=PES):
    """Return the gather of what leaves on the east of a line of four PEs."""
    leaving = behind_ports(isl.Map(order), "E", LINE)
    return find_gather(leaving, isl.Map(computed), turn("E", LINE), chain)


def at(function, x):
    """Return the value of a function at PE[x, 0]."""
    here = function.intersect_params(isl.Set(f"[PE_X, PE_Y] -> {{ : PE_X = {x} and PE_Y = 0 }}"))
    return here.max_val().to_python()


def parts(found):
    return [[at(f, x) for f in (found.before, found.own, found.after)] for x in range(4)]


TILES = "{ y[i] -> PE[i//4, 0] : 0 <= i < 14 }"


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("i", [[0, 4, 0], [4, 4, 0], [8, 4, 0], [12, 2, 0]]),
        ("13 - i", [[0, 4, 0], [0, 4, 4], [0, 4, 8], [0, 2, 12]]),
        ("(i + 8) mod 16", [[0, 4, 0], [4, 4, 0], [0, 4, 8], [4, 2, 8]]),
        ("3*i, i", [[0, 4, 0], [4, 4, 0], [8, 4, 0], [12, 2, 0]]),
    ],
)
def test_what_passes_before_own_elements_and_after_them(order, expected):
    found = gathered(f"{{ y[i] -> [PE[4, 0] -> index[{order}]] : 0 <= i < 14 }}", TILES)
    assert found.rows == ()
    assert parts(found) == expected


def test_rows_have_the_least_number_of_outer_indices():
    order = "{ y[i, k, j] -> [PE[4, 0] -> index[i, k, j]] : 2 <= i < 8 and 0 <= k, j < 8 }"
    found = gathered(order, "{ y[i, k, j] -> PE[k//2, 0] }")
    assert [at(f, 0) for f in (*found.first, *found.rows)] == [2, 6]
    assert parts(found) == [[0, 16, 0], [16, 16, 0], [32, 16, 0], [48, 16, 0]]


def test_a_pe_without_elements_lets_all_pass_after_none_of_its_own():
    order = "{ y[i] -> [PE[4, 0] -> index[i]] : 0 <= i < 4 }"
    found = gathered(order, "{ y[i] -> PE[2*(i//2), 0] : 0 <= i < 4 }")
    assert parts(found) == [[0, 2, 0], [0, 0, 2], [2, 2, 0], [0, 0, 4]]


@pytest.mark.parametrize(
    ("order", "computed"),
    [
        ("i", "{ y[i] -> PE[i mod 4, 0] : 0 <= i < 16 }"),
        ("i", "{ y[i] -> PE[x, 0] : 0 <= i < 16 and i//4 <= x <= 1 + i//4 and 0 <= x < 4 }"),
        ("i//10, i mod 10", "{ y[i] -> PE[(i mod 10)//4, 0] : 0 <= i < 16 }"),
    ],
    ids=["alternating", "on_two_pes", "rows_that_differ"],
)
def test_there_is_no_gather(order, computed):
    assert gathered(f"{{ y[i] -> [PE[4, 0] -> index[{order}]] : 0 <= i < 16 }}", computed) is None


def test_where_isl_needs_long_to_tell_there_is_no_gather(monkeypatch):
    order = "{ y[i] -> [PE[4, 0] -> index[i]] : 0 <= i < 14 }"
    assert gathered(order, TILES) is not None
    monkeypatch.setattr("lairmake.stages.movement.gather.MOST_OPERATIONS", 500)
    assert gathered(order, TILES) is None
