"""Check the rules of LAIR that hold whatever the sizes are.

Source   V Sec. 4.1.1: rectangular instance sets, single
         assignment, affine accesses
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from lairmake.stages.diagnose import Span, UserError, plural
from lairmake.stages.lair.affine import find_non_affine
from lairmake.stages.lair.conditions import check_conditions
from lairmake.stages.lair.expressions import FUNCTIONS
from lairmake.stages.lair.instead import INDICES, elsewhere
from lairmake.stages.lair.names import check_name, did_you_mean
from lairmake.stages.lair.tree import (
    Call,
    Expr,
    Graph,
    Name,
    Node,
    Number,
    Reference,
    SizeParam,
    StatementSyntax,
    Tensor,
    walk,
)
from lairmake.stages.machine.types import TYPES

LARGEST_NUMBER = 3.4028234663852886e38
AFFINE = "LAIR accesses are sums of iterators times integers"


def check_head(definition: Node | Graph) -> Iterator[UserError]:
    """Yield what is wrong in the head of a node or graph: names, types, sizes."""
    own = definition.own if isinstance(definition, Node) else ()
    tensors = (*definition.inputs, *definition.outputs, *own)
    heads = [definition, *definition.type_params, *definition.size_params, *tensors]
    names = [Name(name=each.name, span=each.span) for each in heads]
    yield from check_distinct(names)
    for each in names:
        yield from check_name(each.name, each.span)
    types = [*TYPES, *(each.name for each in definition.type_params)]
    for param in definition.type_params:
        yield from _check_type(param.default, TYPES, param.default_span)
    for tensor in tensors:
        yield from _check_type(tensor.type, types, tensor.type_span)
        yield from check_sizes(tensor.sizes, definition.size_params)


def check_distinct(names: Iterable[Name], taken: Collection[str] = ()) -> Iterator[UserError]:
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


def _names(expr: Expr, known: Collection[str]) -> Iterator[Reference]:
    """Yield the names without indices that are not known."""
    for part in walk(expr):
        if isinstance(part, Reference) and not part.indices and part.name not in known:
            yield part


def check_node(node: Node) -> Iterator[UserError]:
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


def _check_definitions(node: Node) -> Iterator[UserError]:
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
    read = {e.name for s in node.statements for e in walk(s.expr) if isinstance(e, Reference)}
    for tensor in node.own:
        if tensor.name in defined and tensor.name not in read:
            hint = f"what {node.name} gives stands behind `->`"
            yield UserError(f"no statement reads {tensor.name}", tensor.span, hint)


def _check_iterators(statement: StatementSyntax, node: Node) -> Iterator[UserError]:
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


def _tensors(node: Node) -> tuple[Tensor, ...]:
    return (*node.inputs, *node.outputs, *node.own)


def _check_part(part: Expr, statement: StatementSyntax, node: Node) -> Iterator[UserError]:
    match part:
        case Number() if part.value > LARGEST_NUMBER:
            yield UserError("this number is too large", part.span, "float32 ends at 3.4e38")
        case Call():
            yield from _check_call(part)
        case Reference() if part.indices or part.name not in _integers(statement, node):
            yield from _check_reference(part, statement, node)
            yield from _check_read(part, statement, node)
        case Reference() if part.name not in {param.name for param in node.size_params}:
            hint = f"iterators stand in indices only; {INDICES}"
            yield UserError(f"{part.name} is an iterator, not a value", part.span, hint)


def _integers(statement: StatementSyntax, node: Node) -> list[str]:
    """Return the names that stand for integers in a statement: iterators, then parameters."""
    iterators = [each.name for each in statement.iterators]
    return iterators + [param.name for param in node.size_params]


def _check_call(call: Call) -> Iterator[UserError]:
    arity = FUNCTIONS.get(call.function)
    if arity is None:
        hint = elsewhere(call.function) or did_you_mean(call.function, FUNCTIONS, "functions")
        yield UserError(f"unknown function {call.function}", call.span, hint)
    elif arity != len(call.arguments):
        given = plural(arity, "argument")
        yield UserError(f"{call.function} takes {given}, not {len(call.arguments)}", call.span)


def _check_read(part: Reference, statement: StatementSyntax, node: Node) -> Iterator[UserError]:
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
    reference: Reference, statement: StatementSyntax, node: Node
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
    tensor: str, index: Expr, statement: StatementSyntax, node: Node
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
