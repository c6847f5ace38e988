"""Operations that xDSL lacks, as tables, and the parser of MLIR text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import affine, builtin, func, math, tensor
from xdsl.dialects.arith import (
    AddfOp,
    AddiOp,
    DivfOp,
    ExtFOp,
    ExtSIOp,
    MaximumfOp,
    MaxSIOp,
    MinimumfOp,
    MinSIOp,
    MulfOp,
    MuliOp,
    NegfOp,
)
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntElementsAttr,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.dialects.linalg import Linalg
from xdsl.dialects.linalg.abstract_ops import ElementwiseOperation, NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.dialects.math import AbsFOp, AbsIOp, RsqrtOp, TanhOp
from xdsl.ir import Attribute, Block, BlockArgument, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span as XdslSpan
from xdsl.utils.mlir_lexer import MLIRTokenKind

from lairmake.stages.diagnose import Source, Span, UserError, nearest
from lairmake.stages.kernel.mlir.comparisons import ARITH
from lairmake.stages.kernel.mlir.syntax import show_form

# --- Operations with bodies, long or short --------------------------------------------------------
#
#     linalg.map { arith.addf } ins(%a, %b : ...) outs(%e : ...)
#     linalg.map ins(%a : ...) outs(%e : ...) (%u: f32) { ... linalg.yield %y : f32 }
#
# Source   MLIR, dialect linalg: map, reduce

class PayloadOp(IRDLOperation):
    """An operation on the elements of some inputs, and of outputs that it reduces."""

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
        """Return the properties between operands and body."""
        return {}

    @staticmethod
    def arguments(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the values of which the body of a short form has an element each, in order."""
        return list(inputs)

    @classmethod
    def whole(
        cls, parser: Parser, short: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> Region:
        """Return the body with one operation, from its name in the short form."""
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
    """Return the operands in `word(%a, %b : type, type)`; none without that word."""
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
        """Return the reduced dimensions."""
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        square = parser.Delimiter.SQUARE
        gone = parser.parse_comma_separated_list(square, parser.parse_integer)
        return {"dimensions": DenseArrayBase.from_list(i64, gone)}

    @staticmethod
    def arguments(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> list[SSAValue]:
        """Return inputs and outputs."""
        return [*inputs, *outputs]

# --- Structured operations that xDSL lacks --------------------------------------------------------
#
# Source   MLIR, dialect linalg: the indexing maps of its named operations

SUMS: Mapping[str, str] = {
    "matmul_transpose_a": "ki,kj->ij", "matmul_transpose_b": "ik,jk->ij",
    "vecmat": "k,kj->j", "matvec": "ik,k->i", "dot": "k,k->",
    "batch_matmul": "bik,bkj->bij", "batch_matmul_transpose_a": "bki,bkj->bij",
    "batch_matmul_transpose_b": "bik,bjk->bij", "batch_reduce_matmul": "bik,bkj->ij",
    "batch_matvec": "bik,bk->bi", "batch_vecmat": "bk,bkj->bj",
    "conv_1d": "X,w->x", "conv_2d": "YX,hw->yx", "conv_3d": "ZYX,dhw->zyx",
    "conv_1d_nwc_wcf": "nXc,wcf->nxf", "conv_1d_ncw_fcw": "ncX,fcw->nfx",
    "conv_2d_nchw_fchw": "ncYX,fchw->nfyx", "conv_2d_nhwc_hwcf": "nYXc,hwcf->nyxf",
    "conv_2d_nhwc_fhwc": "nYXc,fhwc->nyxf", "conv_2d_ngchw_fgchw": "ngcYX,fgchw->ngfyx",
    "conv_2d_ngchw_gfchw": "ngcYX,gfchw->ngfyx", "conv_2d_nhwgc_gfhwc": "nYXgc,gfhwc->nyxgf",
    "conv_3d_ndhwc_dhwcf": "nZYXc,dhwcf->nzyxf", "conv_3d_ncdhw_fcdhw": "ncZYX,fcdhw->nfzyx",
    "depthwise_conv_1d_nwc_wc": "nXc,wc->nxc", "depthwise_conv_1d_ncw_cw": "ncX,cw->ncx",
    "depthwise_conv_2d_nhwc_hwc": "nYXc,hwc->nyxc", "depthwise_conv_2d_nchw_chw": "ncYX,chw->ncyx",
    "depthwise_conv_2d_nhwc_hwcm": "nYXc,hwcm->nyxcm",
}
"""Sums of products, by the indices of both operands and of the result.

A capital is an index into a window: X is x times its stride, plus w times its dilation.
"""

WINDOWS: Mapping[str, str] = {
    "nwc": "nXc,w->nxc", "ncw": "ncX,w->ncx", "nhwc": "nYXc,hw->nyxc", "nchw": "ncYX,hw->ncyx",
    "ndhwc": "nZYXc,dhw->nzyxc",
}
"""Poolings in the same notation; the elements of their windows are not read."""

INNER = {"X": "w", "Y": "h", "Z": "d"}
Combine = tuple[Callable[..., Operation], Callable[..., Operation]]
ADD: Combine = (AddfOp, AddiOp)
MULTIPLY: Combine = (MulfOp, MuliOp)
POOLINGS: Mapping[str, Combine] = {
    "sum": ADD, "max": (MaximumfOp, MaxSIOp), "min": (MinimumfOp, MinSIOp),
}


class IndexedOp(NamedOperation):
    """A reduction over two operands, with the accesses in INDICES."""

    PRINT_ATTRS_IN_FRONT: ClassVar[bool] = True
    INDICES: ClassVar[str]
    strides = opt_prop_def(DenseIntElementsAttr)
    dilations = opt_prop_def(DenseIntElementsAttr)

    def _loops(self) -> str:
        """Return the loops: those of the result, then the reduced ones."""
        operands, _, result = self.INDICES.partition("->")
        inner = (INNER.get(each, each) for each in operands if each != ",")
        return "".join(dict.fromkeys([*result, *(x for x in inner if x not in result)]))

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """Return the types of loops: parallel or reduced."""
        kept = len(self.INDICES.partition("->")[2])
        parallel = [IteratorTypeAttr.parallel()] * kept
        return ArrayAttr([*parallel] + [IteratorTypeAttr.reduction()] * (len(self._loops()) - kept))

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        """Return the elements of operands and result that an instance uses, as maps."""
        loops = self._loops()
        at = {each: AffineExpr.dimension(k) for k, each in enumerate(loops)}
        windows = [each for each in self.INDICES if each in INNER]
        for each, stride, step in zip(windows, *self._steps(len(windows)), strict=True):
            at[each] = at[each.lower()] * stride + at[INNER[each]] * step
        texts = self.INDICES.replace("->", ",").split(",")
        return [AffineMap(len(loops), 0, tuple(at[each] for each in text)) for text in texts]

    def _steps(self, count: int) -> list[Sequence[int]]:
        given = (self.strides, self.dilations)
        return [[1] * count if each is None else each.get_values() for each in given]


class ProductOp(IndexedOp):
    """A sum of products of elements of two operands."""

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """Return the body: the product, in the type of the result, added to it."""
        kinds = cls.body_arg_types((*inputs, *outputs))

        @Builder.implicit_region(kinds)
        def region(args: tuple[BlockArgument, ...]) -> None:
            both = [_widened(each, args[2]) for each in args[:2]]
            YieldOp(_applied(ADD, args[2], _applied(MULTIPLY, *both)))

        return region


class WindowOp(IndexedOp):
    """A reduction over a window; the window's own elements are not read."""

    COMBINE: ClassVar[Combine]

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """Return the body: an element of the input, and the output so far."""
        kinds = cls.body_arg_types((*inputs, *outputs))

        @Builder.implicit_region(kinds)
        def region(args: tuple[BlockArgument, ...]) -> None:
            YieldOp(_applied(cls.COMBINE, args[0], args[2]))

        return region


class FunctionOp(ElementwiseOperation):
    """A function of elements."""

    FUNCTION: ClassVar[Callable[..., Operation]]

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """Return the body: the function of an element of each input."""
        kinds = cls.body_arg_types((*inputs, *outputs))

        @Builder.implicit_region(kinds)
        def region(args: tuple[BlockArgument, ...]) -> None:
            YieldOp(cls.FUNCTION(*args[: len(inputs)]))

        return region


def _applied(combine: Combine, left: Any, right: Any) -> Operation:
    """Return the operation on floats, or the one on integers."""
    return combine[not isinstance(SSAValue.get(left).type, AnyFloat)](left, right)


def _widened(value: SSAValue, to: SSAValue) -> Any:
    """Return a value in the type of another one."""
    if value.type == to.type:
        return value
    type_: Any = to.type
    return (ExtFOp if isinstance(type_, AnyFloat) else ExtSIOp)(value, type_)


def _square(value: SSAValue) -> Operation:
    return _applied(MULTIPLY, value, value)


def _absolute(value: SSAValue) -> Operation:
    return (AbsFOp if isinstance(value.type, AnyFloat) else AbsIOp)(value)


ELEMENTWISE: Mapping[str, Callable[..., Operation]] = {
    "div": DivfOp, "negf": NegfOp, "abs": _absolute, "tanh": TanhOp, "square": _square,
    "rsqrt": RsqrtOp,
}
"""Functions of elements."""


def _define_operation(base: type[Operation], name: str, **members: Any) -> type[Operation]:
    """Return the operation of a name, with further members of its class."""
    constants = dict.fromkeys(members, ClassVar[Any])
    body = {"name": f"linalg.{name}", "__annotations__": constants, **members}
    return irdl_op_definition(type(f"{name.title().replace('_', '')}Op", (base,), body))


OURS: tuple[type[Operation], ...] = (
    *(_define_operation(ProductOp, name, INDICES=text) for name, text in SUMS.items()),
    *(_define_operation(WindowOp, f"pooling_{name}_{kind}", INDICES=text, COMBINE=combine)
      for name, text in WINDOWS.items() for kind, combine in POOLINGS.items()),
    *(_define_operation(FunctionOp, name, FUNCTION=staticmethod(function))
      for name, function in ELEMENTWISE.items()),
    MapOp, ReduceOp,
)
THEIRS = [op for op in Linalg.operations if op.name not in {own.name for own in OURS}]
LINALG = Dialect("linalg", [*THEIRS, *OURS], list(Linalg.attributes))
"""xDSL's dialect with these operations."""

# --- Parser with names and places -----------------------------------------------------------------
#
# xDSL's own messages are kept, with places of this compiler.

DIALECTS = (
    affine.Affine, ARITH, builtin.Builtin, func.Func, LINALG, math.Math,
    tensor.Tensor,
)
T = TypeVar("T")
STRINGS = re.compile(r'//[^\n]*|"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"|"')
CLOSED = 'a string is "parallel": on one line, with \\ only before \", n, t, \\ and two hex digits'
BEGUN = re.compile(r'(?:%[^=\n]*=\s*)?"?((?:[a-z]\w*\.)?[a-z]\w*)')
UNKNOWN = re.compile(r"Operation (\S+) is not registered")
MISSING = re.compile(r"not defined: \[(%[^],]+)")
NAMES = sorted(each.name for dialect in DIALECTS for each in dialect.operations)
WRAP = "wrap the kernel: `func.func @name(%x: tensor<8xf32>) -> ... { ... }`"
OLD_NAMES = {"maxf": "maximumf", "minf": "minimumf"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A function in MLIR: `names` of values and `spans` of operations, by their identities."""

    source: Source
    function: func.FuncOp
    names: dict[int, str]
    spans: dict[int, Span]

    def span(self, operation: Operation) -> Span:
        """Return the place of an operation; without text, that of the operation around it."""
        found: Operation | None = operation
        while found is not None and id(found) not in self.spans:
            found = found.parent_op()
        return self.spans[id(found)] if found is not None else _whole(self.source)


class _Parser(Parser):
    """xDSL's parser, which notes names and places."""

    def __init__(self, context: Context, source: Source) -> None:
        super().__init__(context, source.text, source.path)
        self._source = source
        self.names: dict[int, str] = {}
        self.spans: dict[int, Span] = {}
        self.begun: list[int] = []

    def parse_operation(self) -> Operation:
        """Return the next operation, and note its place."""
        start = self._current_token.span.start
        self.begun.append(start)
        operation = super().parse_operation()
        self.begun.pop()
        end = start + len(self._source.text[start : self.pos].rstrip())
        self.spans[id(operation)] = Span(source=self._source, start=start, end=end)
        return operation

    def parse_comma_separated_list(
        self, delimiter: Parser.Delimiter, parse: Callable[[], T], context_msg: str = ""
    ) -> list[T]:
        """Return a list; types of several results may be in parentheses, as MLIR has them."""
        is_open = self._current_token.kind is MLIRTokenKind.L_PAREN
        if delimiter is self.Delimiter.NONE and parse == self.parse_attribute and is_open:
            delimiter = self.Delimiter.PAREN
        return super().parse_comma_separated_list(delimiter, parse, context_msg)

    def _register_ssa_definition(
        self, name: str, values: Sequence[SSAValue], span: XdslSpan[str]
    ) -> None:
        super()._register_ssa_definition(name, values, span)
        for number, value in enumerate(values):
            self.names[id(value)] = name if len(values) == 1 else f"{name}_{number}"


def parse_text(source: Source) -> Text:
    """Return the one function of a text. Raises UserError for a text without one, or malformed."""
    context = Context()
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    _check_strings(source)
    module = _parsed(parser := _begun(context, source), source)
    functions = [op for op in module.body.ops if isinstance(op, func.FuncOp)]
    bodies = [op for op in functions if not op.is_declaration]
    if len(bodies) > 1:
        hint = "a kernel is one function: put the others into files of their own"
        message = f"{bodies[1].sym_name.data} is function 2 of {len(bodies)} in this file"
        raise UserError(message, _first_line(parser.spans[id(bodies[1])]), hint)
    if not bodies:
        raise _without_function(source)
    if len(bodies[0].body.blocks) > 1:
        hint = "a kernel goes straight on: `linalg.generic` loops, `arith.select` chooses"
        message = f"{bodies[0].sym_name.data} has {len(bodies[0].body.blocks)} blocks"
        raise UserError(message, _first_line(parser.spans[id(bodies[0])]), hint)
    return Text(source=source, function=bodies[0], names=parser.names, spans=parser.spans)


def _begun(context: Context, source: Source) -> _Parser:
    """Return the parser of a text at its first token. Raises UserError for a malformed token."""
    try:
        return _Parser(context, source)
    except ParseError as error:
        span = Span(source=source, start=error.span.start, end=error.span.start + 1)
        raise UserError(f"MLIR: {_said(error, source)}", span, WRAP) from error


def _said(error: ParseError, source: Source) -> str:
    """Return the message of xDSL, with the character that one of its messages leaves out."""
    return error.msg.replace("{first_char}", source.text[error.span.start : error.span.start + 1])


def _check_strings(source: Source) -> None:
    """Raise UserError for an unclosed string, on which xDSL would take unlimited time."""
    for found in STRINGS.finditer(source.text):
        if found[0] == '"':
            line = source.text[found.start() :].partition("\n")[0]
            span = Span(source=source, start=found.start(), end=found.start() + len(line))
            raise UserError("MLIR: a string that is not closed", span, CLOSED)


def _parsed(parser: _Parser, source: Source) -> ModuleOp:
    try:
        return parser.parse_module()
    except ParseError as error:
        start, end = error.span.start, max(error.span.end, error.span.start + 1)
        unknown, missing = UNKNOWN.fullmatch(error.msg), MISSING.search(error.msg)
        if unknown:  # xDSL points at what comes after the name
            start = source.text.rfind(unknown[1], 0, start)
            end = start + len(unknown[1])
        elif missing and (use := re.search(rf"{re.escape(missing[1])}\b", source.text)):
            start, end = use.span()
        elif not source.text[start:].strip():
            raise _ended(parser, source) from error
        span = Span(source=source, start=start, end=end)
        raise _refused(_said(error, source), span, parser) from error
    except Exception as error:  # xDSL stumbles over what it takes for granted
        start = parser.begun[-1] if parser.begun else 0
        length = len(source.text[start:].partition("\n")[0])
        span = Span(source=source, start=start, end=start + length)
        name = _name_at(source, start)
        raise UserError(f"MLIR: {name or 'this'} is written in another way", span,
                        show_form(name) or WRAP) from error


def _ended(parser: _Parser, source: Source) -> UserError:
    """Return the error for a text that ends too early: within an operation, or without any."""
    if not parser.begun:
        return _without_function(source)
    start = parser.begun[-1]
    begun = _first_line(Span(source=source, start=start, end=len(source.text)))
    return UserError("MLIR: the text ends within this operation", begun, "close each `{` and `(`")


def _without_function(source: Source) -> UserError:
    return UserError(f"{source.path} holds no function with a body", _whole(source), WRAP)


def _name_at(source: Source, start: int) -> str:
    """Return the name of the operation at a place; "" if there is none."""
    found = BEGUN.match(source.text, start)
    return found[1] if found is not None else ""


def _refused(said: str, span: Span, parser: _Parser) -> UserError:
    """Return the error that xDSL reported, with a remedy."""
    old = next((name for name in OLD_NAMES if f"arith.{name} " in said), None)
    name = _name_at(span.source, parser.begun[-1]) if parser.begun else ""
    hint = show_form(name) or WRAP
    if old is not None:
        hint = f"arith.{old} is called arith.{OLD_NAMES[old]} now"
    elif (unknown := UNKNOWN.fullmatch(said)) is not None:
        hint = _nearest(unknown[1])
    elif said == "Expected shape type.":
        hint = "a type is tensor<8x4xf32>: sizes, then a type, as f16 or i32"
    elif (missing := MISSING.search(said)) is not None:
        hint = _defined(missing[1], parser)
    elif span.source.text.lstrip().startswith("^"):
        hint = WRAP
    return UserError(f"MLIR: {said}", span, hint)


def _defined(name: str, parser: _Parser) -> str:
    """Return a hint for an undefined value: a similar name, or its definition."""
    near = nearest(name[1:], parser.names.values())
    own = f"define it: `{name} = arith.constant 1.0 : f32`"
    return own if near is None else f"did you mean %{near}?"


def _nearest(name: str) -> str:
    """Return a hint for an unknown operation: a similar one of the dialect, or another form."""
    dialect, _, own = name.partition(".")
    if not own:
        return "values begin with `%`: `%y = arith.addf %x, %x : tensor<8xf32>`"
    known = [each.partition(".")[2] for each in NAMES if each.startswith(f"{dialect}.")]
    near = nearest(own, known, cutoff=0.78)
    if near:
        return f"did you mean {dialect}.{near}?"
    is_arithmetic = dialect in ("arith", "math")
    return "write it with other arithmetic" if is_arithmetic else "write it as linalg.generic"


def _first_line(span: Span) -> Span:
    line = span.source.text[span.start : span.end].partition("\n")[0].rstrip()
    return Span(source=span.source, start=span.start, end=span.start + len(line))


def _whole(source: Source) -> Span:
    return Span(source=source, start=0, end=0)

# --- Definitions before uses ----------------------------------------------------------------------

HINT = "put the operation that defines it in front of this one"


def check_definitions(text: Text) -> None:
    """Raise UserError for an operation that uses a value which a later one, or itself, defines."""
    _check_block(text, text.function.body.block, set())


def _check_block(text: Text, block: Block, defined: set[int]) -> None:
    """Add the values that a block defines to `defined`, by identity; only the block names them."""
    defined.update(map(id, block.args))
    for operation in block.ops:
        for value in operation.operands:
            if id(value) not in defined:
                message = f"%{text.names[id(value)]} is used before it is defined"
                raise UserError(message, text.span(operation), HINT)
        for region in operation.regions:
            for inner in region.blocks:
                _check_block(text, inner, defined)
        defined.update(map(id, operation.results))
