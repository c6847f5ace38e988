"""All that a program may not do, as far as its text tells; the rest is seen when it runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from lairmake.stages.program.source.argument_checks import check_arguments
from lairmake.stages.program.source.binding_checks import (
    check_assignment,
    check_bindings,
    check_comprehension,
    check_imports,
    check_named,
)
from lairmake.stages.program.source.calls import Calls, find_calls
from lairmake.stages.program.source.condition_checks import check_condition
from lairmake.stages.program.source.contexts import COMPREHENSIONS, Spot, walk_spots
from lairmake.stages.program.source.expression_checks import (
    check_call,
    check_imported,
    check_name,
    check_operator,
    check_text,
    check_truth,
)
from lairmake.stages.program.source.flow_checks import check_flow
from lairmake.stages.program.source.host_checks import (
    check_change,
    check_expression,
    check_iterator,
    check_value,
)
from lairmake.stages.program.source.host_contexts import check_ignored
from lairmake.stages.program.source.meanings import Program
from lairmake.stages.program.source.nesting_checks import check_length, check_nesting
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.slice_checks import check_subscript
from lairmake.stages.program.source.statement_checks import (
    check_flatness,
    check_function,
    check_leave,
    check_loop,
    check_statement,
    check_with,
)

Check: TypeAlias = Callable[[Places, Calls, Spot], None]

OF_NODES: dict[Check, tuple[type[ast.AST], ...]] = {
    check_assignment: (ast.Assign, ast.NamedExpr),
    check_named: (ast.AnnAssign,),
    check_imports: (ast.Import, ast.ImportFrom),
    check_imported: (ast.ImportFrom,),
    check_comprehension: COMPREHENSIONS,
    check_statement: (ast.Return, ast.Raise, ast.Assert, ast.FunctionDef, ast.ClassDef, ast.Import,
                      ast.ImportFrom, ast.Delete),
    check_loop: (ast.For, ast.While),
    check_leave: (ast.Break, ast.Continue),
    check_with: (ast.With,),
    check_flatness: (
        ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.Yield, ast.YieldFrom,
        ast.Try, ast.Match, ast.Lambda, *COMPREHENSIONS),
    check_function: (ast.FunctionDef,),
    check_condition: (ast.If, ast.While),
    check_length: (ast.If, ast.While),
    check_operator: (ast.BinOp, ast.AugAssign),
    check_truth: (ast.IfExp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Assert),
    check_call: (ast.Call,),
    check_arguments: (ast.Call,),
    check_name: (ast.Name, ast.Attribute),
    check_text: (ast.FormattedValue,),
    check_subscript: (ast.Subscript,),
    check_change: (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Global, ast.Nonlocal),
    check_expression: (ast.Expr,),
    check_value: (ast.Call,),
    check_iterator: (ast.For,),
    check_ignored: (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Return, ast.Call),
}
"""The nodes that each check looks at."""


def check_program(places: Places, program: Program, tree: ast.Module) -> None:
    """Note in `places` all that is wrong with a source."""
    check_bindings(places, program)
    spots = list(walk_spots(program, tree))
    calls = find_calls(spots)
    by_type: dict[type[ast.AST], list[Check]] = {}
    for check, types in OF_NODES.items():
        for each in types:
            by_type.setdefault(each, []).append(check)
    if try_star := getattr(ast, "TryStar", None):
        by_type[try_star] = [check_flatness]
    for spot in spots:
        for check in by_type.get(type(spot.node), ()):
            check(places, calls, spot)
    _check_recursion(places, calls)
    check_nesting(places, program, tree)
    check_flow(places, program, spots)


def _check_recursion(places: Places, calls: Calls) -> None:
    """Report functions over objects that call themselves: the graph has no stack."""
    for own in calls.again & calls.touching:
        for name, node in calls.called[own].items():
            if name == own:
                places.report(node, f"{own} calls itself", "write a loop")
            elif name in calls.again and own in calls.reach(name):
                places.report(node, f"{own} calls {name}, which calls {own}", "write a loop")
