"""An edit of one token that changes what a stage gives changes its key."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def edits(*words):
    """Return what each of some edits changes."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.make.token_edits", *words], cwd=ROOT, capture_output=True,
        check=False, text=True,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(found):
    """Check that outputs are as before where keys are, and that there was something to see."""
    assert [each for each in found if not set(each["outputs"]) <= set(each["keys"])] == []
    assert any(set(each["ran"]) - set(each["keys"]) for each in found)


@pytest.mark.wide
def test_where_no_key_changes_no_output_does():
    check(edits("2", "6"))


@pytest.mark.long
def test_where_an_output_changes_the_key_does():
    found = edits("1", "200", "all")
    check(found)
    assert any(each["keys"] for each in found)
    assert any(each["outputs"] for each in found)
