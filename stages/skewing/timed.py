"""A statement in time and space, and what is broadcast in it when its PEs lag behind each other.

Paper    M Sec. II, III.A

A statement's time t becomes t + F p, with p the coordinates of its PE, as (x, y), and F of entries
-1, 0 and 1: one row for each dimension of time. So each PE keeps its order, and the transformation
of [t, p] is unimodular.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import mul

import islpy as isl

from lairmake.stages.poly.integers import Matrix
from lairmake.stages.skewing.grid import names, write_list
from lairmake.stages.skewing.links import Link
from lairmake.stages.skewing.matrices import identity, rank

Factors = tuple[tuple[int, ...], ...]
"""F: by how much time changes from PE to PE, in each of its dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A tensor that a statement uses, with the normals to its reuse space in [t..., p].

    `apart` { [p] -> [t] } has the vectors of that space between two points that use one element.
    For each link, `meeting` says whether there are such points on PEs linked by it, and `wish` in
    which direction these should pass the element on, or 0.
    """

    tensor: str
    reuse: Matrix = field(repr=False)
    apart: isl.Map = field(repr=False)
    meeting: tuple[bool, ...]
    wish: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A statement on its PEs: `points` is { S[i] -> [t..., p] }, with `times` dimensions t.

    PEs have `grid` coordinates p, of which `links` has the steps from a PE to its neighbours.
    `domain` has the normals to the space of all differences of its points.
    `targets` are the dimensions of time that may change, the first choice first; `constants` has
    the value of each dimension of time that has only one, and None for the others.
    """

    name: str
    points: isl.Map = field(repr=False)
    times: int
    grid: int
    links: tuple[Link, ...] = field(repr=False)
    domain: Matrix = field(repr=False)
    targets: tuple[int, ...]
    references: tuple[Reference, ...]
    constants: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Loss:
    """What is broadcast: dimensions of all broadcast spaces, and links along which they lead."""

    dimensions: int
    directions: int


def together(statement: Timed) -> Factors:
    """Return the F with which no PE lags behind another."""
    return ((0,) * statement.grid,) * statement.times


def loss(statement: Timed, factors: Factors) -> Loss:
    """Return what is broadcast with time t + F p to neighbours."""
    near = [r for r in statement.references if any(r.meeting)]
    spaces = [broadcast(statement, each, factors) for each in near]
    width = statement.times + statement.grid
    return Loss(
        dimensions=sum(width - rank(rows) for rows in spaces),
        directions=sum(
            _has_step(statement, rows, link.step) for rows in spaces for link in statement.links
        ),
    )


def parallel(statement: Timed, factors: Factors) -> int:
    """Return the number of dimensions of the placement space, in which time t + F p is one."""
    width = statement.times + statement.grid
    return width - rank([*statement.domain, *_times(statement, factors)])


def broadcast(statement: Timed, reference: Reference, factors: Factors) -> Matrix:
    """Return the normals to the broadcast space of a reference with time t + F p."""
    return [*reference.reuse, *_times(statement, factors)]


def dimensions(statement: Timed, reference: Reference, factors: Factors) -> int:
    """Return the number of dimensions of that space."""
    width = statement.times + statement.grid
    return width - rank(broadcast(statement, reference, factors))


def passes(statement: Timed, reference: Reference, factors: Factors) -> tuple[int, ...]:
    """Return, by link, the way to the PE that uses an element one step later: 1, or -1 against it.

    A step is one in one dimension of time. 0: no neighbour does, or all use it at one time.
    """
    space = broadcast(statement, reference, factors)
    return tuple(
        _passes(statement, reference, factors, link.ways)
        if meets and not _has_step(statement, space, link.step)
        else 0
        for link, meets in zip(statement.links, reference.meeting, strict=True)
    )


def _passes(statement: Timed, reference: Reference, factors: Factors, ways: isl.Set) -> int:
    """Return s if points (t, p) apart use one element, s p in `ways`, t + F p a unit vector; or 0.

    The innermost dimension of time is looked at first.
    """
    for row, way in itertools.product(reversed(range(statement.times)), (-1, 1)):
        later = _one_step(factors, row).intersect_domain(ways if way == 1 else ways.neg())
        if not later.intersect(reference.apart).is_empty():
            return way
    return 0


@lru_cache(maxsize=1024)
def _one_step(factors: Factors, row: int) -> isl.Map:
    """Return { [p] -> [t] : t + F p is the unit vector of a dimension of time }."""
    grid = names("p", len(factors[0]))
    times = (
        " - ".join([str(int(k == row)), *(f"({f} {p})" for f, p in zip(each, grid, strict=True))])
        for k, each in enumerate(factors)
    )
    return isl.Map(f"{{ [{write_list(grid)}] -> [{write_list(times)}] }}")


def reason(statement: Timed, reference: Reference, factors: Factors) -> str | None:
    """Return why a reference is broadcast along the grid with time t + F p; None if it is not."""
    space = broadcast(statement, reference, factors)
    steps = [*identity(statement.grid), *(link.step for link in statement.links)]
    if not any(_has_step(statement, space, step) for step in steps):
        return None
    if not any(reference.meeting):
        return "the PEs that use an element are no neighbours"
    if not _can_change(statement, reference):
        return "no dimension of time tells its elements apart"
    if not statement.targets:
        return "the data of one step do not fit into the memory of a PE"
    return "no lag helps that keeps the order, and as much parallel, of all that shares its loops"


def _can_change(statement: Timed, reference: Reference) -> bool:
    """Say whether the general method of Sec. III.A changes a normal of the reuse space.

    It changes those that depend on the normals to the placement space, and on those before, as long
    as there is a vector that all of them take to zero.
    """
    rows = broadcast(statement, reference, together(statement))
    return rank(rows) < min(len(rows), statement.times + statement.grid)


def _times(statement: Timed, factors: Factors) -> Matrix:
    """Return the rows of { [t, p] -> [t + F p] }."""
    count = range(statement.times)
    return [[*(int(k == row) for k in count), *factors[row]] for row in count]


def _has_step(statement: Timed, normals: Matrix, step: Sequence[int]) -> bool:
    """Say whether a space of (t, p) has a point whose p is a step to a neighbour."""
    times = [row[: statement.times] for row in normals]
    along = [sum(map(mul, row[statement.times :], step)) for row in normals]
    return rank(times) == rank([*row, entry] for row, entry in zip(times, along, strict=True))
