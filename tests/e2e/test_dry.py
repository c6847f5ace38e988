"""The command dry: what a build would do, and, where that is much, in 40 lines at most."""

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


def dry(space, *words, **kwargs):
    """Return what is printed; nothing may be written but memory of what was seen."""
    before = times(space)
    out = printed(space.run("dry", *words, **kwargs))
    assert times(space) == before
    return out


def times(space):
    """Return all folders, and when each file was written, but for what Python compiles."""
    found = (p for p in space.root.rglob("*") if "__pycache__" not in p.parts)
    return {path: path.is_file() and path.stat().st_mtime_ns for path in found}


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


@pytest.mark.wide
def test_dry_says_what_would_run_and_why(small):
    printed(small.run("dry"))
    assert dry(small) == """a
  parse     would run       not built here yet
  place     may run         not built here yet
  render    may run         not built here yet
  simulate  may run         not built here yet
0 tasks up to date
"""
    small.build()
    assert dry(small) == "4 tasks up to date\n"
    first = small.read("projects/a/a.lair")
    small.write("projects/a/a.lair", "One\nThree\n")
    assert dry(small) == """a
  projects/a/a.lair
    line 2: Two # a word -> Three
  parse     would run       a.lair changed
  place     may run         unless lair.isl comes out as before
  render    may run         unless placement.isl comes out as before
  simulate  may run         unless simd/pe_*.c, layout.yaml comes out as before
0 tasks up to date
"""
    assert dry(small, "a:parse", cwd="projects/a").splitlines()[-2:] == [
        "  parse  would run       a.lair changed", "0 tasks up to date"
    ]
    small.build()
    small.write("projects/a/a.lair", first)
    assert dry(small, "a:place") == """a
  projects/a/a.lair
    line 2: Three -> Two # a word
  parse  from the store  a.lair changed
  place  from the store  lair.isl changed
0 tasks up to date
"""
    assert small.hits() == ["a:parse", "a:place", "a:render", "a:simulate"]


def test_dry_sees_missing_and_edited_files(small):
    small.build()
    small.write("cache/a/lair.isl", "edited\n")
    (small.root / "projects/a/build/layout.yaml").unlink()
    assert dry(small) == """a
  parse   from the store  what it wrote is not there, or edited
  render  from the store  what it wrote is not there, or edited
2 tasks up to date
"""
    assert small.hits() == ["a:parse", "a:render"]


def test_dry_gives_json_and_refuses_what_is_no_layer(small):
    small.build()
    small.write("projects/a/a.lair", "One\n")
    data = json.loads(printed(small.run("dry", "--json")))
    assert data[0] == {
        "task": "a:parse", "layer": "a", "stage": "parse", "status": "would run",
        "reason": "a.lair changed", "changed": ["a.lair"],
    }
    run = small.run("dry", "b")
    assert (run.code, run.err) == (3, "ERROR: dry: b is no layer and no stage\n")
