"""Run a graph on a store: nodes in order of their ids, loops, branches, and what leaves loops.

Paper    E Sec. 5.4: evaluating nodes by id has all that they need before them
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from lairmake.stages.program.interpreter.steps import prepare_step
from lairmake.stages.program.interpreter.stores import Store
from lairmake.stages.program.irg.graph import (
    Branch,
    ForLoop,
    Graph,
    Item,
    Items,
    Leave,
    Node,
    Operand,
    WhileLoop,
    parse_logic,
)
from lairmake.stages.program.irg.regions import Accesses
from lairmake.stages.program.values.arithmetic import Array

LONGEST = 600.0
"""Seconds of a processor that a graph may take, if its program has a minute."""

Tell: TypeAlias = Callable[[float], None]
Watch: TypeAlias = Callable[[Node, Mapping[str, int]], None]
"""Is told of each node that has run, and of the iterations that loops are in."""

Doing: TypeAlias = Callable[[], Leave | None]
"""Runs an item; returns what leaves a loop, if something does."""


class EndlessError(Exception):
    """A graph ran longer than it may in `loop`, which was in iteration `iteration`."""

    def __init__(self, loop: ForLoop | WhileLoop, iteration: int) -> None:
        super().__init__(f"{loop.name} in iteration {iteration}")
        self.loop, self.iteration = loop, iteration


class CounterError(Exception):
    """The counter of a loop has another value than the iteration that it counts: `found`."""

    def __init__(self, loop: ForLoop, found: int, iteration: int) -> None:
        super().__init__(f"{loop.name} has {found} in iteration {iteration}")
        self.loop, self.found, self.iteration = loop, found, iteration


@dataclass(slots=True, kw_only=True)
class Run:
    """A run of a graph: how often each operation, and the body of each loop, ran.

    `iterations` has which one each loop is in.
    """

    counts: Counter[str] = field(default_factory=Counter)
    bodies: Counter[str] = field(default_factory=Counter)
    iterations: dict[str, int] = field(default_factory=dict)


def run_graph(
    graph: Graph, accesses: Mapping[int, Accesses], store: Store,
    tell: Tell | None = None, watch: Watch | None = None, longest: float | None = None,
) -> Run:
    """Run a graph on a store, for `longest` seconds of a processor, None: for LONGEST.

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
    """Tells which share of `count` items is done, ten times a second at most."""

    def __init__(self, tell: Tell | None) -> None:
        self.to, self.item, self.count = tell, 0, 1
        self.next = 0.0

    def tell(self, share: float) -> None:
        """Say how much of the item is done that runs now."""
        if self.to is not None and (now := time.monotonic()) > self.next:
            self.next = now + 0.1
            self.to((self.item + share) / self.count)


class _Machine:
    """Turns items into functions without arguments, once, and has what they share."""

    def __init__(
        self, graph: Graph, accesses: Mapping[int, Accesses], store: Store, watch: Watch | None
    ) -> None:
        self.graph, self.accesses, self.store, self.watch = graph, accesses, store, watch
        self.run = Run()
        self.progress = _Progress(None)
        self.deadline = math.inf
        self.depth = 0

    def prepare(self, items: Items) -> list[Doing]:
        found = [self.doing(item) for item in items]
        return [doing for doing in found if doing is not None]

    def doing(self, item: Item) -> Doing | None:
        match item:
            case Node():
                return self.node(item)
            case ForLoop():
                return self.for_loop(item)
            case WhileLoop():
                return self.while_loop(item)
            case Branch():
                return self.branch(item)
            case Leave():
                holds = self.condition(item.when, item.src)
                return lambda: item if holds() else None
        return None

    def node(self, node: Node) -> Doing:
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

    def branch(self, item: Branch) -> Doing:
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
        """Return what runs an iteration, and returns what ends the loop; `continue` does not."""
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
