"""Statements of a layer in time and space, as stages that look for broadcasts want them."""

from __future__ import annotations

from collections.abc import Mapping as Dictionary, Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.lair.layer import Layer
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import BYTES
from lairmake.stages.mapping.isl_texts import parse_map
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.poly.canonical import from_domain, list_maps
from lairmake.stages.poly.functions import find_greatest, find_least
from lairmake.stages.poly.integers import Matrix
from lairmake.stages.poly.text import Objects
from lairmake.stages.skewing.clock import StatementClock, clock, sharing
from lairmake.stages.skewing.elements import Lair
from lairmake.stages.skewing.spaces import (
    TopologyLink,
    apart,
    coordinates,
    extent_space,
    hull,
    links,
    normals,
    space_time,
    transformation,
    unfolding,
)
from lairmake.stages.skewing.timed import StatementGroup, Timed, TimedReference
from lairmake.stages.skewing.topology import Topology
from lairmake.stages.skewing.traffic import footprint

IN, OUT = isl.dim_type.in_, isl.dim_type.out

# --- Statements of a layer in time and space ------------------------------------------------------
#
# Paper    M Sec. III.F to III.H

@dataclass(frozen=True, slots=True, kw_only=True)
class SkewMachine:
    """`memory` of a PE in bytes, `sizes` of an element by tensor in bytes, and where ports are.

    `wishes` has, by tensor, the direction of each dimension of the grid away from the ports at
    which it arrives, or towards those at which it leaves; 0 where the ports do not tell. `remote`
    are the cycles that an element from remote memory takes a PE more than one from a neighbour;
    `lanes` has, by tensor, the elements of it that a PE computes in a cycle.
    """

    memory: int
    sizes: Dictionary[str, int]
    wishes: Dictionary[str, tuple[int, ...]]
    remote: int
    lanes: Dictionary[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The objects of a layer by statement: when and where it runs, and what it uses."""

    schedule: isl.UnionMap = field(repr=False)
    clocks: Dictionary[str, StatementClock] = field(repr=False)
    places: Dictionary[str, isl.Map] = field(repr=False)
    reads: Dictionary[str, list[isl.Map]] = field(repr=False)
    writes: Dictionary[str, list[isl.Map]] = field(repr=False)
    groups: list[list[str]]
    topology: Topology

    def times(self, name: str) -> isl.Map:
        """Return { S[i] -> [t...] }."""
        return self.clocks[name].times

    def used(self, name: str) -> list[isl.Map]:
        """Return the accesses of a statement, reads first."""
        return [*self.reads.get(name, []), *self.writes.get(name, [])]

    def transformation(self, name: str, lag: Sequence[Sequence[int]]) -> Matrix | None:
        """Return the matrix of the loops of the schedule; see stages/skewing/spaces.py."""
        own = isl.Map.from_union_map(from_domain(self.schedule, name))
        return transformation(own, self.at(name), self.clocks[name].loops, lag)

    def at(self, name: str) -> isl.Map:
        """Return { S[i] -> PE[p] }, p the coordinates by which PEs lag: x, y, or of two levels."""
        if self.topology.inner is None:
            return self.places[name]
        return self.places[name].apply_range(unfolding(self.topology))

    def points(self, name: str) -> isl.Map:
        """Return { S[i] -> [t..., p] }."""
        return space_time(self.times(name), self.at(name))


def find_space(
    lair: Lair, placement: isl.UnionMap, schedule: isl.UnionMap, given: Sequence[str],
    topology: Topology,
) -> Space:
    """Return the statements of a layer on the clock of all PEs; see stages/skewing/clock.py."""
    return Space(
        schedule=schedule,
        clocks=clock(schedule, placement, given),
        places={m.get_tuple_name(IN): m for m in list_maps(placement)},
        reads=_by_statement(lair.reads.intersect_domain(lair.instances)),
        writes=_by_statement(lair.writes.intersect_domain(lair.instances)),
        groups=sharing(schedule, given),
        topology=topology,
    )


def find_given(mapping: LayerMapping) -> list[str]:
    """Return the statements to which layer.yaml gives a schedule."""
    if mapping.schedule is None:
        return []
    return sorted({m.get_tuple_name(IN) for m in list_maps(parse_map(mapping.schedule))})


def group_statements(space: Space, machine: SkewMachine) -> list[StatementGroup]:
    """Return the statements by the loops they share, with what orders them."""
    return [
        StatementGroup(
            statements=tuple(_timed(space, machine, name) for name in names),
            dependences=_dependences(space, names),
            remote=machine.remote,
            lanes={name: _lanes(space, machine, name) for name in names},
        )
        for names in space.groups
    ]


def _lanes(space: Space, machine: SkewMachine, name: str) -> int:
    """Return how many instances of a statement a PE runs in a cycle: as many as of what it writes.
    """
    written = (access.get_tuple_name(OUT) for access in space.writes.get(name, []))
    return min((machine.lanes[tensor] for tensor in written), default=1)


def _timed(space: Space, machine: SkewMachine, name: str) -> Timed:
    times, points = space.times(name), space.points(name)
    return Timed(
        name=name,
        points=points,
        times=times.dim(OUT),
        grid=points.dim(OUT) - times.dim(OUT),
        links=links(space.topology),
        domain=normals(extent_space(points)),
        targets=_targets(space, machine, name),
        references=tuple(
            _reference(space, points, access, machine.wishes)
            for access in space.used(name)
        ),
        constants=tuple(_constant(times.range(), k) for k in range(times.dim(OUT))),
    )


def _reference(
    space: Space, points: isl.Map, access: isl.Map, wishes: Dictionary[str, tuple[int, ...]]
) -> TimedReference:
    tensor, vectors, found = access.get_tuple_name(OUT), apart(points, access), space.topology
    grid = len(coordinates(found))
    lags = isl.Map.from_range(vectors).move_dims(IN, 0, OUT, points.dim(OUT) - grid, grid)
    near = lags.domain()
    return TimedReference(
        tensor=tensor,
        reuse=normals(hull(vectors)),
        apart=lags,
        meeting=tuple(not near.is_disjoint(link.ways) for link in links(found)),
        wish=tuple(_wish(found, link, wishes.get(tensor)) for link in links(found)),
    )


def _wish(topology: Topology, link: TopologyLink, wishes: tuple[int, ...] | None) -> int:
    """Return in which direction of a link a tensor should pass; 0 on diagonals."""
    axes = [c.axis for c, d in zip(coordinates(topology), link.step, strict=True) if d]
    return wishes[axes[0]] if wishes is not None and len(axes) == 1 else 0


def _constant(times: isl.Set, k: int) -> int | None:
    low, high = find_least(times, k), find_greatest(times, k)
    return low.to_python() if low.eq(high) else None


def _targets(space: Space, machine: SkewMachine, name: str) -> tuple[int, ...]:
    """Return the dimensions of time that may change, innermost first.

    They are those of steps whose data fit into the memory of a PE: of whole tiles, where there are
    some and their data fit, else within tiles.
    """
    times = space.times(name)
    counted = space.clocks[name].tiles
    fitting = [k for k in range(times.dim(OUT)) if _fits(space, machine, name, k)]
    outer = [k for k in fitting if k < counted]
    chosen = outer if counted - 1 in outer else [k for k in fitting if k >= counted]
    return tuple(reversed(chosen))


def _fits(space: Space, machine: SkewMachine, name: str, k: int) -> bool:
    """Say whether the data of one iteration of the loop over dimension k fit into the memory."""
    times = space.times(name)
    down_to = times.project_out(OUT, k + 1, times.dim(OUT) - k - 1)
    needed = footprint(down_to, space.places[name], space.used(name), machine.sizes)
    return needed <= machine.memory


def _dependences(space: Space, names: Sequence[str]) -> isl.UnionMap:
    """Return { S[t, p] -> S'[t', p'] } where S' reads what S writes, of different statements.

    Sums are not among them: on a PE no F changes their order, and what PEs add is added to the
    rest in any order.
    """
    found = isl.UnionMap("{ }")
    for source in names:
        for sink in names:
            for write in space.writes.get(source, []) if source != sink else []:
                for read in space.reads.get(sink, []):
                    if read.get_tuple_name(OUT) == write.get_tuple_name(OUT):
                        pairs = _ordered(space, source, write, read, sink)
                        found = found.union(isl.UnionMap.from_map(pairs))
    return found


def _ordered(space: Space, source: str, write: isl.Map, read: isl.Map, sink: str) -> isl.Map:
    """Return the pairs of one tensor whose source is earlier."""
    pairs = write.apply_range(read.reverse())
    before, after = space.times(source), space.times(sink)
    earlier = isl.Map.lex_lt(before.range().space)
    pairs = pairs.intersect(before.apply_range(earlier).apply_range(after.reverse()))
    ends = (space.points(name).set_tuple_name(OUT, name) for name in (source, sink))
    start, end = ends
    return pairs.apply_domain(start).apply_range(end)


def _by_statement(accesses: isl.UnionMap) -> dict[str, list[isl.Map]]:
    found: dict[str, list[isl.Map]] = {}
    for access in list_maps(accesses):
        found.setdefault(access.get_tuple_name(IN), []).append(access)
    return found


def find_wishes(mapping: LayerMapping, placement: isl.UnionMap) -> dict[str, tuple[int, ...]]:
    """Return the direction in which the elements of each tensor should pass, if it has ports."""
    pes = isl.Set.from_union_set(placement.range())
    found = {}
    for name, tensor in mapping.tensors.items():
        if tensor.arrives is not None:
            found[name] = _away(_ports(parse_map(tensor.arrives)), pes)
        elif tensor.leaves is not None:
            found[name] = tuple(-way for way in _away(_ports(parse_map(tensor.leaves)), pes))
    return found


def _ports(order: isl.UnionMap) -> isl.Set:
    return isl.Set.from_union_set(order.range_factor_domain().range())


def _away(ports: isl.Set, pes: isl.Set) -> tuple[int, ...]:
    """Return, by dimension, 1 if the ports are not beyond the first PE, -1 the last; else 0."""
    def way(k: int) -> int:
        low, high = find_least(pes, k), find_greatest(pes, k)
        first, last = find_least(ports, k), find_greatest(ports, k)
        return int(last.le(low)) - int(first.ge(high))

    return tuple(way(k) for k in range(pes.dim(isl.dim_type.set)))

# --- Statements with their PEs, times and machine -------------------------------------------------
#
# Paper    M Sec. III.F to III.H

@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """A layer whose statements have a PE and a time, and its machine.

    `places` is what placement.isl says, `schedule` { S[i] -> [time] }.
    """

    mapping: LayerMapping
    profile: Profile
    layer: Layer
    lair: Lair
    places: Objects
    schedule: isl.UnionMap


def groups_in(scheduled: Scheduled, network: Topology) -> tuple[Space, list[StatementGroup]]:
    """Return the statements of a layer, and the groups of those that share loops."""
    mapping, placement = scheduled.mapping, scheduled.places["placement"]
    tensors = scheduled.layer.tensors
    space = find_space(scheduled.lair, placement, scheduled.schedule, find_given(mapping), network)
    machine = SkewMachine(
        memory=scheduled.profile.memory,
        sizes={name: BYTES[tensor.type] for name, tensor in tensors.items()},
        wishes=find_wishes(mapping, placement),
        remote=scheduled.profile.remote,
        lanes={name: scheduled.profile.find_most_lanes(t.type) for name, t in tensors.items()},
    )
    return space, group_statements(space, machine)
