"""Ways to place some statements of a layer, and what they would take.

Source   design, Placement by search
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import islpy as isl

from lairmake.stages.layer.search.known import Option

Interval = tuple[int, int]
Parted = tuple[frozenset[int], ...]
Kind = tuple[Parted, Parted]
Figures = tuple[int, int, int]

ALIKE = 3
"""How many ways are kept of which nothing is known that tells them apart: as many as there are
forms of a coordinate, blocks, blocks within larger ones, and cyclic."""

BORDERS = {"N": (1, 0), "S": (1, 1), "W": (0, 0), "E": (0, 1)}
"""The axis that leads to a border, and at which end of it it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a statement runs: a column and a row, and the spans of its iterators on a PE."""

    x: Option
    y: Option
    spans: tuple[int, ...]
    runs: tuple[int, ...]

    @property
    def axes(self) -> tuple[Option, Option]:
        """Both."""
        return self.x, self.y


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The statements placed so far, and what they take: cycles of work, and of what moves.

    `kept` are bytes by tensor, `used` the least and greatest column and row, `free` the sides that
    adapters need; `around` says whether some of them need any, to bring back what others need, and
    `collects` whether some do to sum what may leave anywhere, of which no lane has all parts.
    """

    places: Mapping[str, Place] = field(default_factory=dict)
    work: float = 0
    moved: Mapping[str, float] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    used: tuple[Interval, Interval] | None = None
    free: frozenset[str] = frozenset()
    around: bool = False
    collects: bool = False

    @property
    def cycles(self) -> int:
        """All cycles."""
        return round(self.work + sum(self.moved.values()))

    @property
    def memory(self) -> int:
        """All bytes."""
        return sum(self.kept.values())

    @property
    def area(self) -> int:
        """The PEs of the rectangle around all that run statements."""
        return prod(high - low + 1 for low, high in self.used or ())


def are_free(sides: Iterable[str], used: tuple[Interval, Interval], extents: Interval) -> bool:
    """Say whether no instance is on the borders of some sides of a target of some extents."""
    for side in sides:
        axis, end = BORDERS[side]
        if used[axis][end] == (extents[axis] - 1 if end else 0):
            return False
    return True


def extend_used(used: tuple[Interval, Interval] | None, place: Place) -> tuple[Interval, Interval]:
    """Return the least and greatest column and row with one statement more."""
    x, y = ((option.at.low, option.at.high) for option in place.axes)
    if used is None:
        return x, y
    return _hull(used[0], x), _hull(used[1], y)


def _hull(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])


def choose_different(states: Sequence[State], most: int, *, mirrored: bool = False) -> list[State]:
    """Return states, the best of each kind first, and then the best of the others.

    Two are of one kind if each statement is parted along the same iterators. Of those of one kind
    of which nothing else is known that tells them apart, a few are enough, and one of two that are
    `mirrored`, if a layer can be: the columns of one are the rows of the other.
    """
    kinds: dict[Kind, State] = {}
    alike: dict[tuple[Kind, Figures], int] = {}
    others = []
    for state in states:
        figures, kind = (state.cycles, state.memory, state.area), _kind_of(state)
        other = kind[1], kind[0]
        if mirrored and other != kind and (other, figures) in alike:
            continue
        alike[kind, figures] = alike.get((kind, figures), 0) + 1
        if kinds.setdefault(kind, state) is not state and alike[kind, figures] <= ALIKE:
            others.append(state)
    return [*kinds.values(), *others][:most]


def _kind_of(state: State) -> Kind:
    """Return along which iterators each statement is parted in columns, and in rows."""
    columns, rows = (
        tuple(place.axes[axis].at.parted for place in state.places.values()) for axis in (0, 1)
    )
    return columns, rows


def place_all(state: State) -> isl.UnionMap:
    """Return { S[i] -> PE[x, y] } of all statements."""
    result = isl.UnionMap("{ }")
    for place in state.places.values():
        both = place.x.at.relation.flat_range_product(place.y.at.relation)
        pe = both.set_tuple_name(isl.dim_type.out, "PE")
        result = result.union(isl.UnionMap.from_map(pe))
    return result
