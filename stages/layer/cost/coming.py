"""When what arrives is there, and what reactions to sparse elements take."""

from __future__ import annotations

from math import prod

from stages.layer.cost.facts import (
    AXIS,
    Facts,
    count_at_adapters,
    count_dense,
    find_cost,
    find_order,
)
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
    found: float = profile.ramp + hops * profile.hop
    if arrival.spread:
        border = find_widths(facts.routes.pes(name, "adapters"))[1 - axis]
        found += find_travel(profile, border) + profile.dispatch
        found += 0 if arrival.sparse else _hear(facts, name, arrival.side)
    return found


def _hear(facts: Facts, name: str, side: str) -> float:
    """Return the cycles in which adapters take all of a dense arrival, and begin to send it on."""
    heard = count_at_adapters(facts, side, Hear)
    sent = count_at_adapters(facts, side, Spread)
    found = find_taken(facts.profile, heard.get(name, 0), heard.values())
    found += sum(find_order(facts, f"hear_{each}", n) for each, n in heard.items())
    found += sum(find_order(facts, f"spread_{each}", n) for each, n in sent.items())
    return found + 2 * facts.profile.vector_start_up


def find_dense(facts: Facts, pe: PE) -> dict[str, float]:
    """Return when all of each dense arrival from a port is at a PE, and in order."""
    taken, found, profile = count_dense(facts, pe), {}, facts.profile
    ordered = sum(find_order(facts, f"receive_{name}", own) for name, own in taken.items())
    for name, own in taken.items():
        arrival, first = facts.graph.arrivals[name], find_first(facts, name, pe)
        sent = count_at_adapters(facts, arrival.side, Spread) if arrival.spread else {name: own}
        started = max(first, profile.vector_start_up)
        last = started + find_taken(profile, own, taken.values())
        there = first + find_taken(profile, sent.get(name, own), sent.values())
        found[name] = max(last, there) + ordered
    return found


def find_reactions(facts: Facts, pe: PE) -> dict[str, float]:
    """Return the cycles of the tasks of a PE that react to each sparse arrival, if it has some."""
    work = {name: _react(facts, name, pe) for name in facts.graph.arrivals}
    return {name: cycles for name, cycles in work.items() if cycles}


def find_relayed(facts: Facts, side: str) -> float:
    """Return the cycles in which adapters of a side send sparse arrivals on, element by element."""
    profile, found = facts.profile, 0.0
    for name, heard in count_at_adapters(facts, side, Relay).items():
        outer = facts.graph.arrivals[name].outer
        elements = heard * facts.density
        sequences = prod(high - low + 1 for low, high in outer)
        work = elements * RELAYED * profile.scalar
        found += find_react(profile, elements, work, waits=True)
        found += find_sequences(profile, sequences, len(outer))
    return found


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
        sent = count_at_adapters(facts, arrival.side, Spread)
        found += sent[name] + find_order(facts, f"spread_{name}", sent[name])
    return found
