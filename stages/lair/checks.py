"""Checks of the rules of the language."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from lairmake.stages.diagnose import Span, UserError, plural
from lairmake.stages.lair.expressions import EXACT_FUNCTIONS, FUNCTIONS, find_non_affine
from lairmake.stages.lair.layer import Layer, Statement, check_conditions
from lairmake.stages.lair.slips import INDICES, elsewhere
from lairmake.stages.lair.statements import check_defined
from lairmake.stages.lair.tree import (
    Binary,
    CallSyntax,
    Expr,
    FileSyntax,
    GraphSyntax,
    NameSyntax,
    NodeCall,
    NodeSyntax,
    NumberSyntax,
    ReferenceSyntax,
    SizeParam,
    StatementSyntax,
    TensorSyntax,
    Unary,
    check_name,
    did_you_mean,
    walk,
)
from lairmake.stages.machine.types import TYPES, find_largest_integer, is_integer

# --- Rules of nodes, whatever the sizes -----------------------------------------------------------
#
# Source   V Sec. 4.1.1: rectangular instance sets, single
#          assignment, affine accesses

LARGEST_NUMBER = 3.4028234663852886e38
AFFINE = "LAIR accesses are sums of iterators times integers"


def check_head(definition: NodeSyntax | GraphSyntax) -> Iterator[UserError]:
    """Yield what is wrong in the head of a node or graph: names, types, sizes."""
    own = definition.own if isinstance(definition, NodeSyntax) else ()
    tensors = (*definition.inputs, *definition.outputs, *own)
    heads = [definition, *definition.type_params, *definition.size_params, *tensors]
    names = [NameSyntax(name=each.name, span=each.span) for each in heads]
    yield from check_distinct(names)
    for each in names:
        yield from check_name(each.name, each.span)
    types = [*TYPES, *(each.name for each in definition.type_params)]
    for param in definition.type_params:
        yield from _check_type(param.default, TYPES, param.default_span)
    for tensor in tensors:
        yield from _check_type(tensor.type, types, tensor.type_span)
        yield from check_sizes(tensor.sizes, definition.size_params)


def check_distinct(names: Iterable[NameSyntax], taken: Collection[str] = ()) -> Iterator[UserError]:
    """Yield an error for every name that is taken, or comes a second time."""
    seen = set(taken)
    for each in names:
        if each.name in seen:
            yield UserError(
                f"{each.name} is declared twice", each.span, "a name stands for one thing"
            )
        seen.add(each.name)


def _check_type(name: str, known: Collection[str], span: Span) -> Iterator[UserError]:
    if name not in known:
        hint = did_you_mean(name, known, "types")
        yield UserError(f"unknown type {name}", span, hint)


def check_sizes(sizes: Sequence[Expr], params: Sequence[SizeParam]) -> Iterator[UserError]:
    """Yield an error for every size that is not affine in the size parameters."""
    known = [param.name for param in params]
    for size in sizes:
        part = find_non_affine(size, known)
        if part is not None:
            hint = "sizes are sums of size parameters times integers"
            yield UserError("this size is not affine", part.span, hint)
        for name in _names(size, known):
            hint = did_you_mean(name.name, known, "size parameters")
            yield UserError(f"unknown size parameter {name.name}", name.span, hint)


def _names(expr: Expr, known: Collection[str]) -> Iterator[ReferenceSyntax]:
    """Yield the names without indices that are not known."""
    for part in walk(expr):
        if isinstance(part, ReferenceSyntax) and not part.indices and part.name not in known:
            yield part


def check_node(node: NodeSyntax) -> Iterator[UserError]:
    """Yield everything that is wrong in a node, whatever its sizes."""
    yield from check_head(node)
    yield from _check_definitions(node)
    for statement in node.statements:
        yield from _check_iterators(statement, node)
        yield from check_sizes(statement.sizes, node.size_params)
        iterators = [each.name for each in statement.iterators]
        sizes = [param.name for param in node.size_params]
        yield from check_conditions(statement.conditions, iterators, sizes)
        yield from _check_reference(statement.target, statement, node)
        for part in walk(statement.expr):
            yield from _check_part(part, statement, node)


def _check_definitions(node: NodeSyntax) -> Iterator[UserError]:
    """Yield an error for an output not defined by exactly one statement, and what nobody reads."""
    outputs = {tensor.name for tensor in (*node.outputs, *node.own)}
    defined: set[str] = set()
    for target in (statement.target for statement in node.statements):
        if target.name in {tensor.name for tensor in node.inputs}:
            hint = "statements define outputs"
            yield UserError(f"{target.name} is an input and is defined here", target.span, hint)
        if target.name in defined & outputs:
            yield UserError(
                f"a second statement defines {target.name}", target.span,
                "LAIR is single assignment: one statement defines a tensor",
            )
        defined.add(target.name)
    for tensor in (*node.outputs, *node.own):
        if tensor.name not in defined:
            hint = f"add a statement that defines {tensor.name}"
            yield UserError(f"no statement defines {tensor.name}", tensor.span, hint)
    read = {e.name for s in node.statements for e in walk(s.expr) if isinstance(e, ReferenceSyntax)}
    for tensor in node.own:
        if tensor.name in defined and tensor.name not in read:
            hint = f"what {node.name} gives stands behind `->`"
            yield UserError(f"no statement reads {tensor.name}", tensor.span, hint)


def _check_iterators(statement: StatementSyntax, node: NodeSyntax) -> Iterator[UserError]:
    new = statement.iterators
    start = new[0].span.start
    taken = {each.name for each in _tensors(node)} | {each.name for each in node.size_params}
    yield from check_distinct(new, taken)
    for each in new:
        yield from check_name(each.name, each.span)
    if len(new) != len(statement.sizes):
        span = Span(source=new[0].span.source, start=start, end=new[-1].span.end)
        count = f"{plural(len(new), 'iterator')}, but {plural(len(statement.sizes), 'size')}"
        yield UserError(count, span, "every iterator runs from 0 to its size")


def _tensors(node: NodeSyntax) -> tuple[TensorSyntax, ...]:
    return (*node.inputs, *node.outputs, *node.own)


def _check_part(part: Expr, statement: StatementSyntax, node: NodeSyntax) -> Iterator[UserError]:
    match part:
        case NumberSyntax() if part.value > LARGEST_NUMBER:
            yield UserError("this number is too large", part.span, "float32 ends at 3.4e38")
        case CallSyntax():
            yield from _check_call(part)
        case ReferenceSyntax() if part.indices or part.name not in _integers(statement, node):
            yield from _check_reference(part, statement, node)
            yield from _check_read(part, statement, node)
        case ReferenceSyntax() if part.name not in {param.name for param in node.size_params}:
            hint = f"iterators stand in indices only; {INDICES}"
            yield UserError(f"{part.name} is an iterator, not a value", part.span, hint)


def _integers(statement: StatementSyntax, node: NodeSyntax) -> list[str]:
    """Return the names that stand for integers in a statement: iterators, then parameters."""
    iterators = [each.name for each in statement.iterators]
    return iterators + [param.name for param in node.size_params]


def _check_call(call: CallSyntax) -> Iterator[UserError]:
    arity = FUNCTIONS.get(call.function)
    if arity is None:
        hint = elsewhere(call.function) or did_you_mean(call.function, FUNCTIONS, "functions")
        yield UserError(f"unknown function {call.function}", call.span, hint)
    elif arity != len(call.arguments):
        given = plural(arity, "argument")
        yield UserError(f"{call.function} takes {given}, not {len(call.arguments)}", call.span)


def _check_read(
    part: ReferenceSyntax, statement: StatementSyntax, node: NodeSyntax
) -> Iterator[UserError]:
    """Yield an error for each tensor that is not defined before the statement."""
    if part.name not in {tensor.name for tensor in (*node.outputs, *node.own)}:
        return
    before = node.statements[: node.statements.index(statement)]
    if part.name == statement.target.name:
        message = f"statement reads {part.name}, which it defines itself"
        hint = "statements read what is defined before; what an invocation leaves to the next one"
        hint += f" is named in layer.yaml: `tensors: {{INPUT: {{next: {part.name}}}}}`; so a"
        hint += " recurrence, as forward substitution, takes an invocation for each step, or is a"
        hint += " program in NumPy"
        yield UserError(message, part.span, hint)
    elif part.name not in {each.target.name for each in before}:
        message = f"statement reads {part.name}, which no statement before it defines"
        yield UserError(message, part.span, "put the statement that defines it first")


def _check_reference(
    reference: ReferenceSyntax, statement: StatementSyntax, node: NodeSyntax
) -> Iterator[UserError]:
    """Yield what is wrong with an access: its tensor, the number of indices, the indices."""
    tensors = {tensor.name: tensor for tensor in _tensors(node)}
    tensor = tensors.get(reference.name)
    if tensor is None:
        hint = did_you_mean(reference.name, tensors, "tensors")
        yield UserError(f"unknown tensor {reference.name}", reference.span, hint)
    elif len(tensor.sizes) != len(reference.indices):
        given = plural(len(reference.indices), "index")
        sizes = plural(len(tensor.sizes), "dimension")
        hint = f"give one index for each dimension of {tensor.name}"
        yield UserError(f"{tensor.name} has {sizes}, but {given} here", reference.span, hint)
    for index in reference.indices:
        yield from _check_index(reference.name, index, statement, node)


def _check_index(
    tensor: str, index: Expr, statement: StatementSyntax, node: NodeSyntax
) -> Iterator[UserError]:
    iterators = [each.name for each in statement.iterators]
    tensors = [each.name for each in _tensors(node)]
    values = [name for name in _names(index, ()) if name.name in tensors]
    part = find_non_affine(index, iterators) or next(iter(values), None)
    if part is not None:
        yield UserError(f"access to {tensor} is not affine", part.span, AFFINE)
    for name in _names(index, [*tensors, *_integers(statement, node)]):
        hint = did_you_mean(name.name, iterators, "iterators")
        yield UserError(f"unknown iterator {name.name}", name.span, hint)

# --- Rules of graphs, whatever the sizes ----------------------------------------------------------
#
# Source   V Sec. 4.1.1: nodes of LAIR that "combine and/or
#          specialize lair nodes"

RECURSION = "a graph is written out where it is called, so its calls must come to an end"


def check_graph(graph: GraphSyntax, file: FileSyntax) -> Iterator[UserError]:
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


def _way_back(first: str, last: str, file: FileSyntax) -> list[str] | None:
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


def _check_results(graph: GraphSyntax) -> Iterator[UserError]:
    """Yield an error for a result that is no whole tensor, or not defined once, or used nowhere."""
    inputs, defined = {tensor.name for tensor in graph.inputs}, set()
    outputs = {tensor.name for tensor in graph.outputs}
    arguments = [argument for call in graph.calls for argument in call.arguments]
    used = outputs | {each.name for each in arguments if isinstance(each, ReferenceSyntax)}
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


def _check_internals(graph: GraphSyntax) -> Iterator[UserError]:
    """Yield an error for a result that is no output, and has the name of something else."""
    heads = {tensor.name for tensor in (*graph.inputs, *graph.outputs)}
    taken = {graph.name, *(p.name for p in graph.type_params), *(p.name for p in graph.size_params)}
    for result in (result for call in graph.calls for result in call.results):
        if result.name not in heads:
            yield from check_distinct([NameSyntax(name=result.name, span=result.span)], taken)
            yield from check_name(result.name, result.span)


def _check_types(call: NodeCall, graph: GraphSyntax) -> Iterator[UserError]:
    known = [*TYPES, *(param.name for param in graph.type_params)]
    for each in call.types:
        if each.name not in known:
            hint = did_you_mean(each.name, known, "types")
            yield UserError(f"unknown type {each.name}", each.span, hint)


def _check_arguments(call: NodeCall, graph: GraphSyntax) -> Iterator[UserError]:
    known = [tensor.name for tensor in graph.inputs]
    known += [result.name for other in graph.calls for result in other.results]
    for argument in call.arguments:
        if not isinstance(argument, ReferenceSyntax) or argument.indices:
            hint = "computing is for nodes; a graph passes tensors on"
            yield UserError("an argument is a whole tensor", argument.span, hint)
        elif argument.name not in known:
            hint = did_you_mean(argument.name, known, "tensors")
            yield UserError(f"unknown tensor {argument.name}", argument.span, hint)


def _check_node_call(call: NodeCall, node: NodeSyntax | GraphSyntax) -> Iterator[UserError]:
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

# --- Rules that depend on sizes -------------------------------------------------------------------
#
# Source   V Sec. 4.1.1

DERIVED = (
    *("north", "west", "south", "east", "source", "even", "odd"),
    *("taken", "adapters", "ports", "chain", "first", "last", "known", "access", "compression"),
    *("offset", "hull", "extra", "reads", "writes", "outside", "conflict", "vector"),
    *("minimum", "maximum", "sizes", "identifiers", "packed", "count", "collected"),
)
"""Endings that stages append to the name of a tensor, as `x_taken` in routes.isl."""

STREAM = (
    r"(?:(?:north|west|south|east)(?:_|$))?"
    r"(?:part\d+$|stream\d+(?:_|$)|along\d*(?:_out|_reach)?(?:_|$))?"
)
"""Words before such an ending, if a tensor has several streams: `x_north_stream0_taken`."""


def check_layer(layer: Layer) -> Iterator[UserError]:
    """Yield everything that is wrong in a layer whose sizes are known."""
    yield from _check_derived(layer)
    yield from _check_distinct(layer)
    for statement in layer.statements:
        yield from _check_name(statement, layer)
        yield from check_types(statement, layer)
    yield from check_defined(layer)


def _check_derived(layer: Layer) -> Iterator[UserError]:
    """Yield an error for every tensor named as the compiler names what it makes of another."""
    made = "|".join([*DERIVED, *(re.escape(statement.name) for statement in layer.statements)])
    derived = re.compile(rf"{STREAM}(?:{made})?")
    for name in layer.tensors:
        for clash in layer.tensors.values():
            rest = clash.name.removeprefix(f"{name}_")
            if rest and rest != clash.name and derived.fullmatch(rest):
                message = f"{clash.name} is also what the compiler calls a part of {name}"
                yield UserError(message, clash.span, "rename one of them")


def _check_distinct(layer: Layer) -> Iterator[UserError]:
    """Yield an error for every statement that is called like one before it."""
    names = [statement.name for statement in layer.statements]
    for k, statement in enumerate(layer.statements):
        if statement.name in names[:k]:
            message, hint = f"two statements are called {statement.name}", "rename a node"
            yield UserError(message, statement.span, hint)


def _check_name(statement: Statement, layer: Layer) -> Iterator[UserError]:
    if statement.name in layer.tensors:
        tensor = layer.tensors[statement.name]
        message = f"{statement.name} is the name of a tensor and of a statement"
        yield UserError(message, tensor.span, "rename the tensor or the node")


def check_types(statement: Statement, layer: Layer) -> Iterator[UserError]:
    """Yield an error where integers and floats mix, or where an operation has no integer value."""
    target = layer.tensors[statement.target.tensor].type
    for read in statement.reads:
        type_ = layer.tensors[read.tensor].type
        if is_integer(type_) != is_integer(target):
            message = f"{read.tensor} is {type_}, but {statement.target.tensor} is {target}"
            hint = "the tensors of a statement are all floats or all integers"
            yield UserError(message, read.span, hint)
    if is_integer(target):
        yield from _check_selected(statement, layer)
        parts = list(walk(statement.expr))
        negated = {id(part.operand) for part in parts if isinstance(part, Unary)}
        for part in parts:
            most = find_largest_integer(target) + (id(part) in negated)
            yield from _check_integer(part, target, most)


def _check_selected(statement: Statement, layer: Layer) -> Iterator[UserError]:
    """Yield an error where max= or min= would compare with what wrapped to a narrower type."""
    target = layer.tensors[statement.target.tensor]
    wider = [read for read in statement.reads if layer.tensors[read.tensor].type == "int32"]
    if statement.op in ("max=", "min=") and target.type == "int16" and wider:
        message = f"{wider[0].tensor} is int32, but {statement.op} keeps {target.name} in int16"
        hint = f"let {target.name} be int32, and another statement make it int16"
        yield UserError(message, wider[0].span, hint)


def _check_integer(part: Expr, target: str, most: int) -> Iterator[UserError]:
    """Yield an error for each number that is no integer of a type; `most` is the largest literal.

    That is one more behind a minus: -32768 is an int16.
    """
    hint = f"the statement defines a tensor of {target}"
    match part:
        case Binary(op="/"):
            yield UserError("a quotient is no integer", part.span, hint)
        case CallSyntax() if part.function not in EXACT_FUNCTIONS:
            yield UserError(f"{part.function} is no integer", part.span, hint)
        case NumberSyntax() if not isinstance(part.value, int) or part.value > most:
            yield UserError(f"{part.value} is no {target}", part.span, hint)
