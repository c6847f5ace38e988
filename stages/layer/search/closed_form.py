"""Cost of a partial placement, in closed form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import ceil, prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.lair.expressions import MULTIPLY_ADDS, list_operations
from lairmake.stages.lair.layer import Statement
from lairmake.stages.lair.tree import AccessSyntax
from lairmake.stages.layer.estimate.guess import find_loop_cycles, find_operation
from lairmake.stages.layer.search.coordinates import (
    Along,
    CandidateCoordinate,
    CandidateHalo,
    count_elements,
    describe,
    describe_all,
    find_halo,
    gathers,
    imply_from_placed,
    imply_from_ports,
    is_sparse,
    list_tiles,
    meet,
    meets,
    weigh_along,
)
from lairmake.stages.layer.search.problem import Question, SearchLink
from lairmake.stages.machine.banks import WORD
from lairmake.stages.machine.types import BYTES
from lairmake.stages.movement.cost import SideLoad, find_round_cycles
from lairmake.stages.movement.halo import AXES

if TYPE_CHECKING:
    from lairmake.stages.layer.search.problem import SearchTraffic
    from lairmake.stages.machine.profile import Profile

# --- Cycles of a statement's instances on a PE ----------------------------------------------------
#
# Source   design, Placement by search; stages/layer/vector has the ways to instructions

@dataclass(frozen=True, slots=True, kw_only=True)
class CostPart:
    """The instances of a statement on a PE: how many values iterators have, in how many intervals.

    `taken` is how many elements of a sparse tensor come to the PE.
    """

    statement: Statement
    spans: tuple[int, ...]
    runs: tuple[int, ...]
    taken: Mapping[str, float]


def count_work(part: CostPart, question: Question) -> float:
    """Return the cycles of the instances on one PE, as tasks of vector instructions."""
    statement, profile, tensors = part.statement, question.profile, question.layer.tensors
    operations = list_operations(statement.target.tensor, statement.op, statement.expr)
    type_ = tensors[statement.target.tensor].type
    points = prod(part.spans)
    calls, share = _calls(part, question)
    results = count_elements(statement.target, statement, part.spans)
    found: float = profile.dispatch + profile.dispatch * max(part.taken.values(), default=0)
    found += calls * 2 * profile.scalar
    for each in operations:
        name = find_operation(profile, statement, each, type_)
        if name is None:
            found += points * share * find_loop_cycles(profile, each.name, type_)
            continue
        lanes = profile.find_lanes(name, type_)
        if share == 1 and each.name in MULTIPLY_ADDS and not profile.vector_multiply_add:
            found += _multiply_add(part, calls, type_, profile)
            continue
        if results == 1 and statement.op != "=":
            lanes = max(1, profile.sum_lanes)
        found += calls * (_start(statement, profile) + ceil(points * share / max(calls, 1) / lanes))
    return found


def _start(statement: Statement, profile: Profile) -> int:
    started = profile.vector_start_up + profile.vector_latency
    return started + profile.address * (1 + len(statement.reads))


def _multiply_add(part: CostPart, calls: float, type_: str, profile: Profile) -> float:
    """Return the cycles of multiply-adds on a machine that has none of two vectors.

    They are products and sums; or loops go over what stands still in the target and over the
    indices of one factor, and where the other one then starts, in which bank, is by chance.
    """
    statement, points, start = part.statement, prod(part.spans), _start(part.statement, profile)
    each_way = [2 * (calls * start + points / max(1, profile.find_lanes("MUL", type_)))]
    extent = dict(zip(statement.iterators, part.spans, strict=True))
    lanes = profile.find_lanes("MAC", type_)
    meets = BYTES[type_] / WORD / profile.read_banks if profile.read_banks else 0.0
    target = _list_indices(statement.target)
    for access in statement.reads:
        looped = _list_indices(access) | extent.keys() - target
        runs = max(calls, prod(extent[name] for name in looped))
        once = start + 2 * profile.scalar + ceil(points / runs / lanes)
        each_way.append(runs * once + meets * points / lanes)
    return min(each_way)


def _list_indices(access: AccessSyntax) -> set[str]:
    return {name for row in access.rows for name, _ in row.coefficients}


def _calls(part: CostPart, question: Question) -> tuple[float, float]:
    """Return how often instructions start, and the part of all instances that run."""
    statement, spans = part.statement, part.spans
    sparse = [a for a in statement.reads if is_sparse(a.tensor, question)]
    if sparse:
        driving = max(sparse, key=lambda a: count_elements(a, statement, spans))
        given = _list_indices(driving)
        density = question.mapping.data.density
        elements = count_elements(driving, statement, spans)
        return density * elements * _pieces(part, given), density
    extents = sorted((span for span in spans if span > 1), reverse=True)
    return float(prod(extents[question.profile.dimensions :])) * _pieces(part, set()), 1.0


def _pieces(part: CostPart, given: Set[str]) -> int:
    """Return in how many boxes the instances lie, for given values of some iterators."""
    named = zip(part.statement.iterators, part.runs, strict=True)
    return prod(runs for name, runs in named if name not in given)

# --- Coordinates that a search knows --------------------------------------------------------------
#
# Each is looked at once.
#
# Source   design, Placement by search

Spans = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOption:
    """A coordinate and what it means."""

    at: CandidateCoordinate
    along: Along


class KnownCosts:
    """The coordinates of the statements of a layer, along both axes, and how they go together."""

    def __init__(self, question: Question) -> None:
        """Begin with nothing."""
        self.question = question
        self.extents = (question.target.right + 1, question.target.bottom + 1)
        self._every: dict[tuple[str, int], list[SearchOption]] = {}
        self._own: dict[tuple[str, int], list[SearchOption]] = {}
        self._beside: dict[tuple[str, str, int, int], list[SearchOption]] = {}
        self._agreed: dict[tuple[str, int, int], bool] = {}
        self._met: dict[tuple[str, str, int, int], bool] = {}
        self._halos: dict[tuple[str, str, int, int], CandidateHalo | None] = {}
        self._gathered: dict[tuple[tuple[str, str, str, int], ...], bool] = {}
        self._spans: dict[tuple[int, int], Spans] = {}

    def list_options(
        self, name: str, axis: int, others: Mapping[str, SearchOption]
    ) -> list[SearchOption]:
        """Return coordinates of a statement: those that `others` with a place imply first."""
        if name in self.question.given:
            return self._list_own(name, axis)
        found = [o for other in others for o in self._list_beside(name, axis, other, others[other])]
        return list({id(each): each for each in (*found, *self._list_own(name, axis))}.values())

    def agree(
        self, tensor: str, ours: tuple[str, SearchOption], theirs: tuple[str, SearchOption]
    ) -> bool:
        """Say whether two statements read the same elements at each place along an axis."""
        key = (tensor, id(ours[1]), id(theirs[1]))
        if key not in self._agreed:
            reads = self.question.reads
            first, second = (
                reads[name, tensor].reverse().apply_range(option.at.relation)
                for name, option in (ours, theirs)
            )
            self._agreed[key] = first.is_equal(second)
        return self._agreed[key]

    def meet(self, link: SearchLink, writer: SearchOption, reader: SearchOption) -> bool:
        """Say whether what a statement needs is, along an axis, where all of it is computed."""
        key = (link.tensor, link.reader, id(writer), id(reader))
        if key not in self._met:
            self._met[key] = meets(link, writer.at, reader.at, self.question)
        return self._met[key]

    def find_halo(
        self, link: SearchLink, writer: SearchOption, reader: SearchOption
    ) -> CandidateHalo | None:
        """Return the halo of what a statement needs of another one along an axis, if it has one."""
        key = (link.tensor, link.reader, id(writer), id(reader))
        if key not in self._halos:
            self._halos[key] = find_halo(link, writer.at, reader.at, self.question)
        return self._halos[key]

    def gather(self, needs: Sequence[tuple[SearchLink, SearchOption]]) -> bool:
        """Say whether each element that readers need they need on one lane of an axis."""
        key = tuple((link.tensor, link.reader, link.reads, id(option)) for link, option in needs)
        if key not in self._gathered:
            self._gathered[key] = gathers((link, option.at) for link, option in needs)
        return self._gathered[key]

    def find_spans(self, x: SearchOption, y: SearchOption) -> Spans:
        """Return how many values each iterator has on one PE, and in how many intervals."""
        key = (id(x), id(y))
        if key not in self._spans:
            self._spans[key] = meet(x.at, y.at)
        return self._spans[key]

    def _list_beside(
        self, name: str, axis: int, other: str, option: SearchOption
    ) -> list[SearchOption]:
        """Return those that another statement implies."""
        key = (name, other, axis, id(option))
        if key not in self._beside:
            implied = imply_from_placed(name, {other: option.at}, self.question)
            found = describe_all(implied, self.extents[axis])
            self._beside[key] = self._note(name, axis, found)
        return self._beside[key]

    def _list_own(self, name: str, axis: int) -> list[SearchOption]:
        """Return those that ports imply, and tiles."""
        if (name, axis) not in self._own and name in self.question.given:
            place = self.question.given[name].project_out(isl.dim_type.out, 1 - axis, 1)
            given = place.reset_tuple_id(isl.dim_type.out)
            self._own[name, axis] = self._note(name, axis, [describe(given)])
        if (name, axis) not in self._own:
            implied = imply_from_ports(name, axis, self.question)
            found = self._note(name, axis, describe_all(implied, self.extents[axis]))
            instances = self.question.instances[name]
            alone = len(self.question.statements) == 1
            tiles = list_tiles(instances, self.extents[axis], self.extents[1 - axis], alone)
            self._own[name, axis] = found + self._note(name, axis, tiles)
        return self._own[name, axis]

    def _note(
        self, name: str, axis: int, found: Iterable[CandidateCoordinate]
    ) -> list[SearchOption]:
        """Return those of the coordinates that may be, each of which is kept once."""
        known, options = self._every.setdefault((name, axis), []), []
        for each in found:
            option = next((o for o in known if _is_same(o.at, each)), None)
            if option is None:
                option = SearchOption(at=each, along=weigh_along(name, axis, each, self.question))
                known.append(option)
            if self._is_asked_for(name, axis, option):
                options.append(option)
        return options

    def _is_asked_for(self, name: str, axis: int, option: SearchOption) -> bool:
        """Say whether only the iterator that layer.yaml has for an axis, if any, runs along it."""
        directions = self.question.directions
        if directions is None:
            return True
        statement = next(s for s in self.question.statements if s.name == name)
        return {statement.iterators[k] for k in option.at.parted} <= {directions[axis]}


def _is_same(a: CandidateCoordinate, b: CandidateCoordinate) -> bool:
    same = (a.low, a.high, a.count, a.spans) == (b.low, b.high, b.count, b.spans)
    return same and bool(a.relation.is_equal(b.relation))

# --- Ways to place some statements ----------------------------------------------------------------
#
# Source   design, Placement by search

Interval = tuple[int, int]
Parted = tuple[frozenset[int], ...]
Kind = tuple[Parted, Parted]
Figures = tuple[int, int, int]

ALIKE = 3
"""The most ways that are kept of which nothing is known that tells them apart: as many as there are
forms of a coordinate, blocks, blocks within larger ones, and cyclic."""

BORDERS = {"N": (1, 0), "S": (1, 1), "W": (0, 0), "E": (0, 1)}
"""The axis that leads to a border, and at which end of it it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlace:
    """The place of a statement: a column and a row, and the spans of its iterators on a PE."""

    x: SearchOption
    y: SearchOption
    spans: tuple[int, ...]
    runs: tuple[int, ...]

    @property
    def axes(self) -> tuple[SearchOption, SearchOption]:
        """Both coordinates."""
        return self.x, self.y


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """The statements placed so far, and what they take: cycles of work, and of what moves.

    `kept` are bytes by tensor, `used` the least and greatest column and row, `free` the sides that
    adapters need. `around` says whether some statements need adapters to bring back what others
    need; `collects`, whether some need them to sum what may leave anywhere, of which no lane has
    all parts.
    """

    places: Mapping[str, SearchPlace] = field(default_factory=dict)
    work: float = 0
    moved: Mapping[str, float] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    used: tuple[Interval, Interval] | None = None
    free: frozenset[str] = frozenset()
    around: bool = False
    collects: bool = False

    @property
    def cycles(self) -> int:
        """All cycles."""
        return round(self.work + sum(self.moved.values()))

    @property
    def memory(self) -> int:
        """All bytes."""
        return sum(self.kept.values())

    @property
    def area(self) -> int:
        """The PEs of the rectangle around all that run statements."""
        return prod(high - low + 1 for low, high in self.used or ())


def are_free(sides: Iterable[str], used: tuple[Interval, Interval], extents: Interval) -> bool:
    """Say whether no instance is on the borders of some sides of a target of some extents."""
    for side in sides:
        axis, end = BORDERS[side]
        if used[axis][end] == (extents[axis] - 1 if end else 0):
            return False
    return True


def extend_used(
    used: tuple[Interval, Interval] | None, place: SearchPlace
) -> tuple[Interval, Interval]:
    """Return the least and greatest column and row with one statement more."""
    x, y = ((option.at.low, option.at.high) for option in place.axes)
    if used is None:
        return x, y
    return _hull(used[0], x), _hull(used[1], y)


def _hull(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])


def choose_different(
    states: Sequence[SearchState], most: int, *, mirrored: bool = False
) -> list[SearchState]:
    """Return states, the best of each kind first, and then the best of the others.

    Two are of one kind if each statement is parted along the same iterators. Of those of one kind
    of which nothing else is known that tells them apart, a few are enough, and one of two that are
    `mirrored`, if a layer can be: the columns of one are the rows of the other.
    """
    kinds: dict[Kind, SearchState] = {}
    alike: dict[tuple[Kind, Figures], int] = {}
    others = []
    for state in states:
        figures, kind = (state.cycles, state.memory, state.area), _kind_of(state)
        other = kind[1], kind[0]
        if mirrored and other != kind and (other, figures) in alike:
            continue
        alike[kind, figures] = alike.get((kind, figures), 0) + 1
        if kinds.setdefault(kind, state) is not state and alike[kind, figures] <= ALIKE:
            others.append(state)
    return [*kinds.values(), *others][:most]


def _kind_of(state: SearchState) -> Kind:
    """Return along which iterators each statement is parted in columns, and in rows."""
    columns, rows = (
        tuple(place.axes[axis].at.parted for place in state.places.values()) for axis in (0, 1)
    )
    return columns, rows


def place_all(state: SearchState) -> isl.UnionMap:
    """Return { S[i] -> PE[x, y] } of all statements."""
    result = isl.UnionMap("{ }")
    for place in state.places.values():
        both = place.x.at.relation.flat_range_product(place.y.at.relation)
        pe = both.set_tuple_name(isl.dim_type.out, "PE")
        result = result.union(isl.UnionMap.from_map(pe))
    return result

# --- Cycles of streams of a placed statement ------------------------------------------------------
#
# Streams are arrivals, departures and feedback.
#
# Source   design, Placement by search

COLLECTED = 20
"""Cycles of an element that adapters collect, roughly."""

STEP = 4
"""Cycles of a PE that passes on the first of the sums of its lane, roughly."""


def count_taken(statement: Statement, place: SearchPlace, question: Question) -> dict[str, float]:
    """Return how many elements of each sparse tensor come to a PE.

    They are those of its lane. Routers drop elements whose innermost index is none that the PE
    needs.
    """
    density, found = question.mapping.data.density, {}
    for access in statement.reads:
        if not is_sparse(access.tensor, question):
            continue
        traffic = question.traffic.get(access.tensor)
        if traffic is None:
            found[access.tensor] = density * count_elements(access, statement, place.spans)
            continue
        spread = [o for o in place.axes if access.tensor in o.along.spread]
        spans = spread[0].at.spans if spread else ()
        taken = count_elements(access, statement, spans) if spread else traffic.wavelets
        share = density
        for option in place.axes:
            share *= 1.0 if option in spread else option.along.passing[access.tensor]
        found[access.tensor] = taken * share
    return found


def weigh_stream(
    access: AccessSyntax,
    statement: Statement,
    traffic: SearchTraffic,
    place: SearchPlace,
    question: Question,
) -> float:
    """Return the cycles of what arrives or leaves, adapters included."""
    share = question.mapping.data.density if traffic.sparse else 1.0
    if not traffic.arrives:
        return share * _weigh_departure(traffic, place, question)
    return share * _weigh_arrival(access, statement, traffic, place, question)


def weigh_anywhere(
    access: AccessSyntax, statement: Statement, place: SearchPlace, question: Question
) -> float:
    """Return the cycles of what may arrive or leave anywhere: along the lanes where it is least.

    A sum of which no lane has all parts is collected by adapters besides.
    """
    collected = False
    if access is statement.target:
        share = 0.5 if question.mapping.tensors[access.tensor].sparse else 1.0
        lanes = [o for o in place.axes if access.tensor not in o.along.sums]
        summed = len(lanes) < len(place.axes)
        collected = not lanes
        lanes = lanes or list(place.axes)
    else:
        share = question.mapping.data.density if is_sparse(access.tensor, question) else 1.0
        lanes, summed = list(place.axes), False
    least = min(count_elements(access, statement, option.at.spans) for option in lanes)
    more = question.profile.dispatch + COLLECTED * least if collected else 0.0
    return least * share * (3.0 if summed else 1.0) + more


def _weigh_arrival(
    access: AccessSyntax,
    statement: Statement,
    traffic: SearchTraffic,
    place: SearchPlace,
    question: Question,
) -> float:
    """Return the cycles of what arrives: the wavelets of a port.

    If it is spread, an adapter takes at least what its lane needs, and then sends that on.
    """
    profile, heard, sent = question.profile, float(traffic.wavelets), 0.0
    for option in place.axes:
        if traffic.tensor in option.along.spread:
            needed = count_elements(access, statement, option.at.spans)
            needed = min(needed, traffic.elements)
            heard = max(heard, needed)
            each = profile.dispatch / 2 if traffic.sparse else 1
            sent += needed * each + profile.dispatch + option.at.count
    return heard + sent


def _weigh_departure(traffic: SearchTraffic, place: SearchPlace, question: Question) -> float:
    """Return the cycles of what leaves: sums and parts of the PEs of a lane, and adapters."""
    profile, cycles = question.profile, float(traffic.wavelets)
    for option in place.axes:
        along = option.along
        if traffic.tensor in along.spread:
            cycles += COLLECTED * traffic.elements + profile.dispatch
        sums = traffic.tensor in along.sums
        senders = option.at.count if sums else along.senders[traffic.tensor]
        if senders > 1:
            cycles += traffic.wavelets * (2.0 if sums else 1.5)
            cycles += (senders - 1) * (2 * profile.ramp + profile.hop + STEP)
    return cycles


def weigh_feedback(
    access: AccessSyntax,
    statement: Statement,
    place: SearchPlace,
    same: tuple[bool, bool],
    question: Question,
) -> float:
    """Return the cycles of bringing what a statement writes, or needs, from one PE to others.

    `same` says along which axes it is written where it is needed: along one lane it comes back
    straight, else around, through adapters.
    """
    profile, target = question.profile, question.target
    hops = (target.right + target.bottom + 2) * (profile.hop + 1)
    hops += 4 * profile.ramp + 4 * profile.dispatch
    if any(same):
        lane = place.axes[1 if same[1] else 0].at.spans
        return hops + 3.0 * count_elements(access, statement, lane)
    return 2 * hops + 5.0 * count_elements(access, statement, statement.sizes)

def weigh_halo(
    halos: Sequence[CandidateHalo], place: SearchPlace, question: Question
) -> float:
    """Return the cycles of exchanging halos with neighbours, given those along both axes.

    A halo of several lanes goes a lane in a round.
    """
    loads, rounds = dict[str, SideLoad](), max(halo.reach for halo in halos)
    for halo, sides, across in zip(halos, AXES.values(), reversed(place.axes), strict=True):
        for side, elements in zip(sides, halo.towards, strict=True):
            if elements:
                moved = ceil(elements / across.at.count / rounds)
                loads[side] = SideLoad(sent=moved, taken=moved)
    return float(rounds * find_round_cycles(question.profile, loads))

# --- Needs of a statement at a place --------------------------------------------------------------
#
# They hold whatever places others have: each is weighed once.
#
# Source   design, Placement by search

@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A place, and the cycles of its work and, by tensor, of streams; bytes on a PE by tensor."""

    place: SearchPlace
    work: float
    streams: Mapping[str, float]
    kept: Mapping[str, int]


class SearchNeeds:
    """What statements take at the places that were asked for."""

    def __init__(self, known: KnownCosts, anywhere: Collection[str]) -> None:
        """Begin with nothing; `anywhere` are the tensors that may arrive or leave anywhere."""
        self._known, self._anywhere = known, anywhere
        self._found: dict[tuple[str, int, int], Need] = {}
        self._back: dict[tuple[str, str, int, int, tuple[bool, bool]], float] = {}

    def find(self, statement: Statement, x: SearchOption, y: SearchOption) -> Need:
        """Return what a statement takes at a column and a row."""
        key = (statement.name, id(x), id(y))
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._weigh(statement, x, y)
        return found

    def find_feedback(
        self,
        access: AccessSyntax,
        statement: Statement,
        place: SearchPlace,
        same: tuple[bool, bool],
    ) -> float:
        """Return what it takes to bring elements to other PEs, as `weigh_feedback` has it."""
        key = (statement.name, access.tensor, id(place.x), id(place.y), same)
        found = self._back.get(key)
        if found is None:
            found = weigh_feedback(access, statement, place, same, self._known.question)
            self._back[key] = found
        return found

    def _weigh(self, statement: Statement, x: SearchOption, y: SearchOption) -> Need:
        question = self._known.question
        spans, runs = self._known.find_spans(x, y)
        place = SearchPlace(x=x, y=y, spans=spans, runs=runs)
        taken = count_taken(statement, place, question)
        part = CostPart(statement=statement, spans=spans, runs=runs, taken=taken)
        return Need(
            place=place, work=count_work(part, question),
            streams=dict(self._weigh_streams(statement, place)),
            kept=self._count_bytes(statement, place),
        )

    def _weigh_streams(
        self, statement: Statement, place: SearchPlace
    ) -> Iterator[tuple[str, float]]:
        """Yield the tensors that arrive or leave, and their cycles, if they take any."""
        question = self._known.question
        for access in (statement.target, *statement.reads):
            traffic, cycles = question.traffic.get(access.tensor), 0.0
            if traffic is not None:
                cycles = weigh_stream(access, statement, traffic, place, question)
            elif access.tensor in self._anywhere:
                cycles = weigh_anywhere(access, statement, place, question)
            if cycles:
                yield access.tensor, cycles

    def _count_bytes(self, statement: Statement, place: SearchPlace) -> dict[str, int]:
        """Return the bytes of what a PE keeps of each tensor of a statement."""
        question = self._known.question
        kept = [
            a for a in (statement.target, *statement.reads) if not is_sparse(a.tensor, question)
        ]
        types = {a.tensor: question.layer.tensors[a.tensor].type for a in kept}
        return {
            a.tensor: self._count_kept(a, statement, place) * BYTES[types[a.tensor]] for a in kept
        }

    def _count_kept(self, access: AccessSyntax, statement: Statement, place: SearchPlace) -> int:
        """Return the elements that a PE keeps: those that it uses, in a box.

        And all that comes along its lane, where some never arrive, so that nothing rolls.
        """
        used = count_elements(access, statement, place.spans)
        if access.view is not None:
            shape = self._known.question.layer.tensors[access.tensor].shape
            used = min(used, prod(shape))
        along = [option.along.whole.get(access.tensor, 0) for option in place.axes]
        return max(used, *along)
