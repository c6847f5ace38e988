"""When what arrives is there, and what reactions to sparse elements take."""

from __future__ import annotations

from math import prod

from stages.layer.cost.facts import AXIS, Facts, count_at_adapters, count_dense, find_cost
from stages.layer.cost.going import find_sent_early
from stages.layer.cost.moves import (
    RELAYED,
    STORED,
    count_most,
    find_react,
    find_sequences,
    find_taken,
    find_travel,
)
from stages.layer.cost.places import PE, find_widths
from stages.layer.texts.kinds import Hear, React, Relay, Spread, Store


def find_first(facts: Facts, name: str, pe: PE) -> float:
    """Return when the first element of an arrival from a port may be at a PE."""
    arrival, profile, target = facts.graph.arrivals[name], facts.profile, facts.adapted.target
    edges = {"N": target.top, "S": target.bottom, "W": target.left, "E": target.right}
    axis = AXIS[arrival.side]
    hops = 1 + abs(pe[axis] - edges[arrival.side])
    found = profile.ramp + hops * profile.hop
    if arrival.spread:
        border = find_widths(facts.routes.pes(name, "adapters"))[1 - axis]
        found += find_travel(profile, border) + profile.dispatch
        if not arrival.sparse:
            found += count_at_adapters(facts, name, Hear) + 2 * profile.vector_start_up
    return found


def find_dense(facts: Facts, pe: PE) -> dict[str, float]:
    """Return when all of each dense arrival from a port is at a PE."""
    taken = count_dense(facts, pe)
    found: dict[str, float] = {}
    for name, own in taken.items():
        first = find_first(facts, name, pe)
        started = max(first, facts.profile.vector_start_up)
        last = started + find_taken(facts.profile, own, taken.values())
        found[name] = max(last, first + own)
    return found


def find_reactions(facts: Facts, pe: PE) -> dict[str, float]:
    """Return the cycles of the tasks of a PE that react to each sparse arrival, if it has some."""
    work = {name: _react(facts, name, pe) for name in facts.graph.arrivals}
    return {name: cycles for name, cycles in work.items() if cycles}


def find_relayed(facts: Facts, name: str) -> float:
    """Return the cycles in which adapters send a sparse arrival on, element by element."""
    arrival, profile = facts.graph.arrivals[name], facts.profile
    elements = count_at_adapters(facts, name, Relay) * facts.density
    if not elements:
        return 0.0
    sequences = prod(high - low + 1 for low, high in arrival.outer)
    work = elements * RELAYED * profile.scalar
    taken = find_react(profile, elements, work, waits=True)
    return taken + find_sequences(profile, sequences, len(arrival.outer))


def _react(facts: Facts, name: str, pe: PE) -> float:
    """Return the cycles of all tasks that react to a sparse arrival; 0 if there are none."""
    arrival, profile = facts.graph.arrivals[name], facts.profile
    tasks = facts.graph.tasks.items()
    mine = {n: t for n, t in tasks if isinstance(t, React | Store) and t.arrival == name}
    elements = max((facts.amounts[n][pe].invoked for n in mine), default=0)
    if not elements:
        return 0.0
    some = count_most(elements, facts.density, _count_lanes(facts, name))
    work = sum(_find_work(facts, n, t, pe) for n, t in mine.items()) * some / elements
    idle = any(facts.amounts[n][pe].runs < elements for n in mine)
    waits = idle or facts.routes.has(arrival.colour, "filter")
    sequences = prod(high - low + 1 for low, high in arrival.outer)
    targets = [task.target for task in mine.values() if isinstance(task, React)]
    return (
        find_react(profile, some, work, waits=waits)
        + find_sequences(profile, sequences, len(arrival.outer))
        + sum(find_sent_early(facts, target, pe) for target in targets)
    )


def _find_work(facts: Facts, name: str, task: React | Store, pe: PE) -> float:
    """Return the cycles of what reacts to all elements of a stream, dispatch left out."""
    if isinstance(task, React):
        return find_cost(facts, name, pe)
    return STORED * facts.amounts[name][pe].runs


def _count_lanes(facts: Facts, name: str) -> int:
    """Return how many rows or columns get elements of their own."""
    taken = facts.routes.pes(name, "taken")
    return find_widths(taken)[1 - AXIS[facts.graph.arrivals[name].side]]


def find_back(facts: Facts, name: str) -> float:
    """Return the cycles in which what has left is back, over adapters if need be."""
    arrival, profile = facts.graph.arrivals[name], facts.profile
    axis = AXIS[arrival.side]
    lane = find_widths(facts.routes.pes(name, "taken"))[axis]
    found: float = profile.ramp + lane * profile.hop
    if arrival.spread:
        border = find_widths(facts.routes.pes(name, "adapters"))[1 - axis]
        found += find_travel(profile, border) + profile.dispatch + profile.vector_start_up
        found += count_at_adapters(facts, name, Spread)
    return found
