"""The limits of the house style, on every file of the project."""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("lairmake", "stages", "tools")
MODULES = sorted(p for d in (*CODE, "tests") for p in (ROOT / d).rglob("*.py"))
TEXTS = sorted(
    p for d in (*CODE, "tests", "templates", "projects", "docs") for p in (ROOT / d).rglob("*")
    if p.suffix in {".py", ".c", ".h", ".lark", ".j2", ".md", ".lair"}
)
LONGEST_FUNCTION, MEDIAN_FUNCTION = 40, 10
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc"}
UNFINISHED = re.compile("TO" "DO|FIX" "ME|X" "XX|not " "implemented|Not" "Implemented")


def name(path):
    return str(path.relative_to(ROOT))


def is_ours(path):
    return path.relative_to(ROOT).parts[0] in CODE


@functools.cache
def functions(path):
    """Return name and length of each function: the lines of its body without its docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [(function.name, length(function)) for function in found]


def length(function):
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_no_function_is_too_long():
    every = [(name(path), *each) for path in MODULES for each in functions(path)]
    assert [each for each in every if each[-1] > LONGEST_FUNCTION] == []


def test_median_function_is_short():
    lengths = sorted(lines for p in MODULES if is_ours(p) for _, lines in functions(p))
    assert lengths[len(lengths) // 2] <= MEDIAN_FUNCTION


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
