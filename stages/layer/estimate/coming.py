"""When what arrives is there, and what reactions to sparse elements take."""

from __future__ import annotations

from math import prod

from lairmake.stages.layer.estimate.facts import (
    AXIS,
    Facts,
    count_at_adapters,
    count_dense,
    find_at_adapters,
    find_cost,
    find_order,
    find_order_at,
)
from lairmake.stages.layer.estimate.going import find_sent_early
from lairmake.stages.layer.estimate.moves import (
    RELAYED,
    STORED,
    count_most,
    find_react,
    find_sequences,
    find_taken,
    find_travel,
)
from lairmake.stages.layer.estimate.places import PE, find_widths
from lairmake.stages.layer.texts.task_graph import Hear, React, Receive, Relay, Spread, Store
from lairmake.stages.poly.canonical import list_sets
from lairmake.stages.poly.cardinality import count


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
    """Return the cycles in which adapters take all of a dense arrival, and begin to send it on.

    Each does so with all that it takes, and brings one stream into order after the other; of the
    adapters it is the one that is done last.
    """
    heard, found = find_at_adapters(facts, side, Hear), [0.0]
    for pe, own in heard.get(name, {}).items():
        together = [each for each in heard if heard[each].get(pe)]
        taken = find_taken(facts.profile, own, [heard[each][pe] for each in together])
        first = together[: together.index(name) + 1] if own else []
        found.append(taken + sum(_order_at(facts, each, pe) for each in first))
    return max(found) + 2 * facts.profile.vector_start_up


def _order_at(facts: Facts, name: str, pe: PE) -> int:
    """Return the cycles of loops that bring an arrival into order at an adapter, and out of it."""
    return sum(find_order_at(facts, f"{task}_{name}", pe) for task in ("hear", "spread"))


def find_dense(facts: Facts, pe: PE) -> dict[str, float]:
    """Return when all of each dense arrival from a port is at a PE, and in order."""
    taken, found, profile = count_dense(facts, pe), {}, facts.profile
    done = 0.0
    for name, own in taken.items():
        first = find_first(facts, name, pe)
        started = max(first, profile.vector_start_up)
        last = started + find_taken(profile, own, taken.values())
        there = max(last, first + _find_sent(facts, name, own))
        ordered = find_unpacked(facts, name, pe)
        found[name] = max(there, done) + ordered if ordered else there
        done = found[name] if ordered else done
    return found


def _find_sent(facts: Facts, name: str, own: int) -> float:
    """Return the cycles in which all of a dense arrival comes from its port, or its adapters.

    These send what they take in turns, unless they bring one stream after the other into order.
    """
    side = facts.graph.arrivals[name].side
    if not facts.graph.arrivals[name].spread:
        return own
    sent = count_at_adapters(facts, side, Spread)
    tasks = [f"{task}_{each}" for each in sent for task in ("hear", "spread")]
    ordered = any(find_order(facts, task) for task in tasks)
    together = [sent.get(name, own)] if ordered else sent.values()
    return find_taken(facts.profile, sent.get(name, own), together)


def find_unpacked(facts: Facts, name: str, pe: PE) -> int:
    """Return the cycles of loops that bring an arrival into order at a PE."""
    tasks = facts.graph.tasks.items()
    mine = [n for n, t in tasks if isinstance(t, Receive) and t.arrival == name]
    return sum(find_order_at(facts, each, pe) for each in mine)


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
        found += find_sequences(profile, sequences, len(outer), waits=True)
    return found


def _react(facts: Facts, name: str, pe: PE) -> float:
    """Return the cycles of all tasks that react to a sparse arrival; 0 if there are none."""
    arrival, profile = facts.graph.arrivals[name], facts.profile
    tasks = facts.graph.tasks.items()
    mine = {n: t for n, t in tasks if isinstance(t, React | Store) and t.arrival == name}
    elements = max((facts.amounts[n][pe].invoked for n in mine), default=0)
    if not elements:
        return 0.0
    some = count_most(elements, facts.density, _count_groups(facts, name, elements))
    work = sum(_find_work(facts, n, t, pe) for n, t in mine.items()) * some / elements
    idle = any(facts.amounts[n][pe].runs < elements for n in mine)
    waits = idle or facts.routes.has(arrival.colour, "filter")
    sequences = prod(high - low + 1 for low, high in arrival.outer)
    targets = [task.target for task in mine.values() if isinstance(task, React)]
    return (
        find_react(profile, some, work, waits=waits)
        + find_sequences(profile, sequences, len(arrival.outer), waits=waits)
        + sum(find_sent_early(facts, target, pe) for target in targets)
    )


def _find_work(facts: Facts, name: str, task: React | Store, pe: PE) -> float:
    """Return the cycles of what reacts to all elements of a stream, dispatch left out."""
    if isinstance(task, React):
        return find_cost(facts, name, pe)
    return STORED * facts.amounts[name][pe].runs


def _count_groups(facts: Facts, name: str, elements: int) -> int:
    """Return how many rows or columns get elements of their own, of which each gets so many."""
    arrival = facts.graph.arrivals[name]
    lanes = find_widths(facts.routes.pes(name, "taken"))[1 - AXIS[arrival.side]]
    arriving = facts.adapted.arrivals.domain()
    every = sum(count(s) for s in list_sets(arriving) if s.get_tuple_name() == arrival.tensor)
    return max(1, min(lanes, every // elements))


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
        found += sent[name] + find_order(facts, f"spread_{name}")
    return found
