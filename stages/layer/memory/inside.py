"""Whether tasks stay inside of their arrays: what is a loop in C does so unseen by the fabric.

Which instances a task has, and where elements lie, stands in texts that people may edit.

Paper    V Sec. 4.3
"""

from __future__ import annotations

import contextlib
import typing
from collections.abc import Mapping
from math import prod

import islpy as isl

from stages.diagnose import UserError
from stages.layer.texts.decisions import Given, Local, Step, Table
from stages.poly.extremes import greatest_value
from stages.poly.local import Shape
from stages.poly.quota import TooManyOperations, limit_operations

if typing.TYPE_CHECKING:
    from stages.layer.pe.model import Work

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


def _check_loops(name: str, step: Step, work: Work) -> None:
    """Raise UserError if an operand of a step's loops has more elements than its array.

    Where the operand begins is looked at if that is the same for all calls.
    """
    every = [_find_greatest(size, work.known(name)) for size in work.simd[name].sizes or ()]
    sizes = every if step.over is None else [every[k] for k in step.over]
    for operand in step.operands:
        if isinstance(operand, Local | Given):
            array, shape, first = _find_array(operand, name, work)
            reaches = [s * (n - 1) for s, n in zip(operand.strides, sizes, strict=True)]
            least, greatest = (sum(pick(0, r) for r in reaches) for pick in (min, max))
            start = -least if first is None else first
            if start + least < 0 or start + greatest >= prod(shape):
                raise UserError(f"{name} accesses more elements of {array} than there are")


def _find_array(operand: Local | Given, name: str, work: Work) -> tuple[str, Shape, int | None]:
    """Return the array of an operand, and where in it the operand begins, None if that differs."""
    if isinstance(operand, Given):
        parts = work.simd[name].parts or ()
        elements = parts[operand.part].elements if operand.part < len(parts) else 0
        return f"part {operand.part}", (elements,), 0
    shape = work.shapes.get(operand.local, (0,))
    first = 0
    for index, size in zip(operand.base, shape, strict=True):
        if not isinstance(index, int):
            return operand.local, shape, None
        first = first * size + index
    return operand.local, shape, first


def _find_greatest(size: int | str, known: isl.Set) -> int:
    """Return a size, or the greatest one that it has."""
    if isinstance(size, int):
        return size
    greatest = greatest_value(isl.PwAff(size).intersect_params(known).floor())
    return int(greatest.to_python()) if greatest.is_int() else 1
