"""What to say where runs differ: which output, element and values, and the node that wrote it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

import numpy as np

from stages.diagnose import Source, Span, UserError
from stages.program.interpreter.compare import find_difference, spell_value
from stages.program.interpreter.machine import CounterError, EndlessError, run_graph
from stages.program.interpreter.stores import Store, find_bits
from stages.program.interpreter.views import view_operand
from stages.program.irg.graph import Graph, Node
from stages.program.irg.regions import Access, Accesses
from stages.program.values.arithmetic import Array
from stages.program.values.forms import ON_PES, UNIFORM

Make = Callable[[], Store]
OVERLAP = (
    "what lives at one time overlaps, or memory is read before it is written: a bug of ours, if "
    "addresses.yaml was not edited"
)


def check_outputs(
    graph: Graph, accesses: Mapping[int, Accesses], make: Make, il: Source | None,
    found: Mapping[str, Array], wanted: Mapping[str, Array], names: tuple[str, str],
) -> None:
    """Raise UserError for the first element of an output in which two runs differ.

    `names` are those of the runs that `found` and `wanted` are of; `make` gives the store of
    the first one anew, to find the node that wrote the element.
    """
    for name, values in found.items():
        at = find_difference(values, wanted[name])
        if at is None:
            continue
        node = find_writer(graph, accesses, make(), name, at)
        said = f"{_spell_element(name, at)} is {spell_value(values[at])} in {names[0]}, " \
               f"{spell_value(wanted[name][at])} in {names[1]}"
        wrote = "no node wrote it" if node is None else f"node {node.id}, {node.op}, wrote it last"
        hint = "both do the same operations in one order, so a bug of ours, if no file was edited"
        raise UserError(f"{said}: {wrote}", find_line(il, node.il if node else 0), hint)


def find_line(il: Source | None, line: int) -> Span | None:
    """Return the place of a line of program.il, counted from 1; None where it has no such line."""
    lines = [] if il is None else il.text.split("\n")
    if il is None or not 1 <= line <= len(lines):
        return None
    text = lines[line - 1]
    start = sum(len(each) + 1 for each in lines[: line - 1]) + len(text) - len(text.lstrip())
    return Span(source=il, start=start, end=start + len(text.strip()))


def find_writer(
    graph: Graph, accesses: Mapping[int, Accesses], store: Store, name: str, at: tuple[int, ...]
) -> Node | None:
    """Return the node that wrote an element of an entry last, in a run on a store."""
    entry, last = graph.entries[name], list[Node]()
    place = tuple(
        k + entry.origin[n] if entry.kind in ON_PES and n < 2 else k for n, k in enumerate(at))

    def watch(node: Node) -> None:
        if node.dst == name and _has(accesses[node.id].dst, place):
            last[:] = [node]

    run_graph(graph, accesses, store, watch=watch)
    return last[0] if last else None


def _has(access: Access, place: tuple[int, ...]) -> bool:
    """Whether an element is one of an access."""
    for at, axis, start, step in zip(place, access.axes, access.start, access.step, strict=True):
        n, rest = divmod(at - start, step)
        if rest or not 0 <= n < (1 if axis is None else access.sizes[axis]):
            return False
    return True


def check_addressed(
    graph: Graph, accesses: Mapping[int, Accesses], makes: tuple[Make, Make], il: Source | None
) -> None:
    """Raise UserError where values at addresses, the second store, are not those of the first.

    That is at the first node that gives another value, or else at the one after which an element
    of an output is no longer the same.
    """
    stores = makes[0](), makes[1]()
    trace: list[tuple[int, int]] = []
    run_graph(graph, accesses, stores[0],
              watch=lambda node: trace.append(_digest(graph, accesses, stores[0], node)))
    steps = iter(trace)

    def watch(node: Node) -> None:
        if next(steps, None) != _digest(graph, accesses, stores[1], node):
            said = f"node {node.id}, {node.op}, gives {node.dst} another value at addresses"
            raise UserError(said, find_line(il, node.il), OVERLAP)

    run_graph(graph, accesses, stores[1], watch=watch)
    for entry in graph.entries.values():
        if entry.output:
            _check_kept(graph, accesses, makes, entry.name, il)


def _digest(
    graph: Graph, accesses: Mapping[int, Accesses], store: Store, node: Node
) -> tuple[int, int]:
    """Return a node, and a check sum of what it wrote: of all copies where these differ."""
    view = view_operand(store, graph.entries, node, node.dst, accesses[node.id].dst)
    bits = find_bits(view)
    if view.dtype.kind == "f":
        bits = np.where(np.isnan(view), 0, bits)
    if store.replicated and graph.entries[node.dst].kind == UNIFORM:
        bits = bits[0, 0] if (bits == bits[0, 0]).all() else bits
    return node.id, zlib.crc32(np.ascontiguousarray(bits).tobytes())


def _check_kept(
    graph: Graph, accesses: Mapping[int, Accesses], makes: tuple[Make, Make], name: str,
    il: Source | None,
) -> None:
    """Raise UserError at the node after which an output is no longer the same in two stores."""
    arrays = [make_ran(graph, accesses, make).arrays[name] for make in makes]
    at = find_difference(arrays[1], np.broadcast_to(arrays[0], arrays[1].shape))
    if at is None:
        return
    (nodes, one), (_, other) = (_trace(graph, accesses, make(), name, at) for make in makes)
    since = max((n + 1 for n, bits in enumerate(one) if bits == other[n]), default=0)
    node = nodes[min(since, len(nodes) - 1)]
    values = [spell_value(array[at if array.ndim else ()]) for array in arrays]
    said = f"{_spell_element(name, at)} is {values[1]} at addresses since node {node.id}, {node.op}"
    raise UserError(f"{said}, and {values[0]} apart", find_line(il, node.il), OVERLAP)


def _trace(
    graph: Graph, accesses: Mapping[int, Accesses], store: Store, name: str, at: tuple[int, ...]
) -> tuple[list[Node], list[int]]:
    """Return the nodes that run, and the bits of an element of an entry after each of them."""
    array, nodes, trace = store.arrays[name], list[Node](), list[int]()
    place = at if array.ndim else ()

    def watch(node: Node) -> None:
        nodes.append(node)
        trace.append(int(find_bits(array[place])))

    run_graph(graph, accesses, store, watch=watch)
    return nodes, trace


def make_ran(graph: Graph, accesses: Mapping[int, Accesses], make: Make) -> Store:
    """Return a store on which a graph ran."""
    store = make()
    run_graph(graph, accesses, store)
    return store


def _spell_element(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def explain_counter(error: CounterError, il: Source | None) -> UserError:
    """Return what to say of a loop whose counter was written by something else."""
    loop = error.loop
    said = f"the counter of {loop.name}, node {loop.id}, has {error.found} in iteration " \
           f"{error.iteration} at its address"
    return UserError(said, find_line(il, loop.il), OVERLAP)


def explain_endless(error: EndlessError, il: Source | None, seconds: float) -> UserError:
    """Return what to say of a graph that ran too long."""
    loop = error.loop
    said = f"the graph ran for {seconds:.0f} s: {loop.name}, node {loop.id}, is in iteration " \
           f"{error.iteration + 1}"
    return UserError(said, find_line(il, loop.il), "does the loop end? fewer iterations, or PEs")
