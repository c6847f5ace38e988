"""Objects of adapted.isl, routes.isl, memory.isl, instances.isl and compressions.isl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import prod
from typing import Literal

import islpy as isl

from lairmake.stages.poly.canonical import letters, list_maps, unite
from lairmake.stages.poly.functions import find_least
from lairmake.stages.poly.sides import Rectangle, bounding_rectangle
from lairmake.stages.poly.text import Objects

# --- Objects of adapted.isl -----------------------------------------------------------------------
#
# The layer is on its computing PEs; borders for adapters are peeled off.
#
# Paper    V Sec. 4.2, (5) (6) (10)

@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """The objects of adapted.isl; what it does not have is empty.

    `target` are the PEs that compute, `grid` these and the adapters; `placement` { S[i] -> PE }.
    `sources`, `arrivals`, `departures` and `collected` are { T[e] -> [PE -> index] }: how tensors
    reach the grid, and the computing PEs, how they leave these, and the adapters that collect them.
    `moves` are { T[e] -> [PE -> PE'] }: PE computes what T[e] is in the next invocation, and PE'
    needs it. `feedback` is { T_feedback[e] -> T[e] }; `reads`, `views` and `carried` are those of
    lair.isl with T_feedback, None where they are the same. `parts` are { T[e] -> port } at which a
    stream is taken, by name.
    """

    target: Rectangle
    grid: Rectangle
    placement: isl.UnionMap
    sources: isl.UnionMap
    arrivals: isl.UnionMap
    departures: isl.UnionMap
    collected: isl.UnionMap
    moves: isl.UnionMap
    feedback: isl.UnionMap
    reads: isl.UnionMap | None
    views: isl.UnionMap | None
    carried: isl.UnionMap | None
    parts: Mapping[str, isl.UnionMap]

    @property
    def offset(self) -> tuple[int, int]:
        """x and y in layer.yaml of PE[0, 0]: there the grid begins with PE[0, 0]."""
        return -self.grid.left, -self.grid.top


def read_adapted(objects: Objects) -> Adapted:
    """Return what the objects of adapted.isl say."""
    none, known = isl.UnionMap("{ }"), {field.name for field in fields(Adapted)}
    return Adapted(
        target=_rectangle(objects["target"]),
        grid=_rectangle(objects["grid"]),
        placement=objects["placement"],
        sources=objects["sources"],
        arrivals=objects["arrivals"],
        departures=objects["departures"],
        collected=objects.get("collected", none),
        moves=objects.get("moves", none),
        feedback=objects.get("feedback", none),
        reads=objects.get("reads"),
        views=objects.get("views"),
        carried=objects.get("carried"),
        parts={name: objects[name] for name in objects if "_part" in name and name not in known},
    )


def _rectangle(pes: isl.UnionSet) -> Rectangle:
    return bounding_rectangle(isl.Set.from_union_set(pes))

# --- Objects of routes.isl ------------------------------------------------------------------------
#
# They are the routes of each colour, and which PEs take part in streams, and how.
#
# Paper    V Sec. 4.2

RoutesObject = isl.UnionMap | isl.UnionSet | isl.Map | isl.Set
Said = Literal[
    "taken", "adapters", "ports", "filter", "chain", "first", "last", "even", "odd", "out", "reach",
    "line", "forwarding", "between", "nearest", "copied", "copied_filter",
    "then", "then2", "then3", "turned", "east", "west", "south", "north",
]
NOWHERE = isl.Set("{ PE[x, y] : false }")
Part = tuple[str, Said]
"""A stream, and what is said of it."""

SAID: Mapping[Said, str] = {
    "taken": "which PE takes which element of arrival N",
    "adapters": "PEs that spread arrival N, or collect departure N",
    "ports": "where arrival N enters",
    "filter": "the index from and up to which a router hands it to its PE",
    "chain": "PEs that sum departure N, or collection N, on its way out",
    "first": "those where it starts",
    "last": "those that send its sums to their ports, or back",
    "even": "a colour from one PE of a chain, or a line, to the next",
    "odd": "the other one",
    "out": "that from the last adapter to the port",
    "reach": "{ port -> PE }, to which adapter a port is next",
    "line": "PEs among which arrival N, or N_source along the border, is forwarded",
    "forwarding": "those that send it on",
    "between": "those of them that take nothing",
    "nearest": "those that hear it on the colour N_in",
    "copied": "its routes if routers copied",
    "copied_filter": "its filter then",
    "then": "where PEs get replicas of their own, the second position of its routers",
    "then2": "the third one",
    "then3": "the fourth one",
    "turned": "the second position of routers that turn between the sides of an axis of a halo",
    "east": "what moves to the neighbour in the east in halo N, { element -> [PE -> neighbour] }",
    "west": "in the west",
    "south": "in the south",
    "north": "in the north",
}
"""Meanings of the names in routes.isl: such a name is that of the stream, and then one of these."""


def named(stream: str, said: Said) -> str:
    """Return the name in routes.isl of what is said of a stream."""
    return f"{stream}_{said}"


@dataclass(frozen=True, slots=True)
class Routing:
    """The objects of routes.isl, those of colours by their names."""

    objects: Mapping[str, RoutesObject]

    def has(self, stream: str, said: Said) -> bool:
        """Return whether something is said of a stream."""
        return named(stream, said) in self.objects

    def colour(self, name: str) -> isl.UnionMap:
        """Return the routes of a colour, or of one of its positions."""
        return _union(self.objects[name])

    def relations(self, stream: str, said: Said) -> isl.UnionMap:
        """Return the relations that are said of a stream."""
        return _union(self.objects[named(stream, said)])

    def relation(self, stream: str, said: Said) -> isl.Map:
        """Return the relation, in one space, that is said of a stream."""
        return isl.Map.from_union_map(self.relations(stream, said))

    def pes(self, stream: str, said: Said) -> isl.Set:
        """Return the PEs { PE[x, y] } that are said of a stream, or to which it relates others."""
        found = self.objects[named(stream, said)]
        found = found.range() if isinstance(found, isl.UnionMap | isl.Map) else found
        if isinstance(found, isl.Set):
            return found
        return NOWHERE if found.is_empty() else isl.Set.from_union_set(found)


def _union(found: RoutesObject) -> isl.UnionMap:
    assert isinstance(found, isl.UnionMap | isl.Map), "routes, and what relates, are relations"
    return isl.UnionMap.from_map(found) if isinstance(found, isl.Map) else found

# --- Objects of memory.isl ------------------------------------------------------------------------
#
# They are the shapes of local tensors, and the addresses and lives of arrays.
#
# Paper    V Sec. 4.3, 5.3

RESTART, COMPLETE = "restart", "complete"
"""The first and the last event of an invocation on a PE."""
ALWAYS = "always"
"""The word for the events between which an array is needed that lasts."""


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
class PlacedText:
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


def read_placed(objects: Objects) -> PlacedText:
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
    return PlacedText(
        addresses=addresses, lives={name: frozenset(events) for name, events in lives.items()}
    )

# --- Objects of instances.isl and compressions.isl ------------------------------------------------
#
# Paper    V Sec. 5.1 and 5.2

TaskObject = isl.UnionSet | isl.UnionMap


@dataclass(frozen=True, slots=True)
class Instances:
    """The objects of instances.isl, by task."""

    objects: Mapping[str, TaskObject]

    def of(self, task: str) -> isl.Set:
        """Return [PE_X, PE_Y, index...] -> { instance }, V (12)."""
        return _set(self.objects[task])

    def known(self, task: str) -> isl.Set:
        """Return the symbolic constants with which a task is invoked, V (15)."""
        return _set(self.objects[_known(task)])

    def access(self, task: str) -> isl.UnionMap | None:
        """Return { instance -> element }; None for a task without accesses."""
        found = self.objects.get(_access(task))
        return None if found is None else _relations(found)

    def invoked_where(self, task: str, known: isl.Set) -> Instances:
        """Return the same objects, with other symbolic constants for a task."""
        return Instances({**self.objects, _known(task): isl.UnionSet.from_set(known)})


@dataclass(frozen=True, slots=True)
class Compressions:
    """The objects of compressions.isl, by task."""

    objects: Mapping[str, TaskObject]

    def of(self, task: str) -> isl.Set:
        """Return the compressed instance set { [i] }, V (19)."""
        return _set(self.objects[task])

    def compression(self, task: str) -> isl.Map:
        """Return { [i] -> instance }, V (18)."""
        return isl.Map.from_union_map(_relations(self.objects[_compression(task)]))

    def accesses(self, task: str) -> list[isl.Map]:
        """Return { [i] -> element }, each in one space, V (26)."""
        return list_maps(_relations(self.objects[_access(task)]))


def invoked_objects(
    task: str, instances: isl.Set, known: isl.Set, access: isl.Map | isl.UnionMap | None,
    steps: isl.Map | None,
) -> dict[str, isl.Set | isl.Map | isl.UnionMap]:
    """Return what instances.isl has of a task; what is None is left out."""
    found: dict[str, isl.Set | isl.Map | isl.UnionMap]
    found = {task: instances, _known(task): known}
    found |= {} if access is None else {_access(task): access}
    return found | ({} if steps is None else {f"{task}_steps": steps})


def compressed_objects(
    task: str, compression: isl.Map, elements: isl.Set, access: isl.UnionMap | None
) -> dict[str, isl.Set | isl.Map | isl.UnionMap]:
    """Return what compressions.isl has of a task; what is None is left out."""
    found: dict[str, isl.Set | isl.Map | isl.UnionMap]
    found = {_compression(task): compression, task: elements}
    return found | ({} if access is None else {_access(task): access})


def _set(found: TaskObject) -> isl.Set:
    assert isinstance(found, isl.UnionSet), "tasks have sets of instances"
    return isl.Set.from_union_set(found)


def _relations(found: TaskObject) -> isl.UnionMap:
    assert isinstance(found, isl.UnionMap), "accesses and compressions are relations"
    return found


def _known(task: str) -> str:
    return f"{task}_known"


def _access(task: str) -> str:
    return f"{task}_access"


def _compression(task: str) -> str:
    return f"{task}_compression"
