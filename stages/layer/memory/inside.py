"""Whether tasks stay inside of their arrays: what is a loop in C does so unseen by the fabric.

Which instances a task has, and where elements lie, stands in texts that people may edit.

Paper    V Sec. 4.3
"""

from __future__ import annotations

import contextlib
import typing
from collections.abc import Callable, Mapping, Sequence
from math import prod

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.texts.yaml_files import Given, Local, StepDecision, Table
from lairmake.stages.poly.box import Shape
from lairmake.stages.poly.functions import PARAM, bind_set
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.codegen.model import Work

MOST_OPERATIONS = 5_000_000
"""How much isl may work to find what a task accesses, in its own unit."""


def check_inside(work: Work) -> None:
    """Raise UserError if a task accesses, in C, what is no element of an array in memory."""
    placed = {t: _within(to_local, work.shapes) for t, to_local in work.to_local.items()}
    for name in work.tasks:
        _check_instances(name, work, placed)
        if (decision := work.simd.get(name)) is None:
            continue
        known = work.known(name)
        if isinstance(decision.guard, str):
            known = known.intersect(isl.Set(decision.guard))
        for table, described in decision.tables.items():
            if not known.is_subset(_list_entries(described)):
                raise UserError(f"{name} looks up entries that {table} does not have")
        for step in decision.steps:
            if step.by == "loops":
                _check_loops(name, step, work)


def _check_instances(name: str, work: Work, placed: Mapping[str, isl.Set]) -> None:
    """Raise UserError unless { T[e] : an instance accesses it } is a subset of T[e] with a place.

    isl may have to work long for that where elements are far from affine: then they are not looked
    at.
    """
    here = work.instance_set(name).intersect_params(work.known(name))
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        for tensor, access in work.elements(name).items():
            if not here.apply(access).is_subset(placed[tensor]):
                raise UserError(f"{name} accesses what has no place in {tensor}_local")


def _within(to_local: isl.Map, shapes: Mapping[str, Shape]) -> isl.Set:
    """Return { T[e] } of the elements whose place is inside of the shape of T_local."""
    shape = shapes[to_local.get_tuple_name(isl.dim_type.out)]
    places = isl.Set.universe(to_local.get_space().range())
    for position, size in enumerate(shape):
        places = places.lower_bound_val(isl.dim_type.set, position, 0)
        places = places.upper_bound_val(isl.dim_type.set, position, size - 1)
    return to_local.intersect_range(places).domain()


def _list_entries(table: Table) -> isl.Set:
    """Return [index] -> { : the table has an entry for it }."""
    end = table.least + table.entries
    return isl.Set(f"[{table.by}] -> {{ : {table.least} <= {table.by} < {end} }}")


def _find_calls(name: str, work: Work) -> isl.Set:
    """Return the symbolic constants of calls, those of loops over rows included."""
    decision, calls = work.simd[name], work.known(name)
    if isinstance(decision.guard, str):
        calls = calls.intersect(isl.Set(decision.guard))
    if decision.outer is None:
        return calls
    outer = isl.Set(decision.outer)
    names = [f"outer{k}" for k in range(outer.dim(isl.dim_type.set))]
    return calls.intersect(bind_set(outer, names))


def _check_loops(name: str, step: StepDecision, work: Work) -> None:
    """Raise UserError if an operand of a step's loops reaches beyond its array in some call.

    Where it begins at what is looked up, only how far it reaches is looked at; isl may have to work
    long where that differs, and then nothing is.
    """
    calls = _find_calls(name, work)
    every = [_as_function(size) for size in work.simd[name].sizes or ()]
    sizes = every if step.over is None else [every[k] for k in step.over]
    for size in sizes:
        calls = calls.intersect(size.gt_set(NOTHING))
    for operand in step.operands:
        if isinstance(operand, Local | Given):
            array, shape, first = _find_array(operand, name, work)
            least, greatest = (_reach(operand.strides, sizes, pick) for pick in (min, max))
            known = {*calls.get_var_names_not_none(PARAM)}
            start = first if _names_in(first) <= known else least.neg()
            with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
                beyond = start.add(least).lt_set(NOTHING)
                end = start.add(greatest)
                beyond = beyond.union(end.ge_set(_as_function(prod(shape))))
                if not calls.is_disjoint(beyond):
                    raise UserError(f"{name} accesses more elements of {array} than there are")


def _reach(
    strides: Sequence[int], sizes: Sequence[isl.PwAff], pick: Callable[[int, int], int]
) -> isl.PwAff:
    """Return how far the least or the greatest element is from the first one, by `pick`."""
    found = NOTHING
    for stride, size in zip(strides, sizes, strict=True):
        found = found.add(size.sub(ONE).scale_val(pick(0, stride)))
    return found


def _find_array(operand: Local | Given, name: str, work: Work) -> tuple[str, Shape, isl.PwAff]:
    """Return the array of an operand, and where in it the operand begins."""
    if isinstance(operand, Given):
        parts = work.simd[name].parts or ()
        elements = parts[operand.part].elements if operand.part < len(parts) else 0
        return f"part {operand.part}", (elements,), NOTHING
    shape, first = work.shapes.get(operand.local, (0,)), NOTHING
    for index, size in zip(operand.base, shape, strict=True):
        first = first.scale_val(size).add(_as_function(index))
    return operand.local, shape, first


def _as_function(number: int | str) -> isl.PwAff:
    """Return a whole number, or a function of symbolic constants, as one."""
    return isl.PwAff(number if isinstance(number, str) else f"{{ [({number})] }}").floor()


def _names_in(function: isl.PwAff) -> set[str]:
    """Return the symbolic constants that a function involves."""
    names = function.get_var_names_not_none(PARAM)
    return {name for k, name in enumerate(names) if function.involves_dims(PARAM, k, 1)}


NOTHING, ONE = _as_function(0), _as_function(1)
