"""Records of skew.yaml and counts.yaml, and what they say of a statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import islpy as isl

from lairmake.stages.mapping.records import Inline, Key
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.functions import depends_on, find_greatest, least
from lairmake.stages.skewing.lags import LagChoice, Weighed
from lairmake.stages.skewing.spaces import coordinates, is_lower_triangular, is_unimodular
from lairmake.stages.skewing.statements import Space
from lairmake.stages.skewing.timed import (
    Factors,
    Timed,
    TimedReference,
    dimensions,
    later,
    parallel,
    passes,
    reason,
    together,
)
from lairmake.stages.skewing.topology import always_steps, crosses_edge, next_task, unfold

OUT = isl.dim_type.out

# --- Records of skew.yaml and counts.yaml ---------------------------------------------------------
#
# Paper    M Sec. II to IV

@dataclass(frozen=True, slots=True, kw_only=True)
class BasisChange:
    """A number before PEs lag, and after."""

    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extents:
    """By dimension of time, the steps from the first to the last, before PEs lag and after."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What becomes of the broadcasts of a tensor: `why` one stays, and where elements pass on."""

    broadcast: BasisChange
    passes: tuple[tuple[int, ...], ...]
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewEdge:
    """Whether tiles cross an edge of the torus, and always step to the next PE."""

    crosses: bool
    steps: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LagText:
    """One lag: in a dimension of `time`, by `factor` for each step `along` a coordinate.

    Beside those that are taken it eliminates `broadcasts`, `saves` remote accesses, adds `steps`,
    and so `gains` cycles of a PE.
    """

    time: int
    along: str
    factor: int
    taken: bool
    broadcasts: int
    saves: int | None = None
    steps: int | None = None
    gains: int | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lagging:
    """How the PEs that run a statement lag; `loops` is the matrix, where it is one."""

    lag: tuple[tuple[int, ...], ...]
    lags: tuple[LagText, ...] = ()
    step: int
    steps: Extents
    running: BasisChange
    parallel: BasisChange
    loops: tuple[tuple[int, ...], ...] | None = None
    is_lower_triangular: Annotated[bool | None, Key("lower triangular")] = None
    tensors: Mapping[str, Fate]
    edges: Mapping[str, SkewEdge] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewShares:
    """From where PEs get what they access; `percent` is of remote, neighbour and local."""

    accesses: int
    remote: int
    neighbour: int
    local: int
    percent: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPart:
    """The accesses of a `number` of PEs together."""

    number: int
    remote: int
    neighbour: int
    local: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The steps of a layer, and its accesses: of all tensors, of each, and by part of the grid."""

    steps: int
    whole: Annotated[SkewShares, Inline()]
    tensors: Mapping[str, SkewShares]
    pes: Mapping[str, GridPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewCounts:
    """What counts.yaml says: with PEs that start together, and with PEs that lag."""

    before: Counted
    after: Counted

# --- Description of a statement -------------------------------------------------------------------
#
# Paper    M Sec. II, III

def description(space: Space, statement: Timed, choice: LagChoice) -> Lagging:
    """Return what skew.yaml says of a statement whose lags were chosen."""
    points, lag = statement.points, choice.taken[statement.name]
    after = points.apply_range(_moved(statement, lag))
    width = statement.times
    matrix = space.transformation(statement.name, lag)
    loops = None if matrix is None or not is_unimodular(matrix) else matrix
    return Lagging(
        lag=lag,
        lags=tuple(
            _said_of(space, each)
            for each in choice.weighed
            if statement.name in each.lag.statements
        ),
        step=choice.depth,
        steps=Extents(before=_extents(points, lag), after=_extents(after, lag)),
        running=BasisChange(before=running(points, width), after=running(after, width)),
        parallel=BasisChange(
            before=parallel(statement, together(statement)), after=parallel(statement, lag)
        ),
        loops=None if loops is None else tuple(map(tuple, loops)),
        is_lower_triangular=None if loops is None else is_lower_triangular(loops),
        tensors={r.tensor: _fate(statement, r, choice) for r in statement.references},
    )


def running(points: isl.Map, times: int) -> int:
    """Return how many PEs of { S[i] -> [t..., p] } work when the last one has begun."""
    steps = points.range()
    at = isl.Map.identity(steps.space.map_from_set()).intersect_domain(steps)
    by_pe = at.project_out(isl.dim_type.in_, 0, times).project_out(OUT, times, at.dim(OUT) - times)
    last = least(by_pe).range()
    for k in range(times):
        last = last.fix_val(isl.dim_type.set, k, find_greatest(last, k))
    return cardinality(by_pe.intersect_range(last).domain())


def _said_of(space: Space, weighed: Weighed) -> LagText:
    """Return what skew.yaml says of one lag."""
    lag = weighed.lag
    return LagText(
        time=lag.time,
        along=coordinates(space.topology)[lag.axis].name,
        factor=lag.factor,
        taken=weighed.is_taken,
        broadcasts=weighed.broadcasts,
        saves=weighed.saves,
        steps=weighed.steps,
        gains=weighed.gains,
        why=weighed.why,
    )


def _fate(statement: Timed, reference: TimedReference, choice: LagChoice) -> Fate:
    """Return what becomes of the broadcasts of a tensor."""
    wanted, lag = choice.wanted[statement.name], choice.taken[statement.name]
    ways = zip(statement.links, passes(statement, reference, lag), strict=True)
    return Fate(
        broadcast=BasisChange(
            before=dimensions(statement, reference, together(statement)),
            after=dimensions(statement, reference, lag),
        ),
        passes=tuple(tuple(way * d for d in link.step) for link, way in ways if way),
        why=why_broadcast(statement, reference, wanted, lag) or None,
    )


def why_broadcast(
    statement: Timed, reference: TimedReference, wanted: Factors, lag: Factors
) -> str | None:
    """Return why a tensor is broadcast along the grid with a lag; None if it is not."""
    why = reason(statement, reference, lag)
    if why and reason(statement, reference, wanted) is None:
        return "a lag that helps does not pay"
    return why


def _moved(statement: Timed, lag: Factors) -> isl.Map:
    """Return { [t, p] -> [t + F p, p] }."""
    times = later(statement, lag).reset_tuple_id(isl.dim_type.in_)
    keep = isl.Map.identity(times.domain().space.map_from_set())
    return times.flat_range_product(keep.project_out(OUT, 0, statement.times))


def _extents(points: isl.Map, lag: Factors) -> tuple[int, ...]:
    """Return, by dimension of time, the number of steps from the first to the last."""
    return tuple(high - low + 1 for low, high in bounding_box(points.range())[: len(lag)])

# --- Edges of a torus -----------------------------------------------------------------------------
#
# Paper    M Sec. VI.A.2, (11), (12)

def edges(space: Space, wraps: isl.UnionMap, name: str) -> dict[str, SkewEdge]:
    """Return, by dimension of a torus, whether a statement's tiles cross its edge, and always step.

    `wraps` { S[i] -> [n, m] } is how often placements wrap around before. Nothing where the
    innermost loop from tile to tile, or from instance to instance, is over no iterator alone.
    """
    clock, sizes = space.clocks[name], space.topology.sizes
    count = clock.tiles or len(clock.loops)
    rows = depends_on(isl.Map.from_union_map(from_domain(space.schedule, name)))
    loops = rows[clock.loops[count - 1]] if count else set()
    if len(loops) != 1:
        return {}
    own = isl.Map.from_union_map(from_domain(wraps, name))
    place = unfold(space.places[name], own, sizes)
    times = clock.times.project_out(OUT, count, clock.times.dim(OUT) - count)
    step = next_task(times.flat_range_product(place), loops.pop())
    return {
        axis: SkewEdge(
            crosses=crosses_edge(place, step, size, k), steps=always_steps(place, step, k)
        )
        for k, (axis, size) in enumerate(zip("xy", sizes, strict=True))
    }
