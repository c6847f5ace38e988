"""Errors for users: message, span, hint, how they print."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# --- Nouns as they follow a number ----------------------------------------------------------------

def noun_after(count: int, noun: str) -> str:
    """Return `index` after 1, else `indices`; other nouns take an s."""
    if count == 1:
        return noun
    return "indices" if noun == "index" else f"{noun}s"


def plural(count: int, noun: str) -> str:
    """Return `1 index`, `2 sizes`."""
    return f"{count} {noun_after(count, noun)}"

# --- Types and functions of other languages -------------------------------------------------------
#
# Whoever writes one of these words does not mean one of ours.

TYPES = frozenset((
    "bfloat16", "bf16", "f8", "f16", "f32", "f64", "fp8", "fp16", "fp32", "fp64", "half", "single",
    "float", "double", "real", "float8", "float64", "float128", "tf32", "int", "short", "long",
    "int4", "int8", "int64", "i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "uint",
    "uint8", "uint16", "uint32", "uint64", "bool", "boolean", "char", "byte", "complex",
    "complex64", "complex128",
))
"""Types of elements."""

FUNCTIONS = frozenset((
    "abs", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "celu", "cos", "cosh",
    "elu", "erf", "erfc", "erfinv", "exp", "exp10", "exp2", "expm1", "fabs", "floor", "fmax",
    "fmin", "fmod", "gelu", "hardsigmoid", "hardswish", "hypot", "lgamma", "ln", "log", "log10",
    "log1p", "log2", "logsoftmax", "maximum", "mean", "minimum", "mish", "mod", "not", "pow",
    "prelu", "prod", "reciprocal", "relu", "relu6", "rint", "round", "rsqrt", "selu", "sigmoid",
    "sign", "silu", "sin", "sinh", "softmax", "softplus", "softsign", "sqrt", "square", "sum",
    "swish", "tan", "tanh", "tgamma", "trunc",
))
"""Functions of values."""

# --- Errors for users -----------------------------------------------------------------------------

LONGEST_LINE = 200
"""The most characters of a line that an error shows."""

MIN_BEGINNING = 3
"""The fewest letters that stand for a word that begins with them."""

WORKING_ON = "while it worked on "


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text that a user wrote, and the path under which they know it."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The characters `start` to `end` (exclusive) of a source, counted from 0."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line of the first character, counted from 1."""
        return self.source.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """The column of the first character, counted from 1."""
        return self.start - self.source.text.rfind("\n", 0, self.start)


def source_of(path: str, content: bytes) -> Source:
    """Return a text; lines end in a newline.

    Raises UserError where it is not UTF-8, holds a NUL, or has brackets deeper in each other than
    any parser has room for.
    """
    from lairmake.stages.nesting import MOST_NESTED, too_deep

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: byte {error.start} is damaged") from error
    source = Source(path=path, text=text.replace("\r\n", "\n"))
    if "\0" in source.text:
        place = _at(source, source.text.index("\0"))
        raise UserError("a NUL character, which no text has", place, "is this the right file?")
    deep = too_deep(source.text)
    if deep is not None:
        message = f"more than {MOST_NESTED} brackets in each other"
        raise UserError(message, _at(source, deep), "write it flatter")
    return source


def _at(source: Source, start: int) -> Span:
    return Span(source=source, start=start, end=start + 1)


class UserError(Exception):
    """One thing that is wrong in a layer folder."""

    def __init__(self, message: str, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint

    def __str__(self) -> str:
        return render_error(self)


class OurFault(UserError):
    """A fault of ours: one stage refuses what another wrote. It is told as an error of users is."""


class UndeclaredReadError(Exception):
    """A stage reads, or looks for, what it does not declare: a bug of the stage.

    Its key would not follow what it read, and a build would take an old result for the right one.
    """


class UserErrors(Exception):
    """Everything that a stage found wrong, in the order of the source."""

    def __init__(self, errors: Iterable[UserError]) -> None:
        self.errors = list(errors)
        super().__init__(f"{len(self.errors)} errors")

    def __str__(self) -> str:
        return "\n".join(render_error(error) for error in self.errors)


@contextlib.contextmanager
def working_on(what: str) -> Iterator[None]:
    """Let errors that pass note what a stage worked on: `task on_x`."""
    try:
        yield
    except Exception as error:
        error.add_note(f"{WORKING_ON}{what}")
        raise


def worked_on(error: BaseException | None) -> str:
    """Return what a stage worked on where an error, or what led to it, arose; "" if none notes it.

    Of several things that is the innermost.
    """
    found = ""
    while error is not None:
        notes = [n for n in getattr(error, "__notes__", ()) if n.startswith(WORKING_ON)]
        found = notes[0].removeprefix(WORKING_ON) if notes else found
        error = error.__cause__ or error.__context__
    return found


def render_error(error: UserError) -> str:
    """Return `file:line:column: error: ...`, the line, carets below it, and the hint."""
    lines = [f"{_place(error.span)}error: {error.message}"]
    if error.span is not None:
        lines += _excerpt(error.span)
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return "\n".join(lines) + "\n"


def nearest(
    word: str, known: Iterable[str], cutoff: float = 0.5, numbers: bool = False
) -> str | None:
    """Return the known word that another one is most likely a slip for; None where none is.

    A slip is a letter too many, too few, another one, or two that changed places: one in words of
    up to five letters, two in longer ones, three from twelve on. A beginning of three letters and
    more is one, too, `mach` for `machine`, and an ending behind a mark. `cutoff` is how much of
    both must be alike, from 0 to 1. A slip leaves the first letter among the first two: sin is none
    for min. Only with `numbers` it may be in a number alone: float8 is none for float32, but
    part_t9 may be one for part_t1. A function or type of other languages is none: rsqrt for sqrt.
    """
    known = list(known)
    if _is_of_others(word.lower(), [each.lower() for each in known]):
        return None
    meant: list[tuple[int, float, str]] = []
    for each in (each for each in known if _may_be(word, each, numbers)):
        slips, alike = count_slips(word.lower(), each.lower()), _compare(word, each)
        if alike >= cutoff and _is_slip(word, each, slips):
            meant.append((-slips, alike, each))
    return max(meant)[2] if meant else None


def _is_of_others(word: str, known: Sequence[str]) -> bool:
    """Whether a word is a function or type of other languages; `float` may be all of float16."""
    if word in known or word not in FUNCTIONS | TYPES:
        return False
    return word in FUNCTIONS or sum(each.startswith(word) for each in known) != 1


def _compare(one: str, other: str) -> float:
    """Return how much of two words is alike, from 0 to 1."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, other.lower(), one.lower()).ratio()


def _is_slip(word: str, known: str, slips: int) -> bool:
    short, long = sorted((word.lower(), known.lower()), key=len)
    if len(short) >= MIN_BEGINNING and (long.startswith(short) or _is_ending(short, long)):
        return True
    return slips <= (1 if len(long) <= 5 else 2 if len(long) < 12 else 3)


def _is_ending(short: str, long: str) -> bool:
    """Whether a word ends another one, behind a mark: `ff.x` does `u_ff.x`."""
    return len(short) < len(long) and long.endswith(short) and not long[-len(short) - 1].isalnum()


def count_slips(one: str, other: str) -> int:
    """Return how many letters are too many, too few, others or swapped between two words."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, against in enumerate(other, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and (one[i - 2], letter) == (against, other[j - 2]):
                least = min(least, older[j - 2] + 1)
            row.append(least)
    return row[-1]


def _may_be(word: str, known: str, numbers: bool) -> bool:
    one, other = word.lower(), known.lower()
    if not one or not other:
        return False
    if re.sub(r"\d+", "0", one) == re.sub(r"\d+", "0", other):
        return numbers or one == other
    return one[0] in other[:2] or other[0] in one[:2] or _is_ending(*sorted((one, other), key=len))


def headline(error: Exception) -> str:
    """Return what is wrong in one line: the first thing that is, where it is the user's."""
    if isinstance(error, UserError | UserErrors):
        return str(error).partition("\n")[0]
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}, a bug of ours, which a build shows"


def _place(span: Span | None) -> str:
    return f"{span.source.path}:{span.line}:{span.column}: " if span is not None else ""


def _excerpt(span: Span) -> list[str]:
    """Return the first line of the span, and carets below the part of it that the span covers."""
    column = span.column - 1
    start = span.start - column
    line = span.source.text[start:].partition("\n")[0]
    if len(line) > LONGEST_LINE:
        cut = max(0, column - LONGEST_LINE // 2)
        line, column = line[cut : cut + LONGEST_LINE], column - cut
    line = "".join(c if c.isprintable() or c == "\t" else "?" for c in line)
    length = max(1, min(span.end - span.start, len(line) - column))
    indent = "".join("\t" if c == "\t" else " " for c in line[:column])
    return [f"  {line}", f"  {indent}{'^' * length}"]
