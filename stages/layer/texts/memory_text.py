"""What memory.isl says: the shapes of local tensors, and where and how long arrays lie in memory.

Paper    V Sec. 4.3, 5.3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.poly.canonical import letters, list_maps, unite
from lairmake.stages.poly.functions import find_least
from lairmake.stages.poly.text import Objects

RESTART, COMPLETE = "restart", "complete"
"""The first and the last event of an invocation on a PE."""
ALWAYS = "always"
"""What stands for the events between which an array is needed that lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """The arrays of a role by name: shapes, bytes of an element, addresses, and their lives.

    Those are the first and last events of an invocation between which they are needed, or `always`.
    """

    shapes: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int]
    addresses: Mapping[str, int]
    lives: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The addresses of arrays by role, and the events of their lives, as memory.isl has them."""

    addresses: Mapping[str, Mapping[str, int]]
    lives: Mapping[str, frozenset[str]]


def arranged_objects(roles: Mapping[str, Arranged]) -> dict[str, isl.UnionMap]:
    """Return { array[] -> event[] } and { array[element] -> role[byte] }."""
    lives = [m for role in roles.values() for m in _lives(role)]
    places = (
        _address(name, role, arranged)
        for role, arranged in roles.items()
        for name in arranged.addresses
    )
    return {"lifetime": unite(lives).coalesce(), "address": unite(places)}


def _lives(arranged: Arranged) -> Iterator[isl.Map]:
    for name, events in arranged.lives.items():
        yield from (isl.Map(f"{{ {name}[] -> {event}[] }}") for event in events)


def _address(name: str, role: str, arranged: Arranged) -> isl.Map:
    """Return { array[i] -> role[address + bytes of an element * place of i] }."""
    shape, size = arranged.shapes[name], arranged.sizes[name]
    names = letters(len(shape))
    steps = [size * prod(shape[k + 1 :]) for k in range(len(shape))]
    byte = " + ".join([str(arranged.addresses[name]), *(
        f"{step} {index}" for step, index in zip(steps, names, strict=True)
    )])
    inside = " and ".join(f"0 <= {i} < {n}" for i, n in zip(names, shape, strict=True)) or "true"
    return isl.Map(f"{{ {name}[{', '.join(names)}] -> {role}[{byte}] : {inside} }}")


def read_placed(objects: Objects) -> Placed:
    """Return what memory.isl says of where arrays lie: the byte of the first element of each."""
    addresses: dict[str, dict[str, int]] = {}
    for each in list_maps(objects["address"]):
        role, name = (each.get_tuple_name(end) for end in (isl.dim_type.out, isl.dim_type.in_))
        first = find_least(each.range(), 0).to_python()
        addresses.setdefault(role, {})[name] = first
    lives: dict[str, set[str]] = {}
    for each in list_maps(objects["lifetime"]):
        array, event = (each.get_tuple_name(end) for end in (isl.dim_type.in_, isl.dim_type.out))
        lives.setdefault(array, set()).add(event)
    return Placed(
        addresses=addresses, lives={name: frozenset(events) for name, events in lives.items()}
    )
