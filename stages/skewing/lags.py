"""Lags of PEs: candidates, what they pay, choice."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

import islpy as isl

from lairmake.stages.poly.canonical import unite
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.skewing.clock import ClockOrder, lag_statements, order_groups
from lairmake.stages.skewing.statements import Space
from lairmake.stages.skewing.timed import (
    Factors,
    Lags,
    StatementGroup,
    Timed,
    all_together,
    eliminate,
    is_allowed,
    loops_that_may_lag,
    loss,
    skew,
)
from lairmake.stages.skewing.topology import neighbours
from lairmake.stages.skewing.traffic import TrafficAccesses, sources

# --- Lags of statements that share loops ----------------------------------------------------------
#
# Each lag is in one loop, along one coordinate.
#
# Paper    M Sec. III.F, III.H, III.J

MOST_SUBSETS = 16
"""The most subsets of the lags of a group that are tried: all of four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """PEs run `statements` later by `factor` in dimension `time` for each step along `axis`."""

    statements: tuple[str, ...]
    time: int
    axis: int
    factor: int


Chosen = frozenset[Lag]
"""Lags that are taken together."""


def list_lags(group: StatementGroup, wanted: Lags) -> tuple[Lag, ...]:
    """Return the lags that eliminate broadcasts: those of `wanted`, and of each loop alone."""
    none = all_together(group)
    found = []
    for time, node in loops_that_may_lag(group):
        first, names = node[0].name, tuple(each.name for each in node)
        alone = eliminate(group, node, time, none)
        rows = zip(wanted[first][time], alone[first][time], strict=True)
        found += [
            Lag(statements=names, time=time, axis=axis, factor=among or only)
            for axis, (among, only) in enumerate(rows)
            if among or only
        ]
    return tuple(found)


def list_subsets(lags: Sequence[Lag], wanted: Chosen) -> list[Chosen]:
    """Return at most MOST_SUBSETS subsets of lags, and `wanted`.

    First come those in one loop, as the paper has them; of the others those of the fewest lags.
    """
    loops = [[lag for lag in lags if lag.time == time] for time in {lag.time: 0 for lag in lags}]
    in_one = itertools.chain.from_iterable(map(_subsets, loops))
    every = dict.fromkeys(itertools.chain([frozenset[Lag](), wanted], in_one))
    every |= dict.fromkeys(itertools.islice(_subsets(lags), MOST_SUBSETS))
    return list(every)[:MOST_SUBSETS]


def _subsets(lags: Sequence[Lag]) -> Iterator[Chosen]:
    """Yield all subsets, the smaller ones first."""
    for size in range(len(lags) + 1):
        yield from map(frozenset, itertools.combinations(lags, size))


def apply_lags(group: StatementGroup, lags: Collection[Lag]) -> Lags:
    """Return the F of all of some lags."""
    return {each.name: _rows(each, lags) for each in group.statements}


def _rows(statement: Timed, lags: Collection[Lag]) -> tuple[tuple[int, ...], ...]:
    rows = [[0] * statement.grid for _ in range(statement.times)]
    for lag in lags:
        if statement.name in lag.statements:
            rows[lag.time][lag.axis] += lag.factor
    return tuple(map(tuple, rows))

# --- Savings and costs of lags --------------------------------------------------------------------
#
# Paper    M Sec. III.H, IV
# Differs  the paper only names cost functions. Here a PE waits for each element from remote memory,
#          as long as the profile of the machine says, and a step takes all PEs as long as it takes
#          one that has something to do in it, in the mean.
#
# The data of a step stay in the memory of a PE. A step is all that is inside the last loop that
# lags. Where none does, it is all that is inside one of the loops: the one with which the fewest
# accesses are remote.

MOST_FOR_COUNT = 20_000_000
"""Operations that isl may spend on counting for one set of lags: some seconds."""

MOST_FOR_ALL = 100_000_000
"""Operations that isl may spend on counting for all sets of lags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LagCost:
    """Accesses that are `remote`, and the `steps` that `depth` dimensions of time tell apart.

    `cycles` of a PE go for both: for all of those accesses, and for the steps beyond those that
    there are without lags.
    """

    remote: int
    steps: int
    depth: int
    cycles: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class LagClock:
    """The accesses of a group without lags, with its steps, and the cycles of a PE in one.

    `first` is the number of elements that PEs access in a step, whatever the lags.
    """

    order: ClockOrder
    accesses: TrafficAccesses
    first: int
    steps: int
    cycles: Fraction


def depth(lag: Factors) -> int:
    """Return how many dimensions of time tell steps apart: down to the last that lags, or all."""
    return max((k + 1 for k, row in enumerate(lag) if any(row)), default=len(lag))


def depth_of(lags: Lags) -> int:
    """Return how many dimensions of time tell steps apart, of statements that share loops."""
    return max(map(depth, lags.values()))


class Weighing:
    """The costs of sets of lags of a group, each counted once; None where isl needs long.

    Sets are `forbidden` that reverse a dependence, or let fewer PEs run at one time.
    """

    def __init__(self, space: Space, group: StatementGroup) -> None:
        """Count nothing yet."""
        self.space, self.group = space, group
        self.costs: dict[Chosen, LagCost | None] = {}
        self.forbidden: set[Chosen] = set()
        self._clocks: dict[int, LagClock] = {}

    def count(self, sets: Iterable[Chosen]) -> None:
        """Count what sets of lags cost, as far as MOST_FOR_ALL allows."""
        try:
            with limit_operations(MOST_FOR_ALL):
                for each in sets:
                    if each not in self.costs and each not in self.forbidden:
                        self._count(each)
        except TooManyOperations:
            pass

    def _count(self, chosen: Chosen) -> None:
        lags = apply_lags(self.group, chosen)
        if not is_allowed(self.group, lags):
            self.forbidden.add(chosen)
            return
        try:
            with limit_operations(MOST_FOR_COUNT):
                costs = [self._cost(lags, deep) for deep in self._depths(chosen)]
                self.costs[chosen] = min(costs, key=lambda cost: cost.cycles)
        except (TooManyOperations, ArithmeticError, ValueError):
            self.costs[chosen] = None

    def _depths(self, chosen: Chosen) -> list[int]:
        """Return how many dimensions of time may tell the steps apart with some lags."""
        if chosen:
            return [depth_of(apply_lags(self.group, chosen))]
        statements = self.group.statements
        fitting = frozenset.intersection(*(frozenset(each.targets) for each in statements))
        return sorted({target + 1 for target in fitting} or {statements[0].times}, reverse=True)

    def steps(self, chosen: Chosen, deep: int) -> int | None:
        """Return the steps with some lags that so many dimensions of time tell apart."""
        try:
            with limit_operations(MOST_FOR_COUNT):
                lags = apply_lags(self.group, chosen)
                return cardinality(self._lagging(lags, deep).every_step())
        except (TooManyOperations, ValueError):
            return None

    def _cost(self, lags: Lags, deep: int) -> LagCost:
        clock, accesses = self._clock(deep), self._lagging(lags, deep)
        near, pes = neighbours(self.space.topology), accesses.placement.range()
        near_by = sum(each.not_remote() for each in sources(accesses, near).values())
        remote = clock.first - near_by
        steps = cardinality(accesses.every_step())
        waiting = Fraction(remote * self.group.remote, cardinality(isl.Set.from_union_set(pes)))
        working = (steps - clock.steps) * clock.cycles
        return LagCost(remote=remote, steps=steps, depth=deep, cycles=waiting + working)

    def _lagging(self, lags: Lags, deep: int) -> TrafficAccesses:
        clock = self._clock(deep)
        late = lag_statements(lags, clock.order, self.space.topology)
        return replace(clock.accesses, steps=late)

    def _clock(self, deep: int) -> LagClock:
        if deep not in self._clocks:
            self._clocks[deep] = _clock(self.space, self.group, deep)
        return self._clocks[deep]


def _clock(space: Space, group: StatementGroup, deep: int) -> LagClock:
    """Return the accesses of a group where `deep` dimensions of time tell steps apart.

    What other statements access in between does not count.
    """
    names = [each.name for each in group.statements]
    order = ClockOrder(groups=[names], depths=dict.fromkeys(names, deep))
    accesses = TrafficAccesses(
        relations=tuple(access for name in names for access in space.used(name)),
        placement=unite(space.places[name] for name in names),
        times=order_groups(unite(space.times(name) for name in names), order),
    )
    instances = {name: cardinality(space.places[name].domain()) for name in names}
    cycles = sum((Fraction(n, group.lanes[name]) for name, n in instances.items()), Fraction(0))
    turns = cardinality(isl.Set.from_union_set(accesses.turns()))
    return LagClock(
        order=order,
        accesses=accesses,
        first=sum(cardinality(each.wrap()) for each in accesses.first().values()),
        steps=cardinality(accesses.every_step()),
        cycles=cycles / turns,
    )

# --- Lags that pay --------------------------------------------------------------------------------
#
# Paper    M Sec. III.F, III.H, IV
# Differs  the paper leaves open when eliminating broadcasts is worth less than what it loses. Here
#          lags are taken that take a PE the fewest cycles, of all sets of those that eliminate a
#          broadcast (stages/skewing/lags.py): loops that are longer by a lag come back later to
#          what was used before, and have more steps.

LONG = "isl needs long to count what it saves"
FORBIDDEN = "it would reverse a dependence, or let fewer PEs run at one time"
MORE = "more accesses are remote"
NOTHING = "no fewer accesses are remote"
SLOW = "its steps take longer than what it saves"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A lag, whether it is taken, and what it does beside those that are.

    It `saves` remote accesses and adds `steps`, `gains` cycles of a PE by both, and eliminates
    `broadcasts`; None where that was not counted. `why` says why it is not taken.
    """

    lag: Lag
    is_taken: bool
    broadcasts: int
    saves: int | None = None
    steps: int | None = None
    gains: int | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LagChoice:
    """`wanted` F eliminates broadcasts, `taken` F pays; `depth` dimensions tell its steps apart."""

    wanted: Lags
    taken: Lags
    depth: int
    weighed: tuple[Weighed, ...]


def choose_lags(space: Space, group: StatementGroup) -> LagChoice:
    """Return the lags of a group that pay; where isl needs long, those of the fewest broadcasts."""
    wanted = skew(group)
    lags = list_lags(group, wanted)
    fewest = frozenset(lag for lag in lags if _is_in(lag, wanted))
    weighing = Weighing(space, group)
    if lags:
        weighing.count(list_subsets(lags, fewest))
    chosen = _cheapest(weighing, fewest)
    weighing.count(chosen ^ {lag} for lag in lags)
    taken, cost = apply_lags(group, chosen), weighing.costs.get(chosen)
    return LagChoice(
        wanted=wanted,
        taken=taken,
        depth=depth_of(taken) if cost is None else cost.depth,
        weighed=tuple(_weighed(weighing, chosen, lag) for lag in lags),
    )


def _is_in(lag: Lag, lags: Lags) -> bool:
    return lags[lag.statements[0]][lag.time][lag.axis] == lag.factor


def _cheapest(weighing: Weighing, fewest: Chosen) -> Chosen:
    """Return the set of the fewest cycles, of those the first one; `fewest` if isl needs long."""
    costs = {each: cost.cycles for each, cost in weighing.costs.items() if cost is not None}
    return min(costs, key=lambda each: costs[each]) if frozenset() in costs else fewest


def _weighed(weighing: Weighing, chosen: Chosen, lag: Lag) -> Weighed:
    """Return what a lag does beside those that are taken."""
    is_taken, without, among = lag in chosen, chosen - {lag}, chosen | {lag}
    found = Weighed(
        lag=lag, is_taken=is_taken, broadcasts=_eliminated(weighing.group, without, among)
    )
    if {without, among} & weighing.forbidden:
        return replace(found, why=FORBIDDEN)
    before, after = weighing.costs.get(without), weighing.costs.get(among)
    if before is None or after is None:
        return replace(found, why=None if is_taken else LONG)
    saves, gains = before.remote - after.remote, floor(before.cycles - after.cycles)
    why = MORE if saves < 0 else NOTHING if saves == 0 else SLOW
    steps = weighing.steps(without, after.depth)
    return replace(
        found, saves=saves, steps=None if steps is None else after.steps - steps, gains=gains,
        why=None if is_taken else why,
    )


def _eliminated(group: StatementGroup, without: Chosen, among: Chosen) -> int:
    """Return the dimensions of broadcast spaces that some lags have more than others."""
    before, after = apply_lags(group, without), apply_lags(group, among)
    return sum(
        loss(each, before[each.name]).dimensions - loss(each, after[each.name]).dimensions
        for each in group.statements
    )
