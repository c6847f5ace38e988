"""Differences between two runs of a graph, and the first node at which they part."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.program.interpreter.run import (
    CounterError,
    EndlessError,
    ValueStore,
    find_bits,
    run_graph,
    view_operand,
)
from lairmake.stages.program.irg.graph import (
    BranchNode,
    ForLoop,
    GraphNode,
    Items,
    ProgramGraph,
    WhileLoop,
)
from lairmake.stages.program.irg.regions import RegionAccess, RegionAccesses
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.values.forms import ON_PES, UNIFORM

# --- Equality bit for bit -------------------------------------------------------------------------

def find_difference(found: Array, wanted: Array) -> tuple[int, ...] | None:
    """Return the first element at which arrays of one type and shape differ; None if none does."""
    differ = find_bits(found) != find_bits(wanted)
    if found.dtype.kind == "f":
        differ &= ~(np.isnan(found) & np.isnan(wanted))
    if not differ.any():
        return None
    at = np.unravel_index(int(np.argmax(differ)), differ.shape) if differ.shape else ()
    return tuple(map(int, at))


def spell_value(value: Array) -> str:
    """Return a value in decimal and in hexadecimal."""
    return f"{value[()]!s} (0x{int(find_bits(value)):0{2 * value.dtype.itemsize}x})"

# --- Traces of runs -------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class TracedStep:
    """A node that ran, the iterations of the loops around it, and a check sum of its results."""

    node: GraphNode
    iterations: tuple[tuple[str, int], ...]
    sum: int


def trace_steps(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], store: ValueStore
) -> list[TracedStep]:
    """Return the steps of a run on a store. Raises EndlessError, CounterError."""
    steps: list[TracedStep] = []
    around = dict(_find_loops(graph.items, ()))

    def watch(node: GraphNode, iterations: Mapping[str, int]) -> None:
        places = tuple((loop, iterations[loop]) for loop in around[node.id])
        steps.append(TracedStep(
            node=node, iterations=places, sum=_sum_up(graph, accesses, store, node)))

    run_graph(graph, accesses, store, watch=watch)
    return steps


def _find_loops(
    items: Items, around: tuple[str, ...]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the id of each node, with the loops around it."""
    for item in items:
        match item:
            case GraphNode():
                yield item.id, around
            case ForLoop() | WhileLoop():
                yield from _find_loops(item.body, (*around, item.name))
            case BranchNode():
                yield from _find_loops((*item.body, *item.otherwise), around)


def _sum_up(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], store: ValueStore, node: GraphNode
) -> int:
    """Return a check sum of a node's results: over all copies where workers differ."""
    view = view_operand(store, graph.entries, node, node.dst, accesses[node.id].dst)
    bits = find_bits(view)
    if view.dtype.kind == "f":
        bits = np.where(np.isnan(view), 0, bits)
    if store.replicated and graph.entries[node.dst].kind == UNIFORM:
        bits = bits[0, 0] if (bits == bits[0, 0]).all() else bits
    return zlib.crc32(np.ascontiguousarray(bits).tobytes())


class _ReachedError(Exception):
    """A run has reached the step at which it stops."""


def run_until(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], store: ValueStore, step: int
) -> None:
    """Run a graph on a store up to and including a step, counted from 0."""
    left = step

    def watch(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _ReachedError

    with contextlib.suppress(_ReachedError):
        run_graph(graph, accesses, store, watch=watch)


def find_written(
    graph: ProgramGraph,
    accesses: Mapping[int, RegionAccesses],
    stores: tuple[ValueStore, ValueStore],
    node: GraphNode,
) -> tuple[int, ...] | None:
    """Return the first element of a node's results that differs in two stores; None if none does.

    Where workers have copies, it is the place of a worker.
    """
    entry, access = graph.entries[node.dst], accesses[node.id].dst
    one, other = (view_operand(store, graph.entries, node, node.dst, access) for store in stores)
    at = find_difference(other, np.broadcast_to(one, other.shape))
    if at is None or entry.kind == UNIFORM:
        return at
    first = (*entry.origin, 0, 0, 0, 0) if entry.kind in ON_PES else (0,) * len(access.axes)
    return tuple(
        start - low + (0 if axis is None else step * at[axis]) for axis, start, step, low in zip(
            access.axes, access.start, access.step, first, strict=False))


def trace_element(
    graph: ProgramGraph,
    accesses: Mapping[int, RegionAccesses],
    store: ValueStore,
    name: str,
    at: tuple[int, ...],
) -> list[int]:
    """Return the bits of an element of an entry after each step of a run on a store."""
    array, found = store.arrays[name], list[int]()
    place = at if array.ndim else ()
    run_graph(graph, accesses, store,
              watch=lambda *_: found.append(int(find_bits(array[place]))))
    return found


def find_writer(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], steps: list[TracedStep], name: str,
    at: tuple[int, ...],
) -> TracedStep | None:
    """Return the last step that wrote an element of an entry."""
    entry = graph.entries[name]
    place = tuple(
        k + entry.origin[n] if entry.kind in ON_PES and n < 2 else k for n, k in enumerate(at))
    for step in reversed(steps):
        if step.node.dst == name and _has(accesses[step.node.id].dst, place):
            return step
    return None


def _has(access: RegionAccess, place: tuple[int, ...]) -> bool:
    """Return whether an element belongs to an access."""
    for at, axis, start, step in zip(place, access.axes, access.start, access.step, strict=True):
        n, rest = divmod(at - start, step)
        if rest or not 0 <= n < (1 if axis is None else access.sizes[axis]):
            return False
    return True

# --- Errors for runs that differ ------------------------------------------------------------------

Make = Callable[[], ValueStore]
SAME = "both do the same operations in one order, so a bug of ours, if no file was edited"
OVERLAP = (
    "what lives at one time overlaps, or memory is read before it is written: a bug of ours, if "
    "addresses.yaml was not edited"
)


def check_outputs(
    graph: ProgramGraph, accesses: Mapping[int, RegionAccesses], make: Make, il: Source | None,
    found: Mapping[str, Array], wanted: Mapping[str, Array],
) -> None:
    """Raise UserError for the first element of an output that differs from the source on x86.

    `make` returns a new store of the graph, for another run that finds the node that wrote it.
    """
    for name, values in found.items():
        at = find_difference(values, wanted[name])
        if at is None:
            continue
        step = find_writer(graph, accesses, trace_steps(graph, accesses, make()), name, at)
        said = f"{_spell_element(name, at)} is {spell_value(values[at])} in the graph, " \
               f"{spell_value(wanted[name][at])} in the source on x86"
        wrote = "no node wrote it" if step is None else f"{_spell_step(step)}wrote it last"
        raise UserError(f"{said}: {wrote}", find_line(il, step.node.il if step else 0), SAME)


def check_addressed(
    graph: ProgramGraph,
    accesses: Mapping[int, RegionAccesses],
    makes: tuple[Make, Make],
    il: Source | None,
) -> None:
    """Raise UserError where values at addresses (the second store) differ from the first store.

    The error is at the first node with another result, or else at the node behind which an element
    of an output differs.
    """
    apart, addressed = (trace_steps(graph, accesses, make()) for make in makes)
    for n, (one, other) in enumerate(zip_longest(apart, addressed)):
        if one == other:
            continue
        if one is None or other is None or one.node != other.node:
            said = f"after {_spell_step(apart[n - 1])}{_spell_next(one)} apart, and " \
                   f"{_spell_next(other)} at addresses"
            raise UserError(said, find_line(il, apart[n - 1].node.il), OVERLAP)
        raise _explain_step(graph, accesses, makes, n, one, il)
    for entry in graph.entries.values():
        if entry.output:
            _check_kept(graph, accesses, makes, entry.name, apart, il)


def _spell_next(step: TracedStep | None) -> str:
    return f"{_spell_step(step)}follows" if step else "the program ends"


def _explain_step(
    graph: ProgramGraph,
    accesses: Mapping[int, RegionAccesses],
    makes: tuple[Make, Make],
    n: int,
    step: TracedStep,
    il: Source | None,
) -> UserError:
    """Return the error for step `n`, whose result is another one at addresses."""
    stores, name = (makes[0](), makes[1]()), step.node.dst
    for store in stores:
        run_until(graph, accesses, store, n)
    at = find_written(graph, accesses, stores, step.node) or ()
    one, other = (_spell_at(store.arrays[name], at) for store in stores)
    said = f"{_spell_step(step)}gives {_spell_element(name, at)} {other} at addresses, and " \
           f"{one} apart"
    return UserError(said, find_line(il, step.node.il), OVERLAP)


def _check_kept(
    graph: ProgramGraph,
    accesses: Mapping[int, RegionAccesses],
    makes: tuple[Make, Make],
    name: str,
    steps: list[TracedStep],
    il: Source | None,
) -> None:
    """Raise UserError at the node behind which an output differs in two stores."""
    stores = makes[0](), makes[1]()
    for store in stores:
        run_graph(graph, accesses, store)
    one, other = (store.arrays[name] for store in stores)
    at = find_difference(other, np.broadcast_to(one, other.shape))
    if at is None or not steps:
        return
    bits, others = (trace_element(graph, accesses, make(), name, at) for make in makes)
    since = max((n + 1 for n, each in enumerate(bits) if each == others[n]), default=0)
    step = steps[min(since, len(steps) - 1)]
    said = f"{_spell_element(name, at)} is {_spell_at(other, at)} at addresses since " \
           f"{_spell_step(step)}and {_spell_at(one, at)} apart"
    raise UserError(said, find_line(il, step.node.il), OVERLAP)


def find_line(il: Source | None, line: int) -> Span | None:
    """Return the place of a line of program.il, counted from 1; None for a line that it lacks."""
    lines = [] if il is None else il.text.split("\n")
    if il is None or not 1 <= line <= len(lines):
        return None
    text = lines[line - 1]
    start = sum(len(each) + 1 for each in lines[: line - 1]) + len(text) - len(text.lstrip())
    return Span(source=il, start=start, end=start + len(text.strip()))


def _spell_step(step: TracedStep) -> str:
    """Return `node 4, add, in iteration 10 of fl_0, ` with that end; the first iteration is 1."""
    loops = [f"iteration {n + 1} of {name}" for name, n in reversed(step.iterations)]
    return f"node {step.node.id}, {step.node.op}, {'in ' if loops else ''}" + "".join(
        f"{each}, " for each in loops)


def _spell_element(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def _spell_at(array: Array, at: tuple[int, ...]) -> str:
    return spell_value(array[at if array.ndim else ()])


def explain_counter(error: CounterError, il: Source | None) -> UserError:
    """Return the error for a loop whose counter was overwritten."""
    loop = error.loop
    said = f"the counter of {loop.name}, node {loop.id}, has {error.found} in iteration " \
           f"{error.iteration + 1} at its address"
    return UserError(said, find_line(il, loop.il), OVERLAP)


def explain_endless(
    error: EndlessError, il: Source | None, seconds: float, more: str
) -> UserError:
    """Return the error for a graph that ran too long, with the hint `more`."""
    loop = error.loop
    said = f"the graph takes more than {seconds:.0f} s of a processor: {loop.name}, node " \
           f"{loop.id}, is in iteration {error.iteration + 1}"
    hint = f"does the loop end? fewer iterations, or PEs{more}"
    return UserError(said, find_line(il, loop.il), hint)
