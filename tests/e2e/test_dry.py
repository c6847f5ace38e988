"""What `dry` prints of a build that would do much: a line for each layer, 40 at most."""

import json

import pytest

from tests.e2e.conftest import printed

NEW = "1 would run, 3 may run; not built here yet"


@pytest.fixture
def many(small):
    """A workspace with eleven layers, 44 stages in all."""
    for number in range(10):
        small.layer(f"projects/b{number}")
    return small


def test_much_is_told_by_layer(many):
    lines = printed(many.run("dry")).splitlines()
    assert lines[:2] == [f"a: {NEW}", f"b0: {NEW}"]
    assert (len(lines), lines[-1]) == (12, "0 tasks up to date")


def test_the_files_that_changed_are_the_reason(many):
    many.build()
    for layer in ("a", *(f"b{number}" for number in range(10))):
        many.write(f"projects/{layer}/a.lair", f"One\n{layer}\n")
    assert printed(many.run("dry")).splitlines()[0] == (
        "a: 1 would run, 3 may run; projects/a/a.lair changed"
    )


def test_with_v_every_stage_has_a_line_and_so_it_has_in_json(many):
    assert len(printed(many.run("dry", "-v")).splitlines()) == 11 * 5 + 1
    assert len(json.loads(printed(many.run("dry", "--json")))) == 44


def test_there_are_forty_lines_at_most(small):
    for number in range(50):
        small.layer(f"projects/b{number}")
    lines = printed(small.run("dry")).splitlines()
    assert len(lines) == 40
    assert lines[-2] == "and 13 more layers: 13 would run, 39 may run; -v lists them"


def test_what_is_forgotten_would_run_and_what_comes_after_what_is_ignored_is(small):
    small.build()
    small.run("forget", "a:place")
    small.run("ignore", "a:render")
    assert small.run("dry").out.splitlines()[1:] == [
        "  place     would run       it was forgotten",
        "  render    ignored",
        "  simulate  ignored",
        "1 task up to date",
    ]
    assert small.build() == ["a:place"]
