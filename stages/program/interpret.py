"""Run the graph in NumPy, and once more with all values at their addresses; compare both.

Paper    E Sec. 3 and 8.5: a validation system in NumPy
Reads    objects.yaml, graph.yaml, accesses.isl, addresses.yaml, build/data/*.npy,
         build/numpy/*.npy
Writes   build/graph/*.npy, build/counts.json
Assumes  nothing of the source but what it gave.
Ensures  source, graph and graph at addresses agree bit for bit; a NaN equals a NaN.
"""

from __future__ import annotations

import typing

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.program.interpreter.counts import NodeCounts, write_counts
from lairmake.stages.program.interpreter.differences import (
    check_addressed,
    check_outputs,
    explain_counter,
    explain_endless,
    find_difference,
)
from lairmake.stages.program.interpreter.run import (
    LONGEST,
    CounterError,
    EndlessError,
    ValueStore,
    are_copies_equal,
    check_array,
    make_addressed_store,
    make_store,
    read_value,
    run_graph,
    write_array,
)
from lairmake.stages.program.irg.addresses import Addresses, read_addresses
from lairmake.stages.program.irg.graph import (
    FROM_FILE,
    ForLoop,
    GraphEntry,
    ProgramGraph,
    WhileLoop,
    list_items,
)
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.irg.regions import read_regions
from lairmake.stages.program.sandbox.limits import ChildLimits, suggest_more
from lairmake.stages.program.values.arithmetic import Array

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = (
    "objects.yaml",
    "graph.yaml",
    "accesses.isl",
    "addresses.yaml",
    "build/data/*.npy",
    "build/numpy/*.npy",
)
WRITES = ("build/graph/*.npy", "build/counts.json")


def run(inputs: Inputs) -> dict[str, str | bytes]:
    """Return the outputs of the graph, and the counts of nodes that ran."""
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    accesses = read_regions(inputs.source("accesses.isl"), graph)
    addresses = read_addresses(inputs.source("addresses.yaml"), graph)
    outputs = [entry for entry in graph.entries.values() if entry.output]
    data = {entry.name: _read_array(inputs, "data", entry)
            for entry in graph.entries.values() if entry.initial == FROM_FILE}
    wanted = {entry.name: _read_array(inputs, "numpy", entry) for entry in outputs}

    def make() -> ValueStore:
        return make_store(graph, accesses, data)

    def make_addressed() -> ValueStore:
        return make_addressed_store(graph, addresses, data)

    il, longest = _find_il(inputs), _find_longest(inputs)
    try:
        store = make()
        done = run_graph(
            graph, accesses, store, lambda share: inputs.tell(share / 2), longest=longest)
        found = {entry.name: read_value(store, entry) for entry in outputs}
        check_outputs(graph, accesses, make, il, found, wanted)
        del store
        store = make_addressed()
        run_graph(
            graph, accesses, store, lambda share: inputs.tell((1 + share) / 2), longest=longest)
        if not all(_is_same(store, entry, found[entry.name]) for entry in outputs):
            check_addressed(graph, accesses, (make, make_addressed), il)
    except EndlessError as error:
        raise explain_endless(error, il, longest, _suggest_longer(longest)) from None
    except CounterError as error:
        raise explain_counter(error, il) from None
    except MemoryError:
        raise _explain_size(graph, addresses) from None
    files = {f"build/graph/{name}.npy": write_array(value) for name, value in found.items()}
    loops = (item for item in list_items(graph.items) if isinstance(item, ForLoop | WhileLoop))
    counts = NodeCounts(
        operations=dict(sorted(done.counts.items())),
        iterations={loop.name: done.bodies[loop.name] for loop in loops},
    )
    return {**files, "build/counts.json": write_counts(counts)}


def _find_longest(inputs: Inputs) -> float:
    """Return the seconds of a processor for a graph: more, in proportion, if its program has more.

    The result of the graph does not depend on this limit, so program.yaml does not count as read.
    """
    return LONGEST * inputs.unnoted().program().limits.seconds / ChildLimits().seconds


def _suggest_longer(longest: float) -> str:
    return suggest_more("seconds", longest / LONGEST * ChildLimits().seconds)


def _explain_size(graph: ProgramGraph, addresses: Addresses) -> UserError:
    """Return the error for a field that does not fit into the memory of this computer."""
    columns, rows = graph.field
    said = f"{columns} x {rows} PEs have {columns * rows * addresses.workers} bytes of values, " \
           "for which this computer has no memory"
    return UserError(said, hint="a smaller field, or fewer elements on each PE")


def _is_same(store: ValueStore, entry: GraphEntry, value: Array) -> bool:
    """Return whether an output has a value in a store, on all workers if it is uniform."""
    return are_copies_equal(store, entry) and find_difference(
        read_value(store, entry), value) is None


def _read_array(inputs: Inputs, of: str, entry: GraphEntry) -> Array:
    name = f"build/{of}/{entry.name}.npy"
    return check_array(inputs.array(name), entry, inputs.shown(name))


def _find_il(inputs: Inputs) -> Source | None:
    """Return program.il, for the places of errors; None where it cannot be read."""
    try:
        return inputs.unnoted().source("program.il")
    except (UserError, UserErrors):
        return None
