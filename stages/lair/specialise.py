"""Specialisation of a LAIR file: its top node, with all sizes and types fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lairmake.stages.diagnose import Span, UserError, UserErrors
from lairmake.stages.lair import tree
from lairmake.stages.lair.binding import (
    CalledNode,
    Delays,
    NodeBinding,
    bind_calls,
    bind_node,
    check_delays,
    delay,
    name_delayed,
    sort_bindings,
    write_out,
)
from lairmake.stages.lair.checks import check_distinct, check_graph, check_layer, check_node
from lairmake.stages.lair.expressions import find_affine
from lairmake.stages.lair.layer import CarriedTensor, Layer, Statement, Tensor, fix_condition
from lairmake.stages.lair.tree import AccessSyntax, Affine, did_you_mean
from lairmake.stages.lair.views import find_reads, name_views
from lairmake.stages.machine.types import TYPES

# --- Sizes and types of nodes ---------------------------------------------------------------------
#
# Source   V Sec. 4.1.1

LARGEST_SIZE = 2**30
"""The largest size: programs count in 32 bits, and may step once more beyond the last element."""


class Fixer:
    """Fix every size and type of bound nodes; `errors` holds the errors that this finds."""

    def __init__(self) -> None:
        """Start with no tensor and no error."""
        self.tensors: dict[str, Tensor] = {}
        self.errors: list[UserError] = []

    def layer(
        self,
        definition: tree.NodeSyntax | tree.GraphSyntax,
        bindings: list[NodeBinding],
        calls: list[CalledNode],
        sizes: Mapping[str, int],
        types: Mapping[str, str],
    ) -> Layer:
        """Return the layer of a definition; `bindings` stand in the order in which they run.

        `calls` are those of a graph, and of graphs that it calls.
        """
        inputs, outputs = (
            tuple(self._tensor(tensor, sizes, types) for tensor in tensors)
            for tensors in (definition.inputs, definition.outputs)
        )
        self.tensors = {tensor.name: tensor for tensor in (*inputs, *outputs)}
        internals = tuple(self._keep(each for b in bindings for each in self._internals(b)))
        wrong: set[str] = set()
        for call in calls:
            if call.caller in wrong or not self._agrees(call):
                wrong.add(call.called.name)
        back = self._delays(bindings)
        delayed = tuple(self._keep(self._delayed(t, k) for t, n in back.items() for k in _to(n)))
        return Layer(
            name=definition.name,
            inputs=inputs,
            outputs=outputs,
            internals=internals,
            delayed=delayed,
            statements=tuple(self._statement(s, b) for b in bindings for s in b.node.statements),
            carries=tuple(_carry(t, k) for t, n in back.items() for k in reversed(_to(n))),
        )

    def _keep(self, tensors: Iterable[Tensor]) -> Iterator[Tensor]:
        """Yield tensors that the layer has besides those of its head."""
        for tensor in tensors:
            self.tensors[tensor.name] = tensor
            yield tensor

    def _internals(self, binding: NodeBinding) -> Iterator[Tensor]:
        """Yield what a node defines that is no output, with the sizes and types that it says."""
        for tensor in (*binding.node.outputs, *binding.node.own):
            name = binding.tensors[tensor.name]
            if name not in self.tensors:
                yield replace(self._tensor(tensor, binding.sizes, binding.types), name=name)

    def _delays(self, bindings: list[NodeBinding]) -> dict[str, int]:
        """Return for how many invocations the value of a tensor is kept, by its name."""
        found: dict[str, int] = {}
        for binding in bindings:
            for tensor, back in binding.delays.items():
                name = binding.tensors[tensor]
                found[name] = max(back, found.get(name, 0))
        return found

    def _delayed(self, tensor: str, back: int) -> Tensor:
        name = name_delayed(tensor, back)
        if name in self.tensors:
            message = f"{name} is also what the compiler calls a delayed {tensor}"
            self.errors.append(UserError(message, self.tensors[name].span, "rename it"))
        return replace(self.tensors[tensor], name=name)

    def _tensor(
        self, tensor: tree.TensorSyntax, sizes: Mapping[str, int], types: Mapping[str, str]
    ) -> Tensor:
        shape = tuple(self._size(size, sizes) for size in tensor.sizes)
        type_ = types.get(tensor.type, tensor.type)
        return Tensor(name=tensor.name, type=type_, shape=shape, span=tensor.span)

    def _size(self, size: tree.Expr, sizes: Mapping[str, int]) -> int:
        value = find_affine(size, sizes).constant
        if not 0 < value <= LARGEST_SIZE:
            hint = "sizes are positive" if value <= 0 else f"sizes go up to {LARGEST_SIZE}"
            error = UserError(f"this size is {value}", size.span, hint)
            self.errors += [error] if error.span not in [e.span for e in self.errors] else []
        return value

    def _agrees(self, call: CalledNode) -> bool:
        """Say whether what is passed is as large, and of the type, as what is called says."""
        known = len(self.errors)
        for tensor in (*call.called.inputs, *call.called.outputs):
            own = self._tensor(tensor, call.sizes, call.types)
            given = self.tensors[call.tensors[tensor.name]]
            if (own.type, own.shape) != (given.type, given.shape):
                formal = f"{call.called.name} has {own.name} as {_kind(own)}"
                message, hint = f"{given.name} is {_kind(given)}, but {formal}", "make them agree"
                self.errors.append(UserError(message, call.span, hint))
        return len(self.errors) == known

    def _statement(self, statement: tree.StatementSyntax, binding: NodeBinding) -> Statement:
        reader = _Reader(binding, tuple(each.name for each in statement.iterators))
        expr = reader.value(statement.expr)
        target = reader.access(statement.target)
        return Statement(
            name=binding.statement_name(target.tensor),
            iterators=reader.iterators,
            sizes=tuple(self._size(size, binding.sizes) for size in statement.sizes),
            conditions=tuple(fix_condition(c, binding.sizes) for c in statement.conditions),
            target=target,
            op=statement.op,
            expr=expr,
            reads=find_reads(expr),
            span=statement.span,
        )


class _Reader:
    """Put a statement's references in terms of the layer."""

    def __init__(self, binding: NodeBinding, iterators: tuple[str, ...]) -> None:
        self.binding, self.iterators = binding, iterators

    def value(self, expr: tree.Expr) -> tree.Expr:
        """Return an expression with accesses for references, and numbers for parameters."""
        match expr:
            case tree.ReferenceSyntax() if expr.name in self.binding.sizes:
                return _number(self.binding.sizes[expr.name], expr.span)
            case tree.ReferenceSyntax():
                return self.access(expr)
            case tree.Unary():
                return tree.Unary(op=expr.op, operand=self.value(expr.operand), span=expr.span)
            case tree.Binary():
                left, right = self.value(expr.left), self.value(expr.right)
                return tree.Binary(op=expr.op, left=left, right=right, span=expr.span)
            case tree.CallSyntax():
                arguments = tuple(map(self.value, expr.arguments))
                return tree.CallSyntax(function=expr.function, arguments=arguments, span=expr.span)
        return expr

    def access(self, reference: tree.ReferenceSyntax) -> AccessSyntax:
        """Return the element of the layer's tensor that a reference stands for."""
        rows = tuple(map(self._row, reference.indices))
        return AccessSyntax(
            tensor=self.binding.read(reference.name), rows=rows, span=reference.span
        )

    def _row(self, index: tree.Expr) -> Affine:
        """Return an index with its iterators in the order of the statement."""
        row = find_affine(index, self.binding.sizes)
        ordered = sorted(row.coefficients, key=lambda term: self.iterators.index(term[0]))
        return Affine(coefficients=tuple(ordered), constant=row.constant)


def _to(back: int) -> range:
    return range(1, back + 1)


def _carry(tensor: str, back: int) -> CarriedTensor:
    """Return what makes a tensor of so many invocations ago of the one after it."""
    source = tensor if back == 1 else name_delayed(tensor, back - 1)
    return CarriedTensor(tensor=name_delayed(tensor, back), source=source)


def _number(value: int, span: Span) -> tree.Expr:
    number = tree.NumberSyntax(value=abs(value), span=span)
    return number if value >= 0 else tree.Unary(op="-", operand=number, span=span)


def _kind(tensor: Tensor) -> str:
    return tensor.type + "".join(f"[{size}]" for size in tensor.shape)

# --- Specialisation of a file ---------------------------------------------------------------------
#
# Source   V Sec. 4.1.1

__all__ = ["AccessSyntax", "Affine", "Layer", "Statement", "Tensor", "specialise"]

Locate = Callable[..., Span | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What layer.yaml says of a layer's algorithm."""

    sizes: Mapping[str, int]
    types: Mapping[str, str]
    delays: Delays
    following: Mapping[str, str]


def specialise(
    file: tree.FileSyntax,
    top: str | None,
    sizes: Mapping[str, int],
    types: Mapping[str, str],
    locate: Locate | None = None,
    *,
    delays: Delays | None = None,
    following: Mapping[str, str] | None = None,
) -> Layer:
    """Return the node or graph `top` (None: the last of the file) with its parameters fixed.

    `delays` are those of what nodes read; `following` gives, for inputs that change, the output
    that each of them is in the next invocation.

    `locate("sizes", "M")` gives the place of a value in layer.yaml. Raises UserErrors with
    everything that is wrong in the file, in its order, and then in the values given.
    """
    locate = locate or (lambda *path: None)
    found = {id(each): list(_check(each, file)) for each in file.definitions}
    twice = list(_check_definitions(file))
    errors = [*twice, *(error for each in found.values() for error in each)]
    definition, layer = _top(file, top), None
    if definition is None:
        errors.append(_unknown_top(file, top, locate))
    else:
        wrong = list(_check_values(definition, sizes, types, locate))
        used = [definition, *_called(definition, file)]
        if not (wrong or twice or any(found[id(each)] for each in used)):
            values = Values(
                sizes=sizes, types=types, delays=delays or {}, following=following or {}
            )
            layer, wrong = _build(definition, file, values, locate)
        errors += wrong
    if layer is None or errors:
        raise UserErrors(sorted(errors, key=lambda error: _position(error, file)))
    return layer


def _unknown_top(file: tree.FileSyntax, top: str | None, locate: Locate) -> UserError:
    names = [each.name for each in file.definitions]
    hint = did_you_mean(top or "", names, "nodes and graphs")
    return UserError(f"top names {top}, which is no node", locate("top"), hint)


def _position(error: UserError, file: tree.FileSyntax) -> tuple[bool, int]:
    """Return the place of an error in the file; errors of other files come after."""
    inside = error.span is not None and error.span.source == file.span.source
    return (not inside, error.span.start if error.span is not None and inside else 0)


def _top(file: tree.FileSyntax, top: str | None) -> tree.NodeSyntax | tree.GraphSyntax | None:
    if top is None:
        return file.definitions[-1]
    return next((each for each in file.definitions if each.name == top), None)


def _called(
    definition: tree.NodeSyntax | tree.GraphSyntax, file: tree.FileSyntax
) -> list[tree.NodeSyntax | tree.GraphSyntax]:
    """Return what a definition calls, and what that calls."""
    found: list[tree.NodeSyntax | tree.GraphSyntax] = [definition]
    for each in found:
        calls = each.calls if isinstance(each, tree.GraphSyntax) else ()
        names = {call.node for call in calls}
        found += [d for d in file.definitions if d.name in names and d not in found]
    return found[1:]


def _check(
    definition: tree.NodeSyntax | tree.GraphSyntax, file: tree.FileSyntax
) -> Iterator[UserError]:
    if isinstance(definition, tree.GraphSyntax):
        return check_graph(definition, file)
    return check_node(definition)


def _check_definitions(file: tree.FileSyntax) -> Iterator[UserError]:
    return check_distinct([tree.NameSyntax(name=d.name, span=d.span) for d in file.definitions])


def _check_values(
    definition: tree.NodeSyntax | tree.GraphSyntax,
    sizes: Mapping[str, int],
    types: Mapping[str, str],
    locate: Locate,
) -> Iterator[UserError]:
    """Yield an error for every parameter without a value and every value without a parameter."""
    name = definition.name
    for param in definition.size_params:
        if param.default is None and param.name not in sizes:
            hint = f"add `sizes: {{{param.name}: ...}}` to layer.yaml"
            yield UserError(f"size {param.name} of {name} has no value", param.span, hint)
    known = [param.name for param in definition.size_params]
    for each in sizes:
        if each not in known:
            hint = did_you_mean(each, known, f"size parameters of {name}")
            yield UserError(f"{name} has no size {each}", locate("sizes", each), hint)
    for each, tensor in _sizes_alone(definition).items():
        if sizes.get(each, 1) <= 0:
            message = f"{each} is {sizes[each]}, and a size of {tensor}"
            yield UserError(message, locate("sizes", each), "sizes are positive")
    known = [param.name for param in definition.type_params]
    for each, type_ in types.items():
        if each not in known:
            hint = did_you_mean(each, known, f"type parameters of {name}")
            yield UserError(f"{name} has no type {each}", locate("types", each), hint)
        if type_ not in TYPES:
            hint = did_you_mean(type_, TYPES, "types")
            yield UserError(f"unknown type {type_}", locate("types", each), hint)


def _sizes_alone(definition: tree.NodeSyntax | tree.GraphSyntax) -> dict[str, str]:
    """Return the parameters that are sizes as they stand, each with a tensor that has it."""
    return {
        size.name: tensor.name for tensor in (*definition.outputs, *definition.inputs)
        for size in tensor.sizes if isinstance(size, tree.ReferenceSyntax)
    }


def _build(
    definition: tree.NodeSyntax | tree.GraphSyntax,
    file: tree.FileSyntax,
    values: Values,
    locate: Locate,
) -> tuple[Layer | None, list[UserError]]:
    """Return the layer, and what is wrong with it; None where nodes do not fit together."""
    params, sizes, types = definition.size_params, values.sizes, values.types
    sizes = {p.name: p.default for p in params if p.default is not None} | dict(sizes)
    types = {p.name: p.default for p in definition.type_params} | dict(types)
    calls: list[CalledNode] = []
    if isinstance(definition, tree.GraphSyntax):
        calls = write_out(definition, file, sizes, types)
        bindings = bind_calls(calls)
    else:
        bindings = [bind_node(definition, sizes, types)]
    spans = {edge: locate("delays", edge) for edge in values.delays}
    wrong = list(check_delays(bindings, values.delays, spans))
    if wrong:
        return None, wrong
    try:
        bindings = sort_bindings(delay(bindings, values.delays))
    except UserError as error:
        return None, [error]
    fixer = Fixer()
    layer = name_views(fixer.layer(definition, bindings, calls, sizes, types))
    layer = replace(layer, carries=(*layer.carries, *_next(layer, values.following)))
    return layer, fixer.errors or list(check_layer(layer))


def _next(layer: Layer, following: Mapping[str, str]) -> Iterator[CarriedTensor]:
    """Yield what becomes of inputs that turn into outputs; other names are errors of layer.yaml."""
    inputs, outputs = ({t.name for t in some} for some in (layer.inputs, layer.outputs))
    for tensor, source in following.items():
        if tensor in inputs and source in outputs:
            yield CarriedTensor(tensor=tensor, source=source)
