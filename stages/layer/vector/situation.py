"""The situation of a task: all that is known when its instruction is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.lair.expressions import ExpressionPart, Leaf, VectorOperation
from lairmake.stages.layer.routes.lines import count_instructions
from lairmake.stages.layer.routes.resources import (
    count_functions,
    is_exchanged_in_turn,
    list_sharing,
)
from lairmake.stages.layer.texts.isl_files import Compressions, Instances, Routing
from lairmake.stages.layer.texts.task_graph import (
    AnyTask,
    Clear,
    Collect,
    EarlySend,
    ForKind,
    Hear,
    Initialise,
    Operate,
    Pack,
    React,
    ReceiveHalo,
    ReceiveTask,
    Relay,
    Runs,
    SendHalo,
    SendTask,
    Spread,
    TaskGraph,
    always,
)
from lairmake.stages.machine.types import find_largest_integer, is_integer
from lairmake.stages.poly.box import ExactBounds, Shape, at_this_pe, exact_bounds
from lairmake.stages.poly.canonical import list_maps, list_sets
from lairmake.stages.poly.cardinality import bound_points, count
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    bind_set,
    find_function,
    find_index_constants,
    is_affine_function,
    project_names,
)
from lairmake.stages.poly.text import Objects

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Situation of a task --------------------------------------------------------------------------

def _spreading(graph: TaskGraph, task: Relay | Hear | Spread) -> str:
    return graph.arrivals[task.arrival].side


def _collecting(graph: TaskGraph, task: Clear | Collect) -> str:
    return graph.departures[task.departure].side


def _sending(graph: TaskGraph, task: SendTask | EarlySend | Pack) -> str:
    """The side of a collection; what computing PEs send is a departure."""
    return graph.collections[task.departure].side if task.departure in graph.collections else ""


PLACES: ForKind[TaskGraph, str] = ForKind(
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
    send_halo=always(""),
    receive_halo=always(""),
    pack=_sending,
    relay=_spreading,
    hear=_spreading,
    spread=_spreading,
    clear=_collecting,
    gather=_collecting,
)
"""The side of the adapters that run a task, by its kind; "" where computing PEs do."""


Computing = Runs | ReceiveTask | Operate | Initialise | SendHalo | ReceiveHalo
"""Tasks of those computing PEs that are known to have instances."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SituationFiles:
    """What the stages before wrote, and the machine; read once for all tasks.

    `saved` are the bytes that local tensors do not take since they share memory, where they would
    not fit one after the other. `longer_rows`: rows of local tensors may get longer for banks.
    """

    graph: TaskGraph
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
    longer_rows: bool = True

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
    files: SituationFiles

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
        one that waits until it has left. One less where a stream takes turns with an earlier one.
        """
        if self._sharing:
            return -int(self.name != self._sharing[0])
        departures = self.files.graph.departures
        if not isinstance(self.task, SendTask | EarlySend) or self.task.departure not in departures:
            return 0
        stream = departures[self.task.departure]
        waits = stream.early is not None and stream.early.all
        return waits + count_instructions(stream.in_turn) - 1

    @property
    def _sharing(self) -> list[str]:
        """The streams of halos that take turns with this one, if it is one that does."""
        if not isinstance(self.task, SendHalo | ReceiveHalo):
            return []
        in_turn = is_exchanged_in_turn(self.files.graph)
        return list_sharing(self.files.graph, self.task) if in_turn else []

    @cached_property
    def known(self) -> isl.Set:
        """The symbolic constants with which the task is invoked."""
        return self.files.instances.known(self.name)

    @property
    def pes(self) -> isl.Set | None:
        """The PEs that have the instruction, [PE_X, PE_Y] -> { : PE }; None if all may."""
        known = self.known
        for other in self._sharing:
            known = known.union(self.files.instances.known(other))
        pes = project_names(known, find_index_constants(known))
        if not isinstance(self.task, SendTask | EarlySend):
            return pes if isinstance(self.task, Computing) else None
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

# --- Candidate for a vector instruction -----------------------------------------------------------
#
# Paper    V Sec. 5, conditions 1 to 4

class NotPossibleError(Exception):
    """The reason why a task cannot become a vector instruction in some way."""


class RankError(NotPossibleError):
    """A vector instruction has not so many dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCandidate:
    """A box that a vector instruction would run, [p] -> { [k] : origin <= k < origin + sizes }.

    `box` is that set, all of it or the part that has instances, and `change` is { [k] -> [i] },
    from it to the compressed instance set; None where the two are one. `outer` is [p] -> { [o] }:
    the instruction runs once for each of its elements, and depends on them as symbolic constants
    outer0, ...; None where it runs once. `least` and `several` are the least size and the number
    of sizes, each with a configuration of its own; empty where there is one size. `needed` are
    those that occur, [PE_X, PE_Y] -> { [size - least] }. `touched` are the [PE_X, PE_Y] ->
    { T_local[l] } for which memory must have room. `shapes` are those of local tensors that must
    not become others, since dimensions were merged. `each_call`: it is configured before each call.
    `in_turn`: so are several instructions, which have one configuration in turn.
    """

    way: str
    why: str
    sizes: tuple[isl.PwAff, ...]
    origin: tuple[isl.PwAff, ...]
    box: isl.Set
    change: isl.Map | None = None
    outer: isl.Set | None = None
    least: tuple[isl.PwAff, ...] = ()
    several: tuple[int, ...] = ()
    needed: isl.Set | None = None
    touched: tuple[isl.Set, ...] = ()
    each_call: bool = False
    in_turn: bool = False
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def components(point: isl.Set) -> tuple[isl.PwAff, ...]:
    """Return the functions f of [p] -> { [f(p)] }, rounded down off their domain."""
    function = find_function(point)
    return tuple(function.get_pw_aff(k).floor() for k in range(point.dim(isl.dim_type.set)))


def firsts(least: Sequence[isl.PwAff], context: isl.Set) -> tuple[isl.PwAff, ...]:
    """Return the least value of each dimension: affine functions, others found at run time.

    The latter are symbolic constants first0, ...
    """
    return tuple(
        value
        if is_affine_function(value, context)
        else isl.PwAff(f"[first{k}] -> {{ [(first{k})] }}")
        for k, value in enumerate(least)
    )


def configurations(candidate: VectorCandidate) -> int:
    """Return how many configurations a PE keeps, at most: one for each size that occurs."""
    if candidate.needed is None:
        return 1
    anywhere = project_names(candidate.needed, PE_NAMES)
    return min(count(anywhere), bound_points(candidate.needed))

# --- Multiply-adds of a machine -------------------------------------------------------------------
#
# Some machines have multiply-adds of a vector and a scalar only, d = a * scalar + c. Any other is a
# product, which becomes a part, and a sum. So is one whose result stands still along a dimension:
# only a sum goes into one element.
#
# Source   CSL Language Guide, Builtins: @fmacs(dest, src1, src2, value), @fmach and @fmachs alike

SUMS = {"MAC": "ADD", "FMA": "ADD", "FMS": "SUB", "FNMA": "SUB"}


def find_negated(operation: VectorOperation, varies: Callable[[Leaf], bool]) -> int | None:
    """Return the number of the source whose negative makes an FMA of a difference: a scalar.

    None if there is none.
    """
    turned = {"FNMA": (0, 1), "FMS": (2,)}.get(operation.name, ())
    scalars = [k for k in turned if not varies(operation.sources[k])]
    numbers = [k for k in scalars if not isinstance(operation.sources[k], str | ExpressionPart)]
    return next(iter([*numbers, *scalars]), None)


def turn(operation: VectorOperation, source: int, negative: Leaf) -> VectorOperation:
    """Return the FMA that a difference is with the negative of a source."""
    sources = list(operation.sources)
    sources[source] = negative
    return replace(operation, name="FMA", sources=tuple(sources))


def take_apart(
    operation: VectorOperation, target: str, product: ExpressionPart
) -> Iterator[VectorOperation]:
    """Yield the product of a multiply-add, and the sum or difference of it."""
    a, b, *others = operation.sources
    yield VectorOperation(name="MUL", sources=(a, b), to=product)
    sides: Sequence[Leaf] = (product, *others)
    if operation.name in ("MAC", "FNMA"):
        sides = (*(others or [target]), product)
    yield VectorOperation(name=SUMS[operation.name], sources=tuple(sides), to=operation.to)


def negate(leaf: Leaf, computed: str) -> float | None:
    """Return the negative of a number; None if a type has none of it, and of what is no number."""
    if isinstance(leaf, str | ExpressionPart):
        return None
    least = -find_largest_integer(computed) if is_integer(computed) else leaf
    return -leaf if leaf >= least else None


def pad_rows(shape: Shape, limits: Sequence[int]) -> Shape:
    """Return a shape with rows of such a length that columns are read at the highest rate.

    `limits` are the elements a cycle by stride modulo 8, 0: any. So sums over the elements of rows
    go on in all columns, one after the other.
    """
    *others, row = shape or (1,)
    if not others or row == 1:
        return shape
    lengths = range(row, row + len(limits))
    return (*others, max(lengths, key=lambda n: limits[n % len(limits)] or inf))
