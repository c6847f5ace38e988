"""What lags save, and what they cost: remote accesses, and steps.

Paper    M Sec. III.H, IV
Differs  the paper only names cost functions. Here a PE waits for each element from remote memory,
         as long as the profile of the machine says, and a step takes all PEs as long as it takes
         one that has something to do in it, in the mean.

The data of a step stay in the memory of a PE. It is all that is inside the last loop that lags;
where none does, what is inside that of those loops with which the fewest accesses are remote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import islpy as isl

from lairmake.stages.poly.canonical import unite
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.skewing.lags import Chosen, apply_lags
from lairmake.stages.skewing.skewing import Group, Lags, is_allowed
from lairmake.stages.skewing.statements import Space
from lairmake.stages.skewing.steps import Order, lag_statements, order_groups
from lairmake.stages.skewing.timed import Factors
from lairmake.stages.skewing.topology import neighbours
from lairmake.stages.skewing.traffic import Accesses, sources

MOST_FOR_COUNT = 20_000_000
"""What counting for one set of lags may take in isl's own unit; some seconds."""

MOST_FOR_ALL = 100_000_000
"""What counting for all sets of lags may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Accesses that are `remote`, and the `steps` that `depth` dimensions of time tell apart.

    `cycles` of a PE go for both: for all of those accesses, and for the steps beyond those that
    there are without lags.
    """

    remote: int
    steps: int
    depth: int
    cycles: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The accesses of a group without lags, with its steps, and the cycles of a PE in one.

    `first` is the number of elements that PEs access in a step, whatever the lags.
    """

    order: Order
    accesses: Accesses
    first: int
    steps: int
    cycles: Fraction


def depth(lag: Factors) -> int:
    """Return how many dimensions of time tell steps apart: down to the last that lags, or all."""
    return max((k + 1 for k, row in enumerate(lag) if any(row)), default=len(lag))


def depth_of(lags: Lags) -> int:
    """Return the same of statements that share loops."""
    return max(map(depth, lags.values()))


class Weighing:
    """The costs of sets of lags of a group, each counted once; None where isl needs long.

    Sets are `forbidden` that reverse a dependence, or let fewer PEs run at one time.
    """

    def __init__(self, space: Space, group: Group) -> None:
        """Count nothing yet."""
        self.space, self.group = space, group
        self.costs: dict[Chosen, Cost | None] = {}
        self.forbidden: set[Chosen] = set()
        self._clocks: dict[int, Clock] = {}

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

    def _cost(self, lags: Lags, deep: int) -> Cost:
        clock, accesses = self._clock(deep), self._lagging(lags, deep)
        near, pes = neighbours(self.space.topology), accesses.placement.range()
        near_by = sum(each.not_remote() for each in sources(accesses, near).values())
        remote = clock.first - near_by
        steps = cardinality(accesses.every_step())
        waiting = Fraction(remote * self.group.remote, cardinality(isl.Set.from_union_set(pes)))
        working = (steps - clock.steps) * clock.cycles
        return Cost(remote=remote, steps=steps, depth=deep, cycles=waiting + working)

    def _lagging(self, lags: Lags, deep: int) -> Accesses:
        clock = self._clock(deep)
        late = lag_statements(lags, clock.order, self.space.topology)
        return replace(clock.accesses, steps=late)

    def _clock(self, deep: int) -> Clock:
        if deep not in self._clocks:
            self._clocks[deep] = _clock(self.space, self.group, deep)
        return self._clocks[deep]


def _clock(space: Space, group: Group, deep: int) -> Clock:
    """Return the accesses of a group where `deep` dimensions of time tell steps apart.

    What other statements access in between does not count.
    """
    names = [each.name for each in group.statements]
    order = Order(groups=[names], depths=dict.fromkeys(names, deep))
    accesses = Accesses(
        relations=tuple(access for name in names for access in space.used(name)),
        placement=unite(space.places[name] for name in names),
        times=order_groups(unite(space.times(name) for name in names), order),
    )
    instances = {name: cardinality(space.places[name].domain()) for name in names}
    cycles = sum((Fraction(n, group.lanes[name]) for name, n in instances.items()), Fraction(0))
    turns = cardinality(isl.Set.from_union_set(accesses.turns()))
    return Clock(
        order=order,
        accesses=accesses,
        first=sum(cardinality(each.wrap()) for each in accesses.first().values()),
        steps=cardinality(accesses.every_step()),
        cycles=cycles / turns,
    )
