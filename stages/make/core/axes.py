"""What a sweep sets: keys of a folder's YAML file, each to several values, as typed.

Values stand between commas that are in no brackets and no quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.mapping.yaml_text import YamlPath, read_document

OPTION = "--set"
KEY = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*")
BRACKETS = {"(": ")", "[": "]", "{": "}"}
FILE = ".isl"
"""How the name of a file ends whose text is the value of a key that holds isl."""
TRUTHS = ("true", "false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value of a key: as it was typed, and where, and what it is as YAML has it."""

    text: str
    value: Any
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A key, `sizes.M`, its path, where it was first typed, and its values."""

    key: str
    path: YamlPath
    span: Span
    choices: tuple[Choice, ...]


def read_axes(
    words: Sequence[str], holds_isl: Callable[[YamlPath], bool], read: Callable[[str, Span], str]
) -> list[Axis]:
    """Return the keys that `KEY=VALUE,VALUE` set, in the order given; one given twice has all.

    What is at a path that `holds_isl` is taken as it stands, or as the text of a file, which is
    `read`. Raises UserErrors with all that is wrong.
    """
    found: dict[str, Axis] = {}
    errors: list[UserError] = []
    for word in words:
        try:
            axis = _read_axis(Source(path=OPTION, text=word), holds_isl, read)
        except UserError as error:
            errors.append(error)
            continue
        known = found.get(axis.key, axis)
        choices = {each.text: each for each in (*known.choices, *axis.choices)}
        found[axis.key] = Axis(
            key=axis.key, path=axis.path, span=known.span, choices=tuple(choices.values())
        )
    if errors:
        raise UserErrors(errors)
    return list(found.values())


def _read_axis(
    source: Source, holds_isl: Callable[[YamlPath], bool], read: Callable[[str, Span], str]
) -> Axis:
    """Return a key with the values of one word. Raises UserError."""
    key, equals, _ = source.text.partition("=")
    span = Span(source=source, start=0, end=len(key))
    if not equals or not KEY.fullmatch(key):
        hint = "write a key of the folder's YAML file, and its values: `sizes.M=32,64`"
        said = "this is no key" if equals else "this sets nothing"
        raise UserError(said, span, hint)
    path = tuple(key.split("."))
    places = _split(source, len(key) + 1)
    choices = tuple(_read_choice(place, holds_isl(path), read) for place in places)
    return Axis(key=key, path=path, span=span, choices=choices)


def _split(source: Source, start: int) -> Iterator[Span]:
    """Yield where values stand, without the blanks around them. Raises UserError."""
    text, closing, quote = source.text, list[str](), ""
    for at in range(start, len(text)):
        sign = text[at]
        if quote or (sign in "\"'" and not closing and not text[start:at].strip()):
            quote = "" if sign == quote else quote or sign
        elif sign in BRACKETS:
            closing.append(BRACKETS[sign])
        elif closing and sign == closing[-1]:
            closing.pop()
        elif sign == "," and not closing:
            yield _trimmed(source, start, at)
            start = at + 1
    if closing or quote:
        missing = quote or closing[-1]
        raise UserError(f"{missing} is missing", _trimmed(source, start, len(text)))
    yield _trimmed(source, start, len(text))


def _trimmed(source: Source, start: int, end: int) -> Span:
    text = source.text[start:end]
    first = start + len(text) - len(text.lstrip())
    return Span(source=source, start=first, end=max(first, start + len(text.rstrip())))


def _read_choice(
    place: Span, is_isl: bool, read: Callable[[str, Span], str]
) -> Choice:
    """Return the value at a place. Raises UserError."""
    text = place.source.text[place.start : place.end]
    if not text:
        raise UserError("a value is missing", place, 'an empty text is `""`')
    if is_isl and text not in TRUTHS and text[0] not in "\"'":
        value = read(text, place) if text.endswith(FILE) else text
        return Choice(text=text, value=value, span=place)
    try:
        value = read_document(Source(path=OPTION, text=text)).value
    except UserErrors as error:
        raise UserError(error.errors[0].message, place, "quote a text") from None
    return Choice(text=text, value=value, span=place)
