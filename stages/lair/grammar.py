"""Parser of LAIR: text to tree."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedToken, v_args
from lark.tree import Meta

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair import tree
from lairmake.stages.lair.slips import (
    check_comments,
    describe_split,
    elsewhere,
    explain_comment,
    find_open,
    name_character,
    suggest,
    suggest_for_character,
)
from lairmake.stages.shipped import compiled

# --- Builder of the syntax tree -------------------------------------------------------------------
#
# It makes the tree of stages/lair/tree.py from the parser's: one method per rule of lair.lark.

MOST_DIGITS = 300
"""Digits of a number that is too large for any size and any type."""


@v_args(meta=True)
class Builder(Transformer[Token, Any]):
    """Every method takes what its rule holds, punctuation and keywords left out."""

    def __init__(self, source: Source) -> None:
        """Build trees whose spans lie in `source`."""
        super().__init__()
        self._source = source

    def _at(self, where: Token | Meta) -> Span:
        start, end = where.start_pos or 0, where.end_pos or 0
        return Span(source=self._source, start=start, end=end)

    def file(self, meta: Meta, children: list[Any]) -> tree.FileSyntax:
        """Definitions."""
        return tree.FileSyntax(definitions=tuple(children), span=self._at(meta))

    def lair(self, meta: Meta, children: list[Any]) -> tree.NodeSyntax:
        """Name, type parameters, size parameters, inputs, outputs, own tensors, statements."""
        own = children[5] or ()
        return tree.NodeSyntax(**self._head(children), own=own, statements=tuple(children[6:]))

    def graph(self, meta: Meta, children: list[Any]) -> tree.GraphSyntax:
        """Name, type parameters, size parameters, inputs, outputs, calls."""
        return tree.GraphSyntax(**self._head(children), calls=tuple(children[5:]))

    def _head(self, children: list[Any]) -> dict[str, Any]:
        name, types, sizes, inputs, outputs = children[:5]
        return {
            "name": str(name),
            "type_params": types,
            "size_params": sizes,
            "inputs": inputs,
            "outputs": outputs,
            "span": self._at(name),
        }

    def _all(self, meta: Meta, children: list[Any]) -> tuple[Any, ...]:
        """Return the items of a list; where an optional list is absent, the parser has None."""
        return tuple(child for child in children if child is not None)

    type_params = size_params = tensors = exprs = counts = references = _all

    def names(self, meta: Meta, children: list[Any]) -> tuple[tree.NameSyntax, ...]:
        """Names that are introduced."""
        return tuple(tree.NameSyntax(name=str(name), span=self._at(name)) for name in children)

    def types(self, meta: Meta, children: list[Any]) -> tuple[tree.NameSyntax, ...]:
        """Type arguments of a call."""
        return self.names(meta, list(self._all(meta, children)))

    def type_param(self, meta: Meta, children: list[Any]) -> tree.TypeParam:
        """Name, default."""
        name, default = children
        return tree.TypeParam(
            name=str(name), default=str(default), default_span=self._at(default),
            span=self._at(name),
        )

    def size_param(self, meta: Meta, children: list[Any]) -> tree.SizeParam:
        """Name, default or None."""
        name, default = children
        value = None if default is None else int(default[:MOST_DIGITS])
        return tree.SizeParam(name=str(name), default=value, span=self._at(name))

    def tensor(self, meta: Meta, children: list[Any]) -> tree.TensorSyntax:
        """Type, name, sizes."""
        type_, name, *sizes = children
        return tree.TensorSyntax(
            name=str(name), type=str(type_), sizes=tuple(sizes),
            type_span=self._at(type_), span=self._at(name),
        )

    def statement(self, meta: Meta, children: list[Any]) -> tree.StatementSyntax:
        """Iterators, sizes, conditions or None, target, operator, expression."""
        iterators, sizes, conditions, target, op, expr = children
        return tree.StatementSyntax(
            iterators=iterators, sizes=sizes, conditions=conditions or (), target=target, op=op,
            expr=expr, span=self._at(meta),
        )

    def conditions(self, meta: Meta, children: list[Any]) -> tuple[tree.ComparisonSyntax, ...]:
        """Comparisons, each a chain."""
        return tuple(each for chain in children for each in chain)

    def comparison(self, meta: Meta, children: list[Any]) -> list[tree.ComparisonSyntax]:
        """Numbers with relations between them; two that are compared are a condition."""
        ends = zip(children[::2], children[1::2], children[2::2], strict=False)
        return [
            tree.ComparisonSyntax(
                op=op, left=left, right=right,
                span=Span(source=self._source, start=left.span.start, end=right.span.end),
            )
            for left, op, right in ends
        ]

    def relation(self, meta: Meta, children: list[Any]) -> str:
        """A relation; of equality, `==` is another spelling."""
        return "=" if children[0] == "==" else str(children[0])

    def op(self, meta: Meta, children: list[Any]) -> str:
        """An operator of a statement."""
        return str(children[0])

    def node_call(self, meta: Meta, children: list[Any]) -> tree.NodeCall:
        """Results, node, types, then sizes and arguments, or arguments alone."""
        results, node, types, first, second = children
        return tree.NodeCall(
            results=results, node=str(node), types=types,
            sizes=() if second is None else first or (),
            arguments=(first or ()) if second is None else second,
            node_span=self._at(node), span=self._at(meta),
        )

    def reference(self, meta: Meta, children: list[Any]) -> tree.ReferenceSyntax:
        """Name, indices."""
        name, *indices = children
        return tree.ReferenceSyntax(name=str(name), indices=tuple(indices), span=self._at(meta))

    def number(self, meta: Meta, children: list[Any]) -> tree.NumberSyntax:
        """A literal."""
        text = str(children[0])
        value = int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else float(text)
        return tree.NumberSyntax(value=value, span=self._at(meta))

    def unary(self, meta: Meta, children: list[Any]) -> tree.Unary:
        """Operator, operand."""
        return tree.Unary(op=str(children[0]), operand=children[1], span=self._at(meta))

    def binary(self, meta: Meta, children: list[Any]) -> tree.Binary:
        """Left operand, operator, right operand."""
        left, op, right = children
        return tree.Binary(op=str(op), left=left, right=right, span=self._at(meta))

    def call(self, meta: Meta, children: list[Any]) -> tree.CallSyntax:
        """Function, arguments."""
        function, arguments = children
        return tree.CallSyntax(function=str(function), arguments=arguments, span=self._at(meta))

# --- Parser of LAIR -------------------------------------------------------------------------------
#
# Source   V Sec. 4.1.1; the grammar is lair.lark

DATA = ("lair.lark",)
_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "INT": "an integer",
    "$END": "the end of the file",
    "_WHERE": "`where`",
}

@lru_cache
def parse_lair(source: Source) -> tree.FileSyntax:
    """Return the tree of a LAIR file, for which several stages ask.

    Raises UserErrors with one syntax error if it is not LAIR.
    """
    file: tree.FileSyntax = _parse(source, "file")
    check_comments(file)
    return file


def parse_expression(text: str) -> tree.Expr:
    """Return an expression as `write_expression` writes it: names are accesses without rows.

    Raises UserErrors if the text is no expression.
    """
    expr: tree.Expr = _parse(Source(path="expression", text=text), "expr")
    return tree.rewrite(expr, _as_access)


def _as_access(leaf: tree.Expr) -> tree.Expr:
    if isinstance(leaf, tree.ReferenceSyntax):
        return tree.AccessSyntax(tensor=leaf.name, rows=(), span=leaf.span)
    return leaf


@cache
def _parser() -> Lark:
    """Return the parser; its tables are kept beside the byte code of this module."""
    file = Path(__file__).with_name("lair.lark")
    tables = not sys.dont_write_bytecode and str(compiled(file.parent) / f"{file.name}.tables")
    return Lark(
        file.read_text(encoding="utf-8"), parser="lalr", start=["file", "expr"],
        propagate_positions=True, cache=tables,
    )


def _parse(source: Source, start: str) -> Any:
    try:
        return Builder(source).transform(_parser().parse(source.text, start=start))
    except UnexpectedToken as error:
        raise UserErrors([_unexpected_token(source, error)]) from None
    except UnexpectedCharacters as error:
        raise UserErrors([_unexpected_character(source, error)]) from None
    except RecursionError:
        raise UserErrors([_too_deep(source)]) from None


def _unexpected_token(source: Source, error: UnexpectedToken) -> UserError:
    token = error.token
    expected = _alternatives(error.accepts or error.expected)
    if token.type == "$END":
        end = len(source.text.rstrip())
        span, found, said = _at(source, end, end), "", "the end of the file"
    else:
        span = _at(source, token.start_pos or 0, token.end_pos or 0)
        found, said = str(token), f"`{token}`"
    before = explain_comment(source, span.start)
    if before is not None:
        return before
    hint = suggest(source.text, span.start, found, expected) or elsewhere(found)
    return UserError(f"found {said}, expected {expected}", span, hint)


def _unexpected_character(source: Source, error: UnexpectedCharacters) -> UserError:
    start = error.pos_in_stream or 0
    found = source.text[start]
    message = f"found {name_character(found)}, which is no part of LAIR"
    hint = suggest_for_character(found)
    bracket = find_open(source.text[:start])
    if found == "%" and bracket is not None and source.text[bracket] == "[":
        hint = describe_split(source.text[bracket + 1 : start], "mod")
    return UserError(message, _at(source, start, start + 1), hint)


def _too_deep(source: Source) -> UserError:
    return UserError("an expression is nested too deeply", _at(source, 0, 0), "write it flatter")


def _at(source: Source, start: int, end: int) -> Span:
    return Span(source=source, start=start, end=end)


def _alternatives(terminals: Iterable[str]) -> str:
    words = sorted(_word(terminal) for terminal in set(terminals))
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _word(terminal: str) -> str:
    """Return how a person calls a terminal."""
    if terminal in _WORDS:
        return _WORDS[terminal]
    pattern = _parser().get_terminal(terminal).pattern.value
    return f"`{pattern.removesuffix(chr(92) + 'b')}`"
