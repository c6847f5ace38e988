"""What a task may become: each way that is possible, what it costs, and why others are not.

Paper    V Sec. 5, conditions 1 to 4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from lairmake.stages.lair.expressions import LOOPED, Operation, list_operations
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.layer.texts.task_graph import (
    AnyTask,
    EarlySend,
    Fills,
    ForKind,
    Operate,
    Pack,
    Runs,
    Send,
    Store,
    Streams,
)
from lairmake.stages.layer.vector.candidate import (
    Candidate,
    NotPossibleError,
    RankError,
    configurations,
)
from lairmake.stages.layer.vector.dimensions import list_arrangements
from lairmake.stages.layer.vector.memory import extend
from lairmake.stages.layer.vector.merging import check_rank, merge
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.layer.vector.steps import Step, find_parts, find_steps
from lairmake.stages.layer.vector.ways import Ways, list_ways
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

MOST_STEPS = 32
"""A statement of more operations runs as loops."""

MOST_OPERATIONS = 2_000_000
"""How much isl may work for each way, in its own unit: a second or two."""


class Cost(Protocol):
    """What a task costs in cycles, on its busiest PE, as the programs that are written are charged.
    """

    @property
    def situation(self) -> Situation:
        """The task."""

    def loops(self) -> int:
        """Return the cycles of loops."""

    def vector(self, candidate: Candidate, steps: Sequence[Step]) -> int:
        """Return the cycles of the vector instructions of a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A way that is possible: `cycles` are expected, on the busiest PE.

    `candidate` is None for loops, which have no steps and need no configuration.
    """

    way: str
    why: str
    cycles: int
    configurations: int = 0
    candidate: Candidate | None = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The ways that are possible, in the order of preference, and why the others are not.

    The last one are loops. `operations` are those of the vector instructions, if there are any.
    """

    situation: Situation
    operations: tuple[Operation, ...]
    possible: tuple[Option, ...]
    impossible: Mapping[str, NotPossibleError] = field(default_factory=dict)


def list_options(
    situation: Situation, prefer: str | None, cost_of: Callable[[Situation], Cost]
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
        options = [option for option in found if isinstance(option, Option)]
        if options:
            possible.append(min(options, key=lambda option: option.cycles))
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


def _operations(situation: Situation, prefer: str | None) -> tuple[Operation, ...]:
    """Return the operations of vector instructions. Raises NotPossibleError if there are none."""
    if prefer == "loops" and isinstance(situation.task, Runs | Store):
        raise NotPossibleError("layer.yaml prefers loops")
    return OPERATIONS(situation, situation.task)


def _copied(situation: Situation, task: AnyTask) -> tuple[Operation, ...]:
    """Return that elements are moved as they are."""
    return (Operation(name="COPY", sources=("",)),)


def _filled(situation: Situation, task: Fills) -> tuple[Operation, ...]:
    """Return that memory is filled with a value."""
    return (Operation(name="COPY", sources=(task.value,)),)


def _sent(situation: Situation, task: Send | EarlySend) -> tuple[Operation, ...]:
    """Return how a PE's own part is added to what it forwards."""
    by = situation.files.graph.leaving[task.departure].by
    return (Operation(name="COPY" if by == "gather" else by.upper(), sources=("",)),)


def _stored(situation: Situation, task: Store) -> tuple[Operation, ...]:
    raise NotPossibleError("a single element is stored")


def _packed(situation: Situation, task: Pack) -> tuple[Operation, ...]:
    raise NotPossibleError("zeros are left out")


def _statement(situation: Situation, task: Runs | Operate) -> tuple[Operation, ...]:
    """Return the operations of a statement. Raises NotPossibleError."""
    found = list_operations(task.target, task.op, parse_expression(task.expression))
    if len(found) > MOST_STEPS:
        raise NotPossibleError(f"{len(found)} operations are more than {MOST_STEPS}")
    return found


OPERATIONS: ForKind[Situation, tuple[Operation, ...]] = ForKind(
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
    pack=_packed,
    relay=_copied,
    hear=_copied,
    spread=_copied,
    clear=_filled,
    gather=_copied,
)
"""The operations of vector instructions, by the kind of a task."""


def _found(cost: Cost, operations: Sequence[Operation], find: Ways) -> Option | NotPossibleError:
    """Return the best of some boxes, or why there is none.

    Where isl needs long, the best of those that it has told.
    """
    found: list[Option] = []
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


def _option(cost: Cost, operations: Sequence[Operation], candidate: Candidate) -> Option:
    """Return what a box gives. Raises NotPossibleError."""
    situation = cost.situation
    cycles, candidate, steps = _fewest(cost, operations, candidate)
    vectors = sum(not step.looped for step in steps)
    return Option(
        way=candidate.way,
        why=candidate.why,
        cycles=cycles,
        configurations=vectors * configurations(candidate) + situation.besides,
        candidate=candidate,
        steps=steps,
    )


def _fewest(
    cost: Cost, operations: Sequence[Operation], candidate: Candidate
) -> tuple[int, Candidate, tuple[Step, ...]]:
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
    situation: Situation, operations: Sequence[Operation], candidate: Candidate, in_place: bool
) -> tuple[Candidate, tuple[Step, ...]]:
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


def give_up(options: Options, option: Option) -> Options:
    """Return the options of a task without one that relies on rows which others made longer."""
    reason = NotPossibleError("rows that its dimensions rely on are longer for another task")
    return replace(
        options,
        possible=tuple(each for each in options.possible if each is not option),
        impossible={**options.impossible, option.way: reason},
    )


def _check_memory(situation: Situation, candidate: Candidate, steps: Sequence[Step]) -> None:
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


def _loops(cost: Cost, why: str) -> Option:
    """Return loops; those of a stream are around its instruction, which it has in any case."""
    situation, task = cost.situation, cost.situation.task
    cycles = cost.loops() if isinstance(task, Runs | Fills) else 0
    needed = situation.besides + int(isinstance(task, Streams))
    return Option(way="loops", why=why, cycles=cycles, configurations=needed)


def _common(reasons: Mapping[str, NotPossibleError]) -> str:
    """Return why no way is possible: too many dimensions, or the one reason of all ways."""
    ranks = {str(reason) for reason in reasons.values() if isinstance(reason, RankError)}
    texts = ranks or {str(reason) for reason in reasons.values()}
    return texts.pop() if len(texts) == 1 else "no vector instruction is possible"
