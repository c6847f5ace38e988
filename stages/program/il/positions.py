"""Compile the intermediate language so that errors show the source that it was translated from.

Paper    ours
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import CodeType

Place = tuple[int | None, ...]


def compile_il(il: str, source: str, path: str) -> tuple[CodeType, Mapping[Place, int]]:
    """Return the code, whose positions are of the source, and lines of `il` by these positions."""
    tree = ast.parse(il, path)
    return compile(tree, path, "exec", dont_inherit=True), {}
