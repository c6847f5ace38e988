"""Specialise a LAIR file: choose the node at the top, fix its sizes and types, check its rules.

Source   Verdoolaege et al., IMPACT 2020, Sec. 4.1.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stages.diagnose import Span, UserError, UserErrors
from stages.lair import tree
from stages.lair.affine import affine_of
from stages.lair.checks import check_distinct, check_node
from stages.lair.graphs import Binding, bind_call, bind_node, check_graph
from stages.lair.layer import TYPES, Layer, Statement, Tensor
from stages.lair.layer_checks import check_layer
from stages.lair.names import did_you_mean
from stages.lair.tree import Access, Affine

__all__ = ["Access", "Affine", "Layer", "Statement", "Tensor", "specialise"]

LARGEST_SIZE = 2**30
"""Programs count in 32 bits, and may step once more beyond the last element."""

Locate = Callable[..., Span | None]


def specialise(
    file: tree.File,
    top: str | None,
    sizes: Mapping[str, int],
    types: Mapping[str, str],
    locate: Locate | None = None,
) -> Layer:
    """Return the node or graph `top` (None: the last of the file) with its parameters fixed.

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
        wrong = [*_check_values(definition, sizes, types, locate), *_check_calls(definition)]
        used = [definition, *_called(definition, file)]
        if not (wrong or twice or any(found[id(each)] for each in used)):
            layer, wrong = _build(definition, file, sizes, types)
        errors += wrong
    if layer is None or errors:
        raise UserErrors(sorted(errors, key=lambda error: _position(error, file)))
    return layer


def _unknown_top(file: tree.File, top: str | None, locate: Locate) -> UserError:
    names = [each.name for each in file.definitions]
    hint = did_you_mean(top or "", names, "nodes and graphs")
    return UserError(f"top names {top}, which is no node", locate("top"), hint)


def _position(error: UserError, file: tree.File) -> tuple[bool, int]:
    """Return the place of an error in the file; errors of other files come after."""
    inside = error.span is not None and error.span.source == file.span.source
    return (not inside, error.span.start if error.span is not None and inside else 0)


def _top(file: tree.File, top: str | None) -> tree.Node | tree.Graph | None:
    if top is None:
        return file.definitions[-1]
    return next((each for each in file.definitions if each.name == top), None)


def _called(definition: tree.Node | tree.Graph, file: tree.File) -> list[tree.Node]:
    calls = definition.calls if isinstance(definition, tree.Graph) else ()
    names = {call.node for call in calls}
    return [node for node in file.nodes if node.name in names]


def _check(definition: tree.Node | tree.Graph, file: tree.File) -> Iterator[UserError]:
    if isinstance(definition, tree.Graph):
        return check_graph(definition, file)
    return check_node(definition)


def _check_definitions(file: tree.File) -> Iterator[UserError]:
    return check_distinct([tree.Name(name=d.name, span=d.span) for d in file.definitions])


def _check_calls(definition: tree.Node | tree.Graph) -> Iterator[UserError]:
    if isinstance(definition, tree.Graph) and len(definition.calls) > 1:
        names = [call.node for call in definition.calls]
        count = f"graph {definition.name} calls {len(names)} nodes ({', '.join(names)})"
        yield UserError(
            f"{count}; only one node builds for now", definition.span,
            f"build one of them: `top: {names[-1]}` in layer.yaml",
        )


def _check_values(
    definition: tree.Node | tree.Graph,
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
    known = [param.name for param in definition.type_params]
    for each, type_ in types.items():
        if each not in known:
            hint = did_you_mean(each, known, f"type parameters of {name}")
            yield UserError(f"{name} has no type {each}", locate("types", each), hint)
        if type_ not in TYPES:
            hint = did_you_mean(type_, TYPES, "types")
            yield UserError(f"unknown type {type_}", locate("types", each), hint)


def _build(
    definition: tree.Node | tree.Graph,
    file: tree.File,
    sizes: Mapping[str, int],
    types: Mapping[str, str],
) -> tuple[Layer, list[UserError]]:
    params = definition.size_params
    sizes = {p.name: p.default for p in params if p.default is not None} | dict(sizes)
    types = {p.name: p.default for p in definition.type_params} | dict(types)
    if isinstance(definition, tree.Graph):
        (node,) = _called(definition, file)
        binding = bind_call(definition, node, sizes, types)
    else:
        binding = bind_node(definition, sizes, types)
    builder = _Builder(binding)
    layer = builder.layer(definition)
    return layer, builder.errors or list(check_layer(layer))


class _Builder:
    """Fix every size and type of a bound node; `errors` holds what that brings to light."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.errors: list[UserError] = []

    def layer(self, definition: tree.Node | tree.Graph) -> Layer:
        node = self.binding.node
        for tensor in (*node.inputs, *node.outputs):
            self._check_bound(tensor)
        return Layer(
            name=definition.name,
            inputs=tuple(map(self._outer, definition.inputs)),
            outputs=tuple(map(self._outer, definition.outputs)),
            statements=tuple(map(self._statement, node.statements)),
        )

    def _outer(self, tensor: tree.Tensor) -> Tensor:
        return self._tensor(tensor, self.binding.outer_sizes, self.binding.outer_types)

    def _tensor(
        self, tensor: tree.Tensor, sizes: Mapping[str, int], types: Mapping[str, str]
    ) -> Tensor:
        shape = tuple(self._size(size, sizes) for size in tensor.sizes)
        type_ = types.get(tensor.type, tensor.type)
        return Tensor(name=tensor.name, type=type_, shape=shape, span=tensor.span)

    def _size(self, size: tree.Expr, sizes: Mapping[str, int]) -> int:
        value = affine_of(size, sizes).constant
        if not 0 < value <= LARGEST_SIZE:
            hint = "sizes are positive" if value <= 0 else f"sizes go up to {LARGEST_SIZE}"
            error = UserError(f"this size is {value}", size.span, hint)
            self.errors += [error] if error.span not in [e.span for e in self.errors] else []
        return value

    def _check_bound(self, tensor: tree.Tensor) -> None:
        """Check that a tensor of the node is as large, and of the type, that the graph says."""
        binding = self.binding
        own = self._tensor(tensor, binding.sizes, binding.types)
        given = self._outer(binding.tensors[tensor.name])
        if (own.type, own.shape) != (given.type, given.shape):
            formal = f"{binding.node.name} has {own.name} as {_kind(own)}"
            message, hint = f"{given.name} is {_kind(given)}, but {formal}", "make them agree"
            self.errors.append(UserError(message, binding.span, hint))

    def _statement(self, statement: tree.Statement) -> Statement:
        iterators = tuple(each.name for each in statement.iterators)
        expr = self._value(statement.expr, iterators)
        target = self._access(statement.target, iterators)
        several = len(self.binding.node.statements) > 1
        name = self.binding.node.name
        return Statement(
            name=f"{name}_{target.tensor}" if several else name,
            iterators=iterators,
            sizes=tuple(self._size(size, self.binding.sizes) for size in statement.sizes),
            target=target,
            op=statement.op,
            expr=expr,
            reads=self._reads(expr),
            span=statement.span,
        )

    def _reads(self, expr: tree.Expr) -> tuple[Access, ...]:
        """Return one access per tensor; note an error where a tensor is accessed in two ways."""
        reads: dict[str, Access] = {}
        for part in tree.walk(expr):
            if isinstance(part, Access) and reads.setdefault(part.tensor, part) != part:
                hint = "LAIR allows one access per tensor in a statement"
                message = f"{part.tensor} is accessed in two ways in one statement"
                self.errors.append(UserError(message, part.span, hint))
        return tuple(reads.values())

    def _value(self, expr: tree.Expr, iterators: tuple[str, ...]) -> tree.Expr:
        """Return an expression with accesses for references, and numbers for parameters."""
        match expr:
            case tree.Reference() if expr.name in self.binding.sizes:
                return _number(self.binding.sizes[expr.name], expr.span)
            case tree.Reference():
                return self._access(expr, iterators)
            case tree.Unary():
                operand = self._value(expr.operand, iterators)
                return tree.Unary(op=expr.op, operand=operand, span=expr.span)
            case tree.Binary():
                left, right = (self._value(e, iterators) for e in (expr.left, expr.right))
                return tree.Binary(op=expr.op, left=left, right=right, span=expr.span)
            case tree.Call():
                arguments = tuple(self._value(e, iterators) for e in expr.arguments)
                return tree.Call(function=expr.function, arguments=arguments, span=expr.span)
        return expr

    def _access(self, reference: tree.Reference, iterators: tuple[str, ...]) -> Access:
        rows = tuple(self._row(index, iterators) for index in reference.indices)
        name = self.binding.tensors[reference.name].name
        return Access(tensor=name, rows=rows, span=reference.span)

    def _row(self, index: tree.Expr, iterators: tuple[str, ...]) -> Affine:
        """Return an index with its iterators in the order of the statement."""
        row = affine_of(index, self.binding.sizes)
        ordered = sorted(row.coefficients, key=lambda term: iterators.index(term[0]))
        return Affine(coefficients=tuple(ordered), constant=row.constant)


def _number(value: int, span: Span) -> tree.Expr:
    number = tree.Number(value=abs(value), span=span)
    return number if value >= 0 else tree.Unary(op="-", operand=number, span=span)


def _kind(tensor: Tensor) -> str:
    return tensor.type + "".join(f"[{size}]" for size in tensor.shape)
