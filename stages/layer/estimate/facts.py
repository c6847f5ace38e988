"""What is known of a layer, and how much of each task some of its PEs have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.estimate.places import PE, Amount, count_amounts, list_places
from lairmake.stages.layer.texts.isl_files import Adapted, Instances, Routing
from lairmake.stages.layer.texts.task_graph import (
    Graph,
    Hear,
    Operate,
    React,
    Receive,
    Relay,
    Running,
    Spread,
)
from lairmake.stages.machine.profile import Profile
from lairmake.stages.poly.canonical import list_maps

AXIS = {"N": 1, "S": 1, "W": 0, "E": 0}
"""The coordinate of PEs that goes away from a side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Cycles of a task in an invocation on the PE that has most of it.

    `waiting` are those for each instance in which it waits for banks of memory.
    """

    whole: float
    waiting: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the stages wrote, the `costs` of tasks, and what each of some PEs has of them.

    `ordering` are the cycles of loops that bring a stream into order, of those that have such.
    `density` is the share of the elements of sparse tensors that is not zero.
    """

    graph: Graph
    routes: Routing
    adapted: Adapted
    instances: Instances
    profile: Profile
    invocations: int
    density: float
    costs: Mapping[str, Costs]
    ordering: Mapping[str, Mapping[PE, int]]
    places: Sequence[PE]
    amounts: Mapping[str, Mapping[PE, Amount]]


def find_cost(facts: Facts, task: str, pe: PE) -> float:
    """Return the cycles of all that a PE has of a task that computes.

    Its costs are those of the first PE with the largest box of instances, and the most of these:
    `task.busiest`.
    """
    own, every = facts.amounts[task][pe], facts.amounts[task]
    most = every[min(every, key=lambda each: (-every[each].box, -every[each].instances, each))]
    by_runs = isinstance(facts.graph.tasks[task], React)
    share = own.runs / max(1, most.runs) if by_runs else own.instances / max(1, most.instances)
    return facts.costs[task].whole * share + facts.costs[task].waiting * own.instances


def list_statements(facts: Facts) -> list[str]:
    """Return the statements, each after those that it waits for."""
    tasks = facts.graph.tasks.values()
    return list(dict.fromkeys(t.statement for t in tasks if isinstance(t, Running)))


def find_running(facts: Facts, statement: str) -> dict[str, Running]:
    """Return the tasks that run a statement."""
    tasks = facts.graph.tasks.items()
    return {n: t for n, t in tasks if isinstance(t, Running) and t.statement == statement}


def list_read(facts: Facts, statement: str) -> list[str]:
    """Return the arrivals that a statement reads."""
    read: set[str] = set()
    for name in find_running(facts, statement):
        access = facts.instances.access(name)
        assert access is not None, "a statement accesses tensors"
        read |= {each.get_tuple_name(isl.dim_type.out) for each in list_maps(access)}
    return [name for name, arrival in facts.graph.arrivals.items() if arrival.tensor in read]


def count_dense(facts: Facts, pe: PE) -> dict[str, int]:
    """Return how many elements of each dense arrival from a port reach a PE, if some do."""
    found: dict[str, int] = {}
    for name, task in facts.graph.tasks.items():
        if not isinstance(task, Receive | Operate):
            continue
        if facts.graph.arrivals[task.arrival].feedback is None:
            elements = facts.amounts[name][pe].instances
            if elements:
                found[task.arrival] = found.get(task.arrival, 0) + elements
    return found


def find_order(facts: Facts, task: str) -> int:
    """Return the most cycles of the loops that bring a stream into order on a PE, if there are any.
    """
    return max(facts.ordering.get(task, {}).values(), default=0)


def find_order_at(facts: Facts, task: str, pe: PE) -> int:
    """Return the cycles of these loops on a PE."""
    return facts.ordering.get(task, {}).get(pe, 0)


def find_at_adapters(
    facts: Facts, side: str, kind: type[Hear | Spread]
) -> Mapping[str, Mapping[PE, int]]:
    """Return how many elements of each arrival some adapters of a side take, or send on."""
    found: dict[str, Mapping[PE, int]] = {}
    for name, task in facts.graph.tasks.items():
        if isinstance(task, kind) and facts.graph.arrivals[task.arrival].side == side:
            places = list_places([name], facts.instances)
            amounts = count_amounts([name], facts.instances, places)[name]
            found[task.arrival] = {pe: each.instances for pe, each in amounts.items()}
    return found


def count_at_adapters(
    facts: Facts, side: str, kind: type[Hear | Spread | Relay]
) -> dict[str, int]:
    """Return how many elements adapters of a side take, or send, of each arrival, at most."""
    found: dict[str, int] = {}
    for name, task in facts.graph.tasks.items():
        if isinstance(task, kind) and facts.graph.arrivals[task.arrival].side == side:
            every = list_amounts(facts, [name])
            counts = (a.invoked if kind is Relay else a.instances for a in every)
            found[task.arrival] = max(counts, default=0)
    return found


def list_amounts(facts: Facts, tasks: Iterable[str]) -> list[Amount]:
    """Return what some PEs have of tasks, which adapters may run."""
    known = [name for name in tasks if name in facts.graph.tasks]
    places = list_places(known, facts.instances)
    counted = count_amounts(known, facts.instances, places)
    return [amount for each in counted.values() for amount in each.values()]
