"""`doit evaluate --programs`: what is measured of programs on the virtual machine."""

import re

import pytest

from tools.evaluation import programs


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A loop of one operation a section, and those that take from neighbours, on wse2."""
    place = tmp_path_factory.mktemp("programs")
    wanted = programs.adding("wse2", 1), programs.taking("wse2"), programs.striding("wse2")
    return [programs.measure_program(each, place) for each in wanted]


@pytest.mark.wide
def test_operations_keep_their_marks(found):
    """Set-up of 50 to 60 cycles; at most 90 with a neighbour."""
    one, *neighbours = found
    assert 50 <= one.results.set_up.center <= 60
    assert [each.results.set_up.neighbour <= 90 for each in neighbours] == [True, True]


@pytest.mark.wide
def test_workers_hardly_wait_for_the_control(found):
    """At most 2 % of their cycles, and a section takes what its operation does."""
    results = found[0].results
    assert results.workers.control <= 0.02
    assert results.cycles / programs.ITERATIONS <= results.set_up.center + 2
    assert found[0].path == 38


@pytest.mark.wide
def test_all_that_is_measured_has_its_cell(found):
    text = programs.document(dict.fromkeys(programs.list_wanted(), found[0]))
    assert len(re.findall(r"^\| (?:wse2|wse3|ideal|paper) \|", text, re.M)) == 4 * 6
    assert "| wse2 | first call | 38 | 38 | 38 | 38 |" in text
