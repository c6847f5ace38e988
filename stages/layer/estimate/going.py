"""How long what leaves takes, from its PEs to the ports."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import islpy as isl

from lairmake.stages.layer.estimate.facts import (
    AXIS,
    Facts,
    find_order,
    find_order_at,
    list_amounts,
)
from lairmake.stages.layer.estimate.guess import guess_send
from lairmake.stages.layer.estimate.moves import ROW, find_packed, find_relay
from lairmake.stages.layer.estimate.places import PE, find_widths
from lairmake.stages.layer.routes.lines import count_most_rows
from lairmake.stages.layer.texts.task_graph import Departure, InTurn
from lairmake.stages.poly.functions import PE_NAMES, bind_set, greatest_value


def find_sent_early(facts: Facts, target: str, pe: PE) -> float:
    """Return the cycles that a PE spends on what leaves of a tensor while its statement runs.

    What the last step sends, if all leaves so, leaves afterwards.
    """
    found = 0.0
    for name, departure in facts.graph.departures.items():
        task, early = f"early_send_{name}", departure.early
        if departure.tensor == target and early is not None and task in facts.amounts:
            amount = facts.amounts[task][pe]
            last = amount.instances / max(1, amount.runs) if early.all else 0
            found += (amount.instances - last) * int(facts.profile.shared_datapath)
            found += amount.runs * guess_send(facts.profile, alone=False, varies=False)
            found += find_order_at(facts, task, pe)
    return found


def find_leaving(facts: Facts, name: str, pes: Sequence[PE]) -> float:
    """Return the cycles until a departure has left, since some PEs had it in order."""
    departure, chain = facts.graph.departures[name], facts.routes.pes(name, "chain")
    lane = find_widths(chain)[AXIS[departure.side]]
    alone = chain.is_equal(facts.routes.pes(name, "first"))
    sent = _send(facts, name, departure, pes) + find_relay(facts.profile, 1 if alone else lane)
    return sent + _collect(facts, name, departure) + _pack(facts, name)


def find_ordered(facts: Facts, name: str, pe: PE) -> int:
    """Return the cycles of loops that bring what leaves last of a departure on a PE into order."""
    departure = facts.graph.departures[name]
    if departure.in_turn is not None and departure.early is not None:
        return 0
    return -(-find_order_at(facts, _find_task(facts, name), pe) // _count_sends(departure))


def count_sent(facts: Facts, name: str, pe: PE) -> int:
    """Return how many elements of a departure a PE sends once its statement has run."""
    task = f"send_{name}"
    return facts.amounts[task][pe].instances if task in facts.amounts else 0


def _send(facts: Facts, name: str, departure: Departure, pes: Sequence[PE]) -> float:
    """Return the cycles until the last element of a PE leaves, since some had them in order."""
    profile = facts.profile
    start = profile.vector_start_up + guess_send(profile, alone=False, varies=False)
    if departure.in_turn is not None:
        return start + _pass_on(facts, name, departure, departure.in_turn)
    task = _find_task(facts, name)
    elements = max((facts.amounts[task][pe].instances for pe in pes), default=0)
    return start - (-elements // _count_sends(departure))


def _find_task(facts: Facts, name: str) -> str:
    """Return the task that sends what leaves last."""
    return f"send_{name}" if f"send_{name}" in facts.amounts else f"early_send_{name}"


def _count_sends(departure: Departure) -> int:
    """Return in how many parts that leaves which the last task sends."""
    early = departure.early
    return (early.sends or 1) if early is not None and early.all else 1


def _pass_on(facts: Facts, name: str, departure: Departure, in_turn: InTurn) -> float:
    """Return the cycles of the PE that forwards most, of its own elements and of others.

    Each row but the last is followed by a task that sends another one, unless rows leave early.
    """
    pes = bind_set(facts.routes.pes(name, "chain"), PE_NAMES)
    parts = [isl.PwAff(text) for text in (in_turn.before, in_turn.own, in_turn.after)]
    together = parts[0].add(parts[1]).add(parts[2])
    sizes = [together, *map(isl.PwAff, in_turn.rows)]
    here = (size.intersect_params(pes).floor() for size in sizes)
    row, *numbers = (greatest_value(size).to_python() for size in here)
    rows = prod(numbers)
    if departure.early is not None:
        return float(rows * row)
    return rows * row + max(0, rows - 1) * _find_pause(facts, row)


def _find_pause(facts: Facts, row: int) -> float:
    """Return the cycles in which nothing moves between rows of so many elements."""
    profile, ahead = facts.profile, count_most_rows(facts.graph, facts.profile)
    task = profile.dispatch + ROW * profile.scalar + profile.address
    each = max(task, row, (task + profile.vector_start_up + row) / ahead)
    return each - row


def _collect(facts: Facts, name: str, departure: Departure) -> float:
    """Return the cycles more in which adapters collect a departure."""
    profile, found = facts.profile, 0.0
    for other, collection in facts.graph.collections.items():
        if collection.departure == name:
            task = f"send_{other}"
            sent = max((each.instances for each in list_amounts(facts, [task])), default=0)
            found += sent + find_order(facts, task) + _pack(facts, other)
    for other, collection in facts.graph.collections.items():
        if collection.departure == name:
            border = find_widths(facts.routes.pes(other, "chain"))[1 - AXIS[departure.side]]
            found += find_relay(profile, border)
            return found if collection.by == "gather" else found + _take(facts, name)
    return found


def _take(facts: Facts, name: str) -> float:
    """Return the cycles in which an adapter has taken a departure, and begins to send its sums."""
    task = f"gather_{name}"
    return facts.profile.dispatch + facts.profile.vector_start_up + find_order(facts, task)


def _pack(facts: Facts, name: str) -> float:
    """Return the cycles in which the last PE leaves the zeros of all sequences out, if it does."""
    stream, profile = facts.graph.leaving[name], facts.profile
    if stream.sequences is None:
        return 0.0
    sequences = prod(high - low + 1 for low, high in stream.sequences.outer)
    packed = list_amounts(facts, [f"pack_{name}"])
    elements = max((each.instances / max(1, each.invoked) for each in packed), default=0.0)
    return sequences * find_packed(profile, elements, facts.density)
