"""Does it pay to let PEs lag behind each other?

Paper    M Sec. III.F, III.H, IV
Differs  the paper leaves open when eliminating broadcasts is worth less than what it loses. Here it
         is not done where more accesses get remote: loops that are longer by the lag come back
         later to what was used before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import islpy as isl

from stages.poly.pieces import unite
from stages.poly.quota import TooManyOperations, limit_operations
from stages.skewing.skewing import Group, skew
from stages.skewing.statements import Space
from stages.skewing.steps import Order, lag_statements, order_groups
from stages.skewing.timed import Factors, together
from stages.skewing.topology import neighbours
from stages.skewing.traffic import Accesses, sources, total

MOST_FOR_COUNT = 20_000_000
"""What counting may take in isl's own unit; some seconds."""

Lags = Mapping[str, Factors]
"""F by statement."""


def choose_lags(space: Space, group: Group) -> tuple[Lags, Lags]:
    """Return F of statements that eliminates broadcasts, and F that is taken: that one or zeros."""
    wanted = skew(group)
    none = {each.name: together(each) for each in group.statements}
    return wanted, wanted if wanted == none or _pays(space, wanted) else none


def depth(lag: Factors) -> int:
    """Return how many dimensions of time tell steps apart: down to the last that lags, or all."""
    return max((k + 1 for k, row in enumerate(lag) if any(row)), default=len(lag))


def _pays(space: Space, lags: Lags) -> bool:
    """Say whether no more accesses are remote with the lags than without; yes, if isl needs long.

    What other statements access in between does not count.
    """
    order = Order(groups=[list(lags)], depths={name: depth(lag) for name, lag in lags.items()})
    started = Accesses(
        relations=tuple(access for name in lags for access in space.used(name)),
        placement=unite(space.places[name] for name in lags),
        times=order_groups(unite(space.times(name) for name in lags), order),
    )
    lagged = dataclasses.replace(started, steps=lag_statements(lags, order, space.topology))
    near = neighbours(space.topology)
    try:
        with limit_operations(MOST_FOR_COUNT):
            return _remote(lagged, near) <= _remote(started, near)
    except TooManyOperations:
        return True


def _remote(accesses: Accesses, near: isl.Map) -> int:
    return total(each.traffic() for each in sources(accesses, near).values()).remote
