"""Comments that `//` begins where a quotient was meant, and quotients where a comment was."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair import tree
from lairmake.stages.lair.slips import describe_split, find_open

_COMMENT = re.compile(r"(#|//)[^\n]*")
_NUMBER = re.compile(r"//[ \t]*(\d+(?:\.\d*)?)[ \t]*\r?\Z")
CUT = "`//` begins a comment here: the rest of the line is not read"


def check_comments(file: tree.File) -> None:
    """Raise UserErrors for comments that are a number behind an operand: `x[i] // 2`."""
    source = file.span.source
    conditions = [condition.span for node in file.nodes for statement in node.statements
                  for condition in statement.conditions]
    errors = [
        UserError(CUT, _at(source, start, end),
                  f"a quotient of values is `/`; a comment of a number begins with `#`: `# {n}`")
        for start, end, n in _find_numbers(source.text)
        if not any(span.start <= start < span.end for span in conditions)
    ]
    if errors:
        raise UserErrors(errors)


def _find_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where comments stand that are a number behind an operand, and the number."""
    for comment in _COMMENT.finditer(text):
        number = _NUMBER.match(comment.group())
        if number and re.search(r"[\w\])][ \t]*\Z", text[: comment.start()]):
            yield comment.start(), comment.end(), number[1]


def explain_comment(source: Source, start: int) -> UserError | None:
    """Return the error for a `//` after which nothing goes on as it should at `start`.

    Nothing but comments stands between. None where there is no such `//`, or it ends what may end.
    """
    text = source.text
    found = [each for each in _COMMENT.finditer(text, 0, start) if each.group().startswith("//")]
    if not found or _COMMENT.sub("", text[found[-1].start() : start]).strip():
        return None
    at, end = found[-1].start(), found[-1].end()
    before, bracket = text[:at], find_open(text[:at])
    is_operand = re.search(r"[\w\])][ \t]*\Z", before) is not None
    if bracket is not None and text[bracket] != "{" and is_operand:
        hint = _suggest(before, bracket, text[at + 2 : end].split())
        return UserError(CUT, _at(source, at, end), hint)
    condition = before.rpartition("where")[2] if "where" in before else ""
    if condition and not re.search(r"[{}=]\s*\w+\[|[{}]|\ball\b", condition):
        hint = "in conditions `//` is a quotient, and comments begin with `#`"
        return UserError("`//` is a quotient here, and no comment", _at(source, at, at + 2), hint)
    return None


def _suggest(before: str, bracket: int, after: list[str]) -> str:
    """Return what is written for a quotient in brackets."""
    by = re.match(r"\d+|\w+", after[0]) if after else None
    if before[bracket] == "[" and "{" in before[:bracket]:
        return describe_split(before[bracket + 1 :], "//", by.group() if by else "2")
    if before[bracket] == "[" or re.search(r"\bin\s*\Z", before[:bracket]):
        return "a size is a sum of size parameters times integers: a quotient is a parameter, too"
    return "a quotient of values is `/`"


def _at(source: Source, start: int, end: int) -> Span:
    return Span(source=source, start=start, end=end)
