"""Arrays in the memory of programs: their uses, addresses and banks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm, prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.codegen.model import ProgramModel, count_most_elements
from lairmake.stages.layer.memory.events import SPANS, EventOrder
from lairmake.stages.layer.routes.lines import count_most_rows, name_leaving
from lairmake.stages.layer.streams.cutting import AHEAD
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import COMPLETE, Routing
from lairmake.stages.layer.texts.simd_yaml import NumberDecision
from lairmake.stages.layer.texts.task_graph import Outgoing, TaskGraph
from lairmake.stages.layer.vector.situation import PLACES
from lairmake.stages.machine.banks import WORD
from lairmake.stages.machine.types import BYTES

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Arrays that programs keep in memory ----------------------------------------------------------
#
# These are local tensors, and what tasks need besides.
# Each is used from one event to another one of an invocation (events.py), or lasts:
#
# - a local tensor is used by the tasks that access it. What is there from the start lasts, and so
#   does what one invocation leaves to the next; what is read back is needed at the end;
# - TASK_packed holds what a stream moves whose addresses are not linear in its order, NAME_wavelets
#   what leaves sparse, TASK_partK what steps of a task give to each other;
# - a table is computed before the first invocation, and lasts.
#
# Paper    V Sec. 4.3

@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramArray:
    """An array in the memory of a role: the events between which it is used; None if it lasts."""

    name: str
    type: str
    shape: tuple[int, ...]
    uses: frozenset[str] | None

    @property
    def bytes(self) -> int:
        """Its size."""
        return BYTES[self.type] * prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """The tasks of a layer, and what else says which arrays they need."""

    work: ProgramModel
    routes: Routing
    profile: Profile

    @property
    def graph(self) -> TaskGraph:
        """The task graph."""
        return self.work.graph


def find_uses(
    work: ProgramModel, side: str, late: Iterable[str] = ()
) -> dict[str, frozenset[str] | None]:
    """Return the uses of local tensors by tasks on a side, "" for computing PEs; None: it lasts.

    Tensors that are `late` get their first value from the task that computes them, or just before
    it.
    """
    graph, found = work.graph, dict[str, frozenset[str]]()
    skipped = {f"init_{tensor}" for tensor in late}
    for name, task in work.tasks.items():
        if PLACES(graph, task) == side and name not in skipped:
            for access in work.accesses(name).values():
                local = access.get_tuple_name(isl.dim_type.out)
                found[local] = found.get(local, frozenset()).union(SPANS(graph, task))
    uses: dict[str, frozenset[str] | None] = {**found}
    lasting = {task.tensor for task in work.of_kind(task_graph.Initialise).values() if task.but}
    for name, tensor in graph.tensors.items():
        local = f"{tensor.stored_in or name}_local"
        if tensor.kept in ("resident", "delayed") or name in lasting or local not in found:
            uses[local] = None
        elif tensor.kept == "result" and (last := uses[local]) is not None:
            uses[local] = last | {COMPLETE}
    return uses


def list_computing(
    keeping: Keeping, uses: Mapping[str, frozenset[str] | None]
) -> list[ProgramArray]:
    """Return the arrays of computing PEs, in the order in which they lie one after the other."""
    return _merge([*list_local(keeping, uses), *_of_tasks(keeping)])


def list_local(keeping: Keeping, uses: Mapping[str, frozenset[str] | None]) -> list[ProgramArray]:
    """Return the local tensors of computing PEs."""
    work = keeping.work
    own = (local for local in work.shapes if local not in work.of_adapters)
    return [_local(work, local, uses) for local in own]


def _of_tasks(keeping: Keeping) -> Iterator[ProgramArray]:
    """Yield what tasks of computing PEs need besides: to send, then to compute, then to take."""
    work, graph = keeping.work, keeping.graph
    for name, each in graph.departures.items():
        if each.early is not None and each.by != "gather":
            slots = each.early.ring or each.early.sends or 0
            yield from _packed(work, f"early_send_{name}", slots=slots)
    cut = [name for name, arrival in graph.arrivals.items() if arrival.chunks is not None]
    for name in cut:
        yield from _received(work, name, AHEAD)
    steps = [n for n, t in work.of_kind(task_graph.Compute).items() if t.chunks]
    fills = [*work.of_kind(task_graph.Initialise)]
    runs = [
        n for n in work.tasks if isinstance(work.tasks[n], task_graph.Compute | task_graph.Carry)
    ]
    for name in (*fills, *(n for n in runs if n not in steps)):
        yield from _parts(work, name)
    for name, each in graph.departures.items():
        yield from _sent(keeping, name, each)
    backs = [each.feedback for each in graph.departures.values() if each.waits]
    for back in filter(None, backs):
        yield from _received(work, back)
    for name in steps:
        yield from _parts(work, name)
    halos = task_graph.SendHalo | task_graph.ReceiveHalo
    for name in (name for name, task in work.tasks.items() if isinstance(task, halos)):
        yield from _packed(work, name)
    backs = [each.feedback for each in graph.departures.values() if not each.waits]
    for name in (*filter(None, backs), *(n for n in graph.arrivals if n not in cut)):
        yield from _received(work, name)
        for task in work.taking(task_graph.React, name):
            yield from _parts(work, task)
        for task in work.taking(task_graph.Operate, name):
            yield from _number(work, task)


def list_adapting(
    keeping: Keeping, side: str, uses: Mapping[str, frozenset[str] | None]
) -> list[ProgramArray]:
    """Return the arrays of the adapters on a side."""
    return _merge(_of_adapters(keeping, side, uses))


def _of_adapters(
    keeping: Keeping, side: str, uses: Mapping[str, frozenset[str] | None]
) -> Iterator[ProgramArray]:
    """Yield what adapters hear, and need to spread it; then what they collect, likewise."""
    work, graph = keeping.work, keeping.graph
    spread = {n: a for n, a in graph.arrivals.items() if a.spread and a.side == side}
    heard = (f"{arrival.tensor}_source_local" for arrival in spread.values())
    yield from (_local(work, local, uses) for local in heard if local in work.shapes)
    for name in (n for n, arrival in spread.items() if not arrival.sparse):
        yield from _packed(work, f"hear_{name}")
        yield from _packed(work, f"spread_{name}")
    along = {n: c for n, c in graph.collections.items() if c.side == side and c.by != "gather"}
    for departure in dict.fromkeys(each.departure for each in along.values()):
        local = f"{name_leaving(graph.departures[departure])}_collected_local"
        yield _local(work, local, uses)
        for name in (n for n, each in along.items() if each.departure == departure):
            yield from _sent(keeping, name, along[name])
        yield from _packed(work, f"gather_{departure}")


def _local(
    work: ProgramModel, local: str, uses: Mapping[str, frozenset[str] | None]
) -> ProgramArray:
    return ProgramArray(
        name=local, type=work.type_of(local), shape=work.shapes[local], uses=uses.get(local)
    )


def _received(work: ProgramModel, arrival: str, slots: int = 0) -> Iterator[ProgramArray]:
    for task in work.taking(task_graph.ReceiveTask, arrival):
        yield from _packed(work, task, slots=slots)


def _sent(keeping: Keeping, name: str, stream: Outgoing) -> Iterator[ProgramArray]:
    """Yield what is needed to send a departure, or a collection."""
    task, work = f"send_{name}", keeping.work
    if stream.by == "gather":
        rows = stream.in_turn is not None and stream.in_turn.rows
        slots = count_most_rows(keeping.graph, keeping.profile) if rows else 0
        yield from _packed(work, task, slots=slots)
        return
    if stream.sequences is not None:
        pack = f"pack_{name}"
        count = count_most_elements(work, pack)
        yield _scratch(work, pack, f"{name}_wavelets", "int32", (count,))
        last = keeping.routes.pes(name, "last")
        if not last.is_subset(keeping.routes.pes(name, "first")):
            yield from _packed(work, task, apart=True)
        if keeping.routes.pes(name, "chain").is_subset(last):
            return
    if task in work.tasks:
        yield from _packed(work, task)


def _packed(
    work: ProgramModel, task: str, *, apart: bool = False, slots: int = 0
) -> Iterator[ProgramArray]:
    """Yield the consecutive memory of a stream, if it needs any; see Transfer."""
    if apart or work.simd[task].by == "loops":
        local = next(iter(work.accesses(task).values())).get_tuple_name(isl.dim_type.out)
        shape = (*([slots] if slots else []), count_most_elements(work, task))
        yield _scratch(work, task, f"{task}_packed", work.type_of(local), shape)


def _parts(work: ProgramModel, task: str) -> Iterator[ProgramArray]:
    """Yield what a task's steps give to each other, and the tables in which it looks up."""
    for number, part in enumerate(work.simd[task].parts or ()):
        yield _scratch(work, task, f"{task}_part{number}", part.type, (part.elements,))
    for table, described in work.simd[task].tables.items():
        name, shape = f"{task}_{table}", (described.entries,)
        yield ProgramArray(name=name, type=described.type, shape=shape, uses=None)


def _number(work: ProgramModel, task: str) -> Iterator[ProgramArray]:
    """Yield the number that an instruction on a stream has as an operand, if it has one."""
    for operand in work.simd[task].operands:
        if isinstance(operand, NumberDecision):
            yield ProgramArray(name=f"{task}_number", type=operand.type, shape=(1,), uses=None)


def _scratch(
    work: ProgramModel, task: str, name: str, type_: str, shape: Sequence[int]
) -> ProgramArray:
    uses = frozenset(SPANS(work.graph, work.tasks[task]))
    return ProgramArray(name=name, type=type_, shape=tuple(shape), uses=uses)


def _merge(arrays: Iterable[ProgramArray]) -> list[ProgramArray]:
    """Return each array once, with all uses of it."""
    found: dict[str, ProgramArray] = {}
    for array in arrays:
        before = found.get(array.name)
        if before is None:
            found[array.name] = array
        elif before.uses is None or array.uses is None:
            found[array.name] = replace(before, uses=None)
        else:
            found[array.name] = replace(before, uses=before.uses | array.uses)
    return list(found.values())

# --- Arrays that share memory ---------------------------------------------------------------------
#
# Two arrays may share addresses if all uses of one come before all uses of the other, on every PE
# of the role and in every invocation: what lasts from one invocation to the next shares nothing.
#
# An array lies in the smallest gap between those that are needed when it is, or behind these. It
# lies modulo the banks of the memory where it would lie without sharing, so that no instruction
# waits for others than it would then.
#
# Paper    V Sec. 4.3, which gives each local tensor memory of its own

Addresses = dict[str, int]
Interval = tuple[int, int]
"""The first byte, and the first one behind."""


def may_share(one: ProgramArray, other: ProgramArray, order: EventOrder) -> bool:
    """Say whether no invocation needs both arrays at a time."""
    if one.uses is None or other.uses is None:
        return False
    uses = one.uses, other.uses
    return order.ends_before(*uses) or order.ends_before(*reversed(uses))


def find_end(arrays: Iterable[ProgramArray], addresses: Mapping[str, int]) -> int:
    """Return how many bytes arrays take."""
    return max((addresses[array.name] + array.bytes for array in arrays), default=0)


def share_memory(
    arrays: Sequence[ProgramArray], apart: Mapping[str, int], order: EventOrder, banks: int
) -> Addresses:
    """Return addresses of arrays, given those that they have `apart`, one after the other.

    Ensures that none has a greater address than then: behind all that it may not share with, each
    finds a place no later. Without any gain they stay as they are.
    """
    placed: dict[str, Interval] = {}
    # Each is compared with those before it only, so the order of arrays is part of the result.
    # Their addresses `apart` must grow in it, as those of lay_out and _moved do: only then all that
    # is busy ends by apart[array.name], and none comes to lie later.
    for number, array in enumerate(arrays):
        busy = [placed[a.name] for a in arrays[:number] if not may_share(array, a, order)]
        # Words of 2 bytes lie in successive banks: an array whose start modulo `every` is as in
        # `apart` starts in the bank that spread_over_banks chose. Aligned only, it would not.
        every = lcm(2 * banks, BYTES[array.type]) if banks else BYTES[array.type]
        start = _best_place(array.bytes, busy, placed.values(), apart[array.name] % every, every)
        placed[array.name] = start, start + array.bytes
    found = {name: start for name, (start, _) in placed.items()}
    return found if find_end(arrays, found) < find_end(arrays, apart) else dict(apart)


def _best_place(
    size: int, busy: Collection[Interval], placed: Collection[Interval], rest: int, every: int
) -> int:
    """Return the best fit for an array: the least gap between what is busy, below what is placed.

    It is where others lie at other times, or behind them all; start mod `every` = `rest`.
    """
    end = max((stop for _, stop in placed), default=0)
    gaps = [(low, high, low + (rest - low) % every) for low, high in _gaps(busy, end)]
    fitting = [
        (high - low, start)
        for low, high, start in gaps
        if start + size <= high and any(a < start + size and start < b for a, b in placed)
    ]
    return min(fitting)[1] if fitting else _behind(busy, rest, every)


def _behind(busy: Collection[Interval], rest: int, every: int) -> int:
    """Return the first place behind what is busy; of what is busy last, behind all if it is."""
    low = max((stop for _, stop in busy), default=0)
    return low + (rest - low) % every


def _gaps(busy: Collection[Interval], end: int) -> list[Interval]:
    """Return what lies between intervals, from 0 to an end."""
    found, low = [], 0
    for start, stop in sorted(busy):
        if start > low:
            found.append((low, start))
        low = max(low, stop)
    return [*found, (low, end)] if low < end else found

# --- Arrays one after the other -------------------------------------------------------------------

def lay_out(
    arrays: Sequence[ProgramArray], starts: Mapping[str, int] | None = None, banks: int = 0
) -> dict[str, int]:
    """Return the byte addresses of arrays that lie one after the other, by name.

    Each starts in its bank, as many words behind a multiple of `banks` words as `starts` says.
    """
    found, end = dict[str, int](), 0
    for array in arrays:
        address = -(-end // BYTES[array.type]) * BYTES[array.type]
        if starts is not None:
            address += (starts[array.name] - address // WORD) % banks * WORD
        found[array.name] = address
        end = address + array.bytes
    return found
