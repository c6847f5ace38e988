"""Bindings of the nodes of a graph, its calls written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from lairmake.stages.diagnose import Span, UserError, UserErrors
from lairmake.stages.lair.expressions import find_affine
from lairmake.stages.lair.tree import (
    Expr,
    FileSyntax,
    GraphSyntax,
    NodeCall,
    NodeSyntax,
    ReferenceSyntax,
    did_you_mean,
)

# --- Bindings of nodes ----------------------------------------------------------------------------
#
# Source   V Sec. 4.1.1: nodes of LAIR that "combine and/or
#          specialize lair nodes"; Sec. 4.1.2: "delays between different parts of the LAIR graph"

Delays = Mapping[str, int]
"""Delays by `call.input`: how many invocations ago the value is that the call reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBinding:
    """A node and what its parameters and tensors stand for.

    `name` tells it from the other calls of a graph; `tensors` gives, for every tensor of the node,
    the name of the one of the layer, and `delays` how many invocations ago its value is, if it is
    not that of this invocation; `span` is where the node was asked for.
    """

    name: str
    node: NodeSyntax
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


def bind_node(node: NodeSyntax, sizes: Mapping[str, int], types: Mapping[str, str]) -> NodeBinding:
    """Return the binding of a node that is itself at the top."""
    tensors = {each.name: each.name for each in (*node.inputs, *node.outputs, *node.own)}
    return NodeBinding(
        name=node.name, node=node, sizes=sizes, types=types, tensors=tensors, span=node.span
    )


def delay(bindings: list[NodeBinding], delays: Delays) -> list[NodeBinding]:
    """Return the bindings with the delays of what they read."""
    return [
        replace(each, delays={
            tensor.name: delays[f"{each.name}.{tensor.name}"]
            for tensor in each.node.inputs if f"{each.name}.{tensor.name}" in delays
        })
        for each in bindings
    ]


def check_delays(
    bindings: list[NodeBinding], delays: Delays, spans: Mapping[str, Span | None]
) -> Iterator[UserError]:
    """Yield an error for every delay of what no call reads; `spans` has the place of each."""
    known = [f"{each.name}.{tensor.name}" for each in bindings for tensor in each.node.inputs]
    for edge in delays:
        if edge not in known:
            hint = did_you_mean(edge, known, "what nodes read")
            yield UserError(f"no node reads {edge}", spans[edge], hint)


def sort_bindings(bindings: list[NodeBinding]) -> list[NodeBinding]:
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


def _awaited(binding: NodeBinding, left: list[NodeBinding]) -> list[tuple[str, NodeBinding]]:
    """Return the inputs of a node that other bindings define in the same invocation, and those."""
    inputs = [t.name for t in binding.node.inputs if t.name not in binding.delays]
    return [(t, each) for t in inputs for each in left if binding.tensors[t] in each.results]


def _cycle(left: list[NodeBinding]) -> UserError:
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

# --- Calls of a graph, written out ----------------------------------------------------------------
#
# Source   V Sec. 4.1.1: nodes of LAIR that "combine and/or
#          specialize lair nodes"

@dataclass(frozen=True, slots=True, kw_only=True)
class CalledNode:
    """A node or graph that is called, and what its parameters and tensors stand for.

    `span` is where it was asked for, in the graph `caller`.
    """

    called: NodeSyntax | GraphSyntax
    sizes: Mapping[str, int]
    types: Mapping[str, str]
    tensors: Mapping[str, str]
    caller: str
    span: Span = field(compare=False, repr=False)


def write_out(
    graph: GraphSyntax, file: FileSyntax, sizes: Mapping[str, int], types: Mapping[str, str]
) -> list[CalledNode]:
    """Return all calls of a checked graph, those of graphs that it calls after their call.

    A tensor of its own that a node or graph has is called after the first result of the call,
    `y_m`. Raises UserErrors where that is the name of another tensor.
    """
    own = {each.name: each.name for each in (*graph.inputs, *graph.outputs)}
    names = {each.name: each.name for each in _results(graph)}
    top = CalledNode(
        called=graph, sizes=sizes, types=types, tensors=own | names, caller="", span=graph.span
    )
    found = list(_write_out(top, file))
    errors = list(_check_names(found, {*own, *names}))
    if errors:
        raise UserErrors(errors)
    return found


def _write_out(outer: CalledNode, file: FileSyntax) -> Iterator[CalledNode]:
    """Yield the calls of a graph, whose tensors all have names in the layer."""
    definitions = {each.name: each for each in file.definitions}
    assert isinstance(outer.called, GraphSyntax)
    for call in outer.called.calls:
        each = _call(call, definitions[call.node], outer)
        yield each
        if isinstance(each.called, GraphSyntax):
            yield from _write_out(each, file)


def _call(call: NodeCall, called: NodeSyntax | GraphSyntax, outer: CalledNode) -> CalledNode:
    """Return a call, with the names that its tensors have in the layer."""
    actual = [outer.tensors[each.name] for each in (*_names(call.arguments), *call.results)]
    formal = [each.name for each in (*called.inputs, *called.outputs)]
    tensors = dict(zip(formal, actual, strict=True))
    first = tensors[called.outputs[0].name]
    own = called.own if isinstance(called, NodeSyntax) else _results(called)
    return CalledNode(
        called=called,
        sizes=_call_sizes(call, called, outer.sizes),
        types=_call_types(call, called, outer.types),
        tensors={each.name: f"{first}_{each.name}" for each in own} | tensors,
        caller=outer.called.name,
        span=call.node_span,
    )


def _results(graph: GraphSyntax) -> tuple[ReferenceSyntax, ...]:
    return tuple(result for call in graph.calls for result in call.results)


def _check_names(found: list[CalledNode], taken: set[str]) -> Iterator[UserError]:
    """Yield an error for every tensor that gets a name that another one has."""
    known = set(taken)
    for each in found:
        heads = {tensor.name for tensor in (*each.called.inputs, *each.called.outputs)}
        for own, name in each.tensors.items():
            if own not in heads and name in known:
                message = f"{name} is also what the compiler calls {own} of {each.called.name}"
                yield UserError(message, each.span, "rename one of them")
        known |= {name for own, name in each.tensors.items() if own not in heads}


def bind_calls(calls: list[CalledNode]) -> list[NodeBinding]:
    """Return the bindings of the nodes among calls, in their order."""
    nodes = [(each, each.called) for each in calls if isinstance(each.called, NodeSyntax)]
    called = [node.name for _, node in nodes]
    return [_bind(each, node, called.count(node.name) > 1) for each, node in nodes]


def _bind(call: CalledNode, node: NodeSyntax, again: bool) -> NodeBinding:
    first = call.tensors[node.outputs[0].name]
    return NodeBinding(
        name=f"{first}_{node.name}" if again else node.name, node=node, sizes=call.sizes,
        types=call.types, tensors=call.tensors, span=call.span,
    )


def _call_sizes(
    call: NodeCall, node: NodeSyntax | GraphSyntax, outer: Mapping[str, int]
) -> dict[str, int]:
    """Return the value of every size parameter of the node: given, else its default."""
    values = {p.name: p.default for p in node.size_params if p.default is not None}
    given = [find_affine(size, outer).constant for size in call.sizes]
    return values | dict(zip((p.name for p in node.size_params), given, strict=False))


def _call_types(
    call: NodeCall, node: NodeSyntax | GraphSyntax, outer: Mapping[str, str]
) -> dict[str, str]:
    values = {param.name: param.default for param in node.type_params}
    given = [outer.get(each.name, each.name) for each in call.types]
    return values | dict(zip((p.name for p in node.type_params), given, strict=False))


def _names(arguments: tuple[Expr, ...]) -> Iterator[ReferenceSyntax]:
    for argument in arguments:
        assert isinstance(argument, ReferenceSyntax)
        yield argument
