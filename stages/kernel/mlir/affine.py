"""Affine maps, index values, and choices by indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.arith import AddiOp, ConstantOp, MuliOp, SubiOp
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.dialects.tensor import DimOp, ExtractOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from lairmake.stages.diagnose import Span, UserError, plural
from lairmake.stages.kernel.mlir.comparisons import CompareOp, write_condition
from lairmake.stages.kernel.mlir.draft import KernelDraft, write_box, write_tuple
from lairmake.stages.kernel.mlir.syntax import show_form
from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.tree import Binary, Expr, NumberSyntax, ReferenceSyntax, mentions

# --- Affine expressions as text and coefficients --------------------------------------------------

Kind = AffineBinaryOpKind
Constant = AffineConstantExpr


def write_affine(expr: AffineExpr, dims: Sequence[str], symbols: Sequence[str] = ()) -> str:
    """Return an expression in the syntax of isl, with these texts for dimensions and symbols."""
    match expr:
        case AffineConstantExpr():
            return str(expr.value)
        case AffineDimExpr():
            return dims[expr.position]
        case AffineSymExpr():
            return symbols[expr.position]
    assert isinstance(expr, AffineBinaryOpExpr)
    left, right = (write_affine(each, dims, symbols) for each in (expr.lhs, expr.rhs))
    match expr.kind:
        case Kind.Add:
            return f"({left} + {right})"
        case Kind.Mul:
            factor, term = (left, right) if isinstance(expr.lhs, Constant) else (right, left)
            return f"{factor}*{term}"
        case Kind.Mod:
            return f"(({left}) mod {right})"
        case Kind.FloorDiv:
            return f"floor(({left})/{right})"
        case Kind.CeilDiv:
            return f"floor((({left}) + {right} - 1)/{right})"


def find_fault(expr: AffineExpr) -> str | None:
    """Return the fault that keeps an expression from being affine; None if it is affine.

    Faults are products of two expressions, and divisions by anything but a positive number.
    """
    if not isinstance(expr, AffineBinaryOpExpr):
        return None
    if expr.kind is Kind.Mul and not any(isinstance(e, Constant) for e in (expr.lhs, expr.rhs)):
        return f"{expr} multiplies what are no numbers"
    is_division = expr.kind in (Kind.Mod, Kind.FloorDiv, Kind.CeilDiv)
    if is_division and not (isinstance(expr.rhs, Constant) and expr.rhs.value > 0):
        return f"{expr} divides by no positive number"
    return find_fault(expr.lhs) or find_fault(expr.rhs)


def linear(expr: AffineExpr, dims: int) -> tuple[list[int], int] | None:
    """Return the coefficient of each dimension, and the constant; None if there are divisions."""
    match expr:
        case AffineConstantExpr():
            return [0] * dims, expr.value
        case AffineDimExpr():
            return [int(k == expr.position) for k in range(dims)], 0
        case AffineBinaryOpExpr(kind=Kind.Add | Kind.Mul):
            left, right = linear(expr.lhs, dims), linear(expr.rhs, dims)
            if left is None or right is None:
                return None
            if expr.kind is Kind.Add:
                sums = [a + b for a, b in zip(left[0], right[0], strict=True)]
                return sums, left[1] + right[1]
            if any(left[0]) and any(right[0]):
                return None
            (factors, constant), scale = (left, right[1]) if any(left[0]) else (right, left[1])
            return [scale * factor for factor in factors], scale * constant
    return None

# --- Values of type index -------------------------------------------------------------------------

AFFINE = "an index is a sum of others times numbers, or such a sum divided by a positive number"


def write_index(draft: KernelDraft, value: SSAValue, known: Mapping[int, str] | None = None) -> str:
    """Return a value of type index in the syntax of isl; `known` names some values by identity.

    A value that is no affine expression of others becomes a symbolic constant of its own.
    """
    found = (known or {}).get(id(value)) or draft.indices.get(id(value))
    if found is not None:
        return found
    text = _text(draft, value, known)
    if text is None:
        text = draft.symbol(draft.text.names.get(id(value), "n"))
    if known is None:
        draft.indices[id(value)] = text
    return text


def _text(draft: KernelDraft, value: SSAValue, known: Mapping[int, str] | None) -> str | None:
    owner = value.owner
    match owner:
        case ConstantOp(value=IntegerAttr() as number):
            return str(number.value.data)
        case AddiOp():
            return _binary(draft, owner, "+", known)
        case SubiOp():
            return _binary(draft, owner, "-", known)
        case MuliOp():
            parts = [write_index(draft, each, known) for each in owner.operands]
            numbers = sorted(parts, key=is_number)
            return f"({numbers[1]}*{numbers[0]})" if is_number(numbers[1]) else None
        case DimOp():
            return _size(draft, owner, write_index(draft, owner.index, known))
        case ApplyOp():
            operands = [write_index(draft, each, known) for each in owner.mapOperands]
            by = read_map(draft, owner)
            return write_affine(by.results[0], operands[: by.num_dims], operands[by.num_dims :])
    return None


def _size(draft: KernelDraft, operation: DimOp, at: str) -> str | None:
    """Return the size that tensor.dim gives; None if its dimension is not known."""
    sizes = draft.sizes(operation.source)
    if not is_number(at):
        return None
    if not 0 <= int(at) < len(sizes):
        message = f"tensor.dim of dimension {at} of {plural(len(sizes), 'dimension')}"
        raise draft.error(operation, message, "dimensions are counted from 0")
    return sizes[int(at)]


def read_map(draft: KernelDraft, operation: ApplyOp) -> AffineMap:
    """Return the map that affine.apply applies. Raises UserError if it does not give one index."""
    by: AffineMap = operation.map.data
    wanted, given = by.num_dims + by.num_symbols, len(operation.mapOperands)
    if wanted != given or len(by.results) != 1:
        message = f"affine.apply of {plural(given, 'index')} by {by}"
        raise draft.error(operation, message, show_form(operation.name))
    fault = find_fault(by.results[0])
    if fault is not None:
        raise draft.error(operation, f"an index is not affine: {fault}", AFFINE)
    return by


def _binary(
    draft: KernelDraft, owner: Operation, operator: str, known: Mapping[int, str] | None
) -> str:
    left, right = (write_index(draft, each, known) for each in owner.operands)
    return f"({left} {operator} ({right}))"


def read_mixed(
    draft: KernelDraft, numbers: Sequence[int], values: Sequence[SSAValue]
) -> list[str]:
    """Return offsets, sizes or strides: numbers, and values where the text has no number."""
    rest = iter(values)
    return [
        write_index(draft, next(rest)) if number == DYNAMIC_INDEX else str(number)
        for number in numbers
    ]


def is_number(text: str) -> bool:
    """Return whether a text is an integer."""
    return text.removeprefix("-").isdigit()


def read_strides(
    draft: KernelDraft, operation: Operation, numbers: Sequence[int], values: Sequence[SSAValue]
) -> list[str]:
    """Return strides, which must be numbers. Raises UserError for others."""
    found = read_mixed(draft, numbers, values)
    wrong = next((each for each in found if not is_number(each)), None)
    if wrong is not None:
        raise _not_affine(draft, operation, wrong)
    return found


def _not_affine(draft: KernelDraft, operation: Operation, stride: str) -> UserError:
    return draft.error(operation, f"stride {stride} is no number", "elements are affine: fix it")

# --- Choices and values by indices ----------------------------------------------------------------
#
# An instance that chooses between two values by its indices reads an element of a new volume, which
# is a copy of one or the other. An index that is used as a value is an element of a volume that
# counts.
#
# Source   F A.2.6: a copy in pieces; MLIR, dialect linalg: linalg.index

JOINED = {"arith.andi": "and", "arith.ori": "or"}
ARITHMETIC = ((AddiOp, "+"), (SubiOp, "-"), (MuliOp, "*"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loops:
    """The loops of an operation: their names and sizes."""

    names: Sequence[str]
    sizes: Sequence[str]

    def instances(self, name: str) -> tuple[str, str]:
        """Return `name_loops[d0, d1, ...]`, and the same with the constraints of all instances."""
        instance = write_tuple(f"{name}_loops", self.names)
        return instance, f"{instance} : {write_box(self.names, self.sizes)}"


class Positions:
    """Volumes that an operation reads by the indices of its instances."""

    def __init__(
        self, draft: KernelDraft, owner: Operation, loops: Loops, indices: Mapping[int, str]
    ) -> None:
        """Take the loops, and the names of those that are values of type index, by identity."""
        self._draft, self._owner, self._loops, self._indices = draft, owner, loops, indices
        self._counting: dict[tuple[str, str], str] = {}

    def where(self, truth: SSAValue) -> str | None:
        """Return the constraint of instances that a truth is; None for a comparison of values."""
        owner = truth.owner
        if isinstance(owner, CompareOp) and isinstance(owner.lhs.type, IndexType):
            left, right = (self._affine(owner, each) for each in (owner.lhs, owner.rhs))
            return write_condition(owner.word, left, right)
        if isinstance(owner, Operation) and owner.name in JOINED:
            both = [self.where(each) for each in owner.operands]
            return f"({both[0]} {JOINED[owner.name]} {both[1]})" if all(both) else None
        return None

    def _affine(self, operation: Operation, value: SSAValue) -> str:
        """Return an index in the syntax of isl. Raises UserError if it is not affine in others."""
        count = len(self._draft.symbols)
        text = write_index(self._draft, value, self._indices)
        if len(self._draft.symbols) > count:
            raise self._draft.error(operation, "an index is not affine", "use affine.apply")
        return text

    def extracted(self, operation: ExtractOp) -> str:
        """Return the element of tensor.extract. Raises UserError for another tensor."""
        if not self._draft.is_volume(operation.tensor):
            raise self._draft.error(operation, "tensor.extract is of a value of the function")
        at = [self._affine(operation, each) for each in operation.indices]
        return write_tuple(self._draft.volume(operation.tensor), at)

    def chosen(
        self, where: str, values: tuple[Expr, Expr], elements: Mapping[str, str],
        operation: Operation,
    ) -> str:
        """Return the element of a new volume: the first value `where`, else the second.

        `where` is a constraint on instances; `elements` has the elements that the values read, by
        label.
        """
        name = self._new(operation)
        left, right = (self._own(each, elements, operation) for each in values)
        own = write_tuple(name, self._loops.names)
        inside = write_box(self._loops.names, self._loops.sizes)
        copies = [
            f"{{ {own} -> {left} : {where} and {inside} }}",
            f"{{ {own} -> {right} : not ({where}) and {inside} }}",
        ]
        self._draft.add(name, {"kind": "copy", "copies": copies}, self._owner, operation.name)
        return own

    def _new(self, operation: Operation) -> str:
        """Return a new volume with an element for each instance, of the type of a result."""
        (result,) = operation.results
        wish = self._draft.text.names.get(id(result), operation.name.partition(".")[2])
        return self._draft.new_volume(wish, self._type(operation), self._loops.sizes)

    def _type(self, operation: Operation) -> str:
        """Return the type of a result; for a truth, the type of the result that it serves."""
        is_truth = isinstance(operation, CompareOp) or operation.name in JOINED
        result = (self._owner if is_truth else operation).results[0]
        return self._draft.type_of(result.type, operation)

    def _own(self, value: Expr, elements: Mapping[str, str], operation: Operation) -> str:
        """Return the element of a value; a computed value becomes a new volume."""
        if isinstance(value, ReferenceSyntax):
            return elements[value.name]
        if isinstance(value, NumberSyntax):
            name = self._draft.new_volume("constant", self._type(operation), [])
            entry = {"kind": "constant", "constant": value.value}
            self._draft.add(name, entry, self._owner, operation.name)
            return f"{name}[]"
        name = self._new(operation)
        own = write_tuple(name, self._loops.names)
        instance, instances = self._loops.instances(name)
        self._draft.add(name, {
            "kind": "compute", "loops": f"{{ {instances} }}",
            "reads": {
                label: f"{{ {instance} -> {element} }}"
                for label, element in elements.items() if mentions(value, label)
            },
            "results": {name: {
                "writes": f"{{ {instance} -> {own} }}", "operator": "=",
                "value": write_expression(value),
            }},
        }, self._owner, operation.name)
        return own

    def number(
        self, value: SSAValue, type_: str, read: Callable[[str, str], Expr]
    ) -> Expr:
        """Return an index as a value of a type; `read` gives the expression for an element.

        Raises UserError unless the index consists of sums and products of loops and numbers.
        """
        loop, owner = self._indices.get(id(value)), value.owner
        span = self._draft.text.span(self._owner)
        if loop is not None:
            return read(*self._counter(loop, type_))
        if isinstance(owner, ConstantOp) and isinstance(owner.value, IntegerAttr):
            return NumberSyntax(value=owner.value.value.data, span=span)
        for kind, op in ARITHMETIC:
            if isinstance(owner, kind):
                left, right = (self.number(each, type_, read) for each in owner.operands)
                return Binary(op=op, left=left, right=right, span=span)
        if isinstance(owner, ApplyOp):
            row = linear(read_map(self._draft, owner).results[0], len(owner.mapOperands))
            if row is not None:
                terms = [self.number(each, type_, read) for each in owner.mapOperands]
                return _sum(row, terms, span)
        hint = "a value may be a sum of loops, linalg.index, times numbers"
        raise self._draft.error(self._owner, "an index is used as a value", hint)

    def _counter(self, loop: str, type_: str) -> tuple[str, str]:
        """Return the volume that counts a loop in a type, and its element that is the index."""
        key = (loop, type_)
        if key not in self._counting:
            size = self._loops.sizes[self._loops.names.index(loop)]
            name = self._draft.new_volume(f"count_{loop}", type_, [size])
            self._draft.add(name, {"kind": "index"}, self._owner, "linalg.index")
            self._counting[key] = name
        return self._counting[key], write_tuple(self._counting[key], [loop])


def _sum(row: tuple[list[int], int], terms: Sequence[Expr], span: Span) -> Expr:
    """Return the sum of terms times factors, and of a constant."""
    found: Expr = NumberSyntax(value=row[1], span=span)
    for factor, term in zip(row[0], terms, strict=True):
        by = NumberSyntax(value=factor, span=span)
        product = Binary(op="*", left=by, right=term, span=span)
        found = Binary(op="+", left=found, right=product, span=span)
    return found
