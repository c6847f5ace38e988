"""One clock for all PEs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

import islpy as isl

from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.functions import depends_on, functions, least
from lairmake.stages.skewing.elements import Lair
from lairmake.stages.skewing.spaces import coordinates
from lairmake.stages.skewing.topology import Topology, write_list

IN, OUT = isl.dim_type.in_, isl.dim_type.out

# --- Clock of all PEs -----------------------------------------------------------------------------
#
# Paper    M Sec. II.A and III.H
# Differs  the paper's schedules are loops over statements, and time dimensions those loops whose
#          unit vector is independent of the placement. Here a schedule is any quasi-affine
#          function, and a dimension is time unless the PE and the dimensions before it determine
#          it. Both are the same where loops run over PEs.
#
# All PEs start together. So where no schedule is given, times are counted from the least one of
# each PE, dimension by dimension: on PE[i // 8], i becomes i mod 8. A given schedule stays as it
# is; but where it counts tiles, as [k // 8, k], what comes after them is counted from the least of
# each tile.

Rows = list[isl.Map]
"""{ S[i] -> [t] } for each dimension of time of a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementClock:
    """`times` { S[i] -> [t...] } of a statement; `loops` has the dimension of its schedule of each.

    The first `tiles` dimensions are down to the last that tells tiles apart: one that a given
    schedule counts, as in k // 8, or, where none is given, one with no iterator that is placed.
    """

    times: isl.Map = field(repr=False)
    loops: tuple[int, ...]
    tiles: int


def sharing(schedule: isl.UnionMap, given: Collection[str]) -> list[list[str]]:
    """Return the statements whose times are comparable: those of one group share loops.

    These are the ones that layer.yaml gives times of the same length; the others stand alone.
    """
    groups: dict[object, list[str]] = {}
    for times in list_maps(schedule):
        name = times.get_tuple_name(IN)
        groups.setdefault(times.dim(OUT) if name in given else name, []).append(name)
    return list(groups.values())


def clock(
    schedule: isl.UnionMap, placement: isl.UnionMap, given: Collection[str] = ()
) -> dict[str, StatementClock]:
    """Return { S[i] -> [t...] } by statement, the times of the schedule as steps of all PEs.

    `given` names the statements whose schedule is taken as it is. Ensures that instances on one PE
    are in the same order as by the schedule; statements that share loops have times of one length.
    """
    times = {m.get_tuple_name(IN): m for m in list_maps(schedule)}
    places = {m.get_tuple_name(IN): m for m in list_maps(placement)}
    found: dict[str, StatementClock] = {}
    for group in sharing(schedule, given):
        rows = [_rows(times[name], places[name], name in given) for name in group]
        kept = _kept(rows, [places[name] for name in group])
        for name, each in zip(group, rows, strict=True):
            found[name] = StatementClock(
                times=_joined([each[k] for k in kept], times[name]),
                loops=tuple(kept),
                tiles=_tiles(times[name], places[name], name in given, kept),
            )
    return found


def _tiles(times: isl.Map, place: isl.Map, given: bool, kept: list[int]) -> int:
    """Return down to which of the dimensions kept of a schedule tiles are told apart."""
    if given:
        return sum(k < _counted(times) for k in kept)
    placed = set().union(*depends_on(place))
    rows = depends_on(times)
    return max((n + 1 for n, k in enumerate(kept) if not placed & rows[k]), default=0)


def _rows(times: isl.Map, place: isl.Map, given: bool) -> Rows:
    """Return the dimensions of a schedule, one a map; counted from the least unless given."""
    rows = functions(times)
    first = _counted(times) if given else 0
    within = place.flat_range_product(times.project_out(OUT, first, len(rows) - first))
    whole = len(rows) if given and not first else first
    local = [
        row if given and _divides(row) else row.sub(_least(row, within)) for row in rows[whole:]
    ]
    return [isl.Map.from_pw_aff(row.coalesce()) for row in (*rows[:whole], *local)]


def _counted(times: isl.Map) -> int:
    """Return how many dimensions { S[i] -> [t...] } has down to the last that counts tiles.

    These are those in which the iterators occur in integer divisions only, as in k // 8.
    """
    rows = functions(times)
    return max((k + 1 for k, row in enumerate(rows) if _divides(row, only=True)), default=0)


def _divides(row: isl.PwAff, *, only: bool = False) -> bool:
    """Say whether a function has integer divisions; with `only`, of all that it depends on."""
    terms = [term for _, term in row.get_pieces()]
    plain = any(
        not term.get_coefficient_val(IN, k).is_zero()
        for term in terms
        for k in range(term.dim(IN))
    )
    return any(term.dim(isl.dim_type.div) for term in terms) and not (only and plain)


def _least(row: isl.PwAff, place: isl.Map) -> isl.PwAff:
    """Return { S[i] -> [least t on the PE of S[i]] }, or in another place of it."""
    on_pe = least(place.reverse().apply_range(isl.Map.from_pw_aff(row)))
    return functions(place.apply_range(on_pe))[0]


def _kept(rows: list[Rows], places: list[isl.Map]) -> list[int]:
    """Return the dimensions that neither the PE nor those before them determine."""
    kept: list[int] = []
    known = places
    for k in range(len(rows[0])):
        values = isl.UnionMap("{ }")
        for before, each in zip(known, rows, strict=True):
            values = values.union(isl.UnionMap.from_map(before.reverse().apply_range(each[k])))
        if not values.is_single_valued():
            kept.append(k)
            known = [b.flat_range_product(each[k]) for b, each in zip(known, rows, strict=True)]
    return kept


def _joined(rows: Rows, times: isl.Map) -> isl.Map:
    """Return { S[i] -> [t...] }; [0] where there is one time only."""
    if not rows:
        return isl.Map.from_domain_and_range(times.domain(), isl.Set("{ [0] }"))
    joined = rows[0]
    for row in rows[1:]:
        joined = joined.flat_range_product(row)
    return name_times(joined)


def name_times(times: isl.Map) -> isl.Map:
    """Return { S[i] -> [t0, t1, ...] }, its dimensions of time named."""
    for k in range(times.dim(OUT)):
        times = times.set_dim_name(OUT, k, f"t{k}")
    return times

# --- Clock of all statements of a layer -----------------------------------------------------------
#
# Statements that share no loops run one after the other.
#
# Paper    M Sec. III.F

@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOrder:
    """The order of the steps of statements.

    `groups` are of statements whose times are comparable, one after the other; `depths` says how
    many dimensions of time tell the steps of a statement apart, the most of a group those of all.
    """

    groups: Sequence[Sequence[str]]
    depths: Mapping[str, int]

    @property
    def length(self) -> int:
        """The number of dimensions of a step."""
        return max(self.depths.values()) + (len(self.groups) > 1)

    def number(self, name: str) -> int:
        """Return the number of a statement's group."""
        return next(k for k, group in enumerate(self.groups) if name in group)

    def depth(self, name: str) -> int:
        """Return how many dimensions of a statement's time tell steps apart."""
        return max(self.depths[other] for other in self.groups[self.number(name)])


def find_order(
    groups: Sequence[Sequence[str]], depths: Mapping[str, int], lair: Lair
) -> ClockOrder:
    """Return the order in which a group that reads what another one writes comes after it.

    Raises graphlib.CycleError where each comes after the other.
    """
    return ClockOrder(groups=_sorted(groups, lair), depths=depths)


def order_groups(times: isl.UnionMap, order: ClockOrder) -> isl.UnionMap:
    """Return { S[i] -> [n, t..., 0...] }, n the number of its group; { S[i] -> [t...] } if one."""
    result = isl.UnionMap("{ }")
    for each in list_maps(times):
        name = each.get_tuple_name(IN)
        steps = each.project_out(OUT, order.depth(name), each.dim(OUT) - order.depth(name))
        if len(order.groups) > 1:
            steps = steps.insert_dims(OUT, 0, 1).fix_val(OUT, 0, order.number(name))
            padded = range(order.depth(name) + 1, order.length)
            steps = steps.add_dims(OUT, len(padded))
            for position in padded:
                steps = steps.fix_val(OUT, position, 0)
        result = result.union(isl.UnionMap.from_map(steps))
    return result


def lag_statements(
    lags: Mapping[str, Sequence[Sequence[int]]], order: ClockOrder, topology: Topology
) -> dict[str, isl.Map]:
    """Return { [PE[x, y] -> [t]] -> [PE[x, y] -> [t + F p]] } of each statement.

    `lags` has F, a row for each dimension of time; t is as `order_groups` has it, and p are the
    coordinates of the PE.
    """
    values = [each.value for each in coordinates(topology)]
    return {name: _late(_step_rows(rows, name, order), values) for name, rows in lags.items()}


def _step_rows(lag: Sequence[Sequence[int]], name: str, order: ClockOrder) -> list[Sequence[int]]:
    """Return the rows of F that `order_groups` keeps, and zeros for what it adds."""
    none = [0] * len(lag[0])
    first: list[Sequence[int]] = [none] if len(order.groups) > 1 else []
    rows = [*first, *lag[: order.depth(name)]]
    return [*rows, *[none] * (order.length - len(rows))]


def _late(rows: Sequence[Sequence[int]], values: Sequence[str]) -> isl.Map:
    """Return { [PE[x, y] -> [t]] -> [PE[x, y] -> [t + F p]] }, p given by its values."""
    times = [f"t{k}" for k in range(len(rows))]
    sums = (
        " + ".join([t, *(f"{f} * {value}" for f, value in zip(row, values, strict=True) if f)])
        for t, row in zip(times, rows, strict=True)
    )
    before, after = write_list(times), write_list(sums)
    return isl.Map(f"{{ [PE[x, y] -> [{before}]] -> [PE[x, y] -> [{after}]] }}")


def _sorted(groups: Sequence[Sequence[str]], lair: Lair) -> list[Sequence[str]]:
    """Return the groups, each after those that it reads from; otherwise as they come."""
    number = {name: k for k, group in enumerate(groups) for name in group}
    after: Mapping[int, set[int]] = {k: set() for k in range(len(groups))}
    for pair in list_maps(lair.reads.apply_range(lair.writes.reverse())):
        reader, writer = (number[pair.get_tuple_name(kind)] for kind in (IN, OUT))
        after[reader] |= {writer} - {reader}
    return [groups[k] for k in TopologicalSorter(after).static_order()]
