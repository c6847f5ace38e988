"""Bindings of nodes: what their parameters and tensors stand for, and in which order they run.

Source   V Sec. 4.1.1: nodes of LAIR that "combine and/or
         specialize lair nodes"; Sec. 4.1.2: "delays between different parts of the LAIR graph"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.names import did_you_mean
from lairmake.stages.lair.tree import Node

Delays = Mapping[str, int]
"""How many invocations ago the value is that a call reads, by `call.input`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A node and what its parameters and tensors stand for.

    `name` tells it from the other calls of a graph; `tensors` gives, for every tensor of the node,
    the name of the one of the layer, and `delays` how many invocations ago its value is, if it is
    not that of this invocation; `span` is where the node was asked for.
    """

    name: str
    node: Node
    sizes: Mapping[str, int]
    types: Mapping[str, str]
    tensors: Mapping[str, str]
    delays: Delays = field(default_factory=dict)
    span: Span = field(compare=False, repr=False)

    @property
    def results(self) -> tuple[str, ...]:
        """The tensors of the layer that the node defines."""
        return tuple(self.tensors[tensor.name] for tensor in self.node.outputs)

    def statement_name(self, target: str) -> str:
        """Return the name of the statement that defines a tensor of the layer."""
        if self.name != self.node.name:
            return f"{target}_{self.node.name}"
        return f"{self.name}_{target}" if len(self.node.statements) > 1 else self.name

    def read(self, tensor: str) -> str:
        """Return the tensor of the layer that the node reads for one of its own."""
        back = self.delays.get(tensor)
        return self.tensors[tensor] if back is None else name_delayed(self.tensors[tensor], back)


def name_delayed(tensor: str, back: int) -> str:
    """Return the name of what a tensor was some invocations ago."""
    return f"{tensor}_delay{back}"


def bind_node(node: Node, sizes: Mapping[str, int], types: Mapping[str, str]) -> Binding:
    """Return the binding of a node that is itself at the top."""
    tensors = {each.name: each.name for each in (*node.inputs, *node.outputs, *node.own)}
    return Binding(
        name=node.name, node=node, sizes=sizes, types=types, tensors=tensors, span=node.span
    )


def delay(bindings: list[Binding], delays: Delays) -> list[Binding]:
    """Return the bindings with the delays of what they read."""
    return [
        replace(each, delays={
            tensor.name: delays[f"{each.name}.{tensor.name}"]
            for tensor in each.node.inputs if f"{each.name}.{tensor.name}" in delays
        })
        for each in bindings
    ]


def check_delays(
    bindings: list[Binding], delays: Delays, spans: Mapping[str, Span | None]
) -> Iterator[UserError]:
    """Yield an error for every delay of what no call reads; `spans` has the place of each."""
    known = [f"{each.name}.{tensor.name}" for each in bindings for tensor in each.node.inputs]
    for edge in delays:
        if edge not in known:
            hint = did_you_mean(edge, known, "what nodes read")
            yield UserError(f"no node reads {edge}", spans[edge], hint)


def sort_bindings(bindings: list[Binding]) -> list[Binding]:
    """Return the bindings so that each comes after those that define what it reads.

    Raises UserError where some wait for each other.
    """
    left, found = list(bindings), []
    while left:
        ready = next((each for each in left if not _awaited(each, left)), None)
        if ready is None:
            raise _cycle(left)
        left.remove(ready)
        found.append(ready)
    return found


def _awaited(binding: Binding, left: list[Binding]) -> list[tuple[str, Binding]]:
    """Return the inputs of a node that other bindings define in the same invocation, and those."""
    inputs = [t.name for t in binding.node.inputs if t.name not in binding.delays]
    return [(t, each) for t in inputs for each in left if binding.tensors[t] in each.results]


def _cycle(left: list[Binding]) -> UserError:
    """Return the error of bindings of which each waits for another one."""
    path = [left[0]]
    while path.count(path[-1]) == 1:
        path.append(_awaited(path[-1], left)[0][1])
    cycle = path[path.index(path[-1]) : -1]
    tensor, _ = _awaited(cycle[-1], left)[0]
    names = [each.name for each in cycle]
    message = f"{' and '.join(names)} wait for each other"
    if len(cycle) == 1:
        message = f"{names[0]} reads {cycle[0].tensors[tensor]}, which it defines itself"
    edge = f'"{cycle[-1].name}.{tensor}"'
    hint = f"read the value of an invocation before: `delays: {{{edge}: 1}}` in layer.yaml"
    return UserError(message, cycle[-1].span, hint)
