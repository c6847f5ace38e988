"""The options of a task, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Protocol

from lairmake.stages.lair.expressions import (
    LOOPED,
    VectorOperation,
    list_operations,
    multiplies_and_adds,
)
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.layer.texts.task_graph import (
    AT_RUN_TIME,
    AnyTask,
    EarlySend,
    Fills,
    ForKind,
    Operate,
    Pack,
    Runs,
    SendTask,
    StoreTask,
    Streams,
    always,
)
from lairmake.stages.layer.vector import boxes, loops
from lairmake.stages.layer.vector.instruction import check_rank, list_arrangements, merge
from lairmake.stages.layer.vector.operands import extend
from lairmake.stages.layer.vector.situation import (
    NotPossibleError,
    RankError,
    Situation,
    VectorCandidate,
    configurations,
)
from lairmake.stages.layer.vector.steps import VectorStep, find_parts, find_steps
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

# --- Ways to a vector instruction -----------------------------------------------------------------
#
# They stand in the order in which one is taken where they cost the same.
#
# Paper    V Sec. 5

Way = Callable[[Situation], VectorCandidate]
Ways = Callable[[Situation], Iterable[VectorCandidate]]
WAYS: dict[str, Way] = {
    "hull": boxes.by_hull,
    "exact": boxes.by_instances,
    "relaxed": boxes.by_relaxed_hull,
    "lattice": boxes.by_lattice,
    "basis": boxes.by_basis,
    "enumerate": boxes.by_sizes,
    "configure": boxes.by_configuration,
    "nested": loops.candidate,
}
FILL: dict[str, Way] = {"exact": boxes.transfer_instances, "nested": loops.candidate}
TRANSFER: dict[str, Way] = {"exact": boxes.transfer_instances}
EARLY: dict[str, Way] = {
    "exact": boxes.transfer_instances,
    "configure": boxes.transfer_by_configuration,
}

FOR_KIND: ForKind[Situation, dict[str, Way]] = ForKind(
    initialise=always(FILL),
    react=always(WAYS),
    store=always(TRANSFER),
    receive=always(TRANSFER),
    operate=always(TRANSFER),
    compute=always(WAYS),
    carry=always(WAYS),
    halo=always(WAYS),
    send=always(TRANSFER),
    early_send=always(EARLY),
    send_halo=always(TRANSFER),
    receive_halo=always(TRANSFER),
    pack=always(TRANSFER),
    relay=always(TRANSFER),
    hear=always(TRANSFER),
    spread=always(TRANSFER),
    clear=always(FILL),
    gather=always(TRANSFER),
)
"""All ways for a statement, exact bounds for what moves elements; memory may be filled in loops."""


def list_ways(
    situation: Situation, operations: Sequence[VectorOperation]
) -> dict[str, tuple[Ways, ...]]:
    """Return the ways for a task of such operations, and what finds the boxes of each of them."""
    ways = FOR_KIND(situation, situation.task).items()
    found: dict[str, tuple[Ways, ...]] = {way: (_alone(find),) for way, find in ways}
    if isinstance(situation.task, Operate):
        return found
    if situation.runs:
        found["nested"] += (loops.by_row_sizes,)
    else:
        found["exact"] = (loops.transfers,)
    if multiplies_and_adds(operations) and not situation.profile.vector_multiply_add:
        found["scalar"] = (loops.by_scalar,)
        found["nested"] = (*found["nested"], loops.by_blocks)
    return found


def _alone(find: Way) -> Ways:
    return lambda situation: (find(situation),)

# --- Options of a task ----------------------------------------------------------------------------
#
# These are the ways that are possible and their costs, and why others are not possible.
#
# Paper    V Sec. 5, conditions 1 to 4

MOST_STEPS = 32
"""The most operations of a statement; one with more runs as loops."""

MOST_OPERATIONS = 2_000_000
"""Operations that isl may spend on each way: a second or two."""


class VectorCost(Protocol):
    """The cycles of a task on its busiest PE, charged as the programs are that are written.
    """

    @property
    def situation(self) -> Situation:
        """The task."""

    def loops(self) -> int:
        """Return the cycles of loops."""

    def vector(self, candidate: VectorCandidate, steps: Sequence[VectorStep]) -> int:
        """Return the cycles of the vector instructions of a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorOption:
    """A way that is possible: `cycles` are expected, on the busiest PE.

    `candidate` is None for loops, which have no steps and need no configuration.
    """

    way: str
    why: str
    cycles: int
    configurations: int = 0
    candidate: VectorCandidate | None = None
    steps: tuple[VectorStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The ways that are possible, in the order of preference, and why the others are not.

    The last one are loops. `operations` are those of the vector instructions, if there are any.
    """

    situation: Situation
    operations: tuple[VectorOperation, ...]
    possible: tuple[VectorOption, ...]
    impossible: Mapping[str, NotPossibleError] = field(default_factory=dict)


def list_options(
    situation: Situation, prefer: str | None, cost_of: Callable[[Situation], VectorCost]
) -> Options:
    """Return what a task may become, given the way that layer.yaml prefers, and what tasks cost."""
    try:
        operations = _operations(situation, prefer)
    except NotPossibleError as reason:
        return Options(
            situation=situation, operations=(), possible=(_loops(cost_of(situation), str(reason)),)
        )
    possible, impossible, cost = [], {}, cost_of(situation)
    for way, finders in list_ways(situation, operations).items():
        found = [_found(cost, operations, find) for find in finders]
        options = [option for option in found if isinstance(option, VectorOption)]
        if options:
            best = min(options, key=lambda option: option.cycles)
            possible += [best, *_list_in_turn(cost, best)]
        else:
            impossible[way] = next(e for e in found if isinstance(e, NotPossibleError))
    fewest = "loops take the fewest cycles"
    if not situation.exact.minimum:
        fewest = "there is a single instance"
    why = fewest if possible else _common(impossible)
    return Options(
        situation=situation,
        operations=operations,
        possible=(*possible, _loops(cost_of(situation), why)),
        impossible=impossible,
    )


def _operations(situation: Situation, prefer: str | None) -> tuple[VectorOperation, ...]:
    """Return the operations of vector instructions. Raises NotPossibleError if there are none."""
    if prefer == "loops" and isinstance(situation.task, Runs | StoreTask):
        raise NotPossibleError("layer.yaml prefers loops")
    return OPERATIONS(situation, situation.task)


def _copied(situation: Situation, task: AnyTask) -> tuple[VectorOperation, ...]:
    """Return that elements are moved as they are."""
    return (VectorOperation(name="COPY", sources=("",)),)


def _filled(situation: Situation, task: Fills) -> tuple[VectorOperation, ...]:
    """Return that memory is filled with a value."""
    return (VectorOperation(name="COPY", sources=(task.value,)),)


def _sent(situation: Situation, task: SendTask | EarlySend) -> tuple[VectorOperation, ...]:
    """Return how a PE's own part is added to what it forwards."""
    by = situation.files.graph.leaving[task.departure].by
    return (VectorOperation(name="COPY" if by == "gather" else by.upper(), sources=("",)),)


def _stored(situation: Situation, task: StoreTask) -> tuple[VectorOperation, ...]:
    raise NotPossibleError("a single element is stored")


def _packed(situation: Situation, task: Pack) -> tuple[VectorOperation, ...]:
    raise NotPossibleError("zeros are left out")


def _statement(situation: Situation, task: Runs | Operate) -> tuple[VectorOperation, ...]:
    """Return the operations of a statement. Raises NotPossibleError."""
    found = list_operations(task.target, task.op, parse_expression(task.expression))
    if len(found) > MOST_STEPS:
        raise NotPossibleError(f"{len(found)} operations are more than {MOST_STEPS}")
    return found


OPERATIONS: ForKind[Situation, tuple[VectorOperation, ...]] = ForKind(
    initialise=_filled,
    react=_statement,
    store=_stored,
    receive=_copied,
    operate=_statement,
    compute=_statement,
    carry=_statement,
    halo=_statement,
    send=_sent,
    early_send=_sent,
    send_halo=_copied,
    receive_halo=_copied,
    pack=_packed,
    relay=_copied,
    hear=_copied,
    spread=_copied,
    clear=_filled,
    gather=_copied,
)
"""The operations of vector instructions, by the kind of a task."""


def _found(
    cost: VectorCost, operations: Sequence[VectorOperation], find: Ways
) -> VectorOption | NotPossibleError:
    """Return the best of some boxes, or why there is none.

    Where isl needs long, the best of those that it has told.
    """
    found: list[VectorOption] = []
    reason = NotPossibleError("there is no box")
    try:
        with limit_operations(MOST_OPERATIONS):
            for candidate in find(cost.situation):
                try:
                    found.append(_option(cost, operations, candidate))
                except NotPossibleError as error:
                    reason = error
    except NotPossibleError as error:
        reason = error
    except TooManyOperations:
        reason = NotPossibleError("isl needs long to tell")
    return min(found, key=lambda option: option.cycles, default=reason)


def _option(
    cost: VectorCost, operations: Sequence[VectorOperation], candidate: VectorCandidate
) -> VectorOption:
    """Return what a box gives. Raises NotPossibleError."""
    situation = cost.situation
    cycles, candidate, steps = _fewest(cost, operations, candidate)
    vectors = sum(not step.looped for step in steps)
    return VectorOption(
        way=candidate.way,
        why=candidate.why,
        cycles=cycles,
        configurations=vectors * configurations(candidate) + situation.besides,
        candidate=candidate,
        steps=steps,
    )


def _list_in_turn(cost: VectorCost, option: VectorOption) -> Iterator[VectorOption]:
    """Yield an option whose instructions have one configuration in turn, if they are several.

    Each is configured before its call: that takes little, where streams of halos need most places.
    """
    candidate, vectors = option.candidate, [step for step in option.steps if not step.looped]
    if candidate is None or not cost.situation.files.graph.moves or len(vectors) < 2:
        return
    if candidate.several or candidate.way in AT_RUN_TIME:
        return
    turned = replace(candidate, in_turn=True)
    yield replace(
        option,
        why=f"{option.why}, and instructions have one configuration in turn",
        cycles=cost.vector(turned, option.steps),
        configurations=1 + cost.situation.besides,
        candidate=turned,
    )


def _fewest(
    cost: VectorCost, operations: Sequence[VectorOperation], candidate: VectorCandidate
) -> tuple[int, VectorCandidate, tuple[VectorStep, ...]]:
    """Return cycles and steps, what loops compute in place or not. Raises NotPossibleError.

    And the candidate, which may have more room.
    """
    situation, found = cost.situation, []
    reason = NotPossibleError("all of it would be a loop")
    loops = any(operation.name in LOOPED for operation in operations)
    for in_place in (False, True) if loops else (False,):
        merged, steps = _found_steps(situation, operations, candidate, in_place)
        if all(step.looped for step in steps):
            continue
        for arranged, ordered in list_arrangements(situation, merged, steps):
            try:
                _check_memory(situation, arranged, ordered)
                found.append((cost.vector(arranged, ordered), arranged, ordered))
            except NotPossibleError as error:
                reason = error
    if not found:
        raise reason
    return min(found, key=lambda option: option[0])


def _found_steps(
    situation: Situation,
    operations: Sequence[VectorOperation],
    candidate: VectorCandidate,
    in_place: bool,
) -> tuple[VectorCandidate, tuple[VectorStep, ...]]:
    """Return the steps of a task, in as many dimensions as there are. Raises NotPossibleError.

    That is RankError for a box of too many dimensions, even if an access is not linear as well.
    """
    name, most = situation.name, situation.profile.dimensions
    whole = extend(situation.files.local, candidate.touched)
    try:
        steps = find_steps(situation, operations, candidate, in_place=in_place)
    except NotPossibleError:
        check_rank(name, candidate, most)
        raise
    return merge(name, candidate, steps, whole, most)


def give_up(options: Options, option: VectorOption) -> Options:
    """Return the options of a task without one that relies on rows which others made longer."""
    reason = NotPossibleError("rows that its dimensions rely on are longer for another task")
    return replace(
        options,
        possible=tuple(each for each in options.possible if each is not option),
        impossible={**options.impossible, option.way: reason},
    )


def _check_memory(
    situation: Situation, candidate: VectorCandidate, steps: Sequence[VectorStep]
) -> None:
    """Raise NotPossibleError if what the steps need besides hardly fits into a PE's memory."""
    parts = [part.shown() for part in find_parts(steps)]
    if not parts and not candidate.touched:
        return
    need = sum(BYTES[part.type] * part.elements for part in parts)
    need += extend(situation.files.local, candidate.touched).bytes(situation.local_type)
    need += situation.files.find_code(situation.name) - situation.files.saved
    if need > situation.profile.memory:
        raise NotPossibleError(
            f"a PE would need some {need} bytes, and has {situation.profile.memory}"
        )


def _loops(cost: VectorCost, why: str) -> VectorOption:
    """Return loops; those of a stream are around its instruction, which it has in any case."""
    situation, task = cost.situation, cost.situation.task
    cycles = cost.loops() if isinstance(task, Runs | Fills) else 0
    needed = situation.besides + int(isinstance(task, Streams))
    return VectorOption(way="loops", why=why, cycles=cycles, configurations=needed)


def _common(reasons: Mapping[str, NotPossibleError]) -> str:
    """Return why no way is possible: too many dimensions, or the one reason of all ways."""
    ranks = {str(reason) for reason in reasons.values() if isinstance(reason, RankError)}
    texts = ranks or {str(reason) for reason in reasons.values()}
    return texts.pop() if len(texts) == 1 else "no vector instruction is possible"

# --- Choice of one option for every task ----------------------------------------------------------
#
# The choice takes the fewest cycles, while configurations last. Streams cannot do without an
# instruction: they take configurations first. Where the other tasks together need too many, those
# tasks get them that save the most cycles for each. Then some give way to one that saves more than
# they do.

@dataclass(frozen=True, slots=True, kw_only=True)
class VectorChoice:
    """The option of a task that is taken, and those that there are not enough configurations for.

    `unaffordable` gives the reason by way.
    """

    options: Options
    taken: VectorOption
    unaffordable: dict[str, str]


class TooManyError(Exception):
    """A task whose way was asked for, or a stream, needs more configurations than are free."""

    def __init__(self, message: str, options: Options) -> None:
        super().__init__(message)
        self.message, self.options = message, options


def choose(
    tasks: Sequence[Options],
    prefer: str | None,
    most: int,
    places: Sequence[Collection[int]] | None = None,
) -> list[VectorChoice]:
    """Return the choice of each task; on a PE `most` configurations are live.

    `places` are the tasks that some PEs have together, by number; None if all have all of them.
    Raises TooManyError.
    """
    everywhere = [range(len(tasks))]
    return Chooser(tasks, prefer, most, everywhere if places is None else places).choices()


def find_enough(
    tasks: Sequence[Options], prefer: str | None, places: Sequence[Collection[int]]
) -> int:
    """Return how many configurations a PE has live if each task takes what is best for it."""
    chooser = Chooser(tasks, prefer, 0, places)
    return max((-chooser.count_free(k) for k in range(len(tasks))), default=0)


class Chooser:
    """The options of tasks that share the configurations of PEs."""

    def __init__(
        self,
        tasks: Sequence[Options],
        prefer: str | None,
        most: int,
        places: Sequence[Collection[int]],
    ) -> None:
        """Rank the options of each task."""
        self.tasks, self.prefer, self.most, self.places = tasks, prefer, most, places
        self.ranked = [self._ranked(options) for options in tasks]
        self.taken = [ranked[0] for ranked in self.ranked]

    def choices(self) -> list[VectorChoice]:
        """Return the choices. Raises TooManyError."""
        if any(self.count_free(k) < 0 for k in range(len(self.tasks))):
            self._share()
        return [
            VectorChoice(options=options, taken=taken, unaffordable=self._unaffordable(k))
            for k, (options, taken) in enumerate(zip(self.tasks, self.taken, strict=True))
        ]

    def _ranked(self, options: Options) -> list[VectorOption]:
        """Return the options, the best first: the preferred one, then by their cycles.

        Those of streams, and all where the paper's are preferred, stand in the order of the ways.
        """
        if isinstance(options.situation.task, Streams) or self.prefer == "paper":
            return list(options.possible)
        return sorted(options.possible, key=lambda o: (o.way != self.prefer, o.cycles))

    def _is_preferred(self, task: int, option: VectorOption) -> bool:
        """Say if an option is of the way that layer.yaml asks for."""
        if self.prefer == "paper":
            return option is self.ranked[task][0]
        return option.way == self.prefer

    def _share(self) -> None:
        """Start from the fewest configurations, and take what saves most for each one more."""
        self.taken = [min(ranked, key=lambda o: o.configurations) for ranked in self.ranked]
        for k, options in enumerate(self.tasks):
            free = self.count_free(k, range(k))
            if self.taken[k].configurations > free:
                raise TooManyError(self._reason(k, self.taken[k], max(0, free)), options)
        self._take_more()
        while (exchanged := self._exchanged()) is not None:
            self.taken = exchanged
            self._take_more()
        for k, ranked in enumerate(self.ranked):
            if self._is_preferred(k, ranked[0]) and self.taken[k].way != ranked[0].way:
                raise TooManyError(self._unaffordable(k)[ranked[0].way], self.tasks[k])

    def _take_more(self) -> None:
        """Take better options while there are configurations."""
        while steps := list(self._steps()):
            k, option = max(steps, key=lambda step: self._worth(*step))
            self.taken[k] = option

    def _exchanged(self) -> list[VectorOption] | None:
        """Return what is taken if one task gets better, and others give way: the fewest cycles.

        None if there are as few as now.
        """
        found = [
            taken
            for k in self._others()
            for option in self.ranked[k][: self.ranked[k].index(self.taken[k])]
            if (taken := self._with(k, option)) is not None
        ]
        best = min(found, key=_cycles, default=self.taken)
        return best if _cycles(best) < _cycles(self.taken) else None

    def _with(self, task: int, option: VectorOption) -> list[VectorOption] | None:
        """Return what is taken if a task gets an option, and those give way that lose least by it.

        None if that does not do.
        """
        kept, self.taken = self.taken, [*self.taken]
        self.taken[task] = option
        try:
            while (free := self.count_free(task)) < 0:
                given = [
                    (k, less)
                    for k in self._others()
                    for less in self.ranked[k]
                    if k != task and less.configurations < self.taken[k].configurations
                ]
                if not given:
                    return None
                k, less = min(given, key=lambda each: self._loss(each[0], each[1], -free))
                self.taken[k] = less
            return self.taken
        finally:
            self.taken = kept

    def _others(self) -> list[int]:
        """Return the tasks that are no streams, and have not got what is preferred."""
        return [
            k
            for k, options in enumerate(self.tasks)
            if not isinstance(options.situation.task, Streams)
            and not self._is_preferred(k, self.taken[k])
        ]

    def count_free(self, task: int, others: Collection[int] | None = None) -> int:
        """Return how many configurations are free on each PE of a task, if others take theirs."""
        counted = range(len(self.tasks)) if others is None else others
        return self.most - max(
            sum(self.taken[k].configurations for k in place if k in counted)
            for place in self.places
            if task in place
        )

    def _steps(self) -> Iterator[tuple[int, VectorOption]]:
        """Yield each better option for which there are configurations."""
        for k, (ranked, taken) in enumerate(zip(self.ranked, self.taken, strict=True)):
            for option in ranked[: ranked.index(taken)]:
                if option.configurations - taken.configurations <= self.count_free(k):
                    yield k, option

    def _worth(self, task: int, option: VectorOption) -> float:
        """Return the cycles that an option saves for each configuration more than now."""
        more = option.configurations - self.taken[task].configurations
        saved = self.taken[task].cycles - option.cycles
        return inf if more <= 0 or self._is_preferred(task, option) else saved / more

    def _loss(self, task: int, option: VectorOption, wanted: int) -> float:
        """Return the cycles that an option loses for each configuration less, of those wanted."""
        less = self.taken[task].configurations - option.configurations
        return (option.cycles - self.taken[task].cycles) / min(less, wanted)

    def _unaffordable(self, task: int) -> dict[str, str]:
        """Return why the options that are better than the one taken will not do."""
        ranked, taken = self.ranked[task], self.taken[task]
        free = self.count_free(task) + taken.configurations
        better = ranked[: ranked.index(taken)]
        return {option.way: self._reason(task, option, free) for option in better}

    def _reason(self, task: int, option: VectorOption, free: int) -> str:
        noun = "configuration" if option.configurations == 1 else "configurations"
        return (
            f"{self.tasks[task].situation.name} needs {option.configurations} {noun} of vector "
            f"instructions, {free} of {self.most} descriptors are free"
        )


def _cycles(taken: Sequence[VectorOption]) -> int:
    return sum(option.cycles for option in taken)
