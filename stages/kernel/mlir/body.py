"""Bodies of operations as expressions of LAIR."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from xdsl.dialects.arith import ConstantOp, IndexCastOp
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    TensorType,
)
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.dialects.tensor import EmptyOp, ExtractOp
from xdsl.ir import Block, Operation, SSAValue

from lairmake.stages.kernel.mlir.affine import Loops, Positions
from lairmake.stages.kernel.mlir.comparisons import (
    TRUTH,
    CmpfOp,
    CmpiOp,
    CompareOp,
    combine,
    compare,
    select,
)
from lairmake.stages.kernel.mlir.dialect import read_element_type
from lairmake.stages.kernel.mlir.draft import KernelDraft, write_tuple
from lairmake.stages.kernel.mlir.verifier import check_index
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import (
    AccessSyntax,
    Binary,
    CallSyntax,
    Expr,
    NumberSyntax,
    ReferenceSyntax,
    Unary,
    mentions,
    rewrite,
)
from lairmake.stages.machine.types import is_integer

# --- Reductions: `own operator value` -------------------------------------------------------------

def find_reduction(expr: Expr, label: str) -> tuple[str, Expr] | None:
    """Return operator and value of an expression `label operator value`; None for others."""
    match expr:
        case Binary(op="+" | "*" as op, left=left, right=right):
            pair = (left, right)
        case CallSyntax(function="max" | "min" as op, arguments=(left, right)):
            pair = (left, right)
        case _:
            return None
    for own, other in (pair, pair[::-1]):
        if isinstance(own, ReferenceSyntax) and own.name == label and not mentions(other, label):
            return op, other
    return None


def find_reductions(
    left: Expr, right: Expr, label: str
) -> tuple[str, Expr, Expr] | None:
    """Return the operator and both values of two reductions by one operator; None for others.

    One expression may be the element alone: then its value is neutral.
    """
    found = [find_reduction(each, label) for each in (left, right)]
    operators = {each[0] for each in found if each is not None}
    if len(operators) != 1:
        return None
    (operator,) = operators
    values: list[Expr] = []
    for expr, each in zip((left, right), found, strict=True):
        if each is not None:
            values.append(each[1])
        elif isinstance(expr, ReferenceSyntax) and expr.name == label:
            values.append(NumberSyntax(value=NEUTRAL[f"{operator}="], span=expr.span))
        else:
            return None
    return operator, values[0], values[1]


def write_reduction(label: str, operator: str, value: Expr) -> Expr:
    """Return `label operator value`."""
    own = ReferenceSyntax(name=label, indices=(), span=value.span)
    if operator in ("max", "min"):
        return CallSyntax(function=operator, arguments=(own, value), span=value.span)
    return Binary(op=operator, left=own, right=value, span=value.span)

# --- Constants of MLIR ----------------------------------------------------------------------------

def constant(draft: KernelDraft, operation: Operation) -> None:
    """Add arith.constant: one value, or a dense tensor of them."""
    assert isinstance(operation, ConstantOp)
    value, type_ = operation.value, operation.result.type
    if isinstance(type_, TensorType) and 0 in type_.get_shape():
        raise draft.error(operation, f"{type_} has no elements", "sizes are at least 1")
    if isinstance(value, DenseIntOrFPElementsAttr):
        values = [read_number(each) for each in value.get_attrs()]
        found = values[0] if value.is_splat() else values
    elif isinstance(value, FloatAttr | IntegerAttr):
        found = read_number(value)
    else:
        raise draft.error(operation, f"{value} has no values here", "give them: dense<...>")
    draft.define(operation.result, {"kind": "constant", "constant": found}, operation,
                 operation.name)


def read_number(value: FloatAttr[AnyFloat] | IntegerAttr) -> int | float:
    """Return a constant; of a float the shortest decimal that its type rounds to it."""
    if isinstance(value, IntegerAttr):
        return int(value.value.data)
    types = {16: np.float16, 32: np.float32}
    return float(str(types.get(value.type.bitwidth, np.float64)(value.value.data)))

# --- Operations of MLIR in LAIR -------------------------------------------------------------------

OPERATORS = {
    "arith.addf": "+", "arith.addi": "+", "arith.subf": "-", "arith.subi": "-",
    "arith.mulf": "*", "arith.muli": "*", "arith.divf": "/",
}
FUNCTIONS = {
    "arith.maximumf": "max", "arith.maxnumf": "max", "arith.maxsi": "max",
    "arith.minimumf": "min", "arith.minnumf": "min", "arith.minsi": "min",
    "math.exp": "exp", "math.sqrt": "sqrt", "math.absf": "abs", "math.absi": "abs",
    "math.tanh": "tanh", "math.log": "log", "math.erf": "erf", "math.sin": "sin",
    "math.cos": "cos", "math.floor": "floor", "math.ceil": "ceil", "math.roundeven": "round",
    "math.powf": "pow",
}
NEGATION = "arith.negf"
SELECT = "arith.select"
TRUTHS = frozenset({"arith.andi", "arith.ori", "arith.xori"})
WIDENING = frozenset({"arith.extf", "arith.extsi"})
NARROWING = frozenset({"arith.truncf", "arith.trunci"})
SIGNED = frozenset({"arith.sitofp", "arith.extsi"})
CONVERSIONS = frozenset({"arith.sitofp", "arith.uitofp", "arith.extui", "arith.index_cast"})
COMPOSED = {"math.rsqrt": "1 / sqrt(x0)", "math.fma": "x0 * x1 + x2"}
"""Operations that are several of LAIR, on their operands x0, x1, ..."""

ELEMENTWISE = frozenset({
    *OPERATORS, *FUNCTIONS, *COMPOSED, *TRUTHS, *WIDENING, *NARROWING, *CONVERSIONS, NEGATION,
    SELECT, CmpfOp.name, CmpiOp.name,
})
CAST = "cast it: arith.index_cast, then arith.sitofp"
HINT = (
    "a body has arithmetic, comparisons, arith.select and "
    f"{', '.join(sorted(set(FUNCTIONS.values())))}"
)

# --- Bodies of structured operations --------------------------------------------------------------

class KernelBody:
    """The values of a block as expressions of elements, each with a label.

    `elements` has the element that an instance reads, by label. `at` is the element at which
    tensors that are no operands are read; None forbids it. `growing` are the labels of reduced
    elements.
    """

    def __init__(
        self, draft: KernelDraft, owner: Operation, loops: Loops, at: Sequence[str] | None = None
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
        """Bind an argument of the block to an element of a value, and return its label.

        A truth is bound to the comparison of its elements.
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
        """Return the label of an element: its volume, with a number if that has several."""
        label, number = name, 1
        while label in self.elements:
            number += 1
            label = f"{name}_{number}"
        self.elements[label] = element
        return label

    def _element(self, name: str, element: str) -> Expr:
        """Return the reference to an element that is no operand; repeated reads share one."""
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
        """Return the expression of an operation's result.

        Raises UserError for operations of MLIR that LAIR does not have.
        """
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
            one, none = (NumberSyntax(value=k, span=self._span) for k in (1, 0))
            return self._chosen(where, (one, none), operation)
        if name == SELECT:
            return self._selected(operation)
        return self._computed(operation, [self.value(each) for each in operands])

    def _selected(self, operation: Operation) -> Expr:
        """Return one of two values; of two reductions, the reduction of one of their values."""
        truth, *rest = operation.operands
        where = self._positions.where(truth)
        # The left one first: a constant becomes an operation and an input when it is met (_branch),
        # and operations.yaml has these in the order in which they were added.
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
            if isinstance(each, NumberSyntax) and math.isinf(each.value):
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
            return CallSyntax(function=FUNCTIONS[name], arguments=tuple(operands), span=span)
        if name == NEGATION:
            return Unary(op="-", operand=operands[0], span=span)
        if name in COMPOSED:
            known = {f"x{k}": each for k, each in enumerate(operands)}

            def operand(leaf: Expr) -> Expr:
                return known[leaf.tensor] if isinstance(leaf, AccessSyntax) else leaf

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
        if operation.name != "arith.sitofp" or not isinstance(self.value(source), ReferenceSyntax):
            hint = "convert signed integers to floats, in an operation of its own"
            raise self._draft.error(operation, f"{operation.name} within a body", hint)
        return self.value(source)

    def _chosen(self, where: str, values: tuple[Expr, Expr], operation: Operation) -> Expr:
        """Return the element of a choice between two values by a condition on indices."""
        if any(mentions(each, label) for each in values for label in self.growing):
            hint = "select between the result's own element and that with a value added"
            raise self._draft.error(operation, "what is reduced is selected", hint)
        element = self._positions.chosen(where, values, self.elements, operation)
        return self._element(element.partition("[")[0], element)

    def _branch(self, value: SSAValue) -> Expr:
        """Return the expression of a value that indices choose; a constant is an operand here."""
        if not isinstance(value.owner, ConstantOp):
            return self.value(value)
        if not self._draft.is_volume(value):
            constant(self._draft, value.owner)
        return self._volume(value)

    def _check_last(self, operation: Operation) -> None:
        """Raise UserError for intermediate rounding; only results may be rounded."""
        users = [use.operation for use in operation.results[0].uses]
        if any(user.name in ELEMENTWISE for user in users) and not self._draft.is_volume(
            operation.results[0]
        ):
            hint = "round in an operation of its own"
            raise self._draft.error(operation, f"{operation.name} within a body", hint)

    def _reference(self, label: str) -> ReferenceSyntax:
        return ReferenceSyntax(name=label, indices=(), span=self._span)

    def _number(self, owner: ConstantOp) -> NumberSyntax:
        assert isinstance(owner.value, FloatAttr | IntegerAttr)
        found = read_number(owner.value)
        if not math.isfinite(found):
            raise self._draft.error(owner, f"a body has no {found}")
        return NumberSyntax(
            value=abs(found) if owner.result.type == TRUTH else found, span=self._span
        )


def _loop_indices(draft: KernelDraft, owner: Operation, loops: Loops) -> dict[int, str]:
    """Return the loop of each linalg.index in an operation. Raises UserError for others."""
    found = {}
    for each in owner.walk():
        if isinstance(each, IndexOp):
            check_index(draft, each, len(loops.names))
            found[id(each.result)] = loops.names[each.dim.value.data]
    return found


def check_defined(draft: KernelDraft, operation: Operation, value: SSAValue) -> None:
    """Raise UserError for elements without values."""
    if isinstance(value.owner, EmptyOp):
        hint = "linalg.fill gives them values"
        name = draft.volume(value)
        raise draft.error(operation, f"the elements of {name} are read and have no values", hint)
