"""What diff and why say of edits of the layers of this project, from golden/diff/NAME.txt.

`.venv/bin/python -m tests.e2e.edited` writes these files anew, where what the stages print changes.
"""

import statistics

import pytest

from tests.e2e.edited import EDITS, golden, said_of

NAMES = [
    pytest.param(name, marks=[] if edit.get("ordinary") else pytest.mark.long)
    for name, edit in EDITS.items()
]
SCREEN, FEW = 25, 20


@pytest.mark.wide
@pytest.mark.parametrize("name", NAMES)
def test_an_edit_is_told_as_expected_and_on_no_more_lines_than_git_takes(name, tmp_path):
    said = said_of(name, tmp_path)
    assert said.text == golden(name).read_text(encoding="utf-8")
    assert len(said.diff.splitlines()) <= max(FEW, said.lines_of_git)


def test_most_edits_are_told_on_a_screen():
    assert len(EDITS) >= 20
    texts = {name: golden(name).read_text(encoding="utf-8") for name in EDITS}
    diffs = [text.partition(f"\n{name}: build\n")[0] for name, text in texts.items()]
    assert statistics.median(len(diff.splitlines()) for diff in diffs) <= SCREEN
    assert not {path.stem for path in golden("").parent.glob("?*.txt")} - EDITS.keys()
