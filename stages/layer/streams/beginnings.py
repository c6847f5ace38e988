"""Sums whose elements get their first value from the statement itself, not before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.lair.statements import is_written_once
from lairmake.stages.lair.tree import Binary, Expr, NumberSyntax
from lairmake.stages.layer.streams.plan import is_reacting
from lairmake.stages.machine.types import is_integer
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.skewing.elements import find_running

if TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.layer.streams.plan import StreamPlan

# --- First values of sums -------------------------------------------------------------------------
#
# A sum begins as zero: where something arrives, while that is on its way, which costs nothing. A
# step over time waits for nothing that arrives. There the first product of each element is added
# to zero as it is computed, and nothing is read or written for it before; only elements that the
# statement does not compute get their zero.
#
# 0 + x is x, but for -0: a sum that begins as zero is never -0, as long as no fused product is too
# small for its type (IEEE 754, 6.3). 0 + (x + y) is (0 + x) + y: so zero is added to the first
# product of a sum of products, in the same instruction.

MOST_TAPS = 16
"""The most instances of an element of which the first is told from the others."""


def begins_itself(statement: Statement, plan: StreamPlan) -> bool:
    """Say whether a statement, which runs at once, gives the elements of a sum their first values.

    So do steps over time, if each element has one instance, or few that lie alike around it.
    """
    layer, streams = plan.streams.placed.layer, plan.streams
    target, read = statement.target.tensor, {access.tensor for access in statement.reads}
    waits = any(arrival.tensor in read for arrival in streams.arrivals.values())
    steps = any(carry.source == target for carry in layer.carries)
    if statement.op == "=" or not steps or waits or is_reacting(statement, streams):
        return False
    if target in plan.in_place or any(target == d.tensor for d in streams.departures.values()):
        return False
    return is_written_once(statement) or (statement.op == "+=" and _has_taps(statement, plan))


def _has_taps(statement: Statement, plan: StreamPlan) -> bool:
    """Say whether all elements have the same few instances, seen from the first one of each."""
    placed = plan.streams.placed
    running = find_running(placed.lair, placed.adapted.placement)
    every = isl.Map.from_union_map(from_domain(running, statement.name)).domain()
    writes = isl.Map.from_union_map(from_domain(placed.lair.writes, statement.name))
    by_element = writes.intersect_domain(every).reverse()
    where = isl.UnionMap.from_map(by_element).apply_range(running)
    if not where.is_single_valued():
        return False
    first = by_element.lexmin()
    taps = first.reverse().apply_range(by_element).deltas()
    if not taps.is_bounded() or cardinality(taps) > MOST_TAPS:
        return False
    shifted = taps.translation().intersect_domain(first.range()).range()
    return bool(shifted.is_equal(every))


def begin(statement: Statement, type_: str, *, once: bool) -> Statement:
    """Return a statement that assigns what a sum begins with; `once`: it is all of the sum."""
    expr = statement.expr
    if statement.op == "+=" and not (once and is_integer(type_)):
        expr = _add_to_zero(expr, pushed=once)
    return replace(statement, op="=", expr=expr)


def _add_to_zero(expr: Expr, *, pushed: bool) -> Expr:
    """Return 0 + expr; if `pushed`, zero is added to the first term of a sum."""
    if pushed and isinstance(expr, Binary) and expr.op in "+-":
        return replace(expr, left=_add_to_zero(expr.left, pushed=True))
    zero = NumberSyntax(value=0, span=expr.span)
    return Binary(op="+", left=zero, right=expr, span=expr.span)
