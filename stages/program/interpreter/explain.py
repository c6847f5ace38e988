"""What to say where runs differ: which output, element and values, and the node that wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest

import numpy as np

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.program.interpreter.compare import find_difference, spell_value
from lairmake.stages.program.interpreter.graph_run import CounterError, EndlessError, run_graph
from lairmake.stages.program.interpreter.stores import Store
from lairmake.stages.program.interpreter.tracing import (
    Step,
    find_writer,
    find_written,
    run_until,
    trace_element,
    trace_steps,
)
from lairmake.stages.program.irg.graph import Graph
from lairmake.stages.program.irg.regions import Accesses
from lairmake.stages.program.values.arithmetic import Array

Make = Callable[[], Store]
SAME = "both do the same operations in one order, so a bug of ours, if no file was edited"
OVERLAP = (
    "what lives at one time overlaps, or memory is read before it is written: a bug of ours, if "
    "addresses.yaml was not edited"
)


def check_outputs(
    graph: Graph, accesses: Mapping[int, Accesses], make: Make, il: Source | None,
    found: Mapping[str, Array], wanted: Mapping[str, Array],
) -> None:
    """Raise UserError for the first element of an output that the source on x86 gives otherwise.

    `make` gives the store of the graph anew, to find the node that wrote the element.
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
    graph: Graph, accesses: Mapping[int, Accesses], makes: tuple[Make, Make], il: Source | None
) -> None:
    """Raise UserError where values at addresses, the second store, are not those of the first.

    That is at the first node that gives another value, or else at the one after which an element
    of an output is no longer the same.
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


def _spell_next(step: Step | None) -> str:
    return f"{_spell_step(step)}follows" if step else "the program ends"


def _explain_step(
    graph: Graph, accesses: Mapping[int, Accesses], makes: tuple[Make, Make], n: int, step: Step,
    il: Source | None,
) -> UserError:
    """Return what to say of step `n`, which gives another value at addresses."""
    stores, name = (makes[0](), makes[1]()), step.node.dst
    for store in stores:
        run_until(graph, accesses, store, n)
    at = find_written(graph, accesses, stores, step.node) or ()
    one, other = (_spell_at(store.arrays[name], at) for store in stores)
    said = f"{_spell_step(step)}gives {_spell_element(name, at)} {other} at addresses, and " \
           f"{one} apart"
    return UserError(said, find_line(il, step.node.il), OVERLAP)


def _check_kept(
    graph: Graph, accesses: Mapping[int, Accesses], makes: tuple[Make, Make], name: str,
    steps: list[Step], il: Source | None,
) -> None:
    """Raise UserError at the node after which an output is no longer the same in two stores."""
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
    """Return the place of a line of program.il, counted from 1; None where it has no such line."""
    lines = [] if il is None else il.text.split("\n")
    if il is None or not 1 <= line <= len(lines):
        return None
    text = lines[line - 1]
    start = sum(len(each) + 1 for each in lines[: line - 1]) + len(text) - len(text.lstrip())
    return Span(source=il, start=start, end=start + len(text.strip()))


def _spell_step(step: Step) -> str:
    """Return `node 4, add, in iteration 10 of fl_0, ` with its end; the first iteration is 1."""
    loops = [f"iteration {n + 1} of {name}" for name, n in reversed(step.iterations)]
    return f"node {step.node.id}, {step.node.op}, {'in ' if loops else ''}" + "".join(
        f"{each}, " for each in loops)


def _spell_element(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def _spell_at(array: Array, at: tuple[int, ...]) -> str:
    return spell_value(array[at if array.ndim else ()])


def explain_counter(error: CounterError, il: Source | None) -> UserError:
    """Return what to say of a loop whose counter was written by something else."""
    loop = error.loop
    said = f"the counter of {loop.name}, node {loop.id}, has {error.found} in iteration " \
           f"{error.iteration + 1} at its address"
    return UserError(said, find_line(il, loop.il), OVERLAP)


def explain_endless(
    error: EndlessError, il: Source | None, seconds: float, more: str
) -> UserError:
    """Return what to say of a graph that ran too long, and how to give it `more`."""
    loop = error.loop
    said = f"the graph takes more than {seconds:.0f} s of a processor: {loop.name}, node " \
           f"{loop.id}, is in iteration {error.iteration + 1}"
    hint = f"does the loop end? fewer iterations, or PEs{more}"
    return UserError(said, find_line(il, loop.il), hint)
