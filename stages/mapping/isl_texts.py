"""Isl texts inside YAML, errors with places."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from dataclasses import dataclass, field
from typing import TypeVar

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.nesting import too_much
from lairmake.stages.poly.functions import find_greatest

# --- Isl texts inside a YAML file -----------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class IslText:
    """`offsets` gives the place in the source of every character, and of the end."""

    text: str
    source: Source = field(compare=False, repr=False)
    offsets: tuple[int, ...] = field(compare=False, repr=False)

    @property
    def place(self) -> Span:
        """Where all of the text stands, without the white space at its end."""
        return self.span(0, len(self.text.rstrip()))

    def span(self, start: int, end: int) -> Span:
        """Return where the characters `start` to `end` (exclusive) stand in the YAML file."""
        last = len(self.text)
        start, end = min(max(start, 0), last), min(max(end, 0), last)
        first = self.offsets[start]
        after = self.offsets[end - 1] + 1 if end > start else first
        return Span(source=self.source, start=first, end=after)

# --- Hints for texts that isl cannot read ---------------------------------------------------------

_OPERATOR = re.compile(r"mod|[-+*/%]+")
_LAST_NAME = re.compile(r"([A-Za-z_]\w*)\s*$")
_BRACKETS = (("[", "]"), ("(", ")"), ("{", "}"))
_NESTED = re.compile(r"\?[^,\]]*\?")
_EXAMPLE = "isl writes `{ a[i, j] -> b[i//2, j mod 4] : i < 8; c[k] -> d[-k] }`"
_HINTS = {
    "expecting constant value": "multiply and divide by numbers only, also in `mod` and `//`",
    "expecting denominator": "multiply and divide by numbers only, also in `mod` and `//`",
    "expecting '{'": "an isl text stands in braces: `{ a[i, j] -> b[j, i] }`",
    "unknown identifier": "names come on the left of `->`; sizes of the .lair are numbers here",
}


def new_name(text: str, start: int, token: str) -> tuple[int, str] | None:
    """Return place and text of a name before an operator on which isl stops, if it is new there.

    isl takes a new name at the start of a coordinate for that of a new dimension.
    """
    found = _LAST_NAME.search(text[:start])
    if found is None or not _OPERATOR.fullmatch(token):
        return None
    known = re.search(rf"\b{found[1]}\b", text[: found.start()])
    return None if known else (found.start(), found[1])


def hint_for(message: str, text: str, end: int) -> str:
    """Return what to do about a message of isl on a part of a text that ends at `end`."""
    if "?" in text and "unexpected" in message:
        if _NESTED.search(text):
            return "a choice within a choice stands in no brackets: `i < 4 ? 0 : i < 8 ? 1 : 2`"
        return "`condition ? a : b` is a whole coordinate, and no part of a sum"
    if "unknown identifier" in message and text[end:].lstrip().startswith("("):
        return "what is in a tuple stands in square brackets: `a[i, j]`"
    said = (hint for words, hint in _HINTS.items() if words in message)
    return next(said, None) or _unbalanced(text) or _EXAMPLE


def _unbalanced(text: str) -> str | None:
    """Return what is wrong with the brackets of a text, if they do not come in pairs."""
    for opening, closing in _BRACKETS:
        counts = text.count(opening), text.count(closing)
        if counts[0] != counts[1]:
            return f"the text has {counts[0]} `{opening}` and {counts[1]} `{closing}`"
    return None

# --- Parsers of isl texts in layer.yaml -----------------------------------------------------------
#
# Errors point into the YAML.

Kind = type[isl.UnionMap] | type[isl.UnionSet]
T = TypeVar("T", isl.UnionMap, isl.UnionSet)

_PLACE = re.compile(r"syntax error \((\d+), (\d+)\): (.*)(?:\ngot (.*))?")
_CAUSE = re.compile(r"^\S+\.c:\d+: (.*)$", re.MULTILINE)
_BRACE = re.compile(r'"[^"]*"|#[^\n]*|[{}]')
_COMMENT = re.compile(r"#[^\n]*")
UNKNOWN = "unknown identifier"
INVALID = "isl: invalid input"
_GOT = re.compile(r"(?:\w+ )?'(.*)'")


def parse_map(text: IslText) -> isl.UnionMap:
    """Return the relation that a text describes; UserError if it describes none."""
    relation = parse_as(isl.UnionMap, text)
    _check_constants(text, relation.get_space())
    return relation


def parse_set(text: IslText) -> isl.UnionSet:
    """Return the set that a text describes; UserError if it describes none."""
    result = parse_as(isl.UnionSet, text)
    _check_constants(text, result.get_space())
    return result


def parse_as(kind: type[T], text: IslText) -> T:
    """Return the set or relation that a text describes; UserError if it describes none."""
    if (much := too_much(text.text)) is not None:
        start, said = much
        raise UserError(f"isl: {said}", text.span(start, start + 1), "write it in fewer words")
    try:
        result = kind(text.text)
    except isl.Error:
        raise _explain(text, kind) from None
    _check_end(text)
    return result


def parse_target(text: IslText) -> tuple[int, int]:
    """Return the width and height, in PEs, that `{ PE[4, 5] }` gives.

    Raises UserError unless the text is one such pair, both sizes positive.
    """
    sets = parse_set(text).get_set_list()
    span, hint = text.place, 'write `target: "{ PE[4, 5] }"`: four PEs wide, five high'
    one = sets.get_at(0) if sets.n_set() == 1 else None
    if one is None or one.get_tuple_name() != "PE" or one.dim(isl.dim_type.set) != 2:
        raise UserError("target is not the size of a rectangle of PEs", span, hint)
    if not one.is_singleton():
        raise UserError("target is not one size", span, hint)
    width, height = (find_greatest(one, k).to_python() for k in range(2))
    if width < 1 or height < 1:
        raise UserError(f"target is {width} by {height} PEs", span, "both sizes are positive")
    return width, height


def _check_end(text: IslText) -> None:
    """Raise UserError if anything follows the closing brace: isl reads no further, silently."""
    depth = 0
    for token in _BRACE.finditer(text.text):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0 and token[0] == "}":
            _check_rest(text, token.end())
            return


def _check_rest(text: IslText, start: int) -> None:
    rest = _COMMENT.sub(lambda comment: " " * len(comment[0]), text.text[start:])
    if rest.strip():
        span = text.span(start + len(rest) - len(rest.lstrip()), start + len(rest.rstrip()))
        hint = "write one pair of braces, with `;` between its parts"
        raise UserError("isl: the text goes on after its closing brace", span, hint)


def _check_constants(text: IslText, space: isl.Space) -> None:
    """Raise UserError if a text has a symbolic constant: nothing gives it a value."""
    if space.dim(isl.dim_type.param):
        name = space.get_dim_name(isl.dim_type.param, 0)
        found = re.search(rf"\b{name}\b", text.text)
        span = text.span(*found.span()) if found else text.place
        hint = "write the number: sizes of the .lair have no names here"
        raise UserError(f"isl: {name} is a symbolic constant, and has no value", span, hint)


def _explain(text: IslText, kind: Kind) -> UserError:
    """Return the error for a text that isl cannot read as `kind`."""
    said = _what_isl_says(text.text, kind)
    place = _PLACE.search(said)
    if place is None:
        message = _other(text, kind)
        hint = hint_for(message, text.text, len(text.text)) if message == INVALID else None
        return UserError(message, text.place, hint)
    cause = _CAUSE.search(said[: place.start()])
    got = _GOT.fullmatch(place[4] or "")
    token = got[1] if got else ""
    start = _offset(text.text, int(place[1]), int(place[2]), token)
    name = new_name(text.text, start, token)
    if name is not None:
        start, token = name
    message = cause[1] if cause else _message(UNKNOWN if name else place[3], token)
    span = text.span(start, start + max(1, len(token)))
    return UserError(f"isl: {message}", span, hint_for(message, text.text, start + len(token)))


def _other(text: IslText, kind: Kind) -> str:
    """Return the message for a text that is well-formed, but of another kind."""
    other: Kind = isl.UnionSet if kind is isl.UnionMap else isl.UnionMap
    try:
        other(text.text)
    except isl.Error:
        return INVALID
    if kind is isl.UnionMap:
        return "isl: this is a set, not a relation `{ a[...] -> b[...] }`"
    return "isl: this is a relation, not a set"


def _message(said: str, token: str) -> str:
    """Return isl's words without the names of its C types."""
    if said == "unexpected EOF":
        return "syntax error: unexpected end of the text"
    if said.startswith(("unexpected", "expecting other")):
        return f"syntax error: unexpected '{token}'" if token else "syntax error"
    return f"syntax error: {said} at '{token}'" if token else f"syntax error: {said}"


def _offset(text: str, line: int, column: int, token: str) -> int:
    """Return the place of a token from isl's line and column, in bytes, both from 1.

    After a number isl has read one character too many, and the column is one too large.
    """
    lines = text.split("\n")
    before = sum(len(each) + 1 for each in lines[: line - 1])
    inside = lines[line - 1] if line <= len(lines) else ""
    start = before + len(inside.encode()[: column - 1].decode(errors="ignore"))
    late = not text.startswith(token, start) and text.startswith(token, start - 1)
    return start - 1 if token and start > 0 and late else start


def _what_isl_says(text: str, kind: Kind) -> str:
    """Return what isl prints about a text that it cannot read.

    isl tells line and column only on the process's standard error, which is taken away from it
    for this one call; its exceptions name a line of its own C source.
    """
    context = isl.Context()
    context.set_on_error(isl.on_error.WARN)
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        try:
            os.dup2(file.fileno(), 2)
            kind(text, context=context)
        except isl.Error:
            pass
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return file.read().decode(errors="replace")
