"""Parameters that program.yaml sets and no line of a source asks for: told of before it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from lairmake.stages.diagnose import nearest
from lairmake.stages.program.source.plain_checks import has_others
from lairmake.stages.program.source.walking import walk_all

PARAMETER = "parameter"


def find_unknown(tree: ast.Module, given: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield names of parameters that a source does not ask for, each with what to say, and a hint.

    None where the text does not tell: modules beside it may ask, and names may be computed.
    """
    asked = _find_asked(tree)
    for name in given if asked is not None else ():
        if asked is not None and name not in asked:
            near = nearest(name, asked)
            known = f"it asks for {', '.join(asked) or 'none'}"
            yield (name, f"the program has no parameter {name!r}",
                   f"did you mean {near}?" if near else known)


def _find_asked(tree: ast.Module) -> list[str] | None:
    """Return the names that a source asks for, in its order; None where the text does not tell."""
    if has_others(tree):
        return None
    names: list[str] = []
    called: set[ast.AST] = set()
    for node in walk_all(tree):
        if isinstance(node, ast.alias) and node.name == PARAMETER and node.asname:
            return None
        if isinstance(node, ast.Call) and _is_parameter(node.func):
            called.add(node.func)
            first = node.args[0] if node.args else None
            if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
                return None
            names.append(first.value)
        elif _is_parameter(node) and node not in called:
            return None
    return list(dict.fromkeys(names))


def _is_parameter(node: ast.AST) -> bool:
    return getattr(node, "id", "") == PARAMETER or getattr(node, "attr", "") == PARAMETER
