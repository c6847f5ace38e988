"""Checks of an edited memory.isl, and of tasks that stay inside their arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.layer.memory.arranging import find_late_uses, find_order
from lairmake.stages.layer.memory.arrays import (
    Keeping,
    ProgramArray,
    find_uses,
    list_adapting,
    list_computing,
    may_share,
)
from lairmake.stages.layer.memory.events import EventOrder, order_adapting
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import ALWAYS, RESTART
from lairmake.stages.layer.texts.simd_yaml import (
    GivenDecision,
    LocalDecision,
    StepDecision,
    TableDecision,
)
from lairmake.stages.layer.vector.operands import find_calls
from lairmake.stages.machine.banks import PAIR, WORD
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.box import Shape
from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.functions import find_least
from lairmake.stages.poly.iscc import statements
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import SIDES

if TYPE_CHECKING:
    from lairmake.stages.layer.codegen.model import Model, ProgramModel
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.poly.text import Objects

PARAM = isl.dim_type.param

# --- Addresses in memory.isl, checked -------------------------------------------------------------
#
# People may edit memory.isl. What an instruction of one array writes must not be what another one
# still needs: two arrays lie at one address only if all uses of one come before those of the other,
# whatever `lifetime` says.
#
# Paper    V Sec. 4.3

NAMES = ("local", "to_local", "lifetime", "address")
HINT = "take memory.isl out of `pin:` of layer.yaml, and build again"


def check_objects(objects: Objects, source: Source) -> None:
    """Raise UserError if memory.isl lacks an object, or has an array at no byte of memory."""
    for name in NAMES:
        if name not in objects:
            end = len(source.text.rstrip())
            raise UserError(f"{name} is missing", Span(source=source, start=end, end=end), HINT)
    for each in list_maps(objects["address"]):
        first = find_least(each.range(), 0)
        if not first.is_int() or first.is_neg():
            array = each.get_tuple_name(isl.dim_type.in_)
            raise _wrong(f"{array} begins at no byte of memory", "address", source)


def check_placed(model: Model, profile: Profile, source: Source) -> None:
    """Raise UserError if arrays that are needed at a time lie in one place, or not aligned."""
    keeping = Keeping(work=model, routes=model.routes, profile=profile)
    for message, said in _list_wrong(keeping, model):
        raise _wrong(message, said, source)


def _wrong(message: str, said: str, source: Source) -> UserError:
    start = next(each.start for each in statements(source.text) if each.name == said)
    return UserError(message, Span(source=source, start=start, end=start + len(said)), HINT)


def _list_wrong(keeping: Keeping, model: Model) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, and in which object of memory.isl."""
    yield from _list_computing(keeping, model)
    yield from _list_unpaired(model)
    for side, described in SIDES.items():
        arrays = list_adapting(keeping, side, find_uses(model, side))
        addresses = model.placed.addresses.get(f"adapter_{described.word}", {})
        yield from _list_astray(arrays, addresses)
        together = _find_together(arrays, addresses)
        if together:
            yield from _list_shared(together, arrays, order_adapting(keeping.graph, side))


def _list_computing(keeping: Keeping, model: Model) -> Iterator[tuple[str, str]]:
    """Yield what is wrong of computing PEs."""
    found, addresses = list_computing(keeping, {}), model.placed.addresses.get("compute", {})
    yield from _list_astray(found, addresses)
    together = _find_together(found, addresses)
    late = [each for each in model.of_kind(task_graph.Initialise).values() if _is_late(each, model)]
    if not together and not late:
        return
    order = find_order(keeping)
    uses, allowed = find_uses(model, ""), find_late_uses(model, order)
    for local in (f"{task.tensor}_local" for task in late):
        if allowed.get(local) == uses.get(local):
            yield f"{local} is needed from the start of an invocation", "lifetime"
        uses[local] = allowed.get(local)
    yield from _list_shared(together, list_computing(keeping, uses), order)


def _is_late(task: task_graph.Initialise, model: Model) -> bool:
    """Say whether memory.isl lets a tensor get its first value only when it is computed."""
    return not {RESTART, ALWAYS} & model.placed.lives.get(
        model.graph.find_local(task.tensor), frozenset())


def _list_astray(
    arrays: Sequence[ProgramArray], addresses: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    for array in arrays:
        if addresses.get(array.name, 0) % BYTES[array.type]:
            start = addresses[array.name]
            yield f"{array.name} begins at byte {start}, where no {array.type} may", "address"


def _list_unpaired(model: Model) -> Iterator[tuple[str, str]]:
    """Yield the streams of pairs of elements that do not lie at 32 bits."""
    addresses = model.placed.addresses.get("compute", {})
    for name in (name for name, each in model.simd.items() if each.paired):
        (operand,) = model.simd[name].operands
        assert isinstance(operand, LocalDecision), "pairs lie in memory"
        local, _, first = _find_array(operand, name, model)
        first = first.add(_as_function(addresses.get(local, 0) // WORD))
        odd = first.mod_val(PAIR).ne_set(NOTHING).params()
        if not odd.is_disjoint(model.known(name)):
            yield f"{name} moves pairs of {local}, which do not lie at 32 bits", "address"


def _find_together(
    arrays: Sequence[ProgramArray], addresses: Mapping[str, int]
) -> list[tuple[str, str]]:
    """Return the pairs of arrays that have bytes in common."""
    there = [array for array in arrays if array.name in addresses]
    return [
        (one.name, other.name)
        for one, other in combinations(there, 2)
        if addresses[one.name] < addresses[other.name] + other.bytes
        and addresses[other.name] < addresses[one.name] + one.bytes
    ]


def _list_shared(
    together: Sequence[tuple[str, str]], arrays: Sequence[ProgramArray], order: EventOrder
) -> Iterator[tuple[str, str]]:
    named = {array.name: array for array in arrays}
    for one, other in together:
        if not may_share(named[one], named[other], order):
            yield f"{one} and {other} lie in one place, and are needed at a time", "address"

# --- Tasks inside their arrays, checked -----------------------------------------------------------
#
# Loops in C may leave an array, and the fabric does not see it. Which instances a task has, and
# where elements lie, stands in texts that people may edit.
#
# Paper    V Sec. 4.3

MOST_OPERATIONS = 5_000_000
"""Operations that isl may spend on finding what a task accesses."""


def check_inside(work: ProgramModel) -> None:
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
            _check_entries(name, table, described, known)
        for step in decision.steps:
            if step.by == "loops":
                _check_loops(name, step, work)


def _check_instances(name: str, work: ProgramModel, placed: Mapping[str, isl.Set]) -> None:
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


def _check_entries(name: str, table: str, described: TableDecision, known: isl.Set) -> None:
    """Raise UserError if some entries that are looked up do not fit into the type of a table."""
    most = (1 << (8 * BYTES[described.type] - 1)) - 1
    found = isl.PwAff(described.value).intersect_params(known)
    if not found.gt_set(_as_function(most)).union(found.lt_set(_as_function(-most))).is_empty():
        raise UserError(f"{name} looks up more in {table} than {described.type} has")


def _list_entries(table: TableDecision) -> isl.Set:
    """Return [index] -> { : the table has an entry for it }."""
    end = table.least + table.entries
    return isl.Set(f"[{table.by}] -> {{ : {table.least} <= {table.by} < {end} }}")


def _check_loops(name: str, step: StepDecision, work: ProgramModel) -> None:
    """Raise UserError if an operand of a step's loops reaches beyond its array in some call.

    Where it begins at what is looked up, only how far it reaches is looked at; isl may have to work
    long where that differs, and then nothing is.
    """
    decision = work.simd[name]
    guard = decision.guard if isinstance(decision.guard, str) else None
    calls = find_calls(work.known(name), guard, decision.outer)
    every = [_as_function(size) for size in work.simd[name].sizes or ()]
    sizes = every if step.over is None else [every[k] for k in step.over]
    for size in sizes:
        calls = calls.intersect(size.gt_set(NOTHING))
    for operand in step.operands:
        if isinstance(operand, LocalDecision | GivenDecision):
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


def _find_array(
    operand: LocalDecision | GivenDecision, name: str, work: ProgramModel
) -> tuple[str, Shape, isl.PwAff]:
    """Return the array of an operand, and where in it the operand begins."""
    if isinstance(operand, GivenDecision):
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
