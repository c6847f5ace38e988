"""One clock for all statements of a layer: those that share no loops run one after the other.

Paper    M Sec. III.F
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

import islpy as isl

from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.skewing.elements import Lair
from lairmake.stages.skewing.grid import write_list
from lairmake.stages.skewing.links import coordinates
from lairmake.stages.skewing.topology import Topology

IN, OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The order of the steps of statements.

    `groups` are of statements whose times are comparable, one after the other; `depths` says how
    many dimensions of time tell the steps of a statement apart, the most of a group those of all.
    """

    groups: Sequence[Sequence[str]]
    depths: Mapping[str, int]

    @property
    def length(self) -> int:
        """How many dimensions a step has."""
        return max(self.depths.values()) + (len(self.groups) > 1)

    def number(self, name: str) -> int:
        """Return the number of a statement's group."""
        return next(k for k, group in enumerate(self.groups) if name in group)

    def depth(self, name: str) -> int:
        """Return how many dimensions of a statement's time tell steps apart."""
        return max(self.depths[other] for other in self.groups[self.number(name)])


def find_order(
    groups: Sequence[Sequence[str]], depths: Mapping[str, int], lair: Lair
) -> Order:
    """Return the order in which a group that reads what another one writes comes after it.

    Raises graphlib.CycleError where each comes after the other.
    """
    return Order(groups=_sorted(groups, lair), depths=depths)


def order_groups(times: isl.UnionMap, order: Order) -> isl.UnionMap:
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
    lags: Mapping[str, Sequence[Sequence[int]]], order: Order, topology: Topology
) -> dict[str, isl.Map]:
    """Return { [PE[x, y] -> [t]] -> [PE[x, y] -> [t + F p]] } of each statement.

    `lags` has F, a row for each dimension of time; t is as `order_groups` has it, and p are the
    coordinates of the PE.
    """
    values = [each.value for each in coordinates(topology)]
    return {name: _late(_step_rows(rows, name, order), values) for name, rows in lags.items()}


def _step_rows(lag: Sequence[Sequence[int]], name: str, order: Order) -> list[Sequence[int]]:
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
