"""Values that a hint makes objects, `total: MACHScalar = np.sum(x)`: they are what the hint says.

Paper    E Sec. 5.1
"""

from __future__ import annotations

import ast
from typing import Any

from stages.program.il.nodes import SCALARS
from stages.program.il.value import Value
from stages.program.source.words import HINTS, SCALAR
from stages.program.values.errors import ProgramError
from stages.program.values.forms import GLOBAL_SCALAR

NAMING = "__name_value__"
"""What `name_value` is called in a program that runs; no name of a user."""


class Naming(ast.NodeTransformer):
    """Lets names with hints be checked: `x: LocalArray = (...).named("x")`."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        """What a value is called is said with the kind that its hint says."""
        call = node.value
        is_named = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "named"
        hint = find_kind(node.annotation) if is_named else ""
        if hint and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            function = ast.copy_location(ast.Name(NAMING, ast.Load()), call)
            kind = ast.copy_location(ast.Constant(hint), call)
            made = ast.Call(function, [call.func.value, kind, *call.args], call.keywords)
            node.value = ast.copy_location(made, call)
        return node


def find_kind(annotation: ast.expr) -> str:
    """Return the kind that an annotation names, in quotes or not; "" for none that is ours."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    names = (getattr(each, "attr", "") or getattr(each, "id", "") for each in ast.walk(annotation))
    return next((name for name in names if name in HINTS), "")


def name_value(value: Any, hint: str, name: str, output: bool = False) -> Value:
    """Return a value as an object of that name. Raises ProgramError where its hint is wrong."""
    if not isinstance(value, Value):
        kind = GLOBAL_SCALAR if hint == SCALAR else hint
        raise ProgramError(f"{name} is {_article(value)} of the host, and no {hint}",
                           f'`{name} = {kind}("{name}", ...)` makes one')
    found = value.form.kind
    if found not in (SCALARS if hint == SCALAR else (hint,)):
        raise ProgramError(f"{name} is a {found}, and its hint says {hint}",
                           f"`{name}: {found} = ...`")
    return value.named(name, output)


def _article(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
