"""What is known of a task that might become a vector instruction."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from lairmake.stages.layer.routes.lines import count_instructions
from lairmake.stages.layer.routes.resources import count_functions
from lairmake.stages.layer.texts.isl_files import Compressions, Instances, Routing
from lairmake.stages.layer.texts.task_graph import (
    AnyTask,
    Clear,
    Collect,
    EarlySend,
    ForKind,
    Graph,
    Hear,
    Initialise,
    Operate,
    Pack,
    React,
    Receive,
    Relay,
    Runs,
    Send,
    Spread,
    always,
)
from lairmake.stages.poly.box import ExactBounds, at_this_pe, exact_bounds
from lairmake.stages.poly.canonical import list_maps, list_sets
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    bind_set,
    find_index_constants,
    project_names,
)
from lairmake.stages.poly.text import Objects

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile


def _spreading(graph: Graph, task: Relay | Hear | Spread) -> str:
    return graph.arrivals[task.arrival].side


def _collecting(graph: Graph, task: Clear | Collect) -> str:
    return graph.departures[task.departure].side


def _sending(graph: Graph, task: Send | EarlySend | Pack) -> str:
    """The side of a collection; what computing PEs send is a departure."""
    return graph.collections[task.departure].side if task.departure in graph.collections else ""


PLACES: ForKind[Graph, str] = ForKind(
    initialise=always(""),
    react=always(""),
    store=always(""),
    receive=always(""),
    operate=always(""),
    compute=always(""),
    carry=always(""),
    halo=always(""),
    send=_sending,
    early_send=_sending,
    pack=_sending,
    relay=_spreading,
    hear=_spreading,
    spread=_spreading,
    clear=_collecting,
    gather=_collecting,
)
"""The side of the adapters that run a task, by its kind; "" where computing PEs do."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Files:
    """What the stages before wrote, and the machine; read once for all tasks.

    `saved` are the bytes that local tensors do not take since they share memory, where they would
    not fit one after the other.
    """

    graph: Graph
    profile: Profile
    invocations: int
    schedule: isl.UnionMap
    instances: Instances
    compressed: Compressions
    hulls: Objects
    sizes: Objects
    routes: Routing
    allocations: Objects
    saved: int = 0

    @property
    def to_local(self) -> isl.UnionMap:
        """{ [PE[x, y] -> T[e]] -> T_local[l] }."""
        found: isl.UnionMap = self.allocations["to_local"]
        return found

    @cached_property
    def local(self) -> dict[str, isl.Set]:
        """The shapes of local tensors, by their names."""
        return {s.get_tuple_name(): s for s in list_sets(self.allocations["local"])}

    @cached_property
    def by_tensor(self) -> dict[str, isl.Map]:
        """[PE_X, PE_Y] -> { T[e] -> T_local[l] }, by tensor."""
        return at_this_pe(self.to_local)

    @cached_property
    def accessed(self) -> dict[str, isl.Set]:
        """[PE_X, PE_Y] -> { T[e] } of what a PE keeps, by tensor."""
        return {
            m.get_tuple_name(isl.dim_type.out): bind_domain(m, PE_NAMES)
            for m in list_maps(self.allocations["accessed"])
        }

    def place(self, name: str) -> str:
        """Return the side of the adapters that run a task; "" for one of computing PEs."""
        return PLACES(self.graph, self.graph.tasks[name])

    @property
    def code(self) -> int:
        """The bytes of code of a PE, roughly: two functions for each task."""
        tasks = len(self.graph.tasks)
        return self.profile.code_base + 2 * tasks * self.profile.code_task

    def find_code(self, name: str) -> int:
        """Return the bytes of code of the PEs that run a task; of adapters roughly."""
        if self.place(name):
            return self.code
        return self.profile.code_base + count_functions(self.graph) * self.profile.code_task

    def situation(self, name: str) -> Situation:
        """Return what is known of a task."""
        return Situation(name=name, task=self.graph.tasks[name], files=self)


@dataclass(frozen=True, kw_only=True)
class Situation:
    """One task: its compressed instance set, and the memory that it accesses."""

    name: str
    task: AnyTask
    files: Files

    @property
    def profile(self) -> Profile:
        """The figures of the machine."""
        return self.files.profile

    @property
    def runs(self) -> bool:
        """Whether the task runs a statement."""
        return isinstance(self.task, Runs)

    @property
    def target(self) -> str | None:
        """The tensor that the task computes; None if it runs no statement."""
        return self.task.target if isinstance(self.task, Runs) else None

    @property
    def besides(self) -> int:
        """The instructions of a departure besides that which sends a PE's own part.

        Those of a gather that forward the elements of other PEs; where all of it leaves early, the
        one that waits until it has left.
        """
        departures = self.files.graph.departures
        if not isinstance(self.task, Send | EarlySend) or self.task.departure not in departures:
            return 0
        stream = departures[self.task.departure]
        waits = stream.early is not None and stream.early.all
        return waits + count_instructions(stream.in_turn) - 1

    @cached_property
    def known(self) -> isl.Set:
        """The symbolic constants with which the task is invoked."""
        return self.files.instances.known(self.name)

    @property
    def pes(self) -> isl.Set | None:
        """The PEs that have the instruction, [PE_X, PE_Y] -> { : PE }; None if all may."""
        pes = project_names(self.known, find_index_constants(self.known))
        if not isinstance(self.task, Send | EarlySend):
            return pes if isinstance(self.task, Runs | Receive | Operate | Initialise) else None
        chain = self.files.routes.pes(self.task.departure, "chain")
        return pes.union(bind_set(chain, PE_NAMES))

    @cached_property
    def elements(self) -> isl.Set:
        """The compressed instance set, [p] -> { [i] }."""
        return self.files.compressed.of(self.name)

    @cached_property
    def compression(self) -> isl.Map:
        """{ [i] -> instance }."""
        return self.files.compressed.compression(self.name)

    @cached_property
    def exact(self) -> ExactBounds:
        """The exact bounds of the compressed instance set."""
        return exact_bounds(self.elements, self.known)

    @cached_property
    def accesses(self) -> dict[str, isl.Map]:
        """By tensor, { [i] -> T[e] }, what arrives by the element included."""
        accesses = self.files.compressed.accesses(self.name)
        return {m.get_tuple_name(isl.dim_type.out): m for m in accesses}

    @cached_property
    def guard(self) -> isl.Set | None:
        """The symbolic constants for which there are instances; None if all that occur."""
        domain = self.elements.params()
        return None if self.known.is_subset(domain) else domain.gist(self.known)

    @property
    def arriving(self) -> str | None:
        """The tensor whose element a task reacts to."""
        if not isinstance(self.task, React):
            return None
        return self.files.graph.arrivals[self.task.arrival].tensor

    def hull(self, what: str) -> tuple[isl.Set, ...] | None:
        """Return an object of the task in hulls.isl as sets, none if it is empty; or None."""
        found = self.files.hulls.get(f"{self.name}_{what}")
        return None if found is None else tuple(list_sets(found))

    def enumerated(self, what: str) -> isl.Set | None:
        """Return an object of the task in sizes.isl; None if there is none."""
        found = self.files.sizes.get(f"{self.name}_{what}")
        return None if found is None else isl.Set.from_union_set(found)

    def used(self, tensor: str) -> isl.Set:
        """Return [PE_X, PE_Y] -> { T_local[l] } of the elements that a PE keeps, V (40)."""
        return self.files.accessed[tensor].apply(self.files.by_tensor[tensor])

    def type_of(self, tensor: str) -> str:
        """Return the type of a tensor, or of the copy of it that adapters hold."""
        tensors = self.files.graph.tensors
        copied = tensor.removesuffix("_source").removesuffix("_collected")
        return tensors[tensor if tensor in tensors else copied].type

    def local_type(self, local: str) -> str:
        """Return the type of a local tensor."""
        return self.type_of(local.removesuffix("_local"))
