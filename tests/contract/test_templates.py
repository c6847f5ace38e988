"""Templates decide spelling only: no arithmetic, no isl. Of data scripts make only text."""

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
SCRIPTS = sorted(p for p in (ROOT / "templates/report").glob("*.js") if p.name != "d3.min.js")
UNSAFE = re.compile(
    r"""innerHTML|outerHTML|insertAdjacent|\.html\((?!""\))|\bdocument\.write|\beval\b|\bFunction\("""
    r"""|createContextualFragment|DOMParser|srcdoc|"on\w+"|"src"|"href",(?! [`"]#)|\blocation\b"""
    r"""|\bopen\(|setTimeout\("|import\(|fetch\(|XMLHttpRequest"""
)
"""What could make HTML, an address or a script of a text."""


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


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.name)
def test_script_makes_no_html_address_or_script_of_a_text(path):
    assert UNSAFE.findall(path.read_text(encoding="utf-8")) == []
