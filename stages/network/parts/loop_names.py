"""Names that people know for the iterators of a part, alike in all of its statements.

A result is [n, k, i, j], as of a convolution: sample, channel, row and column; one of fewer
dimensions has the last of these, a vector i. Where windows move, i and j are where these start,
whatever the layout; windows are a and b, and what else is summed is c. An iterator that reads a
tensor which has been read or computed before has the name of its dimension: so a direction of a
placement, `(k, i)`, is one of all statements that have these.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lairmake.stages.parts.tile_layer import iterators
from lairmake.stages.parts.tiling import Rows, Statement, Tile

Names = Mapping[int, str]
"""What iterators are called, by their places among all of a statement."""

RESULTS, PLACES, WINDOWS, SUMS, GROUPS = "nkij", "ij", "ab", "cab", "g"


def name_loops(tile: Tile, names: Mapping[str, str]) -> dict[str, Names]:
    """Return what the iterators are called of each statement, by the tensor that it computes.

    `names` says what tensors are called in LAIR: no iterator is called like one of them.
    """
    taken = set(names.values())
    known: dict[str, Sequence[str | None]] = {}
    loops: dict[str, Names] = {}
    for statement in tile.statements:
        along = _Along(statement=statement, results=_find_results(statement))
        found = loops[statement.tensor] = _name(along, known, taken)
        for tensor, rows in ((statement.tensor, statement.target), *along.reads(known)):
            runners = map(along.find, rows)
            known.setdefault(tensor, [None if k is None else found.get(k) for k in runners])
    return loops


@dataclass(frozen=True, slots=True, kw_only=True)
class _Along:
    """Which iterators of a statement run along which dimensions.

    `results` has the iterator along each dimension of the result, None where there is none.
    """

    statement: Statement
    results: Sequence[int | None]

    def find(self, row: Sequence[int]) -> int | None:
        """Return that along a dimension of any tensor: one of the result, or the only one."""
        several = [k for k in _used(row) if self.statement.size[k] > 1]
        own = [k for k in several if k in self.results]
        return own[0] if own else several[0] if len(several) == 1 else None

    def reads(self, known: Collection[str]) -> list[tuple[str, Rows]]:
        """Return what is read, tensors that are known first."""
        return sorted(self.statement.reads.values(), key=lambda read: read[0] not in known)

    def windows(self) -> dict[int, int]:
        """Return the iterators that move a place of the result, each with the one of this."""
        results, target = self.results, self.statement.target
        sums = set(range(len(self.statement.size))).difference(*map(_used, target))
        moved = {
            k: place
            for _, rows in self.statement.reads.values() for used in map(_used, rows)
            for k in used if k in sums for place in used if place in results
        }
        for place, row in zip(results, target, strict=True):
            if place is not None:
                moved |= {k: place for k in _used(row) if k != place and row[k] <= row[place]}
        return moved


def _find_results(statement: Statement) -> list[int | None]:
    """Return the iterator along each dimension of the result, None where there is none."""
    rows = [row for _, rows in statement.reads.values() for row in rows]
    single = {used[0] for row in rows if len(used := _used(row)) == 1}
    return [_find_result(row, statement, single) for row in statement.target]


def _find_result(row: Sequence[int], statement: Statement, single: Collection[int]) -> int | None:
    """Return the iterator along a dimension of the result.

    Of several it is that of the largest step which also is alone in an index of what is read,
    `single`, as those of a transposed convolution are; else the last one, as channels within a
    group.
    """
    used = [k for k in _used(row) if statement.size[k] > 1] or _used(row)
    alone = [k for k in used if len(used) > 1 and k in single]
    return max(alone, key=lambda k: row[k]) if alone else next(reversed(used), None)


def _used(row: Sequence[int]) -> list[int]:
    """Return the iterators that an index has, the last entry of which is its constant."""
    return [k for k, factor in enumerate(row[:-1]) if factor]


def _name(
    along: _Along, known: Mapping[str, Sequence[str | None]], taken: Collection[str]
) -> dict[int, str]:
    """Return what the iterators of a statement are called that it is written with."""
    found: dict[int, str] = {}
    kept = iterators(along.statement)
    wishes = itertools.chain(_known(along, known), _results(along))
    for k, name in wishes:
        if k in kept and k not in found and name not in {*found.values(), *taken}:
            found[k] = name
    windows, results = along.windows(), {k for row in along.statement.target for k in _used(row)}
    for k in kept:
        if k not in found:
            first = WINDOWS if k in windows else GROUPS if k in results else SUMS
            used = {*found.values(), *taken}
            found[k] = next(each for each in _free_names(first) if each not in used)
    return {k: found[k] for k in kept}


def _known(
    along: _Along, known: Mapping[str, Sequence[str | None]]
) -> Iterator[tuple[int, str]]:
    """Yield iterators with the names of dimensions that they run along."""
    for tensor, rows in along.reads(known):
        for row, name in zip(rows, known.get(tensor, ()), strict=False):
            k = along.find(row)
            if k is not None and name is not None:
                yield k, name


def _results(along: _Along) -> Iterator[tuple[int, str]]:
    """Yield iterators with the names of dimensions of a result, from the last one on."""
    runners, places = along.results, set(along.windows().values())
    names = RESULTS if len(runners) > 1 else PLACES[:1]
    others = [k for k in runners if k is not None and k not in places]
    if places and runners and (runners[0] is not None or len(others) < 2):
        rank = min(len(PLACES), max(len(runners) - 2, 1))
        rest = [k for k in runners if k in places or (k is None and len(places) < rank)]
        runners, names = [*others, *rest[-rank:]], RESULTS[: -len(PLACES)] + PLACES[:rank]
    for k, name in zip(reversed(runners), reversed(names), strict=False):
        if k is not None:
            yield k, name


def _free_names(first: str) -> Iterator[str]:
    """Yield names that have no meaning elsewhere: some, other letters, then c1, c2, ..."""
    yield from (each for each in first + string.ascii_lowercase if each not in RESULTS)
    yield from (f"c{n}" for n in itertools.count(1))
