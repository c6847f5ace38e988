"""The limits of the house style, on every file of the project."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = ("lairmake", "stages", "tools")
MODULES = sorted(p for d in (*CODE, "tests") for p in (ROOT / d).rglob("*.py"))
TEXTS = sorted(
    p for d in (*CODE, "tests", "templates", "projects", "docs") for p in (ROOT / d).rglob("*")
    if p.suffix in {".py", ".c", ".h", ".lark", ".j2", ".md", ".lair"}
)
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc"}
UNFINISHED = re.compile("TO" "DO|FIX" "ME|X" "XX|not " "implemented|Not" "Implemented")


def name(path):
    return str(path.relative_to(ROOT))


def is_ours(path):
    return path.relative_to(ROOT).parts[0] in CODE


@pytest.mark.wide
def test_every_module_of_the_compiler_says_what_it_is():
    modules = [path for path in MODULES if is_ours(path)]
    silent = [p for p in modules if not ast.get_docstring(ast.parse(p.read_text("utf-8")))]
    assert [name(path) for path in silent if path.stat().st_size] == []


def test_nothing_is_left_unfinished():
    found = {name(path): UNFINISHED.findall(path.read_text(encoding="utf-8")) for path in TEXTS}
    assert {path: words for path, words in found.items() if words} == {}


def test_no_file_has_a_name_that_says_nothing():
    parts = {part for p in TEXTS for part in (*p.relative_to(ROOT).parts[:-1], p.stem)}
    assert parts.isdisjoint(FORBIDDEN_NAMES)
