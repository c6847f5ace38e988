"""Which parameters of a test are wide or long, and of which there are tests where `-m` asks."""

from types import SimpleNamespace

import pytest

from tests.conftest import pytest_generate_tests

SHORT, WIDE = "not long and not wide", "wide and not long"


def asked(text, *marks, of=()):
    """Return the numbers of six parameters that stay, and their marks; `of` are marks of some."""
    calls = [SimpleNamespace(number=n, marks=[m.mark for k, m in of if k == n]) for n in range(6)]
    own = {mark.name: mark.mark for mark in marks}
    definition = SimpleNamespace(get_closest_marker=own.get, iter_markers=own.values)
    option = SimpleNamespace(markexpr=text)
    metafunc = SimpleNamespace(
        definition=definition, config=SimpleNamespace(option=option), _calls=calls)
    pytest_generate_tests(metafunc)
    return {call.number: "".join(mark.name[0] for mark in call.marks) for call in calls}


def test_without_m_all_parameters_are_there_with_their_marks():
    after = pytest.mark.wide_after(2), pytest.mark.one_in(3)
    assert asked("", *after) == {0: "", 1: "", 2: "w", 3: "wl", 4: "wl", 5: "w"}
    assert asked("", pytest.mark.wide, after[1]) == {0: "", 1: "l", 2: "l", 3: "", 4: "l", 5: "l"}


def test_of_what_m_leaves_out_there_are_no_tests():
    after = pytest.mark.wide_after(2), pytest.mark.one_in(3)
    assert asked(SHORT, *after).keys() == {0, 1}
    assert asked(WIDE, *after).keys() == {2, 5}
    assert asked("long or not long", *after).keys() == {*range(6)}
    assert asked(SHORT, of=[(4, pytest.mark.long)]).keys() == {0, 1, 2, 3, 5}
    assert asked("not long", of=[(0, pytest.mark.wide)]).keys() == {*range(6)}


def test_a_test_of_which_all_is_left_out_keeps_one_parameter_for_pytest():
    assert asked(WIDE).keys() == {0}
    assert asked(SHORT, pytest.mark.long).keys() == {0}


def test_where_m_asks_by_other_marks_all_parameters_are_there():
    assert asked("alone", pytest.mark.wide_after(2)).keys() == {*range(6)}
