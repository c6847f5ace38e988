"""Trees of expressions and loop nests, from isl's AST."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import islpy as isl

from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.functions import bind_domain, bind_set, find_function

PARAM, SET, DIV = isl.dim_type.param, isl.dim_type.set, isl.dim_type.div

# --- Expressions as plain trees -------------------------------------------------------------------
#
# The templates of programs say with which signs and parentheses they are spelled.

INFIX = ("and", "or", "+", "-", "*", "/", "%", "==", "!=", "<=", "<", ">=", ">")
"""Operations of two or more arguments; the others are named by `Operation`."""
AFFINE = ("+", "-", "*", "negative")


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a program."""


@dataclass(frozen=True, slots=True)
class Value(Node):
    """A part of a program that has a value."""


@dataclass(frozen=True, slots=True)
class Number(Value):
    """An integer."""

    value: int


@dataclass(frozen=True, slots=True)
class Name(Value):
    """An iterator, a symbolic constant, or another variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation(Value):
    """An operation of INFIX, `max`, `min`, `floord`, `negative` of one, or `?`: if, then, else."""

    sign: str
    arguments: tuple[Value, ...]


def count_operations(value: Value) -> int:
    """Return how many operations an expression takes; of what is no operation, none."""
    if not isinstance(value, Operation):
        return 0
    between = 1 if value.sign in ("negative", "?") else len(value.arguments) - 1
    return between + sum(map(count_operations, value.arguments))


def is_affine(value: Value) -> bool:
    """Say whether an expression only adds, subtracts and multiplies by numbers."""
    if not isinstance(value, Operation):
        return True
    return value.sign in AFFINE and all(map(is_affine, value.arguments))


def compare(left: Value, sign: str, right: Value | int) -> Value:
    """Return a comparison, with a number or another value."""
    return Operation(sign, (left, Number(right) if isinstance(right, int) else right))


def require_all(tests: Sequence[Value]) -> Value:
    """Return that all tests hold; there is one at least."""
    return tests[0] if len(tests) == 1 else Operation("and", tuple(tests))

# --- Functions and conditions as plain trees ------------------------------------------------------
#
# They are functions and conditions of symbolic constants, which isl's AST expresses.

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

# --- Loop nests as plain data ---------------------------------------------------------------------

Leaves = dict[str, isl.UnionMap]
Kind: Any = isl.ast_node_type
@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """The execution of one instance, its dimensions as expressions.

    `instances` holds those that reach this place, for any values of the loops around it; None if
    these may be all. `times` are the values [p] -> { [t] } of the loops around it, one a loop.
    """

    arguments: tuple[Value, ...]
    instances: isl.Set | None = field(default=None, compare=False, repr=False)
    times: isl.Set | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """`for (int iterator = start; condition; iterator += step) body`; without condition: once.

    `depth` is how many loops there are around the body.
    """

    iterator: str
    start: Value
    condition: Value | None
    step: Value
    body: Nest
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """`if (condition) then`, and perhaps `else otherwise`."""

    condition: Value
    then: Nest
    otherwise: Nest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One nest after the other."""

    children: tuple[Nest, ...]


Nest = Instance | Loop | Branch | Series


def make_loop_nest(
    schedule: isl.Map, context: isl.Set, iterators: Sequence[str], *, unrolled: bool = False
) -> Nest:
    """Return loops that run the instances { S[i] -> [time] } in the order of their times.

    `iterators` names the dimensions of time; the context bounds the symbolic constants. Loops that
    are `unrolled` have one iteration each.
    isl leaves out instances of some strided schedules, as { S[i, k] -> [i, k] : i + 2k = n // 4 },
    or fails; where it does, loops over a box of times ask for each whether it has an instance.
    Ensures that the loops run all instances.
    """
    build = isl.AstBuild.from_context(context).set_iterators(_ids(iterators))
    if unrolled:
        every = isl.UnionMap(f"{{ [{', '.join(iterators)}] -> unroll[depth] }}")
        build = build.set_options(every)
    complete = _complete(build, schedule, context)
    if complete is not None:
        return _nest(*complete, 0)
    return _guarded(schedule.intersect_params(context), context, iterators)


def make_element_loops(
    elements: isl.Set, context: isl.Set, iterators: Sequence[str], *, unrolled: bool = False
) -> Nest:
    """Return loops that run the elements of a set in lexicographic order."""
    return make_loop_nest(_lexicographic(elements), context, iterators, unrolled=unrolled)


def _lexicographic(elements: isl.Set) -> isl.Map:
    """Return { S[i] -> [i] } for the elements of a set."""
    order = isl.Map.identity(elements.get_space().map_from_set()).intersect_domain(elements)
    return order.reset_tuple_id(isl.dim_type.out)


def _guarded(schedule: isl.Map, context: isl.Set, iterators: Sequence[str]) -> Nest:
    """Return loops over a box around all times: `if (time has an instance) instance`.

    A dimension of time that has one value for each value of those before it takes no loop.
    """
    times = schedule.range()
    around, box, every = [], context, bounding_box(times)
    for k, name in enumerate(iterators):
        first = times.project_out(SET, k + 1, times.dim(SET) - k - 1)
        value = _only_value(bind_set(first, iterators[: k + 1]), name)
        within = _between(name, *every[k]) if value is None else _equal(name, value)
        around.append((name, *every[k], None if value is None else express(value, box)))
        box = box.intersect(within)
    inside = bind_set(times, iterators)
    instance = find_function(bind_domain(schedule.reverse(), iterators))
    arguments = range(instance.dim(isl.dim_type.out))
    nest: Nest = Instance(
        arguments=tuple(express(instance.get_pw_aff(k), inside) for k in arguments),
        times=times,
    )
    condition = express_condition(inside, box)
    if condition is not None:
        nest = Branch(condition=condition, then=nest, otherwise=None)
    for depth, (name, low, high, once) in reversed(list(enumerate(around, start=1))):
        nest = _counted(name, low, high, nest) if once is None else _once(name, once, nest)
        nest = replace(nest, depth=depth)
    return nest


def _only_value(times: isl.Set, name: str) -> isl.PwAff | None:
    """Return the affine function of the other symbolic constants that one of them is equal to."""
    for constraint in times.affine_hull().get_constraints():
        position = constraint.get_space().find_dim_by_name(PARAM, name)
        factor = constraint.get_coefficient_val(PARAM, position)
        whole = constraint.is_equality() and factor.abs().is_one()
        if whole and not constraint.involves_dims(DIV, 0, constraint.dim(DIV)):
            return isl.PwAff.from_aff(constraint.get_bound(PARAM, position))
    return None


def _between(name: str, low: int, high: int) -> isl.Set:
    return isl.Set(f"[{name}] -> {{ : {low} <= {name} <= {high} }}")


def _equal(name: str, value: isl.PwAff) -> isl.Set:
    return value.eq_set(isl.PwAff(f"[{name}] -> {{ [({name})] }}"))


def _once(iterator: str, value: Value, body: Nest) -> Loop:
    """Return the body with an iterator that has one value."""
    return Loop(iterator=iterator, start=value, condition=None, step=Number(1), body=body)


def _counted(iterator: str, low: int, high: int, body: Nest) -> Loop:
    """Return the loop from `low` to `high`."""
    within = Operation("<=", (Name(iterator), Number(high)))
    return Loop(iterator=iterator, start=Number(low), condition=within, step=Number(1), body=body)


def _complete(
    build: isl.AstBuild, schedule: isl.Map, context: isl.Set
) -> tuple[isl.AstNode, Leaves] | None:
    """Return isl's loops for { S[i] -> [time] }; None where it fails or leaves out instances."""
    wanted = isl.UnionSet.from_set(schedule.domain().intersect_params(context))
    with contextlib.suppress(isl.Error):
        node, leaves = _generated(build, schedule)
        if _union(leaves).intersect_params(context).is_equal(wanted):
            return node, leaves
    return None


def _generated(build: isl.AstBuild, schedule: isl.Map) -> tuple[isl.AstNode, Leaves]:
    """Return the loops for { S[i] -> [time] }, and the part of it that reaches each loop body.

    A body is annotated with its name among the leaves.
    """
    leaves: Leaves = {}

    def at_leaf(node: isl.AstNode, leaf: isl.AstBuild) -> isl.AstNode:
        name = f"leaf{len(leaves)}"
        leaves[name] = leaf.get_schedule()
        return node.set_annotation(isl.Id.read_from_str(isl.DEFAULT_CONTEXT, name))

    watched, _ = build.set_at_each_domain(at_leaf)
    known = isl.UnionMap.from_map(schedule.compute_divs())
    return watched.node_from_schedule_map(known), leaves


def _union(leaves: Leaves) -> isl.UnionSet:
    run = isl.UnionSet("{ }")
    for schedule in leaves.values():
        run = run.union(schedule.domain())
    return run


def interval(values: isl.Set, context: isl.Set) -> tuple[Value, Value]:
    """Return the least and the greatest of `[p] -> { [v] }`, for a set that is not empty.

    As the bounds of a loop over the set, which isl writes with `max` and `min`; where that takes
    several loops, as the set's piecewise minimum and maximum.
    """
    complete = _complete(isl.AstBuild.from_context(context), _lexicographic(values), context)
    if complete is not None and complete[0].get_type() == Kind.for_:
        node = complete[0]
        if node.for_is_degenerate():
            return (plain(node.for_get_init()),) * 2
        condition = node.for_get_cond()
        simple = condition.get_op_type() == Op.le and node.for_get_inc().to_C_str() == "1"
        if simple and node.for_get_body().get_type() == Kind.user:
            return plain(node.for_get_init()), plain(condition.get_op_arg(1))
    known = values.intersect_params(context)
    return express(known.dim_min(0), context), express(known.dim_max(0), context)


def _ids(names: Sequence[str]) -> isl.IdList:
    result = isl.IdList.alloc(isl.DEFAULT_CONTEXT, len(names))
    for name in names:
        result = result.add(isl.Id.read_from_str(isl.DEFAULT_CONTEXT, name))
    return result


def _nest(node: isl.AstNode, leaves: Leaves, depth: int) -> Nest:
    kind = node.get_type()
    if kind == Kind.for_:
        return _loop(node, leaves, depth + 1)
    if kind == Kind.if_:
        return Branch(
            condition=plain(node.if_get_cond()),
            then=_nest(node.if_get_then_node(), leaves, depth),
            otherwise=_nest(node.if_get_else_node(), leaves, depth)
            if node.if_has_else_node()
            else None,
        )
    if kind == Kind.block:
        children = node.block_get_children()
        listed = [children.get_at(k) for k in range(children.n_ast_node())]
        return Series(children=tuple(_nest(child, leaves, depth) for child in listed))
    call = node.user_get_expr()
    arguments = range(1, call.op_get_n_arg())
    reaching = leaves[node.get_annotation().get_name()]
    return Instance(
        arguments=tuple(plain(call.op_get_arg(k)) for k in arguments),
        instances=isl.Set.from_union_set(reaching.domain()),
        times=isl.Set.from_union_set(reaching.range()),
    )


def _loop(node: isl.AstNode, leaves: Leaves, depth: int) -> Loop:
    once = node.for_is_degenerate()
    return Loop(
        iterator=node.for_get_iterator().get_id().get_name(),
        start=plain(node.for_get_init()),
        condition=None if once else plain(node.for_get_cond()),
        step=Number(1) if once else plain(node.for_get_inc()),
        body=_nest(node.for_get_body(), leaves, depth),
        depth=depth,
    )

# --- Values that loops run over -------------------------------------------------------------------

SPELLED = {"==": "=", "%": "mod"}
"""The signs of isl's text for operations between arguments that have other signs in programs."""

FUNCTIONS = ("max", "min")


def list_iterations(
    iterators: Sequence[str], conditions: Sequence[Value], constants: Sequence[str]
) -> isl.Set | None:
    """Return [constants] -> { [iterators] } under conditions on both.

    None where isl cannot read them: they use other names, or are not affine.
    """
    told = " and ".join(f"({_spell(each)})" for each in conditions) or "true"
    text = f"[{', '.join(constants)}] -> {{ [{', '.join(iterators)}] : {told} }}"
    try:
        return isl.Set(text)
    except isl.Error:
        return None


def _spell(value: Value) -> str:
    """Return a value, or a condition, as isl reads it."""
    match value:
        case Number(number):
            return str(number)
        case Name(name):
            return name
        case Operation(sign, arguments):
            return _spell_operation(sign, [_enclose(each) for each in arguments])
        case _:
            return "?"


def _enclose(value: Value) -> str:
    return f"({_spell(value)})" if isinstance(value, Operation) else _spell(value)


def _spell_operation(sign: str, parts: Sequence[str]) -> str:
    if sign in FUNCTIONS:
        return f"{sign}({', '.join(parts)})"
    if sign in ("/", "floord"):
        return f"floor({parts[0]} / {parts[1]})"
    if sign == "negative":
        return f"-{parts[0]}"
    return f" {SPELLED.get(sign, sign)} ".join(parts)
