"""Closed forms of costs before there is code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from lairmake.stages.lair.expressions import LOOPED, VectorOperation, list_operations
from lairmake.stages.machine.banks import WORD
from lairmake.stages.machine.scalar_code import kind_of
from lairmake.stages.machine.types import BYTES, is_integer

if TYPE_CHECKING:
    from lairmake.stages.lair.layer import Statement
    from lairmake.stages.machine.profile import Profile

# --- Costs of streams and tasks -------------------------------------------------------------------
#
# Predictions are made of these closed forms of the figures of a profile, before and after there is
# code. A task starts after a dispatch, and nothing else runs on its PE. Where streams and tasks
# share a datapath, each element that a stream moves there puts the running task off by a cycle, but
# not while it is dispatched.
#
# Source   stages/fabric/pe.c and stream.c, which charge these

# Counted in programs, not fitted: tests/layer/test_prediction.py compares SEQUENCE, ROW and RELAYED
# with what programs charge, nothing the others. By the log, on 23 November 2026 half of 148 layers
# were predicted within 1.8 % of what they took, nine of ten within 7.5 %;
# `python -m tools.prediction` does that again. Of the modules that are named, `taking` is
# codegen/compute.py now, `gathering` codegen/departures.py, `spreading` codegen/adapter.py.
ON_ARRIVAL = 1
"""Scalar operations of a task that takes a whole stream, or runs a statement."""

SEQUENCE = 2
"""Scalar operations that count a sequence of a sparse stream, for each outer index:
`streams.add_odometer` charges all of them at once."""

STORED = 4
"""Scalar operations and addresses that keep a sparse element: `compute._write_reaction`."""

ROW = 4
"""Scalar operations between a row that PEs send in turn and the next: `GatherProgram.write`."""

RELAYED = 3
"""Scalar operations that send on an element with another index: `adapter._write_relay`."""

# Those of SumProgram.pack, and of what it calls, in codegen/departures.py.
PACKED = 5, 2, 2
"""Scalar operations and addresses of an element that is perhaps a zero, and more if it is none."""


def find_travel(profile: Profile, hops: int) -> int:
    """Return the cycles from one PE to another: both ramps, and the hops between."""
    return 2 * profile.ramp + hops * profile.hop


def find_relay(profile: Profile, places: int) -> int:
    """Return the cycles of an element on its way past so many PEs, each of which sends it on."""
    return places * find_travel(profile, 1)


def count_most(elements: float, density: float, groups: int) -> float:
    """Return how many elements are expected to be not zero in the fullest of some groups.

    Each is not zero with a probability; the largest of normal variables is that of Blom, 1958.
    """
    mean = elements * density
    if groups <= 1 or not 0 < density < 1:
        return mean
    above = NormalDist().inv_cdf((groups - 0.375) / (groups + 0.25))
    return min(elements, mean + above * sqrt(mean * (1 - density)))


def find_react(profile: Profile, elements: float, work: float, *, waits: bool) -> float:
    """Return the cycles of tasks that react to elements, of which all take `work` together."""
    return elements * _find_begun(profile, waits=waits) + work


def find_sequences(profile: Profile, sequences: float, outer: int, *, waits: bool) -> float:
    """Return the cycles of the tasks that end so many sequences with so many outer indices."""
    return sequences * (_find_begun(profile, waits=waits) + outer * SEQUENCE * profile.scalar)


def _find_begun(profile: Profile, *, waits: bool) -> int:
    """Return the cycles until a task has begun that takes a wavelet, an element or an end.

    What `waits` in memory comes there by a stream, and is taken out with a scalar operation.
    """
    return profile.dispatch + (profile.scalar + min(1, profile.fifo) if waits else 0)


def find_taken(profile: Profile, own: float, together: Collection[float]) -> float:
    """Return the cycles in which a PE takes a stream of `own` elements, of the streams `together`.

    Streams take turns where there is one datapath.
    """
    return sum(min(own, each) for each in together) if profile.shared_datapath else own


def find_steps_end(
    profile: Profile,
    *,
    arriving: float,
    first: float,
    steps: int,
    tasks: int,
    work: float,
    sent: float,
) -> float:
    """Return the cycles from the first element on to the end of the last step.

    So many elements are `arriving`, of which the `first` step needs some; a step takes so many
    `tasks`, all of them some cycles of `work`, and meanwhile elements are `sent`. Either the PE is
    busy all the time, or it waits for the last elements. Streams move while tasks are dispatched:
    in the first step all the time, later on once the next receive has started.
    """
    started = steps * tasks * profile.dispatch
    busy = first + started + work
    if profile.shared_datapath:
        between = (steps - 1) * tasks * max(0, profile.dispatch - profile.vector_start_up)
        busy += max(0, arriving - first + sent - profile.dispatch - between)
    return max(busy, arriving + (started + work) / steps)


def find_packed(profile: Profile, elements: float, density: float) -> float:
    """Return the cycles in which a PE sends what is not zero of a sequence, and its end."""
    scalars, addresses, more = PACKED
    each = profile.loop + scalars * profile.scalar + addresses * profile.address
    some = elements * density
    begun = profile.dispatch + profile.configuration + profile.vector_start_up
    return begun + elements * each + some * (more * profile.scalar + 1) + scalars * profile.scalar

# --- Guesses for steps, statements and sends ------------------------------------------------------
#
# Each count of operations says which function writes the code that is charged for them.

# They stand for what the functions named charge, some roughly, ROLL and LEAVE whatever the number
# of streams and statements; the log names no run that any was fitted to.
# tests/layer/test_prediction.py compares TAKE and DIGITS with programs, nothing the others: where
# one is too great, cuts have fewer and larger chunks, or less leaves early. Of the modules,
# `in_chunks` is codegen/chunks.py now, and `sent_early` codegen/departures.py.
TAKE = 2
"""Scalar operations of the task that takes a chunk: `chunks._write_chunk`."""

DIGITS = 2
"""Those that find one more symbolic constant of a chunk from its number: `chunks._given`."""

GUARDS = 3
"""Those of a guard, for one more symbolic constant: `instruction.add_vector_call`, roughly."""

STEP = 1
"""Those of a step besides, roughly; where elements are sums, as many more for its guards."""

UNEVEN = 5
"""Those that find a size where the last step is smaller: `instruction.find_sizes_at_run_time`."""

ROLL = 4
"""Those of receiving a part of a ring where another one was used: `chunks._write_next`."""

LEAVE = 6
"""Those of sending the results of a step, and of what follows then: `chunks._write_left`."""

TAKE_AND_STEP = 5
"""Those of taking a chunk and running a step, roughly."""

SIZE = 4
"""Those that find the size of a send before it, roughly: `departures.EarlySends._sizes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedWork:
    """The cycles of a statement on one PE: of its instances, of each call, and of what it sends."""

    whole: int
    call: int
    results: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a PE takes, and what runs on it.

    There are `together` streams of so many `elements`, so many elements of `others`, and the
    `work` of the statements that go by them.
    """

    together: int
    elements: int
    others: int
    work: Sequence[GuessedWork]

    @property
    def arriving(self) -> int:
        """The number of elements that arrive."""
        return self.others + self.together * self.elements


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts into which streams are cut: their number and `size`, numbered along `dimensions`.

    `uneven` says whether the last part is smaller, `rolling` whether parts lie in a ring.
    """

    number: int
    size: int
    dimensions: int
    uneven: bool
    rolling: bool = False


def find_operation(
    profile: Profile, statement: Statement, operation: VectorOperation, type_: str
) -> str | None:
    """Return what a vector instruction computes for an operation; None where loops compute it.

    Where loops would divide by what several instances share, that is a product with a reciprocal.
    """
    if operation.name in LOOPED:
        return None
    if profile.find_lanes(operation.name, type_):
        return operation.name
    names = [{name for row in a.rows for name, _ in row.coefficients}
             for a in statement.reads if a.name == operation.sources[1]]
    shared = names and len(names[0]) < len(statement.iterators)
    return "MUL" if shared or isinstance(operation.sources[1], int | float) else None


def find_loop_cycles(profile: Profile, operation: str, type_: str) -> int:
    """Return the cycles of a loop for an element of an operation, from memory to memory."""
    computed = type_ if is_integer(type_) else "float32"
    each = profile.find_kind_cost(kind_of(operation, computed))
    moved = profile.find_kind_cost("load") + profile.find_kind_cost("store")
    return profile.loop + each + 2 * profile.address + moved * BYTES[type_] // WORD


def guess_work(
    profile: Profile, statement: Statement, type_: str, instances: int, results: int
) -> GuessedWork:
    """Return what `instances` of a statement take on a PE that has elements of a type."""
    operations = list_operations(statement.target.tensor, statement.op, statement.expr)
    names = [find_operation(profile, statement, each, type_) for each in operations]
    vectors = [name for name in names if name is not None]
    looped = [each.name for each, name in zip(operations, names, strict=True) if name is None]
    whole = instances * sum(find_loop_cycles(profile, name, type_) for name in looped)
    whole += sum(-(-instances // profile.find_lanes(name, type_)) for name in vectors)
    operands = 1 + len(statement.reads)
    started = profile.vector_start_up + profile.vector_latency
    call = len(vectors) * (started + profile.address * operands)
    call += profile.scalar * (STEP if statement.op == "=" else 2 * STEP)
    return GuessedWork(whole=whole, call=call, results=results)


def guess_whole(profile: Profile, taken: Taken) -> int:
    """Return the cycles where statements run once all is there: elements + work + results."""
    once = profile.dispatch * (taken.together + 1) + sum(w.call + w.whole for w in taken.work)
    return taken.arriving + once + _leave(profile, sum(w.results for w in taken.work))


def guess_operated(profile: Profile, elements: int, results: int, *, kept: bool) -> int:
    """Return the cycles where an instruction takes elements as they come, and results leave then.

    Results that are not `kept` leave as they are computed.
    """
    found = profile.vector_start_up + elements
    return found + profile.dispatch + _leave(profile, results) if kept else found


def guess_in_parts(profile: Profile, taken: Taken, parts: Parts) -> int:
    """Return the cycles where statements run in steps, up to the end of the last part's results."""
    together, work = taken.together, taken.work
    calls = sum(w.call for w in work) + _scalars(taken, parts) * profile.scalar
    results = sum(w.results for w in work)
    last = -(-results // parts.number)
    end = find_steps_end(
        profile,
        arriving=taken.arriving,
        first=max(together * parts.size, min(2 * taken.others, taken.arriving)),
        steps=parts.number,
        tasks=together,
        work=parts.number * calls + sum(w.whole for w in work),
        sent=results - last,
    )
    return round(max(end, results)) + profile.dispatch + _leave(profile, last)


def _leave(profile: Profile, results: int) -> int:
    return profile.vector_start_up + results if results else 0


def _scalars(taken: Taken, parts: Parts) -> int:
    """Return the scalar operations of taking parts that have one number, and of their steps."""
    more, statements = parts.dimensions - 1, len(taken.work)
    found = taken.together * (TAKE + taken.together - 1 + DIGITS * more)
    found += statements * (DIGITS + GUARDS) * more
    found += statements * UNEVEN if parts.uneven else 0
    if parts.rolling:
        found += ROLL * taken.together + LEAVE * sum(1 for work in taken.work if work.results)
    return found


def guess_send(profile: Profile, *, alone: bool, varies: bool) -> int:
    """Return the cycles of a send after a step, of a size that `varies`, perhaps.

    A PE that is not `alone` on its lane tests whether it is the first one.
    """
    cycles = profile.address + (0 if alone else profile.scalar)
    return cycles + (profile.configuration + SIZE * profile.scalar if varies else 0)


def guess_slack(
    profile: Profile, type_: str, *, arriving: int, instances: int, steps: int
) -> int:
    """Return the cycles in which a PE waits for what arrives in steps, with full lanes."""
    taking = TAKE_AND_STEP * profile.scalar * steps
    return max(0, arriving - instances // profile.find_most_lanes(type_) - taking)
