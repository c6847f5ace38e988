"""Whether memory.isl, which people may edit, still says where the arrays of PEs may lie.

What an instruction of one array writes must not be what another one still needs: two arrays lie at
one address only if all uses of one come before those of the other, whatever `lifetime` says.

Paper    V Sec. 4.3
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.layer.memory.arranging import find_late_uses, find_order
from lairmake.stages.layer.memory.best_fit import may_share
from lairmake.stages.layer.memory.events import Order, order_adapting
from lairmake.stages.layer.memory.kept import (
    Array,
    Keeping,
    find_uses,
    list_adapting,
    list_computing,
)
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import ALWAYS, RESTART
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.functions import find_least
from lairmake.stages.poly.iscc import statements
from lairmake.stages.poly.sides import SIDES

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.codegen.model import Model
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.poly.text import Objects

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
    return not {RESTART, ALWAYS} & model.placed.lives.get(f"{task.tensor}_local", frozenset())


def _list_astray(
    arrays: Sequence[Array], addresses: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    for array in arrays:
        if addresses.get(array.name, 0) % BYTES[array.type]:
            start = addresses[array.name]
            yield f"{array.name} begins at byte {start}, where no {array.type} may", "address"


def _find_together(
    arrays: Sequence[Array], addresses: Mapping[str, int]
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
    together: Sequence[tuple[str, str]], arrays: Sequence[Array], order: Order
) -> Iterator[tuple[str, str]]:
    named = {array.name: array for array in arrays}
    for one, other in together:
        if not may_share(named[one], named[other], order):
            yield f"{one} and {other} lie in one place, and are needed at a time", "address"
