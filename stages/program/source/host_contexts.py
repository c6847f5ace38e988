"""What only x86 sees: it reads objects, and does not decide what the program does."""

from __future__ import annotations

import ast

from lairmake.stages.program.source.calls import Calls
from lairmake.stages.program.source.contexts import Spot
from lairmake.stages.program.source.meanings import MEMBER
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.words import IGNORED
from lairmake.stages.program.values.forms import KINDS


def check_ignored(places: Places, calls: Calls, spot: Spot) -> None:
    """Report what MACH_Compiler_Ignore would change."""
    node, context = spot.node, spot.context
    if context.host != IGNORED:
        return
    if isinstance(node, ast.Return):
        places.report(node, f"`return` in {IGNORED}: only x86 would return",
                      "put the condition around the context")
        return
    if isinstance(node, ast.Call):
        called = context.find(node.func)
        if called.what == MEMBER and called.detail.rpartition(".")[2] in KINDS:
            places.report(node, f"an object is made in {IGNORED}, where only x86 sees it",
                          "make it outside of it")
        return
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [
        node.target]  # type: ignore[attr-defined]
    for target in targets:
        if isinstance(target, ast.Subscript) and context.find(target.value).is_object:
            places.report(target, f"an object changes in {IGNORED}, where only x86 sees it",
                          "objects are only read there")
