"""Prediction of what a layer takes, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.diagnose import Source
from lairmake.stages.layer.codegen.instruction import transfer_loops
from lairmake.stages.layer.codegen.model import ProgramModel
from lairmake.stages.layer.cycles.task import Arrays, find_waiting
from lairmake.stages.layer.estimate.facts import PE, Costs, Facts, count_amounts, list_places
from lairmake.stages.layer.estimate.timeline import Timeline
from lairmake.stages.layer.texts.isl_files import (
    Adapted,
    Compressions,
    Instances,
    Routing,
    read_adapted,
)
from lairmake.stages.layer.texts.simd_yaml import Decision, Decisions, read_decisions
from lairmake.stages.layer.texts.task_graph import (
    AnyTask,
    Collect,
    EarlySend,
    Hear,
    ReceiveHalo,
    ReceiveTask,
    SendHalo,
    SendTask,
    Spread,
    TaskGraph,
    read_graph,
)
from lairmake.stages.layer.vector.situation import PLACES
from lairmake.stages.machine.banks import WORD
from lairmake.stages.machine.profile import Profile
from lairmake.stages.pe.block import Block, BlockCharge
from lairmake.stages.pe.names import new_naming
from lairmake.stages.pe.nodes import Assign
from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import list_maps, list_sets
from lairmake.stages.poly.cardinality import cardinality, count
from lairmake.stages.poly.expression import Name
from lairmake.stages.poly.functions import find_greatest, find_least
from lairmake.stages.poly.text import Objects

# --- Loops that bring streams into order ----------------------------------------------------------
#
# They bring elements into the order of a stream, or out of it. Programs have them where addresses
# of elements are not linear in that order. Each is charged for what would be written, on PEs that
# stand for all that run it.
#
# Source   stages/layer/codegen/streams.py, which writes them

def find_ordering(
    task: str, work: ProgramModel, profile: Profile, places: Iterable[PE]
) -> Mapping[PE, int]:
    """Return the cycles of the loops of a stream in an invocation, on some PEs and the task's own.

    To move an element is no operation besides those that find it.
    """
    block, known = Block(), work.known(task)
    transfer_loops(block, task, work, new_naming(), lambda e: Assign(e, Name("n")))
    found = {}
    for pe in dict.fromkeys((*places, *list_places([task], work.instances))):
        here = known.intersect_params(_at(pe))
        found[pe] = BlockCharge(profile=profile, here=here).of(block, count(here))
    return found


def _at(pe: PE) -> isl.Set:
    x, y = pe
    return isl.Set(f"[PE_X, PE_Y] -> {{ : PE_X = {x} and PE_Y = {y} }}")

# --- Prediction from what stages wrote ------------------------------------------------------------
#
# The stages are those from `place` to `simd`. Nothing is run: the times of streams, statements and
# departures follow from each other on a few PEs, given how much each of these has to do. Predicting
# takes a time that does not depend on sizes.
#
# Paper    V Sec. 4.2, 5; design, Placement by search

Ordered = (
    ReceiveTask | SendTask | EarlySend | SendHalo | ReceiveHalo | Hear | Spread | Collect
)
"""Streams whose elements lie in memory in one order, and come or go in another one, perhaps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTexts:
    """What the stages wrote of a layer: tasks.yaml, simd.yaml and texts of isl.

    `memory` has the objects of memory.isl; `density` is the share of the elements of sparse
    tensors that is not zero.
    """

    graph: TaskGraph
    decisions: Decisions
    schedule: isl.UnionMap
    compressed: Compressions
    routes: Routing
    adapted: Adapted
    instances: Instances
    memory: Objects
    profile: Profile
    invocations: int
    density: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A prediction: cycles, bytes of what the fullest PE keeps, and PEs that compute.

    Of the `cycles`, the PE that is busy longest waits for streams that `arrive`, `computes`, and
    waits for what is `fed_back`; and then the last elements `leave`.
    """

    cycles: int
    arrive: int
    computes: int
    fed_back: int
    leave: int
    memory: int
    area: int


def read_written(
    source: Callable[[str], Source],
    objects: Callable[[str], Objects],
    profile: Profile,
    *,
    invocations: int,
    density: float,
) -> WrittenTexts:
    """Return what the stages wrote, given what reads a text, or the objects of one, by its name.

    Raises UserErrors where a text was edited wrongly.
    """
    return WrittenTexts(
        graph=read_graph(source("tasks.yaml")),
        decisions=read_decisions(source("simd.yaml")),
        schedule=objects("schedule.isl")["schedule"],
        compressed=Compressions(objects("compressions.isl")),
        routes=Routing(objects("routes.isl")),
        adapted=read_adapted(objects("adapted.isl")),
        instances=Instances(objects("instances.isl")),
        memory=objects("memory.isl"),
        profile=profile,
        invocations=invocations,
        density=density,
    )


def predict(written: WrittenTexts) -> Prediction:
    """Return what a layer is expected to take."""
    computing = {n: t for n, t in written.graph.tasks.items() if not PLACES(written.graph, t)}
    times = Timeline(_find_facts(written, computing)).run()
    return Prediction(
        cycles=round(times.cycles),
        arrive=round(times.spent["arrive"]),
        computes=round(times.spent["computes"]),
        fed_back=round(times.spent["fed_back"]),
        leave=round(times.leave),
        memory=_count_bytes(written.memory),
        area=_count_pes(written),
    )


def _find_facts(written: WrittenTexts, computing: Mapping[str, AnyTask]) -> Facts:
    """Return what is known of a layer, and of its computing tasks on some PEs."""
    places = list_places(computing, written.instances)
    arrays, profile = _find_arrays(written.memory, written.graph), written.profile
    costs = {
        name: _costs(decision, written, find_waiting(
            name, decision, arrays, profile, written.instances.known(name)))
        for name, decision in written.decisions.items()
    }
    return Facts(
        graph=written.graph,
        routes=written.routes,
        adapted=written.adapted,
        instances=written.instances,
        profile=written.profile,
        invocations=written.invocations,
        density=written.density,
        costs=costs,
        ordering=dict(_list_ordering(written, places)),
        places=places,
        amounts=count_amounts(computing, written.instances, places),
        paired=frozenset(n for n, each in written.decisions.items() if each.paired),
    )


def _costs(decision: Decision, written: WrittenTexts, waiting: float) -> Costs:
    """Return what a task takes in an invocation, on the PE that has most of it."""
    vectors = [step.by for step in decision.steps] or [decision.by]
    configured = sum(by != "loops" for by in vectors) * prod(decision.several)
    configured *= written.profile.configuration
    whole = max(0, (decision.cycles or 0) - configured) / written.invocations
    return Costs(whole=whole, waiting=waiting)


def _list_ordering(
    written: WrittenTexts, places: Sequence[PE]
) -> Iterator[tuple[str, Mapping[PE, int]]]:
    """Yield the streams that loops bring into order, with the cycles of these."""
    work = ProgramModel(
        graph=written.graph, simd=written.decisions, schedule=written.schedule,
        instances=written.instances, compressed=written.compressed, local=written.memory["local"],
        allocation=written.memory["to_local"],
    )
    for name, decision in written.decisions.items():
        if decision.by == "loops" and isinstance(written.graph.tasks[name], Ordered):
            yield name, find_ordering(name, work, written.profile, places)


def _find_arrays(memory: Objects, graph: TaskGraph) -> Arrays:
    """Return the shapes of local tensors, and where these and parts of tasks begin."""
    return Arrays(
        shapes={each.get_tuple_name(): find_shape(each) for each in list_sets(memory["local"])},
        addresses={
            each.get_tuple_name(isl.dim_type.in_): find_least(each.range(), 0).to_python()
            for each in list_maps(memory["address"])
        },
        buffers=graph.count_buffers(),
    )


def _count_bytes(memory: Objects) -> int:
    """Return the bytes of a PE before which all arrays begin the last of their elements."""
    ends = (find_greatest(each.range(), 0).to_python() for each in list_maps(memory["address"]))
    return max(ends, default=0) + WORD


def _count_pes(written: WrittenTexts) -> int:
    """Return how many PEs compute."""
    return cardinality(isl.Set.from_union_set(written.adapted.placement.range()))
