"""Folders with names that no task can have: a line for each, and the others are built and shown."""

import os

import pytest

from tests.e2e.conftest import LAYER_DODO

FAULTS = {
    "-a": "projects/-a is left out, since doit takes it for an option",
    "a:b": "projects/a:b is left out, since what comes after : is a stage",
    "a=b": "projects/a=b is left out, since doit takes it for a variable",
    "clean": "projects/clean is left out, since doit has a command of this name",
    "in/x:y": "projects/in/x:y is left out, since what comes after : is a stage",
    "one\ntwo": "projects/one\\ntwo is left out, since it has a control character",
    os.fsdecode(b"z\xff"): "projects/z\\udcff is left out, since that is not UTF-8",
}
WARNED = "".join(f"warning: {said}: rename it\n" for said in FAULTS.values())
SHOWN = {"-v2": "a:parse\n", "list": "a ", "graph": "a\n", "dry": "a\n", "show": "a\n"}


@pytest.fixture
def misnamed(small):
    """A workspace with the layer a, and layers whose names are at fault."""
    for name in FAULTS:
        small.layer(f"projects/{name}")
    small.layer("projects/a:b/below")
    small.write("projects/no:layer/notes", "")
    return small


@pytest.mark.parametrize("word", [
    "-v2", "list", "graph", *(pytest.param(w, marks=pytest.mark.long) for w in ("dry", "show"))
])
def test_a_folder_whose_name_is_at_fault_is_one_line_and_the_others_go_on(misnamed, word):
    run = misnamed.plain(word)
    assert (run.code, run.err) == (0, WARNED)
    assert SHOWN[word] in run.out


@pytest.mark.parametrize("words", [
    ("in/x:y",), ("diff", "clean"), pytest.param(("list", "clean"), marks=pytest.mark.long)
])
def test_who_asks_for_such_a_folder_is_told_why_there_is_none(misnamed, words):
    run = misnamed.plain(*words)
    assert (run.code > 0, run.err.startswith(WARNED)) == (True, True)


@pytest.mark.parametrize("words", [
    ("list", "a"), *(pytest.param(w, marks=pytest.mark.long) for w in (("a",), ("graph", "a")))
])
def test_nothing_is_said_of_such_folders_where_others_are_asked_for(misnamed, words):
    run = misnamed.plain(*words)
    assert (run.code, run.err) == (0, "")


def test_in_such_a_folder_alone_its_name_is_an_error(misnamed):
    misnamed.write("projects/in/x:y/dodo.py", LAYER_DODO)
    run = misnamed.plain(cwd="projects/in/x:y")
    assert (run.code, run.out, run.err) == (3, "", (
        "ERROR: a layer may not be called in/x:y, since what comes after : is a stage: "
        "rename the folder in/x:y\n"
    ))
