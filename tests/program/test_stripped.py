"""The digest of what a source does: what it follows, and what not."""

import subprocess
import sys

import pytest

from lairmake.stages.program.front.source_on_x86 import digest_code, strip_source

SOURCE = """\
from lairmake.objects import MACH_Compiler_Ignore as only_numpy
x = {"a", "b", "c"}
def f(a, b=2.0):
    return a in {"d", "e", "f"} or (lambda: 0.0)
with only_numpy():
    print(x)
"""


def digest(source):
    return digest_code(strip_source(source, "a.py"))


@pytest.mark.parametrize("other", [
    "# what this is\n\n" + SOURCE,
    SOURCE.replace("    return", "\n  # of a\n\n    return"),
    SOURCE.replace('{"d", "e", "f"}', '{  # three\n  "d", "e",\n  "f",\n}'),
    SOURCE.replace("print(x)", "print(x, 2)"),
])
def test_places_comments_and_ignored_blocks_do_not_count(other):
    assert digest(other) == digest(SOURCE)


@pytest.mark.parametrize(("old", "new"), [
    ("0.0)", "-0.0)"), ("0.0)", "0)"), ("0.0)", "False)"), ("b=2.0", "c=2.0"), ('"d"', '"g"'),
    (" in ", " not in "), ("def f", "def g"), ("x = {", "y = {"), ("with only", "if not only"),
])
def test_what_a_source_does_counts(old, new):
    assert SOURCE.replace(old, new, 1) != SOURCE
    assert digest(SOURCE.replace(old, new, 1)) != digest(SOURCE)


def test_the_digest_is_the_same_in_every_process():
    code = f"from tests.program.test_stripped import *; print(digest({SOURCE!r}))"
    found = {
        subprocess.check_output([sys.executable, "-c", code], text=True, env={"PYTHONHASHSEED": n})
        for n in "12"
    }
    assert found == {f"{digest(SOURCE)}\n"}
