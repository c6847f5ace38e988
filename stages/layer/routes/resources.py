"""Resources of a PE: threads for streams, and functions of its program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.task_graph import (
    Arrival,
    Departure,
    ReceiveHalo,
    SendHalo,
    TaskGraph,
)
from lairmake.stages.poly.sides import SIDES

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Threads of a PE ------------------------------------------------------------------------------
#
# Some fill FIFOs all the time, others are left for streams.
#
# Source   profiles, threads and fifo

SHARE = 4
"""One of so many threads may fill a FIFO."""


def count_fifos(profile: Profile, sparse: int) -> int:
    """Return how many of the sparse streams that arrive may have a FIFO that takes a thread."""
    return min(sparse, profile.threads // SHARE) if profile.fifo > 0 else 0


def count_free_threads(profile: Profile, sparse: int) -> int:
    """Return how many instructions of streams may be under way where sparse streams arrive."""
    return profile.threads - count_fifos(profile, sparse)

# --- Streams between two invocations --------------------------------------------------------------
#
# Their instructions are configured once; or where there are many of them, before each round, those
# of a side in place of others.

def is_exchanged_in_turn(graph: TaskGraph) -> bool:
    """Say whether streams of halos are configured anew in each round: there are more than a round
    may have, which sends to each side and takes from each.
    """
    return sum(len(sides) for move in graph.moves.values() for sides in move.rounds) > len(SIDES)


def list_sharing(graph: TaskGraph, task: SendHalo | ReceiveHalo) -> list[str]:
    """Return the tasks that take turns with one: those of all rounds that send to the same side, or
    take what moves there.
    """
    tasks = graph.tasks.items()
    return [n for n, each in tasks if isinstance(each, type(task)) and each.to == task.to]

# --- Functions of computing PEs -------------------------------------------------------------------
#
# Their number tells how much memory code takes.
#
# Source   stages/layer/codegen/compute.py, which writes them

OTHERS = 3
"""The functions that start an invocation, end it, and configure."""


def count_functions(graph: TaskGraph) -> int:
    """Return how many functions computing PEs have, as compute.py writes them."""
    runs = sum(
        isinstance(task, task_graph.Initialise | task_graph.Compute | task_graph.Carry)
        and not (isinstance(task, task_graph.Initialise) and task.before is not None)
        for task in graph.tasks.values()
    )
    tasks = (t for t in graph.tasks.values() if isinstance(t, task_graph.Running))
    statements = len({task.statement for task in tasks})
    taken = sum(1 + _taking(arrival) for arrival in graph.arrivals.values())
    stored = (each for each in graph.departures.values() if each.result_of is None)
    sent = sum(1 + _sending(departure) for departure in stored)
    exchanges = sum(2 * len(move.rounds) for move in graph.moves.values())
    exchanges += len(graph.swaps)
    return OTHERS + runs + statements + taken + sent + exchanges + _count_turns(graph)


def _taking(arrival: Arrival) -> int:
    """Return what comes before all of it has arrived: reactions to elements and ends, or chunks."""
    if arrival.sparse or arrival.chunks is None:
        return 2 * arrival.sparse
    return 1 if arrival.chunks.ring is None else 2


def _sending(departure: Departure) -> int:
    """Return what goes on with a departure: the next row, or sequence, or step, if it rolls."""
    if departure.by == "gather":
        rows = departure.in_turn is not None and bool(departure.in_turn.rows)
        return rows * (1 if departure.early is not None else 2)
    rolls = departure.early is not None and departure.early.ring is not None
    return 2 if departure.sequences is not None else int(rolls)


def _count_turns(graph: TaskGraph) -> int:
    """Return the functions with which departures begin that wait, and those that come before."""
    waiting = [departure for departure in graph.departures.values() if departure.waits]
    before = {name for departure in waiting for name in departure.waits}
    return len(waiting) + len(before & graph.departures.keys())
