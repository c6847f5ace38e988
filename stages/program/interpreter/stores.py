"""Where values are while a graph runs: in arrays of their own, or at their addresses.

Memory begins with a pattern, another one in each store: what is read before it is written shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lairmake.stages.machine.types import BYTES
from lairmake.stages.program.interpreter.sharing import share_temporaries
from lairmake.stages.program.irg.addresses import COUNTER, Addresses, list_loops
from lairmake.stages.program.irg.graph import Entry, Graph
from lairmake.stages.program.irg.regions import Accesses
from lairmake.stages.program.values.arithmetic import Array, round_number
from lairmake.stages.program.values.forms import ON_PES, UNIFORM

BITS = {2: np.uint16, 4: np.uint32}
OWN, SHARED = 0x5A, 0xA5
"""The patterns of both stores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The array of each entry, and the counter of each loop.

    Where uniform scalars are `replicated` they have the shape of the field: each worker has one.
    """

    arrays: dict[str, Array]
    counters: dict[str, Array]
    replicated: bool


def make_store(
    graph: Graph, accesses: Mapping[int, Accesses], data: Mapping[str, Array]
) -> Store:
    """Return a store in which each entry has an array of its own, temporaries one in turn."""
    shared = share_temporaries(graph, accesses)
    arrays = {
        name: np.full((*entry.shape, BYTES[entry.type]), OWN, np.uint8).view(entry.type)[..., 0]
        for name, entry in graph.entries.items() if name not in shared
    }
    arrays |= {name: arrays[other] for name, other in shared.items()}
    counters = {loop.name: np.zeros((), np.int32) for loop in list_loops(graph.items)}
    store = Store(arrays=arrays, counters=counters, replicated=False)
    _begin(store, graph, data)
    return store


def make_addressed_store(
    graph: Graph, addresses: Addresses, data: Mapping[str, Array]
) -> Store:
    """Return a store of one memory for each worker, and one for the executive.

    Entries that have no address, for nothing refers to them, are left out.
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
    store = Store(arrays=arrays, counters=counters, replicated=True)
    _begin(store, graph, data)
    return store


def _fill(shape: tuple[int, ...]) -> Array:
    """Return memory that nobody wrote; each worker's begins where 16 divides the address."""
    *field, size = shape
    memory = np.full((*field, -(-max(size, 1) // 16) * 16), SHARED, np.uint8)
    kept: Array = memory[..., :size]
    return kept


def _begin(store: Store, graph: Graph, data: Mapping[str, Array]) -> None:
    """Write the values with which entries begin."""
    for name, array in store.arrays.items():
        initial = graph.entries[name].initial
        if initial is not None:
            array[...] = data[name] if isinstance(initial, str) else round_number(
                initial, graph.entries[name].type)


def read_value(store: Store, entry: Entry) -> Array:
    """Return a copy of the value of an entry, in its own shape; of copies, that of worker 0, 0."""
    array = store.arrays[entry.name]
    if store.replicated and entry.kind == UNIFORM:
        array = array[0, 0]
    return np.array(array)


def are_copies_equal(store: Store, entry: Entry) -> bool:
    """Whether all workers have the same value of a uniform scalar."""
    array = store.arrays[entry.name]
    if not store.replicated or entry.kind != UNIFORM:
        return True
    bits = find_bits(array)
    return bool((bits == bits[0, 0]).all())


def find_bits(array: Array) -> Array:
    """Return the bits of values as integers without a sign."""
    flat: Array = np.ascontiguousarray(array).view(BITS[array.dtype.itemsize])
    return flat.reshape(array.shape)
