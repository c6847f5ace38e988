"""Words of a command line, and names of files, that are not what one would expect."""

import os

import pytest

from tests.e2e.test_make import ALL, SUMMARY


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("word", ["zz*", "a:zz*", "a/zz*"])
def test_a_pattern_that_names_no_task_is_refused_as_an_unknown_name_is(small, word):
    for _ in range(2):
        run = small.run(word)
        assert (run.code, run.ran) == (3, [])
        assert run.err.startswith(f'ERROR: Invalid parameter: "{word}". Must be a command, task, ')
        small.build()


def test_a_pattern_that_names_tasks_where_nothing_is_to_do_is_none_that_is_refused(small):
    small.build()
    assert small.build("a*") == small.build("a:pl*") == []


def test_results_are_written_into_the_file_that_o_names(small):
    run = small.run("-o", "told", "a")
    assert (run.code, run.out, run.err) == (0, "", "")
    assert small.read("told") == "".join(f".  {task}\n" for task in ALL) + SUMMARY
    run = small.run("-o", "none/told", "a")
    assert (run.code, run.err) == (1, "error: cannot write none/told: No such file or directory\n")


def test_a_file_whose_name_is_not_utf_8_is_one_like_others(small):
    (small.root / "projects/a" / os.fsdecode(b"x\xff.lair")).write_text("Three\n")
    assert "a:simulate" in small.build()
    (small.root / "projects/a" / os.fsdecode(b"x\xff.lair")).write_text("wrong\n")
    run = small.run()
    assert (run.code, run.err.splitlines()[0]) == (
        1, "projects/a/x\\udcff.lair:1:1: error: this is wrong"
    )
