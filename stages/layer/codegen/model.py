"""The model of a layer that programs are made of: all that earlier stages wrote."""

from __future__ import annotations

import contextlib
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.lair.layer import Layer
from lairmake.stages.layer.routes.lines import name_leaving
from lairmake.stages.layer.texts.isl_files import (
    ALWAYS,
    RESTART,
    Adapted,
    Compressions,
    Instances,
    PlacedText,
    Routing,
    Said,
)
from lairmake.stages.layer.texts.simd_yaml import Decision
from lairmake.stages.layer.texts.task_graph import (
    AnyTask,
    Forwarding,
    Initialise,
    Operate,
    React,
    ReceiveTask,
    Running,
    StoreTask,
    TaskGraph,
)
from lairmake.stages.mapping.yaml_text import read_data
from lairmake.stages.pe.names import IdentifierNaming
from lairmake.stages.poly.box import Shape, at_this_pe, find_shape
from lairmake.stages.poly.canonical import from_domain, list_maps, list_sets
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.expression import (
    Name,
    Number,
    Operation,
    Value,
    express,
    express_condition,
)
from lairmake.stages.poly.functions import PE_NAMES, bind_set
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sides import Rectangle
from lairmake.stages.skewing.elements import Lair

# --- Model of a layer's texts ---------------------------------------------------------------------
#
# It has what the stages before wrote, in the forms in which programs need it.

MOST_OPERATIONS = 500_000
"""Operations that isl may spend on finding one convex piece."""

Buffers = Mapping[tuple[str, int], Value]
"""The number of the buffer that a tensor has now, by its local tensor and the number of the buffer
that it has in the first invocation."""

Kind = typing.TypeVar("Kind")
Taking = typing.TypeVar("Taking", bound=ReceiveTask | Operate | StoreTask | React)


@dataclass(frozen=True, kw_only=True)
class ProgramModel:
    """A layer's tasks, decisions and instance sets, and the local memory that they access.

    `local` are the shapes { T_local[l] }, `allocation` is { [PE[x, y] -> T[e]] -> T_local[l] }.
    """

    graph: TaskGraph
    simd: Mapping[str, Decision]
    schedule: isl.UnionMap
    instances: Instances
    compressed: Compressions
    local: isl.UnionSet
    allocation: isl.UnionMap

    @property
    def tasks(self) -> Mapping[str, AnyTask]:
        """The tasks by name, in the order in which a PE runs them."""
        return self.graph.tasks

    @property
    def waits(self) -> Mapping[str, Sequence[str]]:
        """The statements for which a statement waits on its PE, by its name."""
        return self.graph.waits

    def of_kind(self, kind: type[Kind]) -> dict[str, Kind]:
        """Return the tasks of a kind."""
        return {name: task for name, task in self.tasks.items() if isinstance(task, kind)}

    def taking(self, kind: type[Taking], arrival: str) -> dict[str, Taking]:
        """Return the tasks of a kind that take an arrival."""
        return {n: task for n, task in self.of_kind(kind).items() if task.arrival == arrival}

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the local tensors."""
        return {s.get_tuple_name(): find_shape(s) for s in list_sets(self.local)}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each stream's colour; streams that never meet may share one."""
        groups = [[c] if isinstance(c, str) else c for c in self.graph.colours]
        return {name: number for number, group in enumerate(groups) for name in group}

    def find_buffers(self, naming: IdentifierNaming) -> Buffers:
        """Return the numbers of buffers, as programs know them.

        Of two buffers a program keeps the number of one, of more those of all.
        """
        found: dict[tuple[str, int], Value] = {}
        for local, names in self.graph.swaps.items():
            every = [Name(naming.of(f"{tensor}_buffer")) for tensor in names]
            numbers: Sequence[Value] = every
            if len(every) == 2:
                numbers = every[0], Operation("-", (Number(1), every[0]))
            found |= {(local, k): number for k, number in enumerate(numbers)}
        return found

    @property
    def forwarding(self) -> Mapping[str, Forwarding]:
        """The lines of PEs that forward streams, by the name of the stream."""
        return self.graph.forwarding

    def entering(self, stream: str) -> str:
        """Return the colour on which a stream enters: its own, or that of the line's first PE."""
        return self.forwarding[stream].enters if stream in self.forwarding else stream

    def is_shared(self, stream: str) -> bool:
        """Say whether some PEs hear another stream on the same colour, or this one on others."""
        numbers = list(self.numbers.values())
        return stream in self.forwarding or numbers.count(self.numbers[stream]) > 1

    @cached_property
    def of_adapters(self) -> set[str]:
        """The local tensors that only adapters have."""
        spread = [a.tensor for a in self.graph.arrivals.values() if a.spread]
        collected = [name_leaving(c) for c in self.graph.collections.values()]
        return {f"{t}_source_local" for t in spread} | {f"{t}_collected_local" for t in collected}

    @cached_property
    def to_local(self) -> dict[str, isl.Map]:
        """By tensor, [PE_X, PE_Y] -> { T[e] -> T_local[l] }."""
        return at_this_pe(self.allocation)

    def type_of(self, local: str) -> str:
        """Return the type of a local tensor."""
        tensor = local.removesuffix("_local").removesuffix("_source").removesuffix("_collected")
        described = self.graph.tensors
        exact = local.removesuffix("_local")
        return described[exact if exact in described else tensor].type

    def known(self, task: str) -> isl.Set:
        """Return the symbolic constants with which a task may be invoked."""
        return self.instances.known(task)

    def instance_set(self, task: str) -> isl.Set:
        """Return [PE_X, PE_Y, index...] -> { instance } of a task."""
        return self.instances.of(task)

    def elements(self, task: str) -> dict[str, isl.Map]:
        """Return, by tensor, { instance -> T[e] } of a task's accesses to tensors in memory."""
        access = self.instances.access(task)
        accesses = [] if access is None else list_maps(access)
        named = {m.get_tuple_name(isl.dim_type.out): m for m in accesses}
        return {tensor: m for tensor, m in named.items() if tensor in self.to_local}

    def accesses(self, task: str) -> dict[str, isl.Map]:
        """Return, by tensor, { instance -> T_local[l] } of a task's accesses to memory."""
        elements = self.elements(task)
        return {tensor: m.apply_range(self.to_local[tensor]) for tensor, m in elements.items()}

    def time_of(self, task: str) -> isl.Map:
        """Return { S[i] -> [time] } of what a task runs, in which no two instances have one time.

        What is carried to the next invocation has no schedule: it runs in lexicographic order.
        """
        instances = self.instance_set(task)
        lexicographic = isl.Map.identity(instances.get_space().map_from_set())
        lexicographic = lexicographic.reset_tuple_id(isl.dim_type.out)
        described = self.tasks[task]
        if not isinstance(described, Running):
            return lexicographic.intersect_domain(instances)
        time = isl.Map.from_union_map(from_domain(self.schedule, described.statement))
        if not time.is_injective():
            time = time.flat_range_product(lexicographic)
        return _convex(time.intersect_domain(instances))


@dataclass(frozen=True, kw_only=True)
class Model(ProgramModel):
    """A layer's work, its PEs and its routes, and where arrays lie in the memory of PEs."""

    layer: Layer
    lair: Lair
    adapted: Adapted
    routes: Routing
    placed: PlacedText

    @cached_property
    def grid(self) -> Rectangle:
        """The rectangle of all PEs, adapters included."""
        return self.adapted.grid

    @cached_property
    def core(self) -> Rectangle:
        """The rectangle of the computing PEs."""
        return self.adapted.target

    def is_initialised_at_start(self, task: Initialise) -> bool:
        """Say whether a tensor gets its first value when an invocation starts, or when needed."""
        lives = self.placed.lives.get(self.graph.find_local(task.tensor), frozenset())
        return RESTART in lives or ALWAYS in lives

    def pes(self, stream: str, said: Said) -> isl.Set:
        """Return [PE_X, PE_Y] -> { : PE[PE_X, PE_Y] is said of a stream in routes.isl }."""
        pes = self.routes.pes(stream, said)
        if pes.is_empty():
            return isl.Set("[PE_X, PE_Y] -> { : false }")
        return bind_set(pes, PE_NAMES)


def _convex(time: isl.Map) -> isl.Map:
    """Return { S[i] -> [time] } as one convex piece, if it is one: it takes no branch then."""
    if time.n_basic_map() > 1:
        with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
            hull = isl.Map.from_basic_map(time.polyhedral_hull())
            return hull if hull.is_equal(time) else time
    return time


def value(given: int | str, context: isl.Set) -> Value:
    """Return a number, or the value that an isl text has for the symbolic constants."""
    if isinstance(given, int):
        return Number(given)
    return express(isl.PwAff(given), context)


def holds(condition: isl.Set, context: isl.Set) -> Value | None:
    """Return a condition as a value; None if it always holds in the context."""
    return express_condition(condition, context)

# --- Texts of stages that become programs ---------------------------------------------------------
#
# A text may be edited and kept, or come with a folder of somebody else. Only names and numbers of
# it are spelled in C. isl and LAIR read the rest, and refuse what is neither.

WORD = re.compile(r"-?[\w.]*", re.ASCII)
PLAIN = re.compile(r"[\w ,.:+*=<>-]*", re.ASCII)
"""Text that calls nothing and ends nothing, wherever it is spelled."""
PROSE = {"why", "whole", "otherwise", "not possible"}
"""Keys of texts for people."""
READ = {"expression"}
"""Keys of texts that LAIR reads."""
SPELLED = {"operation", "local", "element", "type", "number"}
"""Keys of texts that are spelled in C as they stand."""


def check_words(source: Source) -> None:
    """Raise UserError where a text of a stage in YAML has what is no name or number."""
    wrong = _wrong(read_data(source), "")
    if wrong is not None:
        start = max(source.text.find(wrong.splitlines()[0] if wrong else wrong), 0)
        span = Span(source=source, start=start, end=start + 1)
        raise UserError("this is no name, number, or text of isl", span, "undo the edit")


def _wrong(data: object, key: str) -> str | None:
    """Return the first text that may not stand in a program, None if there is none."""
    if key in PROSE | READ:
        return None
    if isinstance(data, dict):
        names = (n for n in map(str, data) if n not in PROSE and not WORD.fullmatch(n))
        values = (_wrong(value, str(name)) for name, value in data.items())
        return next(names, None) or next((each for each in values if each is not None), None)
    if isinstance(data, list):
        return next((each for each in (_wrong(v, key) for v in data) if each is not None), None)
    if not isinstance(data, str) or WORD.fullmatch(data):
        return None
    is_harmless = PLAIN.fullmatch(data) or data.startswith(("{", "["))
    return None if is_harmless and key not in SPELLED else data

# --- Most elements of a stream on a PE ------------------------------------------------------------
#
# Source   design, The machine: an instruction with a fabric operand is queued

def count_most_elements(work: ProgramModel, task: str) -> int:
    """Return a bound on the elements that a task moves on any PE."""
    compressed = work.compressed.of(task)
    return min(bound_points(work.instance_set(task)), bound_points(compressed))
