"""Runs of a graph in NumPy, on stores of values."""

from __future__ import annotations

import io
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.irg.addresses import COUNTER, Addresses, list_loops
from lairmake.stages.program.irg.graph import (
    BranchNode,
    ForLoop,
    GraphEntry,
    GraphNode,
    Item,
    Items,
    Leave,
    Operand,
    ProgramGraph,
    WhileLoop,
    list_bodies,
    list_items,
    parse_logic,
)
from lairmake.stages.program.irg.regions import RegionAccess, RegionAccesses, list_nodes
from lairmake.stages.program.values.arithmetic import (
    Array,
    add_global,
    add_locally,
    add_up,
    cast,
    compute,
    round_number,
)
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, ON_PES, REDUCTIONS, UNIFORM

# --- Arrays of entries as files -------------------------------------------------------------------

def check_array(array: Array, entry: GraphEntry, path: str) -> Array:
    """Return an array that a stage wrote. Raises UserError where it does not suit its entry."""
    if array.dtype.name != entry.type or array.shape != entry.shape:
        said = f"{path} is {array.dtype} of shape {array.shape}, and {entry.name} is {entry.type}" \
               f" of shape {entry.shape}"
        raise UserError(said, hint="a build writes it anew once it is deleted")
    return array


def write_array(array: Array) -> bytes:
    """Return an array as a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()

# --- Temporaries that share arrays ----------------------------------------------------------------

def share_temporaries(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses]
) -> dict[str, str]:
    """Return, for temporaries that may reuse the array of an earlier one, the name of that one.

    A graph that was unrolled has very many temporaries. Two may share an array if both lie on PEs
    with one form, only nodes of one list of items use them, and the first is not used any more once
    the other is wholly written. So loops do not matter.
    """
    everywhere = Counter(name for node in list_nodes(graph.items) for name in _refer(node))
    found: dict[str, str] = {}
    inside = (body for item in list_items(graph.items) for body in list_bodies(item))
    for items in (graph.items, *inside):
        nodes = [item for item in items if isinstance(item, GraphNode)]
        here = Counter(name for node in nodes for name in _refer(node))
        last = {name: node.id for node in nodes for name in _refer(node)}
        first = {name: node for node in reversed(nodes) for name in _refer(node)}
        local = {
            name for name, node in first.items() if _may_share(graph.entries[name])
            and here[name] == everywhere[name] and node.dst == name and name not in node.src
            and accesses[node.id].dst.covers(graph.entries[name])
        }
        _share(graph, nodes, local, last, found)
    return found


def _share(
    graph: ProgramGraph, nodes: list[GraphNode], local: set[str], last: Mapping[str, int],
    found: dict[str, str],
) -> None:
    free: dict[tuple[object, ...], list[str]] = defaultdict(list)
    begun: set[str] = set()
    for node in nodes:
        if node.dst in local and node.dst not in begun:
            begun.add(node.dst)
            if others := free[_form(graph, node.dst)]:
                found[node.dst] = others.pop()
        for name in dict.fromkeys(_refer(node)):
            if name in local and last[name] == node.id:
                free[_form(graph, name)].append(found.get(name, name))


def _may_share(entry: GraphEntry) -> bool:
    return entry.temporary and entry.kind in ON_PES and entry.initial is None and not entry.output


def _form(graph: ProgramGraph, name: str) -> tuple[object, ...]:
    entry = graph.entries[name]
    return entry.kind, entry.type, entry.shape


def _refer(node: GraphNode) -> tuple[str, ...]:
    return (node.dst, *(each for each in node.src if isinstance(each, str)))

# --- Stores of values -----------------------------------------------------------------------------
#
# Values lie in arrays of their own, or at their addresses. Memory begins with a pattern, which
# differs between the stores, so a value that is read before it is written shows.

BITS = {2: np.uint16, 4: np.uint32}
OWN, SHARED = 0x5A, 0xA5
"""The patterns of the two stores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueStore:
    """The array of each entry, and the counter of each loop.

    With `replicated`, uniform scalars have the shape of the field: each worker has its own.
    """

    arrays: dict[str, Array]
    counters: dict[str, Array]
    replicated: bool


def make_store(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], data: Mapping[str, Array]
) -> ValueStore:
    """Return a store in which each entry has its own array, but for temporaries that share one."""
    shared = share_temporaries(graph, accesses)
    arrays = {
        name: np.full((*entry.shape, BYTES[entry.type]), OWN, np.uint8).view(entry.type)[..., 0]
        for name, entry in graph.entries.items() if name not in shared
    }
    arrays |= {name: arrays[other] for name, other in shared.items()}
    counters = {loop.name: np.zeros((), np.int32) for loop in list_loops(graph.items)}
    store = ValueStore(arrays=arrays, counters=counters, replicated=False)
    _begin(store, graph, data)
    return store


def make_addressed_store(
    graph: ProgramGraph, addresses: Addresses, data: Mapping[str, Array]
) -> ValueStore:
    """Return a store with one memory for each worker, and one for the executive.

    Entries without an address, which no node uses, are left out.
    """
    columns, rows = graph.field
    workers = _fill((columns, rows, addresses.workers))
    executive = _fill((addresses.executive,))
    arrays = {}
    for name, place in addresses.places.items():
        entry = graph.entries.get(name)
        if entry is None:
            continue
        at, size = place.address, place.bytes
        if entry.kind in ON_PES:
            (x, y), (w, h) = entry.origin, entry.shape[:2]
            memory = workers[x : x + w, y : y + h, at : at + size]
            arrays[name] = memory.view(entry.type).reshape(entry.shape)
        elif entry.kind == UNIFORM:
            arrays[name] = workers[:, :, at : at + size].view(entry.type)[:, :, 0]
        else:
            arrays[name] = executive[at : at + size].view(entry.type).reshape(entry.shape)
    counters = {}
    for loop in list_loops(graph.items):
        at = addresses.places[loop.name + COUNTER].address
        counters[loop.name] = executive[at : at + 4].view(np.int32).reshape(())
    store = ValueStore(arrays=arrays, counters=counters, replicated=True)
    _begin(store, graph, data)
    return store


def _fill(shape: tuple[int, ...]) -> Array:
    """Return memory in its first pattern; each worker's begins at a multiple of 16 bytes."""
    *field, size = shape
    memory = np.full((*field, -(-max(size, 1) // 16) * 16), SHARED, np.uint8)
    kept: Array = memory[..., :size]
    return kept


def _begin(store: ValueStore, graph: ProgramGraph, data: Mapping[str, Array]) -> None:
    """Write the first values of entries."""
    for name, array in store.arrays.items():
        initial = graph.entries[name].initial
        if initial is not None:
            array[...] = data[name] if isinstance(initial, str) else round_number(
                initial, graph.entries[name].type)


def read_value(store: ValueStore, entry: GraphEntry) -> Array:
    """Return a copy of the value of an entry, in its own shape; of copies, that of worker 0, 0."""
    array = store.arrays[entry.name]
    if store.replicated and entry.kind == UNIFORM:
        array = array[0, 0]
    return np.array(array)


def are_copies_equal(store: ValueStore, entry: GraphEntry) -> bool:
    """Return whether all workers have the same value of a uniform scalar."""
    array = store.arrays[entry.name]
    if not store.replicated or entry.kind != UNIFORM:
        return True
    bits = find_bits(array)
    return bool((bits == bits[0, 0]).all())


def find_bits(array: Array) -> Array:
    """Return the bits of values as unsigned integers."""
    flat: Array = np.ascontiguousarray(array).view(BITS[array.dtype.itemsize])
    return flat.reshape(array.shape)

# --- Operands as views of arrays ------------------------------------------------------------------

def view_operand(
    store: ValueStore,
    entries: Mapping[str, GraphEntry],
    node: GraphNode,
    name: str,
    access: RegionAccess,
) -> Array:
    """Return the elements of an operand, with an axis for each axis of instances, or of size 1.

    Where uniform scalars are replicated, each PE that computes reads its own; a node whose result
    is such a scalar has all workers as instances.
    """
    entry, array = entries[name], store.arrays[name]
    if entry.kind == UNIFORM and store.replicated:
        if entries[node.dst].kind not in ON_PES:
            return array
        (x, y), (w, h) = access.low[:2], access.sizes[:2]
        return array[x : x + w, y : y + h][(..., *[None] * (len(access.sizes) - 2))]
    return _with_axes(_slice(entry, array, access), access)


def _slice(entry: GraphEntry, array: Array, access: RegionAccess) -> Array:
    """Return the elements of an access; axes with a single place are dropped."""
    keys: list[int | slice] = []
    for k, axis in enumerate(access.axes):
        start = access.start[k] - (entry.origin[k] if entry.kind in ON_PES and k < 2 else 0)
        if axis is None:
            keys.append(start)
            continue
        stop = start + access.step[k] * access.sizes[axis]
        keys.append(slice(start, stop if stop >= 0 else None, access.step[k]))
    return array[(*keys, ...)]


def _with_axes(array: Array, access: RegionAccess) -> Array:
    """Return an array with axes of size 1 for the axes of instances that it lacks."""
    used = [axis for axis in access.axes if axis is not None]
    if len(used) == len(access.sizes):
        return array
    return array[tuple(slice(None) if k in used else None for k in range(len(access.sizes)))]


def drop_axes(array: Array, access: RegionAccess) -> Array:
    """Return the destination of a reduction with only the axes that are left."""
    used = [axis for axis in access.axes if axis is not None]
    if not used:
        return array
    return array[tuple(slice(None) if k in used else 0 for k in range(len(access.sizes)))]

# --- Steps of nodes as functions ------------------------------------------------------------------
#
# Sources are read before the destination is written, though they may overlap.

Step: TypeAlias = Callable[[], object]

SLAB = 2**17
"""Elements of a large array that are computed at a time."""


def prepare_step(
    node: GraphNode, accesses: RegionAccesses, graph: ProgramGraph, store: ValueStore
) -> Step:
    """Return a function that runs a node."""
    entries = graph.entries
    dst = view_operand(store, entries, node, node.dst, accesses.dst)
    src = [
        None if access is None else view_operand(store, entries, node, str(name), access)
        for name, access in zip(node.src, accesses.src, strict=True)
    ]
    if node.op in REDUCTIONS:
        assert src[0] is not None and accesses.src[0] is not None
        return _prepare_reduction(node, accesses.dst, accesses.src[0], graph, (dst, src[0]))
    valued = [k for k, each in enumerate(src) if each is not None and (k or node.op != "where")]
    type_ = entries[str(node.src[valued[0]])].type if valued else entries[node.dst].type
    if node.op == "cast":
        only = round_number(node.src[0], type_) if src[0] is None else src[0]  # type: ignore[arg-type]
        return lambda: cast(only, dst.dtype.name, out=dst)
    operands = [
        round_number(number, type_) if array is None else array  # type: ignore[arg-type]
        for number, array in zip(node.src, src, strict=True)
    ]
    op = node.op
    if dst.ndim < 2 or dst.size < 2 * SLAB or _meets(node, accesses):
        return lambda: compute(op, type_, *operands, out=dst)
    return _prepare_slabs(op, type_, operands, dst, store.replicated)


def _prepare_slabs(
    op: str, type_: str, operands: list[Array], dst: Array, is_scattered: bool
) -> Step:
    """Return a function that computes a large array in parts that fit into caches.

    Where PEs lie apart in memory, results are gathered before they are written.
    """
    count = max(SLAB * len(dst) // dst.size, 1)

    def run_slabs() -> None:
        scratch = np.empty((count, *dst.shape[1:]), dst.dtype)
        for n in range(0, len(dst), count):
            sources, out = [_cut(each, dst, n, count) for each in operands], dst[n : n + count]
            if is_scattered:
                out[...] = compute(op, type_, *sources, out=scratch[: len(out)])
            else:
                compute(op, type_, *sources, out=out)

    return run_slabs


def _meets(node: GraphNode, accesses: RegionAccesses) -> bool:
    """Return whether a node reads other elements of its destination than the instance writes."""
    return any(name == node.dst and access != accesses.dst
               for name, access in zip(node.src, accesses.src, strict=True))


def _cut(operand: Array, dst: Array, n: int, count: int) -> Array:
    """Return the part of an operand for `count` columns of PEs, from `n` on."""
    if operand.ndim < dst.ndim or len(operand) == 1:
        return operand
    return operand[n : n + count]


def _prepare_reduction(
    node: GraphNode,
    to: RegionAccess,
    of: RegionAccess,
    graph: ProgramGraph,
    views: tuple[Array, Array],
) -> Step:
    (dst, src), op = views, node.op
    source, result = graph.entries[str(node.src[0])], graph.entries[node.dst]
    if source.kind == GLOBAL_ARRAY:
        return lambda: _write(dst, add_global(op, src))
    if result.kind not in ON_PES:
        origin = of.start[0], of.start[1]
        return lambda: _write(dst, add_up(op, src, origin, graph.field))
    kept = [axis for axis in to.axes if axis is not None]
    dst = drop_axes(dst, to)
    gone = [k for k in range(len(of.sizes)) if k not in kept]
    return lambda: _write(dst, add_locally(op, src, gone))


def _write(dst: Array, values: Array) -> None:
    dst[...] = values

# --- Runs of a graph on a store -------------------------------------------------------------------
#
# Nodes run in the order of their ids.
#
# Paper    E Sec. 5.4: evaluating nodes by id has all that they need before them

LONGEST = 600.0
"""Seconds of a processor for a graph, if its program has a minute."""

Tell: TypeAlias = Callable[[float], None]
Watch: TypeAlias = Callable[[GraphNode, Mapping[str, int]], None]
"""A function that is told of each node that has run, and of the iterations of loops."""

Doing: TypeAlias = Callable[[], Leave | None]
"""A function that runs an item; it returns the item that leaves a loop, if one does."""


class EndlessError(Exception):
    """A graph ran longer than it may, in iteration `iteration` of `loop`."""

    def __init__(self, loop: ForLoop | WhileLoop, iteration: int) -> None:
        super().__init__(f"{loop.name} in iteration {iteration}")
        self.loop, self.iteration = loop, iteration


class CounterError(Exception):
    """The counter of a loop is `found`, and not the number of the iteration."""

    def __init__(self, loop: ForLoop, found: int, iteration: int) -> None:
        super().__init__(f"{loop.name} has {found} in iteration {iteration}")
        self.loop, self.found, self.iteration = loop, found, iteration


@dataclass(slots=True, kw_only=True)
class GraphRun:
    """A run of a graph: how often each operation, and each body of a loop, ran.

    `iterations` has the current iteration of each loop.
    """

    counts: Counter[str] = field(default_factory=Counter)
    bodies: Counter[str] = field(default_factory=Counter)
    iterations: dict[str, int] = field(default_factory=dict)


def run_graph(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], store: ValueStore,
    tell: Tell | None = None, watch: Watch | None = None, longest: float | None = None,
) -> GraphRun:
    """Run a graph on a store for at most `longest` seconds of a processor; None stands for LONGEST.

    Raises EndlessError, CounterError.
    """
    machine = _Machine(graph, accesses, store, watch)
    machine.deadline = time.process_time() + (LONGEST if longest is None else longest)
    progress = machine.progress = _Progress(tell)
    doings = machine.prepare(graph.items)
    progress.count = len(doings)
    for n, doing in enumerate(doings):
        progress.item = n
        progress.tell(0.0)
        doing()
    return machine.run


class _Progress:
    """A reporter of the share of `count` items that are done, at most ten times a second."""

    def __init__(self, tell: Tell | None) -> None:
        self.to, self.item, self.count = tell, 0, 1
        self.next = 0.0

    def tell(self, share: float) -> None:
        """Report the share of the current item that is done."""
        if self.to is not None and (now := time.monotonic()) > self.next:
            self.next = now + 0.1
            self.to((self.item + share) / self.count)


class _Machine:
    """A maker of functions without arguments, one for each item, with their common state."""

    def __init__(
        self,
        graph: ProgramGraph,
        accesses: Mapping[int, RegionAccesses],
        store: ValueStore,
        watch: Watch | None,
    ) -> None:
        self.graph, self.accesses, self.store, self.watch = graph, accesses, store, watch
        self.run = GraphRun()
        self.progress = _Progress(None)
        self.deadline = math.inf
        self.depth = 0

    def prepare(self, items: Items) -> list[Doing]:
        found = [self.doing(item) for item in items]
        return [doing for doing in found if doing is not None]

    def doing(self, item: Item) -> Doing | None:
        match item:
            case GraphNode():
                return self.node(item)
            case ForLoop():
                return self.for_loop(item)
            case WhileLoop():
                return self.while_loop(item)
            case BranchNode():
                return self.branch(item)
            case Leave():
                holds = self.condition(item.when, item.src)
                return lambda: item if holds() else None
        return None

    def node(self, node: GraphNode) -> Doing:
        step = prepare_step(node, self.accesses[node.id], self.graph, self.store)
        counts, op, watch = self.run.counts, node.op, self.watch
        iterations = self.run.iterations

        def run_node() -> None:
            counts[op] += 1
            step()
            if watch is not None:
                watch(node, iterations)

        return run_node

    def condition(self, when: str, src: Sequence[Operand]) -> Callable[[], bool]:
        entries, arrays = self.graph.entries, self.store.arrays
        types = tuple(entries[each].type if isinstance(each, str) else "" for each in src)
        holds = parse_logic(when, types)
        values: list[Any] = [arrays[each] if isinstance(each, str) else each for each in src]
        return lambda: bool(holds(
            [each[()] if isinstance(each, np.ndarray) else each for each in values]))

    def branch(self, item: BranchNode) -> Doing:
        holds = self.condition(item.when, item.src)
        body, otherwise = self.prepare(item.body), self.prepare(item.otherwise)
        return lambda: _run(body if holds() else otherwise)

    def for_loop(self, loop: ForLoop) -> Doing:
        counter, value = self.store.counters[loop.name], self.store.arrays[loop.name]
        if isinstance(loop.over, str):
            over: Array | range = self.store.arrays[loop.over]
        else:
            over = range(*loop.over)
        count = len(over)
        body = self.body(loop, loop.body)

        def run_loop() -> Leave | None:
            self.depth += 1
            counter[...] = 0
            left = None
            for n in range(count):
                if self.depth == 1:
                    self.progress.tell(n / count)
                value[...] = over[n]
                left = body(n)
                if left is not None:
                    break
                if (found := int(counter)) != n:
                    raise CounterError(loop, found, n)
                counter[...] = n + 1
            self.depth -= 1
            return left if left is not None and left.loop != loop.name else None

        return run_loop

    def while_loop(self, loop: WhileLoop) -> Doing:
        holds = self.condition(loop.when, loop.src)
        body = self.body(loop, loop.body)

        def run_loop() -> Leave | None:
            self.depth += 1
            left, n = None, 0
            while left is None and holds():
                if self.depth == 1:
                    self.progress.tell(n / (n + 100))
                left = body(n)
                n += 1
            self.depth -= 1
            return left if left is not None and left.loop != loop.name else None

        return run_loop

    def body(
        self, loop: ForLoop | WhileLoop, items: Items
    ) -> Callable[[int], Leave | None]:
        """Return a function that runs an iteration, and returns the item that ends the loop.

        A `continue` of this loop does not end it.
        """
        doings, iterations, bodies = self.prepare(items), self.run.iterations, self.run.bodies

        def run_body(n: int) -> Leave | None:
            iterations[loop.name] = n
            bodies[loop.name] += 1
            if time.process_time() > self.deadline:
                raise EndlessError(loop, n)
            left = _run(doings)
            return None if left is not None and (left.op, left.loop) == (
                "continue", loop.name) else left

        return run_body


def _run(doings: Sequence[Doing]) -> Leave | None:
    """Run items in order, until one of them leaves a loop."""
    for doing in doings:
        if (left := doing()) is not None:
            return left
    return None
