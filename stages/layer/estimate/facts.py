"""Facts about a layer before there is code: the work there is, and on which PEs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from lairmake.stages.layer.texts.isl_files import Adapted, Instances, Routing
from lairmake.stages.layer.texts.task_graph import (
    Hear,
    Operate,
    React,
    ReceiveTask,
    Relay,
    Running,
    Spread,
    TaskGraph,
)
from lairmake.stages.machine.profile import Profile
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.functions import PE_NAMES, find_index_constants, project_names

PARAM = isl.dim_type.param

# --- Work on PEs that stand for all ---------------------------------------------------------------
#
# They are PEs at corners and in the middle of tasks: where tasks run on boxes of PEs, the busiest
# PE is at a corner of one, or as busy as those in its middle.

PE = tuple[int, int]

MOST_PLACES = 12
"""The most PEs that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """The work of a task on a PE: how often it is invoked, how often with instances, and how many.

    `box` is how many instances the box around them has.
    """

    invoked: int
    runs: int
    instances: int
    box: int


NOTHING = Amount(invoked=0, runs=0, instances=0, box=0)


def find_pes(known: isl.Set) -> isl.Set:
    """Return { PE[x, y] } of [PE_X, PE_Y, ...] -> { ... }."""
    here = known.params()
    here = project_names(here, find_index_constants(here))
    return here.unbind_params(isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }"))


def list_places(tasks: Iterable[str], instances: Instances) -> list[PE]:
    """Return the PEs of the tasks that stand for all of them."""
    found = [pe for task in tasks for pe in _places(find_pes(instances.known(task)))]
    return list(dict.fromkeys(found))[:MOST_PLACES]


def _places(pes: isl.Set) -> Iterator[PE]:
    """Yield the corners and the middle of the box around { PE[x, y] }, as far as they are PEs."""
    if pes.is_empty():
        return
    (left, right), (top, bottom) = bounding_box(pes)
    middle = (left + right) // 2, (top + bottom) // 2
    for x, y in ((left, top), (right, bottom), middle, (right, top), (left, bottom)):
        if not pes.is_disjoint(isl.Set(f"{{ PE[{x}, {y}] }}")):
            yield x, y


def count_amounts(
    tasks: Iterable[str], instances: Instances, places: Sequence[PE]
) -> Mapping[str, Mapping[PE, Amount]]:
    """Return what each of some PEs has of each task."""
    return {task: {pe: _amount(task, instances, pe) for pe in places} for task in tasks}


def _amount(task: str, instances: Instances, pe: PE) -> Amount:
    own = _at(instances.of(task), pe)
    known = _at(instances.known(task), pe)
    if known.is_empty():
        return NOTHING
    if own.is_empty():
        return replace(NOTHING, invoked=count(known))
    sides = bounding_box(own.project_out_all_params())
    return Amount(
        invoked=count(known),
        runs=count(own.params()),
        instances=count(own),
        box=prod(high - low + 1 for low, high in sides),
    )


def _at(elements: isl.Set, pe: PE) -> isl.Set:
    """Return a set for the PE, without its symbolic constants."""
    for name, value in zip(PE_NAMES, pe, strict=True):
        position = elements.find_dim_by_name(PARAM, name)
        if position >= 0:
            fixed = elements.fix_val(PARAM, position, isl.Val(value))
            elements = fixed.project_out(PARAM, position, 1)
    return elements


def find_widths(pes: isl.Set) -> tuple[int, int]:
    """Return how many columns and rows the box around { PE[x, y] } has; 0 if there is no PE."""
    if pes.is_empty():
        return 0, 0
    (left, right), (top, bottom) = bounding_box(pes)
    return right - left + 1, bottom - top + 1

# --- Facts about a layer, and amounts of tasks ----------------------------------------------------

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
    `density` is the share of the elements of sparse tensors that is not zero; `paired` are the
    streams of halos that have two elements in a wavelet.
    """

    graph: TaskGraph
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
    paired: frozenset[str]


def find_cost(facts: Facts, task: str, pe: PE) -> float:
    """Return the cycles of all that a PE has of a task that computes.

    The costs of a task are those of the first PE with the largest box of instances, and the most of
    these: `task.busiest`.
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
        if not isinstance(task, ReceiveTask | Operate):
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
