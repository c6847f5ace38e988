"""Parse MLIR text with xDSL, and remember where every operation stands and what values are called.

xDSL's own messages are kept, with our places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects import affine, builtin, func, math, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span as XdslSpan
from xdsl.utils.mlir_lexer import MLIRTokenKind

from lairmake.stages.diagnose import Source, Span, UserError, nearest
from lairmake.stages.kernel.mlir.comparisons import ARITH
from lairmake.stages.kernel.mlir.structured import LINALG
from lairmake.stages.kernel.mlir.syntax import show_form

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
        """Return where an operation stands; for those that the text does not spell, the whole
        they are part of."""
        found: Operation | None = operation
        while found is not None and id(found) not in self.spans:
            found = found.parent_op()
        return self.spans[id(found)] if found is not None else _whole(self.source)


class _Parser(Parser):
    """xDSL's parser; it notes names and places."""

    def __init__(self, context: Context, source: Source) -> None:
        super().__init__(context, source.text, source.path)
        self._source = source
        self.names: dict[int, str] = {}
        self.spans: dict[int, Span] = {}
        self.begun: list[int] = []

    def parse_operation(self) -> Operation:
        """Return the next operation, and note where it stood."""
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
        """Return a list; types of several results may stand in parentheses, as MLIR prints them."""
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
    """Return the one function of a text. Raises UserError where xDSL refuses it, or has none."""
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
    """Return the parser of a text, which has looked at its first token. Raises UserError for none.
    """
    try:
        return _Parser(context, source)
    except ParseError as error:
        span = Span(source=source, start=error.span.start, end=error.span.start + 1)
        raise UserError(f"MLIR: {_said(error, source)}", span, WRAP) from error


def _said(error: ParseError, source: Source) -> str:
    """Return what xDSL says; of one message it leaves a character to be put in."""
    return error.msg.replace("{first_char}", source.text[error.span.start : error.span.start + 1])


def _check_strings(source: Source) -> None:
    """Raise UserError for a string that is not closed, for which xDSL takes time without end."""
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
    """Return the name of the operation that begins at a place; "" where there is none."""
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
    """Return which value may be meant by one that is not defined."""
    near = nearest(name[1:], parser.names.values())
    own = f"define it: `{name} = arith.constant 1.0 : f32`"
    return own if near is None else f"did you mean %{near}?"


def _nearest(name: str) -> str:
    """Return the operation of the same dialect with nearly this name, or what to write instead."""
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
