"""In which order PEs forward a stream: that of the schedule in which they lag behind each other.

    forwarding: {x: {order: {ff: "[t0 + y, t1 + x]"}}}

A line of PEs is in the order of the skewed schedule of a statement if each PE uses an element first
after all PEs before it that use it. That is checked for all elements and PEs at once. `order` has
the times of skewed.isl, t those before PEs lag; `otherwise` says why a line has no such order. It
is right all the same: no PE of a line writes what it forwards, so that no dependence, M (3),
leads along it, and a PE uses nothing before it has come.

Paper    M Sec. III
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.skewing.lags import choose_lags
from lairmake.stages.skewing.skew_yaml import why_broadcast
from lairmake.stages.skewing.spaces import coordinates
from lairmake.stages.skewing.statements import Scheduled, groups_in
from lairmake.stages.skewing.timed import Factors, Timed, later
from lairmake.stages.skewing.topology import ALONG, Topology

BEYOND = {"E": ("x < u", "y = v"), "W": ("u < x", "y = v"), "S": ("y < v", "x = u"),
          "N": ("v < y", "x = u")}
"""By the side to which PEs forward: when PE[u, v] lies farther than PE[x, y], and on its lane."""

MOST_FOR_CHECK = 20_000_000
"""What the check of a line may take in isl's own unit; some seconds."""

APART = "no PE uses what another one uses"
LONG = "isl needs long to tell"
AGAINST = "PEs lag the other way"
OTHER = "PEs use it in another order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """By statement, the times in whose order PEs use what they forward; or why there are none."""

    order: Mapping[str, str]
    otherwise: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skewed:
    """A statement whose PEs lag: by `lag`, and by `wanted` if only broadcasts mattered."""

    statement: Timed = field(repr=False)
    wanted: Factors
    lag: Factors


class Ordering:
    """The skewed schedule of a layer, for the lines along which its PEs forward."""

    def __init__(self, scheduled: Scheduled, placement: isl.UnionMap) -> None:
        """Let the PEs of a mesh lag; `placement` is that of the PEs in which lines are."""
        mapping = scheduled.mapping
        sizes = parse_target(mapping.target)
        network = Topology(kind="mesh", sizes=sizes, spatial=ALONG[mapping.skew])
        self.space, groups = groups_in(scheduled, network)
        self.placement, self.names = placement, [c.name for c in coordinates(network)]
        self.skewed: dict[str, Skewed] = {}
        for group in groups:
            choice = choose_lags(self.space, group)
            for each in group.statements:
                wanted, lag = choice.wanted[each.name], choice.taken[each.name]
                self.skewed[each.name] = Skewed(statement=each, wanted=wanted, lag=lag)

    def of(self, tensor: str, taken: isl.Map, side: str, *, lanes: bool) -> Times:
        """Return the order in which PEs { tensor[e] -> PE } forward it to a side, by statement.

        Along their `lanes`, or else from lane to lane.
        """
        farther, same = BEYOND[side]
        condition = f"{farther} and {same}" if lanes else farther
        beyond = isl.Map(f"{{ PE[x, y] -> PE[u, v] : {condition} }}")
        order, otherwise = {}, {}
        for name in self._readers(tensor):
            why = self._why(name, tensor, taken, beyond, side)
            if why is None:
                order[name] = _times(self.skewed[name].lag, self.names)
            else:
                otherwise[name] = why
        return Times(order=order, otherwise=otherwise)

    def _readers(self, tensor: str) -> Sequence[str]:
        return [n for n, reads in self.space.reads.items() if _of(reads, tensor) is not None]

    def _why(
        self, name: str, tensor: str, taken: isl.Map, beyond: isl.Map, side: str
    ) -> str | None:
        """Return why the PEs that use a tensor do so in another order; None if they do not."""
        try:
            with limit_operations(MOST_FOR_CHECK):
                before, ordered = self._check(name, tensor, taken, beyond)
        except TooManyOperations:
            return LONG
        if not before:
            return APART
        return None if ordered else self._against(self.skewed[name], tensor, side)

    def _check(
        self, name: str, tensor: str, taken: isl.Map, beyond: isl.Map
    ) -> tuple[bool, bool]:
        """Say whether PEs use what others before them use, and if so always first after them."""
        first = self._first(name, tensor).intersect_domain(taken.wrap())
        same = isl.Map.identity(taken.domain().get_space().map_from_set())
        times = same.product(beyond).apply_domain(first).apply_range(first)
        return not times.is_empty(), times.is_subset(isl.Map.lex_lt(first.range().get_space()))

    def _first(self, name: str, tensor: str) -> isl.Map:
        """Return { [tensor[e] -> PE] -> [t] }, the first time at which a PE uses an element."""
        each, access = self.skewed[name], _of(self.space.reads[name], tensor)
        assert access is not None, "the statement reads the tensor"
        points = each.statement.points.set_tuple_name(isl.dim_type.out, name)
        times = points.apply_range(later(each.statement, each.lag))
        place = isl.Map.from_union_map(from_domain(self.placement, name))
        used = access.reverse().apply_range(place.range_product(times))
        return used.uncurry().lexmin()

    def _against(self, each: Skewed, tensor: str, side: str) -> str:
        reference = next(r for r in each.statement.references if r.tensor == tensor)
        why = why_broadcast(each.statement, reference, each.wanted, each.lag)
        axis, way = ("EW".find(side), 0) if side in "EW" else ("SN".find(side), 1)
        towards = [row[way] * (1 - 2 * axis) for row in each.lag]
        return why or (AGAINST if min(towards, default=0) < 0 else OTHER)


def _of(accesses: Sequence[isl.Map], tensor: str) -> isl.Map | None:
    """Return that of the accesses { S[i] -> T[e] } which is to a tensor, if there is one."""
    return next((a for a in accesses if a.get_tuple_name(isl.dim_type.out) == tensor), None)


def _times(lag: Factors, names: Sequence[str]) -> str:
    """Return the times t + F p as text."""
    rows = []
    for k, row in enumerate(lag):
        terms = [f" {'+' if f > 0 else '-'} {n}" for f, n in zip(row, names, strict=True) if f]
        rows.append(f"t{k}{''.join(terms)}")
    return f"[{', '.join(rows)}]"
