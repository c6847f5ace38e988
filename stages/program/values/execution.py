"""Run a program, or what it was translated to, as Python runs a file by its name.

Paper    ours
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


def execute(
    tree: ast.Module, path: str, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the names of a module that was run as `__main__`, under which its classes find it.

    It begins with the names that are `given`.
    """
    module, before = ModuleType("__main__"), sys.modules["__main__"]
    module.__file__ = path
    vars(module).update(given or {})
    sys.modules["__main__"] = module
    try:
        exec(compile(tree, path, "exec", dont_inherit=True), vars(module))
    finally:
        sys.modules["__main__"] = before
    return vars(module)
