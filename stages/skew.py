"""Let PEs lag behind each other, so that neighbours use data one after the other.

Paper    Meister, Trading off Latency for Memory Bandwidth, Sec. III
Reads    layer.yaml, *.lair, lair.isl, placement.isl, schedule.isl
Writes   skewed.isl    before, schedule: { statement[iterators] -> [t...] }
         skew.yaml     per statement: lag, steps, and per tensor what is broadcast, and why
Assumes  the placement is total, and instances have one time.
Ensures  on each PE the order is as before; no dependence is reversed, and as many instances may run
         at one time.
Differs  see stages/spatial/clock.py, spaces.py and skewing.py.
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.lair.yaml_text import write_document
from stages.pe.code import BYTES
from stages.poly.cardinality import cardinality
from stages.poly.text import write_objects
from stages.spatial.clock import with_names
from stages.spatial.matrices import is_lower_triangular, is_unimodular
from stages.spatial.skewing import Group, later, skew
from stages.spatial.statements import Machine, Space, given_by, groups_of, space_of, wishes_of
from stages.spatial.timed import Factors, Timed, dimensions, parallel, passes, reason, together
from stages.spatial.topology import ALONG

if typing.TYPE_CHECKING:
    from stages.make.inputs import Inputs

READS = ("layer.yaml", "*.lair", "lair.isl", "placement.isl", "schedule.isl")
WRITES = ("skewed.isl", "skew.yaml")
HEADER = """The time of each instance, { statement[iterators] -> [t...] }, on the clock of all PEs.
before: as by schedule.isl, all PEs start together;
schedule: PEs lag behind each other, so that neighbours use data one after the other (Meister)."""
YAML_HEADER = """By how much PEs lag behind each other, and what comes of it (Meister, Sec. III).
lag: by dimension of time, what is added to it for each step to the east, and to the south.
step: so many dimensions of time tell steps apart; the data of one step stay in memory.
steps: from the first to the last time in each dimension of time, before and after.
running: how many PEs work at the time at which the last one begins, before and after.
parallel: the number of dimensions of the space of PEs at one time, before and after.
loops: the matrix from the loops of schedule.isl to the new ones, where it is one.
broadcast: the number of dimensions of the space of PEs that use an element at one time.
passes: to which PE an element passes on: how far to the east, and to the south."""
OUT = isl.dim_type.out


def run(inputs: Inputs) -> dict[str, str]:
    """Return skewed.isl and skew.yaml."""
    placement = inputs.objects("placement.isl")["placement"]
    mapping, given = inputs.mapping(), given_by(inputs.mapping())
    lair, schedule = inputs.objects("lair.isl"), inputs.objects("schedule.isl")["schedule"]
    space = space_of(lair, placement, schedule, given)
    machine = Machine(
        memory=inputs.profile().memory,
        sizes={name: BYTES[tensor.type] for name, tensor in inputs.lair().tensors.items()},
        wishes=wishes_of(mapping, placement),
    )
    along = ALONG[mapping.skew]
    chosen: dict[str, typing.Any] = {}
    found = [skewed(space, each, skew(each)) for each in groups_of(space, machine, along)]
    for each in found:
        chosen |= each
    before = _union(space.times(name) for name in chosen)
    after = _union(times for times, _ in chosen.values())
    said = {name: description for name, (_, description) in chosen.items()}
    return {
        "skewed.isl": write_objects(HEADER, {"before": before, "schedule": after}),
        "skew.yaml": write_document(YAML_HEADER, said),
    }


def skewed(
    space: Space, group: Group, lags: typing.Mapping[str, Factors]
) -> dict[str, tuple[isl.Map, dict[str, typing.Any]]]:
    """Return, by statement, { S[i] -> [t + F p] } and what skew.yaml says."""
    return {
        each.name: (
            with_names(
                each.points.set_tuple_name(OUT, each.name).apply_range(
                    later(each, lags[each.name])
                )
            ),
            _description(space, each, lags[each.name]),
        )
        for each in group.statements
    }


def _description(space: Space, statement: Timed, lag: Factors) -> dict[str, typing.Any]:
    """Return what skew.yaml says of a statement."""
    points = statement.points
    after = points.apply_range(_moved(statement, lag))
    width = statement.times
    found: dict[str, typing.Any] = {
        "lag": [list(row) for row in lag],
        "step": max((k + 1 for k, row in enumerate(lag) if any(row)), default=len(lag)),
        "steps": {"before": _extents(points, lag), "after": _extents(after, lag)},
        "running": {"before": running(points, width), "after": running(after, width)},
        "parallel": {
            "before": parallel(statement, together(statement)),
            "after": parallel(statement, lag),
        },
    }
    matrix = space.transformation(statement.name, lag)
    if matrix is not None and is_unimodular(matrix):
        found |= {"loops": matrix, "lower triangular": is_lower_triangular(matrix)}
    fates = {each.tensor: _fate(statement, each, lag) for each in statement.references}
    return {**found, "tensors": fates}


def running(points: isl.Map, times: int) -> int:
    """Return how many PEs of { S[i] -> [t..., p] } work when the last one has begun."""
    steps = points.range()
    at = isl.Map.identity(steps.space.map_from_set()).intersect_domain(steps)
    by_pe = at.project_out(isl.dim_type.in_, 0, times).project_out(OUT, times, at.dim(OUT) - times)
    last = by_pe.lexmin().range()
    for k in range(times):
        last = last.fix_val(isl.dim_type.set, k, last.dim_max_val(k))
    return cardinality(by_pe.intersect_range(last).domain())


def _fate(statement: Timed, reference: typing.Any, factors: Factors) -> dict[str, typing.Any]:
    """Return what becomes of the broadcasts of a tensor."""
    found: dict[str, typing.Any] = {
        "broadcast": {
            "before": dimensions(statement, reference, together(statement)),
            "after": dimensions(statement, reference, factors),
        },
        "passes": list(passes(statement, reference, factors)),
    }
    why = reason(statement, reference, factors)
    return found | ({"why": why} if why else {})


def _moved(statement: Timed, lag: Factors) -> isl.Map:
    """Return { [t, p] -> [t + F p, p] }."""
    times = later(statement, lag).reset_tuple_id(isl.dim_type.in_)
    keep = isl.Map.identity(times.domain().space.map_from_set())
    return times.flat_range_product(keep.project_out(OUT, 0, statement.times))


def _extents(points: isl.Map, lag: Factors) -> list[int]:
    """Return, by dimension of time, the number of steps from the first to the last."""
    steps = points.range()
    ends = [(steps.dim_min_val(k), steps.dim_max_val(k)) for k in range(len(lag))]
    return [high.sub(low).to_python() + 1 for low, high in ends]


def _union(maps: typing.Iterable[isl.Map]) -> isl.UnionMap:
    result = isl.UnionMap("{ }")
    for each in maps:
        result = result.union(isl.UnionMap.from_map(each))
    return result
