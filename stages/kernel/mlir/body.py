"""Bodies of structured operations as expressions of LAIR."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from xdsl.dialects.arith import ConstantOp, IndexCastOp
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.dialects.tensor import EmptyOp, ExtractOp
from xdsl.ir import Block, Operation, SSAValue

from lairmake.stages.kernel.mlir.arithmetic import (
    CAST,
    COMPOSED,
    CONVERSIONS,
    ELEMENTWISE,
    FUNCTIONS,
    HINT,
    NARROWING,
    NEGATION,
    OPERATORS,
    SELECT,
    SIGNED,
    TRUTHS,
)
from lairmake.stages.kernel.mlir.comparisons import (
    TRUTH,
    CmpiOp,
    CompareOp,
    combine,
    compare,
    select,
)
from lairmake.stages.kernel.mlir.constants import constant, read_number
from lairmake.stages.kernel.mlir.draft import Draft, write_tuple
from lairmake.stages.kernel.mlir.payload import read_element_type
from lairmake.stages.kernel.mlir.positions import Loops, Positions
from lairmake.stages.kernel.mlir.reductions import find_reductions, write_reduction
from lairmake.stages.kernel.mlir.wellformed import check_index
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.tree import (
    Access,
    Binary,
    Call,
    Expr,
    Number,
    Reference,
    Unary,
    mentions,
    rewrite,
)
from lairmake.stages.machine.types import is_integer


class Body:
    """The values of a block as expressions of elements, each called by a label.

    `elements` says which element an instance reads, by its label. `at` is where tensors are read
    that are no operands: None where they may not be. `growing` are the labels of what is reduced.
    """

    def __init__(
        self, draft: Draft, owner: Operation, loops: Loops, at: Sequence[str] | None = None
    ) -> None:
        self.elements: dict[str, str] = {}
        self.growing: set[str] = set()
        self._draft, self._owner, self._at = draft, owner, at
        self._span = draft.text.span(owner)
        self._values: dict[int, Expr] = {}
        self._read: dict[str, str] = {}
        self._positions = Positions(draft, owner, loops, _loop_indices(draft, owner, loops))
        self._arithmetic: list[Operation] = []

    def check_types(self, results: Iterable[str]) -> None:
        """Raise UserError for operations on integers of another type than those of the results.

        A statement of LAIR computes in one type of integers, to which every operation wraps.
        """
        for operation in self._arithmetic:
            own = self._draft.type_of(operation.results[0].type, operation)
            for other in results:
                if is_integer(own) and own != other:
                    message = f"{operation.name} gives {own} within a body that gives {other}"
                    hint = f"give the {own} in an operation of its own"
                    raise self._draft.error(operation, message, hint)

    def operand(self, argument: SSAValue, value: SSAValue, at: Sequence[str]) -> str:
        """Say which element of a value an argument of the block is, and return its label.

        A truth is that of the elements which are compared.
        """
        name = self._draft.volume(value)
        if id(value) in self._draft.truths:
            before, self._at = self._at, at
            self._values[id(argument)] = self.value(value)
            self._at = before
            return name
        label = self._label(name, write_tuple(name, at))
        self._values[id(argument)] = self._reference(label)
        return label

    def _label(self, name: str, element: str) -> str:
        """Return what an element is called: its volume, numbered where that has several."""
        label, number = name, 1
        while label in self.elements:
            number += 1
            label = f"{name}_{number}"
        self.elements[label] = element
        return label

    def _element(self, name: str, element: str) -> Expr:
        """Return the reference to an element that is no operand; one, if it is read again."""
        if element not in self._read:
            self._read[element] = self._label(name, element)
        return self._reference(self._read[element])

    def value(self, value: SSAValue) -> Expr:
        """Return the expression of a value. Scalars from outside are operands, too."""
        if id(value) in self._values:
            return self._values[id(value)]
        owner = value.owner
        if isinstance(owner, ConstantOp) and isinstance(owner.value, FloatAttr | IntegerAttr):
            return self._number(owner)
        if self._draft.is_volume(value) and id(value) not in self._draft.truths:
            return self._volume(value)
        if isinstance(owner, Block) or isinstance(value.type, IndexType):
            raise self._draft.error(self._owner, "an index is used as a value", CAST)
        return self.apply(owner)

    def _volume(self, value: SSAValue) -> Expr:
        name = self._draft.volume(value)
        if self._draft.sizes(value) and self._at is None:
            hint = "give it under `ins`, or take one of its elements: tensor.extract"
            raise self._draft.error(self._owner, f"{name} is no scalar, and no operand", hint)
        check_defined(self._draft, self._owner, value)
        at = self._at if self._draft.sizes(value) else ()
        return self._element(name, write_tuple(name, at or ()))

    def apply(self, operation: Operation) -> Expr:
        """Return the expression of what an operation gives. Raises UserError for those of MLIR
        that LAIR has not."""
        name, operands = operation.name, operation.operands
        if isinstance(operation, ExtractOp):
            element = self._positions.extracted(operation)
            check_defined(self._draft, operation, operation.tensor)
            return self._element(self._draft.volume(operation.tensor), element)
        if name not in ELEMENTWISE:
            raise self._draft.error(operation, f"{name} has no place in a body", HINT)
        if name in NARROWING:
            self._check_last(operation)
        if name in CONVERSIONS or (name in SIGNED and read_element_type(operands[0]) == TRUTH):
            return self._converted(operation)
        where = self._positions.where(operation.results[0])
        if where is not None:
            one, none = (Number(value=k, span=self._span) for k in (1, 0))
            return self._chosen(where, (one, none), operation)
        if name == SELECT:
            return self._selected(operation)
        return self._computed(operation, [self.value(each) for each in operands])

    def _selected(self, operation: Operation) -> Expr:
        """Return one of two values; of two that reduce, a reduction of one of two values."""
        truth, *rest = operation.operands
        where = self._positions.where(truth)
        left, right = map(self.value if where is None else self._branch, rest)
        for label in self.growing:
            found = find_reductions(left, right, label)
            if found is not None:
                operator, *values = found
                either = self._either(truth, where, values, operation)
                return write_reduction(label, operator, either)
        return self._either(truth, where, [left, right], operation)

    def _either(
        self, truth: SSAValue, where: str | None, values: Sequence[Expr], operation: Operation
    ) -> Expr:
        left, right = values
        if where is not None:
            return self._chosen(where, (left, right), operation)
        for each in (left, right):
            if isinstance(each, Number) and math.isinf(each.value):
                hint = "select between numbers, and reduce that"
                raise self._draft.error(operation, "a reduction of some values only", hint)
        return select(self.value(truth), left, right)

    def _computed(self, operation: Operation, operands: Sequence[Expr]) -> Expr:
        name, span = operation.name, self._draft.text.span(operation)
        if isinstance(operation, CompareOp):
            return self._compared(operation, operands)
        if name in TRUTHS:
            if read_element_type(operation.results[0]) != TRUTH:
                raise self._draft.error(operation, f"{name} of numbers has no place here", HINT)
            return combine(name, operands[0], operands[1])
        if name in OPERATORS or name in FUNCTIONS:
            self._arithmetic.append(operation)
        if name in OPERATORS:
            return Binary(op=OPERATORS[name], left=operands[0], right=operands[1], span=span)
        if name in FUNCTIONS:
            return Call(function=FUNCTIONS[name], arguments=tuple(operands), span=span)
        if name == NEGATION:
            return Unary(op="-", operand=operands[0], span=span)
        if name in COMPOSED:
            known = {f"x{k}": each for k, each in enumerate(operands)}

            def operand(leaf: Expr) -> Expr:
                return known[leaf.tensor] if isinstance(leaf, Access) else leaf

            return rewrite(parse_expression(COMPOSED[name]), operand)
        return operands[0]

    def _compared(self, operation: CompareOp, operands: Sequence[Expr]) -> Expr:
        if operation.name == CmpiOp.name and operation.word[0] == "u":
            hint = "compare them as signed ones: slt, sle, sgt, sge"
            raise self._draft.error(operation, "integers have signs here", hint)
        return compare(operation.word, operands[0], operands[1])

    def _converted(self, operation: Operation) -> Expr:
        """Return a truth, an index or an element as a value of another type."""
        (source,), owner = operation.operands, operation.operands[0].owner
        if read_element_type(source) == TRUTH:
            truth = self.value(source)
            is_signed = operation.name in SIGNED
            return Unary(op="-", operand=truth, span=self._span) if is_signed else truth
        type_ = self._draft.type_of(operation.results[0].type, operation)
        if isinstance(owner, IndexCastOp) and operation.name == "arith.sitofp":
            source = owner.input
        if isinstance(source.type, IndexType):
            return self._positions.number(source, type_, self._element)
        if operation.name != "arith.sitofp" or not isinstance(self.value(source), Reference):
            hint = "convert signed integers to floats, in an operation of its own"
            raise self._draft.error(operation, f"{operation.name} within a body", hint)
        return self.value(source)

    def _chosen(self, where: str, values: tuple[Expr, Expr], operation: Operation) -> Expr:
        """Return the element that is one value where indices say so, else the other."""
        if any(mentions(each, label) for each in values for label in self.growing):
            hint = "select between the result's own element and that with a value added"
            raise self._draft.error(operation, "what is reduced is selected", hint)
        element = self._positions.chosen(where, values, self.elements, operation)
        return self._element(element.partition("[")[0], element)

    def _branch(self, value: SSAValue) -> Expr:
        """Return the expression of a value that indices select; a constant is an operand here."""
        if not isinstance(value.owner, ConstantOp):
            return self.value(value)
        if not self._draft.is_volume(value):
            constant(self._draft, value.owner)
        return self._volume(value)

    def _check_last(self, operation: Operation) -> None:
        """Raise UserError for rounding on the way; what is put into a result is rounded anyhow."""
        users = [use.operation for use in operation.results[0].uses]
        if any(user.name in ELEMENTWISE for user in users) and not self._draft.is_volume(
            operation.results[0]
        ):
            hint = "round in an operation of its own"
            raise self._draft.error(operation, f"{operation.name} within a body", hint)

    def _reference(self, label: str) -> Reference:
        return Reference(name=label, indices=(), span=self._span)

    def _number(self, owner: ConstantOp) -> Number:
        assert isinstance(owner.value, FloatAttr | IntegerAttr)
        found = read_number(owner.value)
        if not math.isfinite(found):
            raise self._draft.error(owner, f"a body has no {found}")
        return Number(value=abs(found) if owner.result.type == TRUTH else found, span=self._span)


def _loop_indices(draft: Draft, owner: Operation, loops: Loops) -> dict[int, str]:
    """Return which loop each linalg.index in an operation is. Raises UserError for none of it."""
    found = {}
    for each in owner.walk():
        if isinstance(each, IndexOp):
            check_index(draft, each, len(loops.names))
            found[id(each.result)] = loops.names[each.dim.value.data]
    return found


def check_defined(draft: Draft, operation: Operation, value: SSAValue) -> None:
    """Raise UserError for elements that have no values yet."""
    if isinstance(value.owner, EmptyOp):
        hint = "linalg.fill gives them values"
        name = draft.volume(value)
        raise draft.error(operation, f"the elements of {name} are read and have no values", hint)
