"""Fix every size and type of the nodes that a layer is made of.

Source   V Sec. 4.1.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair import tree
from lairmake.stages.lair.affine import find_affine
from lairmake.stages.lair.binding import Binding, name_delayed
from lairmake.stages.lair.calls import Called
from lairmake.stages.lair.conditions import fix_condition
from lairmake.stages.lair.layer import Carry, Layer, Statement, Tensor
from lairmake.stages.lair.tree import Access, Affine

LARGEST_SIZE = 2**30
"""Programs count in 32 bits, and may step once more beyond the last element."""


class Fixer:
    """Fix every size and type of bound nodes; `errors` holds the errors that this finds."""

    def __init__(self) -> None:
        """Start with no tensor and no error."""
        self.tensors: dict[str, Tensor] = {}
        self.errors: list[UserError] = []

    def layer(
        self, definition: tree.Node | tree.Graph, bindings: list[Binding], calls: list[Called],
        sizes: Mapping[str, int], types: Mapping[str, str],
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

    def _internals(self, binding: Binding) -> Iterator[Tensor]:
        """Yield what a node defines that is no output, with the sizes and types that it says."""
        for tensor in (*binding.node.outputs, *binding.node.own):
            name = binding.tensors[tensor.name]
            if name not in self.tensors:
                yield replace(self._tensor(tensor, binding.sizes, binding.types), name=name)

    def _delays(self, bindings: list[Binding]) -> dict[str, int]:
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
        self, tensor: tree.Tensor, sizes: Mapping[str, int], types: Mapping[str, str]
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

    def _agrees(self, call: Called) -> bool:
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

    def _statement(self, statement: tree.StatementSyntax, binding: Binding) -> Statement:
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


class _Reader:
    """Put a statement's references in terms of the layer."""

    def __init__(self, binding: Binding, iterators: tuple[str, ...]) -> None:
        self.binding, self.iterators = binding, iterators

    def value(self, expr: tree.Expr) -> tree.Expr:
        """Return an expression with accesses for references, and numbers for parameters."""
        match expr:
            case tree.Reference() if expr.name in self.binding.sizes:
                return _number(self.binding.sizes[expr.name], expr.span)
            case tree.Reference():
                return self.access(expr)
            case tree.Unary():
                return tree.Unary(op=expr.op, operand=self.value(expr.operand), span=expr.span)
            case tree.Binary():
                left, right = self.value(expr.left), self.value(expr.right)
                return tree.Binary(op=expr.op, left=left, right=right, span=expr.span)
            case tree.Call():
                arguments = tuple(map(self.value, expr.arguments))
                return tree.Call(function=expr.function, arguments=arguments, span=expr.span)
        return expr

    def access(self, reference: tree.Reference) -> Access:
        """Return the element of the layer's tensor that a reference stands for."""
        rows = tuple(map(self._row, reference.indices))
        return Access(tensor=self.binding.read(reference.name), rows=rows, span=reference.span)

    def _row(self, index: tree.Expr) -> Affine:
        """Return an index with its iterators in the order of the statement."""
        row = find_affine(index, self.binding.sizes)
        ordered = sorted(row.coefficients, key=lambda term: self.iterators.index(term[0]))
        return Affine(coefficients=tuple(ordered), constant=row.constant)


def _to(back: int) -> range:
    return range(1, back + 1)


def _carry(tensor: str, back: int) -> Carry:
    """Return what makes a tensor of so many invocations ago of the one after it."""
    source = tensor if back == 1 else name_delayed(tensor, back - 1)
    return Carry(tensor=name_delayed(tensor, back), source=source)


def _number(value: int, span: Span) -> tree.Expr:
    number = tree.Number(value=abs(value), span=span)
    return number if value >= 0 else tree.Unary(op="-", operand=number, span=span)


def _kind(tensor: Tensor) -> str:
    return tensor.type + "".join(f"[{size}]" for size in tensor.shape)
