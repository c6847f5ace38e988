"""What routes.isl says: the routes of each colour, and of streams which PEs take part, and how.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import islpy as isl

RoutesObject = isl.UnionMap | isl.UnionSet | isl.Map | isl.Set
Said = Literal[
    "taken", "adapters", "ports", "filter", "chain", "first", "last", "even", "odd", "out", "reach",
    "line", "forwarding", "between", "nearest", "copied", "copied_filter",
    "then", "then2", "then3",
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
}
"""What each of them is: a name in routes.isl is that of the stream, and then this."""


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
