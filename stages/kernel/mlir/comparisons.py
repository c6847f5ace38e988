"""Comparisons, selections and truths: of tensors, which xDSL lacks, and as LAIR expressions.

Source   MLIR, dialect arith: cmpf, cmpi, select, conversions
Differs  what selects the lesser or the greater of the two values that it compares is min or max,
         also where one of them is no number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xdsl.dialects.arith import (
    CMPF_COMPARISON_OPERATIONS,
    CMPI_COMPARISON_OPERATIONS,
    Arith,
)
from xdsl.dialects.builtin import IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.parser import Parser

from lairmake.stages.lair.tree import Binary, CallSyntax, Expr, NumberSyntax

TRUTH = IntegerType(1)
ORDERS = {
    "eq": ("equal", False), "lt": ("less", False), "le": ("less_equal", False),
    "gt": ("less", True), "ge": ("less_equal", True),
}
"""The function of LAIR for an order, and whether its operands are swapped."""

OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
SIGNS = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class CompareOp(IRDLOperation):
    """A comparison of scalars, or of tensors element by element."""

    predicate = prop_def(IntegerAttr)
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    @staticmethod
    def words() -> list[str]:
        """Return the words for predicates, in order."""
        raise AssertionError("a comparison has predicates")

    @property
    def word(self) -> str:
        """Return the predicate as MLIR spells it."""
        return self.words()[self.predicate.value.data]

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Return the operation of `predicate, lhs, rhs : type`."""
        word = parser.parse_identifier()
        if word not in cls.words():
            parser.raise_error(f"unknown predicate {word}")
        parser.parse_punctuation(",")
        left = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        right = parser.parse_unresolved_operand()
        parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        operands = parser.resolve_operands([left, right], 2 * [type_], parser.pos)
        number = IntegerAttr(cls.words().index(word), 64)
        return cls.create(
            operands=operands, result_types=[find_truth(type_)], properties={"predicate": number}
        )


def find_truth(type_: Attribute) -> Attribute:
    """Return the type of truths for values of a type, element by element."""
    if isinstance(type_, TensorType):
        return TensorType(TRUTH, type_.get_shape())
    return TRUTH


@irdl_op_definition
class CmpfOp(CompareOp):
    """A comparison of floats."""

    name = "arith.cmpf"

    @staticmethod
    def words() -> list[str]:
        """Return the words for predicates, in order."""
        return CMPF_COMPARISON_OPERATIONS


@irdl_op_definition
class CmpiOp(CompareOp):
    """A comparison of integers, or of indices."""

    name = "arith.cmpi"

    @staticmethod
    def words() -> list[str]:
        """Return the words for predicates, in order."""
        return CMPI_COMPARISON_OPERATIONS


@irdl_op_definition
class SelectOp(IRDLOperation):
    """One of two values, or of two tensors, whole or element by element."""

    name = "arith.select"

    cond = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    def __init__(self, cond: Any, lhs: Any, rhs: Any) -> None:
        """Take the operands; the result has the type of the second."""
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Return the operation of `cond, lhs, rhs : type`, or with the type of `cond` before it."""
        names = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(names) != 3 or len(types) > 2:
            parser.raise_error("a selection has three operands, and a type or two")
        cond = types[0] if len(types) == 2 else TRUTH
        return cls(*parser.resolve_operands(names, [cond, types[-1], types[-1]], parser.pos))


class ConvertOp(IRDLOperation):
    """A value, or every element of a tensor, in another type."""

    source = operand_def()
    result = result_def()
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"


@irdl_op_definition
class SIToFPOp(ConvertOp):
    """Signed integers as floats."""

    name = "arith.sitofp"


@irdl_op_definition
class UIToFPOp(ConvertOp):
    """Unsigned integers as floats."""

    name = "arith.uitofp"


@irdl_op_definition
class ExtUIOp(ConvertOp):
    """Unsigned integers as wider ones."""

    name = "arith.extui"


OURS: tuple[type[Operation], ...] = (CmpfOp, CmpiOp, SelectOp, SIToFPOp, UIToFPOp, ExtUIOp)
THEIRS = [op for op in Arith.operations if op.name not in {own.name for own in OURS}]
ARITH = Dialect("arith", [*THEIRS, *OURS], list(Arith.attributes))
"""xDSL's dialect with these operations."""


def compare(word: str, left: Expr, right: Expr) -> Expr:
    """Return a comparison as an expression of LAIR: 1 or 0.

    `word` is a predicate of cmpf, or a signed one of cmpi.
    """
    span = left.span
    if word in ("true", "false"):
        return NumberSyntax(value=int(word == "true"), span=span)
    if word in ("ord", "uno"):
        both = _both(_ordered("eq", left, left), _ordered("eq", right, right))
        return both if word == "ord" else negate(both)
    if word in ("one", "ueq"):
        apart = either(_ordered("lt", left, right), _ordered("gt", left, right))
        return apart if word == "one" else negate(apart)
    if word in ("ne", "une"):
        return negate(_ordered("eq", left, right))
    if word[0] == "u":
        return negate(_ordered(OPPOSITE[word[1:]], left, right))
    return _ordered(word[-2:], left, right)


def _ordered(order: str, left: Expr, right: Expr) -> Expr:
    function, swap = ORDERS[order]
    sides = (right, left) if swap else (left, right)
    return CallSyntax(function=function, arguments=sides, span=left.span)


def negate(truth: Expr) -> Expr:
    """Return 1 - truth; for 1 - x, return x."""
    match truth:
        case NumberSyntax():
            return replace(truth, value=1 - truth.value)
        case Binary(op="-", left=NumberSyntax(value=1)):
            return truth.right
    return Binary(op="-", left=NumberSyntax(value=1, span=truth.span), right=truth, span=truth.span)


def _both(left: Expr, right: Expr) -> Expr:
    return CallSyntax(function="min", arguments=(left, right), span=left.span)


def either(left: Expr, right: Expr) -> Expr:
    """Return the truth that holds if one of two holds."""
    return CallSyntax(function="max", arguments=(left, right), span=left.span)


def combine(name: str, left: Expr, right: Expr) -> Expr:
    """Return the truth of arith.andi, ori or xori of two truths."""
    if name == "arith.andi":
        return _both(left, right)
    if name == "arith.ori":
        return either(left, right)
    return negate(_ordered("eq", left, right))


def select(truth: Expr, left: Expr, right: Expr) -> Expr:
    """Return the left value where a truth is 1, else the right one; min or max if that is it."""
    match truth:
        case NumberSyntax():
            return left if truth.value else right
        case Binary(op="-", left=NumberSyntax(value=1)):
            return select(truth.right, right, left)
        case CallSyntax(function="less" | "less_equal", arguments=sides):
            if sides in ((left, right), (right, left)):
                function = "min" if sides == (left, right) else "max"
                return CallSyntax(function=function, arguments=(left, right), span=truth.span)
    return CallSyntax(function="select", arguments=(truth, left, right), span=truth.span)


def write_condition(word: str, left: str, right: str) -> str:
    """Return a comparison of two indices as a constraint of isl."""
    order, is_unsigned = (word, False) if word in SIGNS else (word[1:], word[0] == "u")
    plain = f"({left}) {SIGNS[order]} ({right})"
    if not is_unsigned:
        return f"({plain})"
    (low, high) = (left, right) if order[0] == "l" else (right, left)
    alike = f"(({left}) >= 0 and ({right}) >= 0) or (({left}) < 0 and ({right}) < 0)"
    return f"((({alike}) and {plain}) or (({low}) >= 0 and ({high}) < 0))"
