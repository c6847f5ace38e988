"""How long each entry of a graph lives: from which node to which its memory is its own.

Paper    E Sec. 5.5, rules 1 to 3; what they mean for loops is ours
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

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
)
from lairmake.stages.program.irg.regions import Accesses

START, END = -1, 2**31
"""Before the first id, and after the last."""

COUNTER = ".counter"
"""What the name of a loop has behind it where its counter is meant, which is int32."""

Lifespan: TypeAlias = tuple[int, int]
"""The first and the last node, both included; START and END are before and after all."""


@dataclass(slots=True)
class _Summary:
    """What the items of a graph do with entries.

    `counts` has how often each is referred to. `exposed` are those of which a value from before
    may be taken, `written` those that are wholly written, and not exposed, whatever runs.
    """

    counts: dict[str, int]
    exposed: set[str]
    written: set[str]
    last: int

    def read(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
        if name not in self.written:
            self.exposed.add(name)

    def write(self, name: str, is_whole: bool) -> None:
        if not is_whole:
            return self.read(name)
        self.counts[name] = self.counts.get(name, 0) + 1
        self.written.add(name)
        return None

    def include(self, inner: _Summary) -> None:
        """Let a graph run that may as well not run."""
        for name, count in inner.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.exposed |= inner.exposed - self.written
        self.last = max(self.last, inner.last)


def find_lifespans(graph: Graph, accesses: Mapping[int, Accesses]) -> dict[str, Lifespan]:
    """Return the lifespan of each entry that has one, and of the counter of each loop.

    What has data lives from the start, the rest from its first reference; outputs live to the end,
    the rest to their last reference. What is referred to both in a loop and outside, and what a
    loop may have from before or from its last iteration, lives through that loop.
    """
    return _Lifespans(graph, accesses).find()


class _Lifespans:
    def __init__(self, graph: Graph, accesses: Mapping[int, Accesses]) -> None:
        self.graph, self.accesses = graph, accesses
        self.spans: dict[str, Lifespan] = {}
        self.loops: list[tuple[Lifespan, _Summary]] = []

    def find(self) -> dict[str, Lifespan]:
        for name, entry in self.graph.entries.items():
            if entry.initial is not None:
                self.live(name, START)
        whole = self.summary(self.graph.items, START)
        for name, entry in self.graph.entries.items():
            if entry.output:
                self.live(name, END)
        for span, inner in self.loops:
            for name, count in inner.counts.items():
                entry = self.graph.entries[name]
                is_outside = whole.counts[name] > count or entry.output or (
                    entry.initial is not None)
                if is_outside or name in inner.exposed:
                    self.live(name, *span)
        return self.spans

    def live(self, name: str, *ids: int) -> None:
        """Let an entry live at nodes, and between them."""
        first, last = self.spans.get(name, (ids[0], ids[0]))
        self.spans[name] = min(first, *ids), max(last, *ids)

    def refer(self, summary: _Summary, src: tuple[Operand, ...], id_: int) -> None:
        for name in src:
            if isinstance(name, str):
                summary.read(name)
                self.live(name, id_)

    def summary(self, items: Items, last: int) -> _Summary:
        found = _Summary(counts={}, exposed=set(), written=set(), last=last)
        for item in items:
            found.last = max(found.last, item.id)
            self.item(item, found)
        return found

    def item(self, item: Item, summary: _Summary) -> None:
        match item:
            case Node():
                self.refer(summary, item.src, item.id)
                self.live(item.dst, item.id)
                summary.write(item.dst, self.is_whole(item))
            case Leave():
                self.refer(summary, item.src, item.id)
            case Branch():
                self.refer(summary, item.src, item.id)
                body, otherwise = (
                    self.summary(each, item.id) for each in (item.body, item.otherwise))
                summary.include(body)
                summary.include(otherwise)
                summary.written |= body.written & otherwise.written
            case ForLoop() | WhileLoop():
                self.loop(item, summary)

    def is_whole(self, node: Node) -> bool:
        """Whether a node writes all elements of its destination, not having read it."""
        entry = self.graph.entries[node.dst]
        return not entry.shape or (
            node.id in self.accesses and self.accesses[node.id].dst.covers(entry))

    def loop(self, loop: ForLoop | WhileLoop, summary: _Summary) -> None:
        """A loop may run no iteration; its value and counter are written before each one."""
        body = self.summary(loop.body, loop.id)
        span = loop.id, body.last
        if isinstance(loop, WhileLoop):
            inside = _Summary(counts={}, exposed=set(), written=set(), last=loop.id)
            self.refer(inside, loop.src, loop.id)
        else:
            inside = _Summary(counts={}, exposed=set(), written={loop.name}, last=loop.id)
            if isinstance(loop.over, str):
                self.refer(inside, (loop.over,), loop.id)
            inside.counts[loop.name] = 1
            self.live(loop.name, *span)
            self.live(loop.name + COUNTER, *span)
        inside.include(body)
        self.loops.append((span, inside))
        summary.include(inside)
