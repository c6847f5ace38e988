"""What is kept between builds knows no doit, and nothing of the Make that does."""

import ast
from pathlib import Path

import pytest

STORE = Path(__file__).resolve().parents[2] / "stages/make/store"
BELOW = ("stages.diagnose", "stages.make.store.folders", "stages.make.store.settings", "stages.make.store")


def imported(path):
    """Yield the modules that a file imports, at any place in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("path", sorted(STORE.glob("*.py")), ids=lambda path: path.name)
def test_the_store_imports_nothing_that_knows_doit(path):
    names = [name for name in imported(path) if name.partition(".")[0] in ("doit", "stages")]
    assert [name for name in names if not name.startswith(BELOW)] == []
