"""What skew.yaml says of a statement.

Paper    M Sec. II, III
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.functions import find_greatest, least
from lairmake.stages.skewing.links import coordinates
from lairmake.stages.skewing.matrices import is_lower_triangular, is_unimodular
from lairmake.stages.skewing.paying import Choice, Weighed
from lairmake.stages.skewing.skewing import later
from lairmake.stages.skewing.statements import Space
from lairmake.stages.skewing.timed import (
    Factors,
    Reference,
    Timed,
    dimensions,
    parallel,
    passes,
    reason,
    together,
)
from lairmake.stages.skewing.yaml_texts import Change, Extents, Fate, Lagging, LagText

OUT = isl.dim_type.out


def description(space: Space, statement: Timed, choice: Choice) -> Lagging:
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
        running=Change(before=running(points, width), after=running(after, width)),
        parallel=Change(
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


def _fate(statement: Timed, reference: Reference, choice: Choice) -> Fate:
    """Return what becomes of the broadcasts of a tensor."""
    wanted, lag = choice.wanted[statement.name], choice.taken[statement.name]
    ways = zip(statement.links, passes(statement, reference, lag), strict=True)
    return Fate(
        broadcast=Change(
            before=dimensions(statement, reference, together(statement)),
            after=dimensions(statement, reference, lag),
        ),
        passes=tuple(tuple(way * d for d in link.step) for link, way in ways if way),
        why=why_broadcast(statement, reference, wanted, lag) or None,
    )


def why_broadcast(
    statement: Timed, reference: Reference, wanted: Factors, lag: Factors
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
