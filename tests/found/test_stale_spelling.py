"""A file of the compiler that a stage reads and no module declares: no build takes it as read."""

import pytest

from tests.e2e.conftest import modules, own_modules, small  # noqa: F401

READ = 'Path(__file__).with_name("words.txt").read_text(encoding="utf-8")'
SAID = (
    "error: stage parse reads stages/words.txt, in stages/parse.py, but DATA of stages/parse.py "
    "does not name it: no edit of that file would be seen\n"
    "hint: this is a fault of Lairmake, and not of what it builds: who edits Lairmake has to add "
    "'words.txt' to DATA of stages/parse.py; see docs/stages.md\n"
)


def edit(space, name, text):
    (space.modules / "stages" / name).write_text(text, encoding="utf-8")


@pytest.fixture
def reads(small, own_modules):  # noqa: F811
    """Return the text of a stage that reads a file which nothing declares, as it is there."""
    text = (small.modules / "stages/parse.py").read_text(encoding="utf-8")
    reads = text.replace("from lairmake", "from pathlib import Path\n\nfrom lairmake", 1).replace(
        'return {"lair.isl": ', 'return {"lair.isl": ' + f"{READ} + ", 1)
    edit(small, "words.txt", "First\n")
    edit(small, "parse.py", reads)
    return reads


@pytest.mark.wide
def test_a_stage_that_reads_what_nothing_declares_fails_a_build(small, reads):  # noqa: F811
    failed = small.plain("a")
    assert (failed.code, failed.out, failed.err) == (2, "a: parse failed\n", SAID)


@pytest.mark.wide
def test_a_sweep_says_so_too(small, reads):  # noqa: F811
    failed = small.plain("sweep", "a", "--set", "machine=ideal,wse2")
    assert failed.code == 2 and SAID in failed.err


@pytest.mark.long
def test_what_is_declared_is_followed(small, reads):  # noqa: F811
    edit(small, "parse.py", reads.replace("\nREADS", '\nDATA = ("words.txt",)\nREADS', 1))
    small.build("a")
    edit(small, "words.txt", "Second\n")
    small.build("a")
    assert small.read("cache/a/lair.isl") == "Second\nOne\nTwo\n"
