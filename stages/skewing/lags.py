"""The lags of statements that share loops, each by itself: in one loop, along one coordinate.

Paper    M Sec. III.F, III.H, III.J
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from lairmake.stages.skewing.skewing import Group, Lags, all_together, eliminate, loops_that_may_lag
from lairmake.stages.skewing.timed import Timed

MOST_SUBSETS = 16
"""So many subsets of the lags of a group are tried: all of four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """PEs run `statements` later by `factor` in dimension `time` for each step along `axis`."""

    statements: tuple[str, ...]
    time: int
    axis: int
    factor: int


Chosen = frozenset[Lag]
"""Lags that are taken together."""


def list_lags(group: Group, wanted: Lags) -> tuple[Lag, ...]:
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


def apply_lags(group: Group, lags: Collection[Lag]) -> Lags:
    """Return the F of all of some lags."""
    return {each.name: _rows(each, lags) for each in group.statements}


def _rows(statement: Timed, lags: Collection[Lag]) -> tuple[tuple[int, ...], ...]:
    rows = [[0] * statement.grid for _ in range(statement.times)]
    for lag in lags:
        if statement.name in lag.statements:
            rows[lag.time][lag.axis] += lag.factor
    return tuple(map(tuple, rows))
