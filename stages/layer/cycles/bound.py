"""The lower bound on the cycles of a layer."""

from __future__ import annotations

import math
import typing
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import Bools, Ints
from lairmake.stages.fabric.grid import Grid, coordinates, members, read_grid
from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.fabric.outcome import FabricRun
from lairmake.stages.fabric.ports import (
    Points,
    PortTimes,
    find_external_points,
    find_points,
    find_times,
)
from lairmake.stages.lair.expressions import ACCUMULATE, BINARY
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.lair.tree import AccessSyntax, Binary, CallSyntax, Expr, Unary, walk
from lairmake.stages.layer.cycles.arrival import (
    MOST_POINTS,
    NEVER,
    ArrivalPlaces,
    entering,
    find_at_once,
    left,
    one_by_one,
    related,
    sends,
    taken,
    way,
)
from lairmake.stages.layer.cycles.needs import NeededDeparture, PeNeeds
from lairmake.stages.layer.texts.results_json import Bound
from lairmake.stages.layer.texts.task_graph import AnyTask, Compute, Running
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scalar_code import kind_of
from lairmake.stages.machine.types import find_integers, is_integer
from lairmake.stages.poly.integers import find_pivot_rows, hermite

# --- Fewest cycles of an instance -----------------------------------------------------------------

VECTOR_CALLS = {"max": "MAX", "min": "MIN", "relu": "MAX", "abs": "MAX"}
"""Functions that vector instructions compute; others are scalar operations."""


def least_cycles(statement: Statement, types: Sequence[str], profile: Profile) -> Fraction:
    """Return the cycles of an instance, given the types of its result and of what it reads.

    Each operation takes a lane for a cycle, or the time of a scalar one of its kind if that is
    less; a product that is added to something nothing more, and a copy nothing; each call of
    another function takes the time of its kind. A quotient takes no more than a product and, for
    each divisor, a reciprocal. Of the types in which it may be computed, that of the fewest cycles
    counts. What occurs twice is computed once, and so is what is the same for several instances.
    """
    computed = find_integers(types) if is_integer(types[0]) else "float32"
    costs = _Costs(profile, {types[0], computed})
    cycles = _counted(statement, costs)
    if statement.op != "=" and not _is_product(statement.expr, statement.op):
        cycles += costs.of(ACCUMULATE[statement.op])
    return max(costs.of("COPY"), cycles)


class _Costs:
    """The fewest cycles of one operation that gives some types."""

    def __init__(self, profile: Profile, types: Set[str]) -> None:
        self.profile, self.types = profile, types
        rows = profile.lanes.items()
        self.rows = [row for name, row in rows if name.partition(" of ")[0] in types]

    def of(self, operation: str) -> Fraction:
        """Return those of a vector operation, where a product may be one of a multiply-add."""
        fused = ("MAC", "FMA", "FMS", "FNMA") if operation == "MUL" else ()
        lanes = max(row[name] for row in self.rows for name in (operation, *fused))
        scalar = self.of_scalar(operation)
        return min(Fraction(1, lanes), scalar) if lanes else scalar

    def of_scalar(self, operation: str) -> Fraction:
        """Return those of a sign or a function of LAIR that scalar code computes."""
        kinds = {kind_of(operation, type_) for type_ in self.types}
        return Fraction(min(map(self.profile.find_kind_cost, kinds)))


def _is_product(expr: Expr, op: str) -> bool:
    return op in ("+", "-", "+=") and isinstance(expr, Binary) and expr.op == "*"


def _counted(statement: Statement, costs: _Costs) -> Fraction:
    """Return the cycles of the operations of an instance."""
    found, quotients = Fraction(0), dict[Expr, list[Expr]]()
    for part, cycles in _parts_of(statement.expr, costs).items():
        if isinstance(part, Binary) and part.op == "/":
            quotients.setdefault(part.right, []).append(part)
        else:
            found += cycles / most_alike(statement, part)
    for divisor, parts in quotients.items():
        found += _of_quotients(statement, divisor, parts, costs)
    return found


def _of_quotients(
    statement: Statement, divisor: Expr, quotients: Sequence[Expr], costs: _Costs
) -> Fraction:
    """Return the cycles of quotients by one divisor: each divided, or a product with a reciprocal.

    A product that is added to something costs nothing, as everywhere; nor does the reciprocal of a
    number, which is known before the run.
    """
    added = {statement.expr} if statement.op in ("+=", "-=") else set[Expr]()
    for part in walk(statement.expr):
        if isinstance(part, Binary) and part.op in "+-":
            added |= {part.left, part.right}
    alike = {each: most_alike(statement, each) for each in quotients}
    divided = sum((costs.of("DIV") / alike[each] for each in quotients), Fraction(0))
    products = sum((costs.of("MUL") / alike[q] for q in quotients if q not in added), Fraction(0))
    if not any(isinstance(part, AccessSyntax) for part in walk(divisor)):
        return min(divided, products)
    return min(divided, costs.of("DIV") / most_alike(statement, divisor) + products)


def most_alike(statement: Statement, part: Expr) -> int:
    """Return for how many instances, at most, a part of the expression has one value.

    Its values differ by the iterators of which it has independent multiples, the longest ones.
    """
    iterators = sorted(zip(statement.sizes, statement.iterators, strict=True), reverse=True)
    rows = [row for access in walk(part) if isinstance(access, AccessSyntax) for row in access.rows]
    columns = [[dict(row.coefficients).get(name, 0) for row in rows] for _, name in iterators]
    apart = find_pivot_rows(hermite(columns, len(rows))[0]) if rows else []
    return prod(size for k, (size, _) in enumerate(iterators) if k not in apart)


def _parts_of(expr: Expr, costs: _Costs) -> dict[Expr, Fraction]:
    """Return the cycles of each part of its own; equal ones are one."""
    match expr:
        case Binary():
            parts: tuple[Expr, ...] = (expr.left, expr.right)
            added = any(_is_product(each, expr.op) for each in parts)
            own = Fraction(0) if added else costs.of(BINARY[expr.op])
        case Unary():
            parts, own = (expr.operand,), Fraction(0)
        case CallSyntax():
            parts, name = tuple(expr.arguments), VECTOR_CALLS.get(expr.function)
            own = costs.of_scalar(expr.function) if name is None else costs.of(name)
        case _:
            return {}
    found = {each: own for part in parts for each, own in _parts_of(part, costs).items()}
    return found | {expr: own}

# --- Lower bound of a layer -----------------------------------------------------------------------
#
# It is for the placement, the arrivals and the data of a layer. Every port, and every PE, sends and
# takes one wavelet a cycle at most; a wavelet takes its way through the fabric; an operation takes
# a lane for a cycle. What follows for a port, or a PE, alone holds for all programs.

Values = Mapping[str, Sequence[NDArray[typing.Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundRun:
    """What was run: `loops` is the run with loops only, which has no extra instances.

    `values` are those of the inputs: of all invocations, or the one that comes in each.
    """

    layer: Layer
    tasks: Mapping[str, AnyTask]
    layout: FabricLayout
    profile: Profile
    loops: FabricRun
    values: Values
    invocations: int


def lower_bound(needs: PeNeeds, run: BoundRun) -> Bound:
    """Return the bound in cycles and what binds; of several the first.

    operations  of a PE over the lanes, after the first element that it needs, and before the last
                one's way to a port
    ports       the wavelets of the busiest port, over those that a link carries in a cycle
    latency     of elements to a port: one a cycle, each after the last element that it needs, the
                way of that, and an operation
    ramps       what a PE takes, or sends: one wavelet a cycle, and the way to a port; or what all
                take, sums of each other included, over the number of PEs
    datapath    where streams and tasks share it: operations, and what a PE takes or sends, each of
                which may be an operation, too
    """
    grid = read_grid(run.layout.grid)
    times = {
        name: find_times(arrival, run.values[arrival.tensor], run.invocations, grid)
        for name, arrival in needs.arrivals.items()
    }
    outlets = [_outlet(each, run, grid) for each in needs.departures]
    of_pes = _of_pes(needs, run, times, outlets, grid)
    ports = max(_busiest(entering(needs, times)), _busiest(_leaving_ports(run.loops)))
    candidates = {
        "operations": of_pes["operations"],
        "ports": -(-ports // find_at_once(run.profile)),
        "latency": _latency(run.profile, times, outlets),
        "ramps": of_pes["ramps"],
        "datapath": of_pes["datapath"],
    }
    by = max(candidates, key=lambda key: candidates[key])
    return Bound(cycles=candidates[by], by=by)


def _leaving_ports(loops: FabricRun) -> list[tuple[ArrivalPlaces, Ints]]:
    ports = loops.leaving
    return [(ArrivalPlaces(x=ports.x, y=ports.y), ports.wavelets)]


def _busiest(streams: Iterable[tuple[ArrivalPlaces, Ints]]) -> int:
    """Return the most wavelets over one external link, those of all streams together."""
    listed = list(streams)
    if not listed:
        return 0
    x, y, wavelets = map(np.concatenate, zip(*((p.x, p.y, n) for p, n in listed), strict=True))
    _, where = np.unique(np.stack([x, y]), axis=1, return_inverse=True)
    return int(np.bincount(where.reshape(-1), weights=wavelets).max(initial=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outlet:
    """The ports of a departure, and the elements that leave at each."""

    departure: NeededDeparture
    points: Points
    ports: ArrivalPlaces


def _outlet(departure: NeededDeparture, run: BoundRun, grid: Grid) -> _Outlet:
    shape = run.layer.tensors[departure.stream.tensor].shape
    points = find_points(departure.stream, shape, grid)
    x, y = find_external_points(departure.stream, points, grid)
    return _Outlet(departure=departure, points=points, ports=ArrivalPlaces(x=x, y=y))


def _latency(
    profile: Profile, times: Mapping[str, PortTimes], outlets: Sequence[_Outlet]
) -> int:
    """Return when the last element of any port can be there.

    Zeros of a sparse tensor do not leave: it has one wavelet at least, after all that it needs.
    """
    last = 0
    for each in outlets:
        cycles = left(each.departure, each.points, each.ports, times, profile)
        cycles = cycles.reshape(len(each.ports.x), -1)
        sparse = each.departure.stream.sparse
        passed = cycles.max(axis=1, initial=0) if sparse else one_by_one(cycles, profile)
        last = max(last, int(passed.max(initial=0)))
    return last


def _of_pes(
    needs: PeNeeds,
    run: BoundRun,
    times: Mapping[str, PortTimes],
    outlets: Sequence[_Outlet],
    grid: Grid,
) -> dict[str, int]:
    """Return the bounds by the operations, the ramps and the datapaths of PEs."""
    profile, busy = run.profile, _operations(needs, run, grid)
    pes, number = _pes(needs, times, outlets, grid, int(busy.argmax()))
    arriving = taken(needs, times, pes, profile)
    first = np.where(arriving == NEVER, -NEVER, arriving).min(axis=1, initial=-NEVER)
    first = np.where((first < -NEVER) & needs.waits & (run.invocations == 1), first, 0)
    away = _away(outlets, pes, profile)
    leaving = [sends(o.departure.sent, o.ports, o.points.axes, pes) for o in outlets]
    operations = np.where(busy[number] > 0, first + busy[number] + away, 0)
    ramps = [one_by_one(arriving, profile) + 1 + away]
    for outlet, here in zip(outlets, leaving, strict=True):
        ramps.append(first + _leaving(outlet, here, pes, profile))
    if len(number) == members(needs.pes, grid).sum() and (away > NEVER).all():
        summed = _summed(outlets, leaving) + int((arriving > NEVER).sum())
        ramps.append(first.min() + -(-summed // (grid.size * find_at_once(profile))) + away.min())
    moved = np.maximum((arriving > NEVER).sum(axis=1), _sent(outlets, leaving, len(number)))
    shared = first + _sharing(busy[number], moved, run) + away
    return {
        "operations": max(int(busy.max(initial=0)), int(operations.max(initial=0))),
        "ramps": max(int(each.max(initial=0)) for each in ramps),
        "datapath": int(shared.max(initial=0)) if profile.shared_datapath else 0,
    }


def _sent(outlets: Sequence[_Outlet], leaving: Sequence[Bools], pes: int) -> Ints:
    """Return how many elements each PE sends, at least."""
    found = np.zeros(pes, dtype=np.int64)
    for outlet, here in zip(outlets, leaving, strict=True):
        if not outlet.departure.stream.sparse:
            found += here.sum(axis=1)
    return found


def _sharing(busy: Ints, moved: Ints, run: BoundRun) -> Ints:
    """Return the cycles of the datapath of each PE, of operations and of elements that move.

    With an element that a stream moves one operation is done, or what a task does in a cycle.
    """
    with_each = max((_least(each, run) for each in run.layer.statements), default=Fraction(0))
    saved = min(Fraction(1), with_each) if run.profile.dispatch else Fraction(1)
    rest = busy - -(-moved * saved.numerator // saved.denominator)
    return np.where(moved + busy > 0, moved + np.maximum(rest, 0), NEVER)


def _pes(
    needs: PeNeeds,
    times: Mapping[str, PortTimes],
    outlets: Sequence[_Outlet],
    grid: Grid,
    busiest: int,
) -> tuple[ArrivalPlaces, Ints]:
    """Return PEs with instances, and their numbers: all, or where they are many some of them."""
    row, column = np.nonzero(members(needs.pes, grid))
    number = row * grid.width + column
    points = sum(time.cycle.size for time in times.values())
    points += sum(each.points.numbers.size for each in outlets)
    step = max(1, -(-len(number) * points // MOST_POINTS))
    if step > 1:
        number = np.union1d(number[::step], busiest)
    x, y = coordinates(number, grid)
    return ArrivalPlaces(x=x, y=y), number


def _summed(outlets: Sequence[_Outlet], leaving: Sequence[Bools]) -> int:
    """Return how many sums PEs take from others: of the PEs that add to an element, all but one.

    Nothing is known of what leaves at two places, or without its zeros.
    """
    found = 0
    for outlet, here in zip(outlets, leaving, strict=True):
        if outlet.departure.once and not outlet.departure.stream.sparse:
            found += int(np.maximum(here.sum(axis=0) - 1, 0).sum())
    return found


def _away(outlets: Sequence[_Outlet], pes: ArrivalPlaces, profile: Profile) -> Ints:
    """Return the cycles from each PE to the next port that its results matter to.

    0 where nothing leaves, NEVER where they matter to none: then the PE's work does not count.
    """
    if not outlets:
        return np.zeros(len(pes.x), dtype=np.int64)
    found = np.full(len(pes.x), -NEVER)
    for each in outlets:
        there = related(each.departure.helps, pes, each.ports)
        ways = np.where(there, way(profile, pes, each.ports) + profile.ramp, -NEVER)
        found = np.minimum(found, ways.min(axis=1, initial=-NEVER))
    return np.where(found < -NEVER, found, NEVER)


def _leaving(outlet: _Outlet, here: Bools, pes: ArrivalPlaces, profile: Profile) -> Ints:
    """Return the cycles in which each PE computes and sends what leaves, and its way to a port."""
    if outlet.departure.stream.sparse:
        return np.zeros(len(pes.x), dtype=np.int64)
    count = here.sum(axis=1)
    ways = way(profile, pes, outlet.ports).min(axis=1, initial=-NEVER)
    return np.where(count > 0, count + ways + profile.ramp, 0)


def _operations(needs: PeNeeds, run: BoundRun, grid: Grid) -> Ints:
    """Return the cycles, at least, that the instances of each PE of the grid take."""
    found = np.zeros(grid.size, dtype=np.int64)
    least = {each.name: _least(each, run) for each in run.layer.statements}
    shares = math.lcm(*(cycles.denominator for cycles in least.values())) * run.invocations
    for role, described in run.layout.roles.items():
        here = members(isl.Set(described.at), grid).reshape(-1)
        points = run.loops.points[role]
        cycles = np.zeros(len(points), dtype=np.int64)
        for number, name in enumerate(described.counters or ()):
            task = run.tasks[name]
            if isinstance(task, Running):
                each = least[task.statement] * _share(needs, task, run.invocations)
                cycles += points[:, number] * int(each * shares)
        found[here] = -(-cycles // shares)
    return found


def _share(needs: PeNeeds, task: Running, invocations: int) -> Fraction:
    """Return in which part of the invocations all instances of a task matter.

    How many elements a task reacts to may differ between invocations: then in all, or in none.
    """
    share = Fraction(needs.counted.get(task.statement, 0), invocations)
    return share if share == 1 or isinstance(task, Compute) else Fraction(0)


def _least(statement: Statement, run: BoundRun) -> Fraction:
    types = [run.layer.tensors[a.tensor].type for a in (statement.target, *statement.reads)]
    computing = (task for task in run.tasks.values() if isinstance(task, Compute))
    begins = any(
        task.statement == statement.name and task.op == "=" and task.taps is None
        for task in computing
    )
    return least_cycles(replace(statement, op="=") if begins else statement, types, run.profile)
