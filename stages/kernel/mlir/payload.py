"""Structured operations that are written with their bodies, long or short.

    linalg.map { arith.addf } ins(%a, %b : ...) outs(%e : ...)
    linalg.map ins(%a : ...) outs(%e : ...) (%u: f32) { ... linalg.yield %y : f32 }

Source   MLIR, dialect linalg: map, reduce
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i64
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser


class PayloadOp(IRDLOperation):
    """An operation on the elements of some inputs, and of outputs where it reduces."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    inputs = var_operand_def()
    outputs = var_operand_def()
    res = var_result_def()
    body = region_def("single_block")

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """Return the operation in its long or short form."""
        short = _short(parser)
        inputs, outputs = (_operands(parser, word) for word in ("ins", "outs"))
        properties = cls.parse_properties(parser)
        if short is None:
            arguments = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_argument
            )
            body = parser.parse_region(arguments)
        else:
            body = cls.whole(parser, short, inputs, outputs)
        return cls.build(
            operands=[inputs, outputs], result_types=[[each.type for each in outputs]],
            regions=[body], properties=properties,
        )

    @classmethod
    def parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        """Return what stands between operands and body."""
        return {}

    @staticmethod
    def arguments(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> list[SSAValue]:
        """Return of which values the body of a short form has an element each, in order."""
        return list(inputs)

    @classmethod
    def whole(
        cls, parser: Parser, short: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Region:
        """Return the body that the name of its one operation stands for."""
        kinds = [read_element_type(each) for each in (*inputs, *outputs)]
        block = Block(arg_types=kinds[: len(cls.arguments(inputs, outputs))])
        found = parser.ctx.get_optional_op(short)
        if found is None:
            parser.raise_error(f"Operation {short} is not registered")
        made = found.create(operands=block.args, result_types=[read_element_type(outputs[0])])
        block.add_ops([made, YieldOp(made)])
        return Region(block)


def _short(parser: Parser) -> str | None:
    """Return the name in `{ name }`; None where there is none."""
    if parser.parse_optional_punctuation("{") is None:
        return None
    name = parser.parse_identifier()
    parser.parse_optional_attr_dict()
    parser.parse_punctuation("}")
    return name


def _operands(parser: Parser, word: str) -> Sequence[SSAValue]:
    """Return the operands in `word(%a, %b : type, type)`; none where the word is not there."""
    if parser.parse_optional_keyword(word) is None:
        return []
    parser.parse_punctuation("(")
    none = parser.Delimiter.NONE
    names = parser.parse_comma_separated_list(none, parser.parse_unresolved_operand)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(none, parser.parse_type)
    parser.parse_punctuation(")")
    return parser.resolve_operands(names, types, parser.pos)


def read_element_type(value: SSAValue) -> Attribute:
    """Return the type of a scalar, or of the elements of a tensor."""
    return value.type.get_element_type() if isinstance(value.type, TensorType) else value.type


@irdl_op_definition
class MapOp(PayloadOp):
    """A function of the elements at one place of several tensors."""

    name = "linalg.map"


@irdl_op_definition
class ReduceOp(PayloadOp):
    """A reduction of some dimensions: the body has an element of each input, then of outputs."""

    name = "linalg.reduce"
    dimensions = prop_def(DenseArrayBase.constr(i64))

    @classmethod
    def parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        """Return the dimensions that are gone."""
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        square = parser.Delimiter.SQUARE
        gone = parser.parse_comma_separated_list(square, parser.parse_integer)
        return {"dimensions": DenseArrayBase.from_list(i64, gone)}

    @staticmethod
    def arguments(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> list[SSAValue]:
        """Return inputs and outputs."""
        return [*inputs, *outputs]
