"""A statement in time and space, and the lags with which less is broadcast in it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import mul

import islpy as isl

from lairmake.stages.poly.canonical import list_maps, unite
from lairmake.stages.poly.integers import Matrix
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.skewing.spaces import TopologyLink, identity, rank
from lairmake.stages.skewing.topology import names, write_list

IN, OUT = isl.dim_type.in_, isl.dim_type.out

# --- Statement in time and space ------------------------------------------------------------------
#
# Paper    M Sec. II, III.A
#
# A statement's time t becomes t + F p, with p the coordinates of its PE, as (x, y), and F of
# entries -1, 0 and 1: one row for each dimension of time. So each PE keeps its order, and the
# transformation of [t, p] is unimodular.

Factors = tuple[tuple[int, ...], ...]
"""F: by how much time changes from PE to PE, in each of its dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedReference:
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
    links: tuple[TopologyLink, ...] = field(repr=False)
    domain: Matrix = field(repr=False)
    targets: tuple[int, ...]
    references: tuple[TimedReference, ...]
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


def broadcast(statement: Timed, reference: TimedReference, factors: Factors) -> Matrix:
    """Return the normals to the broadcast space of a reference with time t + F p."""
    return [*reference.reuse, *_times(statement, factors)]


def dimensions(statement: Timed, reference: TimedReference, factors: Factors) -> int:
    """Return the number of dimensions of the broadcast space of a reference with time t + F p."""
    width = statement.times + statement.grid
    return width - rank(broadcast(statement, reference, factors))


def passes(statement: Timed, reference: TimedReference, factors: Factors) -> tuple[int, ...]:
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


def _passes(statement: Timed, reference: TimedReference, factors: Factors, ways: isl.Set) -> int:
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


def reason(statement: Timed, reference: TimedReference, factors: Factors) -> str | None:
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


def _can_change(statement: Timed, reference: TimedReference) -> bool:
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

# --- Choice of lags by fewest broadcasts ----------------------------------------------------------
#
# Paper    M Sec. III.B, III.C, III.E to III.J
# Differs  lower triangular transformations are checked like the others: loops over PEs take no time
#          here, so they validate no dependence. Signs of factors are free, as in Sec. III.A;
#          without a wish they are -1, as in the paper's examples.

Lags = Mapping[str, Factors]
"""F by statement."""

MOST_FOR_CHECK = 5_000_000
"""Operations that isl may spend on checking one transformation: less than a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementGroup:
    """Statements whose times are comparable.

    `dependences` { S[t, p] -> S'[t', p'] } are the pairs whose order must stay, t before t'. An
    element from remote memory takes a PE `remote` cycles more than one from a neighbour, and in a
    cycle it runs as many instances of a statement as `lanes` says.
    """

    statements: tuple[Timed, ...]
    dependences: isl.UnionMap = field(repr=False)
    remote: int
    lanes: Mapping[str, int]


def skew(group: StatementGroup) -> dict[str, Factors]:
    """Return F of each statement of a group; zeros where nothing is gained.

    Statements that share a loop get the same row of F for it. Where not all of them have the loop
    as a target, none gets one.
    """
    found = dict(all_together(group))
    for target, node in loops_that_may_lag(group):
        found |= eliminate(group, node, target, found)
    return found


def all_together(group: StatementGroup) -> Lags:
    """Return the F with which no PE lags behind another."""
    return {each.name: together(each) for each in group.statements}


def loops_that_may_lag(group: StatementGroup) -> list[tuple[int, list[Timed]]]:
    """Return the dimensions of time that may change, and who shares them; first choices first."""
    return [
        (target, node)
        for target in _in_order(group.statements)
        for node in sharing(group.statements, target)
        if all(target in each.targets for each in node)
    ]


def sharing(statements: Sequence[Timed], target: int) -> list[list[Timed]]:
    """Return statements by the loop over dimension `target` that they share.

    They share it unless an outer dimension has one value for each of them, and not the same: the
    coordinates of fusion and fission (Sec. III.F).
    """
    fixed = [k for k in range(target) if all(s.constants[k] is not None for s in statements)]
    nodes: dict[tuple[int | None, ...], list[Timed]] = {}
    for each in statements:
        nodes.setdefault(tuple(each.constants[k] for k in fixed), []).append(each)
    return list(nodes.values())


def stays_on_pe(dependences: isl.UnionMap, statements: Sequence[Timed]) -> bool:
    """Say whether both ends of all dependences are on one PE, M (6): then any F is legal."""
    places = unite(
        isl.Map(f"{{ {s.name}[{write_list([*names('t', s.times), *p])}] -> [{write_list(p)}] }}")
        for s in statements
        for p in [names("p", s.grid)]
    )
    pairs = dependences.apply_domain(places).apply_range(places)
    return all(pair.is_subset(isl.Map.identity(pair.space)) for pair in list_maps(pairs))


def keeps(dependences: isl.UnionMap, times: isl.UnionMap) -> bool:
    """Say whether the new times { S[t, p] -> [t'] } of all dependences are in order, M (3)."""
    pairs = dependences.apply_domain(times).apply_range(times)
    return all(pair.is_subset(isl.Map.lex_lt(pair.domain().space)) for pair in list_maps(pairs))


def later(statement: Timed, factors: Factors) -> isl.Map:
    """Return { S[t, p] -> [t + F p] }."""
    old = [*names("t", statement.times), *names("p", statement.grid)]
    sums = (
        " + ".join([f"t{k}", *(f"{factor} p{j}" for j, factor in enumerate(row))])
        for k, row in enumerate(factors)
    )
    return isl.Map(f"{{ {statement.name}[{write_list(old)}] -> [{write_list(sums)}] }}")


def eliminate(group: StatementGroup, node: Sequence[Timed], target: int, found: Lags) -> Lags:
    """Return F with a row for the shared loop that leaves the fewest broadcasts, if there is one.

    Of those the one with the fewest factors is taken, then that against the fewest wishes.
    """
    steps = [link.step for link in node[0].links]
    factors = [(-1, 0, 1) if unit in steps else (0,) for unit in map(tuple, identity(node[0].grid))]
    now, _ = _cost(node, found)
    trials = [
        _with(found, node, target, row) for row in itertools.product(*factors) if any(row)
    ]
    costs = [_cost(node, trial) for trial in trials]
    for (left, _), trial in sorted(zip(costs, trials, strict=True), key=lambda pair: pair[0]):
        if left < now and _is_parallel(node, trial) and _is_legal(group, trial):
            return trial
    return found


def is_allowed(group: StatementGroup, trial: Lags) -> bool:
    """Say whether F reverses no dependence, and lets as many PEs run at one time."""
    return _is_parallel(group.statements, trial) and _is_legal(group, trial)


def _cost(
    node: Sequence[Timed], trial: Lags
) -> tuple[Loss, tuple[int, int, int]]:
    """Return what is broadcast; how many factors there are, against wishes, and not -1."""
    losses = [loss(each, trial[each.name]) for each in node]
    left = Loss(
        dimensions=sum(each.dimensions for each in losses),
        directions=sum(each.directions for each in losses),
    )
    against = sum(
        way * wish < 0
        for each in node
        for reference in each.references
        if any(reference.wish)
        for way, wish in zip(
            passes(each, reference, trial[each.name]), reference.wish, strict=True
        )
    )
    entries = [factor for row in trial[node[0].name] for factor in row if factor]
    return left, (len(entries), against, sum(factor > 0 for factor in entries))


def _is_parallel(node: Sequence[Timed], trial: Lags) -> bool:
    """Say whether as many dimensions of PEs run at one time as if all started together."""
    return all(
        parallel(each, trial[each.name]) == parallel(each, together(each)) for each in node
    )


def _is_legal(group: StatementGroup, trial: Lags) -> bool:
    """Say whether a trial keeps the order of all dependences.

    Where isl needs long to tell, those that lead to another PE forbid all, as in the scalable
    variant of Sec. III.G.
    """
    if stays_on_pe(group.dependences, group.statements):
        return True
    times = unite(later(each, trial[each.name]) for each in group.statements)
    try:
        with limit_operations(MOST_FOR_CHECK):
            return keeps(group.dependences, times)
    except TooManyOperations:
        return False


def _in_order(statements: Sequence[Timed]) -> list[int]:
    """Return the dimensions of time that may change in some statement, first choices first."""
    ranked = sorted((place, t) for each in statements for place, t in enumerate(each.targets))
    return list(dict.fromkeys(target for _, target in ranked))


def _with(
    found: Lags, node: Sequence[Timed], target: int, row: tuple[int, ...]
) -> dict[str, Factors]:
    """Return F with another row `target` for the statements of a node."""
    old = {each.name: found[each.name] for each in node}
    return {**found, **{n: (*f[:target], row, *f[target + 1 :]) for n, f in old.items()}}
