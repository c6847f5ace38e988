"""How many elements of a stream a PE keeps at most, and how many rows of what it gathers.

Source   design, The machine: an instruction with a fabric operand is queued
"""

from __future__ import annotations

import typing

from stages.layer.pe.model import Work
from stages.layer.routes.leaving import count_instructions
from stages.layer.routes.threads import count_free_threads
from stages.layer.texts.graph import Graph
from stages.poly.number import bound_points

if typing.TYPE_CHECKING:
    from stages.machine.profile import Profile


def count_most_elements(work: Work, task: str) -> int:
    """Return a bound on the elements that a task moves on any PE."""
    compressed = work.compressed.of(task)
    return min(bound_points(work.instance_set(task)), bound_points(compressed))


def count_most_rows(graph: Graph, profile: Profile) -> int:
    """Return how many rows may be under way: with too many instructions no task starts."""
    streams = sum(not a.sparse for a in graph.arrivals.values())
    gathers = [d for d in graph.departures.values() if d.by == "gather"]
    streams += len(graph.departures) - len(gathers)
    threads = count_free_threads(profile, sum(a.sparse for a in graph.arrivals.values()))
    free = (threads - 1 - streams) // len(gathers)
    in_turn = [d.in_turn for d in graph.departures.values() if d.in_turn]
    return max(1, free // max(map(count_instructions, in_turn)))
