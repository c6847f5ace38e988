"""Functions and conditions of symbolic constants as plain trees, by isl's AST."""

from __future__ import annotations

import functools
from typing import Any

import islpy as isl

from lairmake.stages.poly.expression import Name, Number, Operation, Value, count_operations

Op: Any = isl.ast_expr_op_type
ExprKind: Any = isl.ast_expr_type
SIGNS = {
    Op.and_: "and",
    Op.and_then: "and",
    Op.or_: "or",
    Op.or_else: "or",
    Op.add: "+",
    Op.sub: "-",
    Op.mul: "*",
    Op.div: "/",
    Op.pdiv_q: "/",
    Op.pdiv_r: "%",
    Op.zdiv_r: "%",
    Op.eq: "==",
    Op.le: "<=",
    Op.lt: "<",
    Op.ge: ">=",
    Op.gt: ">",
    Op.max: "max",
    Op.min: "min",
    Op.fdiv_q: "floord",
    Op.minus: "negative",
    Op.cond: "?",
    Op.select: "?",
}


@functools.lru_cache(maxsize=1024)
def express(function: isl.PwAff, context: isl.Set) -> Value:
    """Return `[p] -> { [f(p)] }` over the names of the symbolic constants.

    Of several ways to simplify the function in the context, the one with the fewest operations.
    It is remembered: both programs of a layer ask for nearly the same ones.
    """
    build = isl.AstBuild.from_context(context)
    ways = [function.intersect_params(context).gist(context), function.gist(context), function]
    found = [plain(build.expr_from_pw_aff(way.coalesce())) for way in ways]
    return min(found, key=count_operations)


def express_condition(condition: isl.Set, context: isl.Set) -> Value | None:
    """Return `[p] -> { : ... }` as an expression; None if it always holds in the context."""
    if context.is_subset(condition):
        return None
    build = isl.AstBuild.from_context(context)
    simple = condition.gist(context).compute_divs().coalesce()
    return plain(build.expr_from_set(simple))


def plain(expr: isl.AstExpr) -> Value:
    """Return an expression of isl's AST as a plain tree."""
    kind = expr.get_type()
    if kind == ExprKind.int:
        return Number(expr.get_val().to_python())
    if kind == ExprKind.id:
        return Name(expr.get_id().get_name())
    if expr.get_op_type() == Op.add:
        taken = _taken_away(expr.get_op_arg(0))
        if taken is not None and _taken_away(expr.get_op_arg(1)) is None:
            return Operation("-", (plain(expr.get_op_arg(1)), taken))
    arguments = (plain(expr.get_op_arg(k)) for k in range(expr.get_op_n_arg()))
    return Operation(SIGNS[expr.get_op_type()], tuple(arguments))


def _taken_away(expr: isl.AstExpr) -> Value | None:
    """Return e of `-e`, and `n * e` of `-n * e`; None of other expressions."""
    if expr.get_type() != ExprKind.op:
        return None
    if expr.get_op_type() == Op.minus:
        return plain(expr.get_op_arg(0))
    if expr.get_op_type() != Op.mul or expr.get_op_arg(0).get_type() != ExprKind.int:
        return None
    factor, rest = expr.get_op_arg(0).get_val().to_python(), plain(expr.get_op_arg(1))
    return None if factor >= 0 else Operation("*", (Number(-factor), rest))
