"""What depends on the indices of instances: which of two values is taken, which element is read.

An instance that takes one of two values by its indices reads an element of a new volume, which is a
copy of one or the other; an index that is a value is an element of a volume that counts.

Source   F A.2.6: a copy in pieces; MLIR, dialect linalg: linalg.index
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.arith import AddiOp, ConstantOp, MuliOp, SubiOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Operation, SSAValue

from lairmake.stages.diagnose import Span
from lairmake.stages.kernel.mlir.affine_text import linear
from lairmake.stages.kernel.mlir.comparisons import CompareOp, write_condition
from lairmake.stages.kernel.mlir.draft import Draft, write_box, write_tuple
from lairmake.stages.kernel.mlir.indices import read_map, write_index
from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.tree import Binary, Expr, Number, Reference, mentions

JOINED = {"arith.andi": "and", "arith.ori": "or"}
ARITHMETIC = ((AddiOp, "+"), (SubiOp, "-"), (MuliOp, "*"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loops:
    """The loops of an operation: how they are called, and how far each goes."""

    names: Sequence[str]
    sizes: Sequence[str]

    def instances(self, name: str) -> tuple[str, str]:
        """Return `name_loops[d0, d1, ...]`, and with the constraints of all instances."""
        instance = write_tuple(f"{name}_loops", self.names)
        return instance, f"{instance} : {write_box(self.names, self.sizes)}"


class Positions:
    """Volumes that an operation reads by the indices of its instances."""

    def __init__(
        self, draft: Draft, owner: Operation, loops: Loops, indices: Mapping[int, str]
    ) -> None:
        """Take the loops, and which values of type index are which of them."""
        self._draft, self._owner, self._loops, self._indices = draft, owner, loops, indices
        self._counting: dict[tuple[str, str], str] = {}

    def where(self, truth: SSAValue) -> str | None:
        """Return the constraint of instances that a truth is; None where it is one of values."""
        owner = truth.owner
        if isinstance(owner, CompareOp) and isinstance(owner.lhs.type, IndexType):
            left, right = (self._affine(owner, each) for each in (owner.lhs, owner.rhs))
            return write_condition(owner.word, left, right)
        if isinstance(owner, Operation) and owner.name in JOINED:
            both = [self.where(each) for each in owner.operands]
            return f"({both[0]} {JOINED[owner.name]} {both[1]})" if all(both) else None
        return None

    def _affine(self, operation: Operation, value: SSAValue) -> str:
        """Return an index as isl reads it. Raises UserError where it is not affine in others."""
        count = len(self._draft.symbols)
        text = write_index(self._draft, value, self._indices)
        if len(self._draft.symbols) > count:
            raise self._draft.error(operation, "an index is not affine", "use affine.apply")
        return text

    def extracted(self, operation: ExtractOp) -> str:
        """Return the element that tensor.extract gives. Raises UserError where that is none."""
        if not self._draft.is_volume(operation.tensor):
            raise self._draft.error(operation, "tensor.extract is of a value of the function")
        at = [self._affine(operation, each) for each in operation.indices]
        return write_tuple(self._draft.volume(operation.tensor), at)

    def chosen(
        self, where: str, values: tuple[Expr, Expr], elements: Mapping[str, str],
        operation: Operation,
    ) -> str:
        """Return the element of a new volume: that of the first value for instances `where`, else
        that of the second. `elements` has those that values read, by their labels."""
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
        """Return the type of a result; of a truth value, the type of what it helps to compute."""
        is_truth = isinstance(operation, CompareOp) or operation.name in JOINED
        result = (self._owner if is_truth else operation).results[0]
        return self._draft.type_of(result.type, operation)

    def _own(self, value: Expr, elements: Mapping[str, str], operation: Operation) -> str:
        """Return the element that a value is, that of a new volume where it is computed."""
        if isinstance(value, Reference):
            return elements[value.name]
        if isinstance(value, Number):
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

        Raises UserError unless it is made of sums and products of loops and numbers.
        """
        loop, owner = self._indices.get(id(value)), value.owner
        span = self._draft.text.span(self._owner)
        if loop is not None:
            return read(*self._counter(loop, type_))
        if isinstance(owner, ConstantOp) and isinstance(owner.value, IntegerAttr):
            return Number(value=owner.value.value.data, span=span)
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
    found: Expr = Number(value=row[1], span=span)
    for factor, term in zip(row[0], terms, strict=True):
        by = Number(value=factor, span=span)
        product = Binary(op="*", left=by, right=term, span=span)
        found = Binary(op="+", left=found, right=product, span=span)
    return found
