"""Templates decide spelling only: no arithmetic, no isl."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(p for p in ROOT.glob("**/templates/*.j2"))
TAG = re.compile(r"\{\{(.*?)\}\}|\{%(.*?)%\}", re.DOTALL)
STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
TRIM = re.compile(r"^[-+]|[-+]$")
ARITHMETIC = re.compile(r"[+*/%]|(?<!\w)-|-(?!\w)|\b(range|int|float|round|sum|batch|slice)\b")
ISL = re.compile(r"\bisl\b|->|mod|floor")


def tags(path):
    """Return the expressions of a template, without strings and the signs that trim blanks."""
    found = TAG.findall(path.read_text(encoding="utf-8"))
    bare = (TRIM.sub("", expression or statement) for expression, statement in found)
    return [STRING.sub("''", tag).strip() for tag in bare]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_template_does_not_compute(path):
    assert [tag for tag in tags(path) if ARITHMETIC.search(tag)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_template_knows_no_isl(path):
    assert [tag for tag in tags(path) if ISL.search(tag)] == []
