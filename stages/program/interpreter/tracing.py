"""Runs of a graph of which each step is looked at, to say where two runs part."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lairmake.stages.program.interpreter.compare import find_difference
from lairmake.stages.program.interpreter.graph_run import run_graph
from lairmake.stages.program.interpreter.stores import Store, find_bits
from lairmake.stages.program.interpreter.views import view_operand
from lairmake.stages.program.irg.graph import Branch, ForLoop, Graph, Items, Node, WhileLoop
from lairmake.stages.program.irg.regions import Access, Accesses
from lairmake.stages.program.values.forms import ON_PES, UNIFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A node that ran, the iterations of the loops around it, and a check sum of what it wrote."""

    node: Node
    iterations: tuple[tuple[str, int], ...]
    sum: int


def trace_steps(graph: Graph, accesses: Mapping[int, Accesses], store: Store) -> list[Step]:
    """Return the steps of a run on a store. Raises EndlessError, CounterError."""
    steps: list[Step] = []
    around = dict(_find_loops(graph.items, ()))

    def watch(node: Node, iterations: Mapping[str, int]) -> None:
        places = tuple((loop, iterations[loop]) for loop in around[node.id])
        steps.append(Step(
            node=node, iterations=places, sum=_sum_up(graph, accesses, store, node)))

    run_graph(graph, accesses, store, watch=watch)
    return steps


def _find_loops(
    items: Items, around: tuple[str, ...]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the id of each node, and the loops around it."""
    for item in items:
        match item:
            case Node():
                yield item.id, around
            case ForLoop() | WhileLoop():
                yield from _find_loops(item.body, (*around, item.name))
            case Branch():
                yield from _find_loops((*item.body, *item.otherwise), around)


def _sum_up(
    graph: Graph, accesses: Mapping[int, Accesses], store: Store, node: Node
) -> int:
    """Return a check sum of what a node wrote: of all copies where workers have different ones."""
    view = view_operand(store, graph.entries, node, node.dst, accesses[node.id].dst)
    bits = find_bits(view)
    if view.dtype.kind == "f":
        bits = np.where(np.isnan(view), 0, bits)
    if store.replicated and graph.entries[node.dst].kind == UNIFORM:
        bits = bits[0, 0] if (bits == bits[0, 0]).all() else bits
    return zlib.crc32(np.ascontiguousarray(bits).tobytes())


class _ReachedError(Exception):
    """A run has come to the step at which it stops."""


def run_until(
    graph: Graph, accesses: Mapping[int, Accesses], store: Store, step: int
) -> None:
    """Run a graph on a store up to a step, counted from 0, and that one."""
    left = step

    def watch(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _ReachedError

    with contextlib.suppress(_ReachedError):
        run_graph(graph, accesses, store, watch=watch)


def find_written(
    graph: Graph, accesses: Mapping[int, Accesses], stores: tuple[Store, Store], node: Node
) -> tuple[int, ...] | None:
    """Return the first element that a node wrote in which two stores differ; None if none does.

    Where workers have copies it is the place of one.
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
    graph: Graph, accesses: Mapping[int, Accesses], store: Store, name: str, at: tuple[int, ...]
) -> list[int]:
    """Return the bits of an element of an entry after each step of a run on a store."""
    array, found = store.arrays[name], list[int]()
    place = at if array.ndim else ()
    run_graph(graph, accesses, store,
              watch=lambda *_: found.append(int(find_bits(array[place]))))
    return found


def find_writer(
    graph: Graph, accesses: Mapping[int, Accesses], steps: list[Step], name: str,
    at: tuple[int, ...],
) -> Step | None:
    """Return the last step that wrote an element of an entry."""
    entry = graph.entries[name]
    place = tuple(
        k + entry.origin[n] if entry.kind in ON_PES and n < 2 else k for n, k in enumerate(at))
    for step in reversed(steps):
        if step.node.dst == name and _has(accesses[step.node.id].dst, place):
            return step
    return None


def _has(access: Access, place: tuple[int, ...]) -> bool:
    """Whether an element is one of an access."""
    for at, axis, start, step in zip(place, access.axes, access.start, access.step, strict=True):
        n, rest = divmod(at - start, step)
        if rest or not 0 <= n < (1 if axis is None else access.sizes[axis]):
            return False
    return True
