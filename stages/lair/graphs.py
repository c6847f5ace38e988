"""Check graphs, whatever their sizes.

Source   V Sec. 4.1.1: nodes of LAIR that "combine and/or
         specialize lair nodes"
"""

from __future__ import annotations

from collections.abc import Iterator

from lairmake.stages.diagnose import UserError, plural
from lairmake.stages.lair.checks import check_distinct, check_head, check_sizes
from lairmake.stages.lair.names import check_name, did_you_mean
from lairmake.stages.lair.tree import File, Graph, Name, Node, NodeCall, Reference
from lairmake.stages.machine.types import TYPES

RECURSION = "a graph is written out where it is called, so its calls must come to an end"


def check_graph(graph: Graph, file: File) -> Iterator[UserError]:
    """Yield everything that is wrong in a graph, whatever its sizes."""
    yield from check_head(graph)
    yield from _check_results(graph)
    yield from _check_internals(graph)
    nodes = {each.name: each for each in file.definitions if each is not graph}
    for call in graph.calls:
        yield from check_sizes(call.sizes, graph.size_params)
        yield from _check_types(call, graph)
        yield from _check_arguments(call, graph)
        way = _way_back(call.node, graph.name, file)
        if way is not None:
            yield UserError(_say_recursion(graph.name, way), call.node_span, RECURSION)
        elif call.node in nodes:
            yield from _check_node_call(call, nodes[call.node])
        else:
            hint = did_you_mean(call.node, nodes, "nodes and graphs")
            yield UserError(f"unknown node {call.node}", call.node_span, hint)


def _way_back(first: str, last: str, file: File) -> list[str] | None:
    """Return the graphs from one to another by calls, both included; None if there is no way."""
    calls = {graph.name: {call.node for call in graph.calls} for graph in file.graphs}
    ways, seen = [[first]], {first}
    for way in ways:
        if way[-1] == last:
            return way
        new = sorted(calls.get(way[-1], set()) - seen)
        seen |= set(new)
        ways += [[*way, each] for each in new]
    return None


def _say_recursion(graph: str, way: list[str]) -> str:
    if len(way) == 1:
        return f"{graph} calls itself"
    return f"{graph} calls {', which calls '.join(way)}"


def _check_results(graph: Graph) -> Iterator[UserError]:
    """Yield an error for a result that is no whole tensor, or not defined once, or used nowhere."""
    inputs, defined = {tensor.name for tensor in graph.inputs}, set()
    outputs = {tensor.name for tensor in graph.outputs}
    arguments = [argument for call in graph.calls for argument in call.arguments]
    used = outputs | {each.name for each in arguments if isinstance(each, Reference)}
    for result in (result for call in graph.calls for result in call.results):
        if result.indices:
            yield UserError("a result is a whole tensor", result.span, f"write {result.name}")
        if result.name in inputs:
            hint = "calls define outputs"
            yield UserError(f"{result.name} is an input and is defined here", result.span, hint)
        elif result.name not in used:
            hint = did_you_mean(result.name, outputs, "outputs")
            yield UserError(f"{result.name} is used nowhere", result.span, hint)
        if result.name in defined:
            hint = "LAIR is single assignment: one call defines a tensor"
            yield UserError(f"a second call defines {result.name}", result.span, hint)
        defined.add(result.name)
    for tensor in graph.outputs:
        if tensor.name not in defined:
            hint = f"add a call that defines {tensor.name}"
            yield UserError(f"no call defines {tensor.name}", tensor.span, hint)


def _check_internals(graph: Graph) -> Iterator[UserError]:
    """Yield an error for a result that is no output, and has the name of something else."""
    heads = {tensor.name for tensor in (*graph.inputs, *graph.outputs)}
    taken = {graph.name, *(p.name for p in graph.type_params), *(p.name for p in graph.size_params)}
    for result in (result for call in graph.calls for result in call.results):
        if result.name not in heads:
            yield from check_distinct([Name(name=result.name, span=result.span)], taken)
            yield from check_name(result.name, result.span)


def _check_types(call: NodeCall, graph: Graph) -> Iterator[UserError]:
    known = [*TYPES, *(param.name for param in graph.type_params)]
    for each in call.types:
        if each.name not in known:
            hint = did_you_mean(each.name, known, "types")
            yield UserError(f"unknown type {each.name}", each.span, hint)


def _check_arguments(call: NodeCall, graph: Graph) -> Iterator[UserError]:
    known = [tensor.name for tensor in graph.inputs]
    known += [result.name for other in graph.calls for result in other.results]
    for argument in call.arguments:
        if not isinstance(argument, Reference) or argument.indices:
            hint = "computing is for nodes; a graph passes tensors on"
            yield UserError("an argument is a whole tensor", argument.span, hint)
        elif argument.name not in known:
            hint = did_you_mean(argument.name, known, "tensors")
            yield UserError(f"unknown tensor {argument.name}", argument.span, hint)


def _check_node_call(call: NodeCall, node: Node | Graph) -> Iterator[UserError]:
    """Yield an error where a call and its node disagree in number."""
    name, span = node.name, call.node_span
    counts = {
        "takes {}, not {}": ("input", len(node.inputs), len(call.arguments)),
        "gives {}, not {}": ("output", len(node.outputs), len(call.results)),
    }
    for text, (noun, wanted, given) in counts.items():
        if wanted != given:
            yield UserError(f"{name} {text.format(plural(wanted, noun), given)}", span)
    if len(call.types) > len(node.type_params):
        wanted_types = plural(len(node.type_params), "type parameter")
        yield UserError(f"{name} has {wanted_types}, not {len(call.types)}", span)
    if len(call.sizes) > len(node.size_params):
        wanted_sizes = plural(len(node.size_params), "size parameter")
        yield UserError(f"{name} has {wanted_sizes}, not {len(call.sizes)}", span)
    for param in node.size_params[len(call.sizes) :]:
        if param.default is None:
            listed = ", ".join(p.name for p in node.size_params)
            hint = f"give it in the call: `{name}({listed})(...)`"
            yield UserError(f"size {param.name} of {name} has no value", span, hint)
