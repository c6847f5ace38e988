"""Which lags pay: each in one loop, along one coordinate of PEs.

Paper    M Sec. III.F, III.H, IV
Differs  the paper leaves open when eliminating broadcasts is worth less than what it loses. Here
         lags are taken that take a PE the fewest cycles, of all sets of those that eliminate a
         broadcast (stages/skewing/weighing.py): loops that are longer by a lag come back later to
         what was used before, and have more steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

from lairmake.stages.skewing.lags import Chosen, Lag, apply_lags, list_lags, list_subsets
from lairmake.stages.skewing.skewing import Group, Lags, skew
from lairmake.stages.skewing.statements import Space
from lairmake.stages.skewing.timed import loss
from lairmake.stages.skewing.weighing import Weighing, depth_of

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
class Choice:
    """`wanted` F eliminates broadcasts, `taken` F pays; `depth` dimensions tell its steps apart."""

    wanted: Lags
    taken: Lags
    depth: int
    weighed: tuple[Weighed, ...]


def choose_lags(space: Space, group: Group) -> Choice:
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
    return Choice(
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


def _eliminated(group: Group, without: Chosen, among: Chosen) -> int:
    """Return the dimensions of broadcast spaces that some lags have more than others."""
    before, after = apply_lags(group, without), apply_lags(group, among)
    return sum(
        loss(each, before[each.name]).dimensions - loss(each, after[each.name]).dimensions
        for each in group.statements
    )
