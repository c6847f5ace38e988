"""Several accesses of one statement to one tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.lair.tree import AccessSyntax, Expr, rewrite, walk

# --- Views of tensors -----------------------------------------------------------------------------
#
# A statement may access a tensor several times. The paper allows one access: so each further one is
# to a view, `u_2` of u, which has the elements of the tensor and its memory. No two statements have
# a view in common. Equal accesses are one.
#
# Paper    V Sec. 4.1.1, which has one access for each tensor and statement

def find_reads(expr: Expr) -> tuple[AccessSyntax, ...]:
    """Return the accesses of an expression, each once, in the order of their first appearance."""
    return tuple(dict.fromkeys(part for part in walk(expr) if isinstance(part, AccessSyntax)))


def name_views(layer: Layer) -> Layer:
    """Return a layer in which further accesses of statements to a tensor are to views."""
    taken = {*layer.tensors, *(statement.name for statement in layer.statements)}
    return replace(layer, statements=tuple(_name_further(s, taken) for s in layer.statements))


def find_views(layer: Layer) -> dict[str, str]:
    """Return the tensor of each view."""
    reads = (access for statement in layer.statements for access in statement.reads)
    return {access.view: access.tensor for access in reads if access.view is not None}


def _name_further(statement: Statement, taken: set[str]) -> Statement:
    """Return a statement with names for its views, which are then taken."""
    further = {access: _choose_name(access.tensor, taken) for access in _list_further(statement)}
    if not further:
        return statement

    def named(leaf: Expr) -> Expr:
        if not isinstance(leaf, AccessSyntax):
            return leaf
        return replace(leaf, view=further.get(leaf))

    expr = rewrite(statement.expr, named)
    return replace(statement, expr=expr, reads=find_reads(expr))


def _list_further(statement: Statement) -> Iterator[AccessSyntax]:
    """Yield the accesses of a statement to a tensor that another one before is to."""
    for number, access in enumerate(statement.reads):
        if any(access.tensor == before.tensor for before in statement.reads[:number]):
            yield access


def _choose_name(tensor: str, taken: set[str]) -> str:
    name = next(name for k in count(2) if (name := f"{tensor}_{k}") not in taken)
    taken.add(name)
    return name
