"""Bases of operands that are the same, or at affine distances from each other: found once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.layer.codegen.model import value
from lairmake.stages.layer.texts.simd_yaml import (
    Decision,
    LocalDecision,
    OperandDecision,
)
from lairmake.stages.layer.texts.task_graph import AT_RUN_TIME
from lairmake.stages.pe.block import Block, count_kinds
from lairmake.stages.pe.names import IdentifierNaming
from lairmake.stages.pe.nodes import Declare
from lairmake.stages.poly.functions import is_affine_function

# --- Bases that are found once --------------------------------------------------------------------
#
# The index at which an operand begins may depend on the PE by cases, as at the ends of a field.
# Where operands begin at affine distances from each other, as the taps of a stencil do, the first
# index is found once, before loops around the instructions, and the others are affine in it.
#
# Source   common subexpressions, loop-invariant code motion

PARAM = isl.dim_type.param


@dataclass(slots=True, kw_only=True)
class _Shared:
    """A function of the PE, the name of the variable that has its value, and how many use it."""

    of: isl.PwAff
    name: str
    uses: int = 0


def share_bases(
    block: Block,
    decision: Decision,
    context: isl.Set,
    loops: Sequence[str],
    naming: IdentifierNaming,
) -> Decision:
    """Return a decision whose bases use variables, which are declared in a block before `loops`.

    `context` are the symbolic constants, those of loops included. Bases that depend on what a call
    finds first, or looks up, stay as they are.
    """
    if decision.by in AT_RUN_TIME or decision.tables:
        return decision
    shared: list[_Shared] = []
    found: dict[str, tuple[isl.PwAff, _Shared]] = {}
    uses = Counter(base for base in _list_bases(decision) if isinstance(base, str))
    for base, number in uses.items():
        function = isl.PwAff(base)
        if is_affine_function(function, context):
            continue
        here = _find_shared(function, shared, context, loops, naming)
        if here is not None:
            here.uses += number
            found[base] = (function.sub(here.of).gist(context).coalesce(), here)
    texts = {
        base: str(apart.add(isl.PwAff(f"[{one.name}] -> {{ [({one.name})] }}")))
        for base, (apart, one) in found.items() if one.uses > 1
    }
    used = {one.name for _, one in found.values() if one.uses > 1}
    for one in shared:
        if one.name in used:
            index = value(str(one.of), context)
            block.add(Declare(one.name, "int", index))
            block.charge(**count_kinds(index))
    return _replaced(decision, texts) if texts else decision


def _list_bases(decision: Decision) -> Iterator[int | str]:
    for operands in (decision.operands, *(step.operands for step in decision.steps)):
        for operand in operands:
            if isinstance(operand, LocalDecision):
                yield from operand.base


def _find_shared(
    function: isl.PwAff,
    shared: list[_Shared],
    context: isl.Set,
    loops: Sequence[str],
    naming: IdentifierNaming,
) -> _Shared | None:
    """Return what a function is at an affine distance from; None if it varies in loops otherwise.
    """
    for one in shared:
        if is_affine_function(function.sub(one.of), context):
            return one
    still = _without(function, context, loops)
    if still is None:
        return None
    number = len(shared)
    shared.append(_Shared(of=still, name=naming.of(f"start {number}", f"start{number}")))
    return shared[-1]


def _without(function: isl.PwAff, context: isl.Set, loops: Sequence[str]) -> isl.PwAff | None:
    """Return a function less multiples of the variables of loops; None if it depends on them still.
    """
    for name in loops:
        by = _find_factor(function, name)
        function = function.sub(isl.PwAff(f"[{name}] -> {{ [({by}{name})] }}"))
    function = function.gist(context).coalesce()
    places = (function.find_dim_by_name(PARAM, name) for name in loops)
    if any(at >= 0 and function.involves_dims(PARAM, at, 1) for at in places):
        return None
    return function


def _find_factor(function: isl.PwAff, name: str) -> int:
    """Return the factor of a symbolic constant in the first piece of a function, if it is whole."""
    at = function.find_dim_by_name(PARAM, name)
    if at < 0:
        return 0
    factor = function.get_pieces()[0][1].get_coefficient_val(PARAM, at)
    return int(factor.to_python()) if factor.is_int() else 0


def _replaced(decision: Decision, texts: Mapping[str, str]) -> Decision:
    """Return a decision with other texts of bases."""

    def operands(given: Sequence[OperandDecision]) -> tuple[OperandDecision, ...]:
        return tuple(
            replace(each, base=tuple(texts.get(str(base), base) for base in each.base))
            if isinstance(each, LocalDecision) else each
            for each in given
        )

    steps = tuple(replace(step, operands=operands(step.operands)) for step in decision.steps)
    return replace(decision, operands=operands(decision.operands), steps=steps)
