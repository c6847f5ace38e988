"""Texts that stand in the place of others where a candidate of a search is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.mapping.yaml_text import Document, YamlPath, read_document

REFUSED = "# refused: "
"""The beginning of a text that says why another text is not in its place."""
_PLACE = re.compile(r"^# in (\S+?)(?:, (key|value) (\[.*\]))?(?:, characters (\d+) to (\d+))?$",
                    re.MULTILINE)
_HINT = re.compile(r"^# hint: (.*)$", re.MULTILINE)


def refusal_text(why: str) -> str:
    """Return the text that stands in the place of others where a candidate is refused."""
    return f"{REFUSED}{_line(why)}\n"


def refusal_in(stage: str, error: UserError, file: str) -> str:
    """Return the same text for an error in a file that a user wrote; the text keeps its place.

    In a YAML file that is the place in the value of a key: edits of comments move the lines.
    """
    assert error.span is not None
    where = _place_in_yaml if file.endswith(".yaml") else _place_in_text
    place = f"# in {file}{where(error.span)}\n"
    hint = f"# hint: {_line(error.hint)}\n" if error.hint else ""
    return refusal_text(f"{stage}: {error.message}") + place + hint


def _place_in_text(span: Span) -> str:
    return f", characters {span.start} to {span.end}"


def _place_in_yaml(span: Span) -> str:
    """Return the key or value that a span is, or the characters of a value that it covers."""
    document = read_document(span.source)
    for kind, places in (("key", document.keys), ("value", document.values)):
        for path, place in places.items():
            if place == span:
                return f", {kind} {json.dumps(path)}"
    path = max(
        (path for path, each in document.values.items() if _is_in(span, each)), key=len, default=()
    )
    return f", value {json.dumps(path)}{_characters(span, document.offsets.get(path, ()))}"


def _is_in(span: Span, other: Span) -> bool:
    return other.start <= span.start and span.end <= other.end


def _characters(span: Span, offsets: tuple[int, ...]) -> str:
    """Return which characters of a text a span covers; nothing where it is no text."""
    start = next((at for at, each in enumerate(offsets) if each >= span.start), None)
    if start is None:
        return ""
    end = max((at + 1 for at, each in enumerate(offsets[:-1]) if each < span.end), default=start)
    return f", characters {start} to {max(start, end)}"


def _line(text: str) -> str:
    return " ".join(text.split())


def why_refused(text: str) -> str | None:
    """Return why a candidate was refused in whose place a text stands; None for another text."""
    if not text.startswith(REFUSED):
        return None
    return text.removeprefix(REFUSED).partition("\n")[0].strip()


def find_error(text: str, sources: Mapping[str, Source]) -> UserError | None:
    """Return the error that a refusal keeps, in one of the files that a user wrote, by name.

    None where it keeps none.
    """
    place, hint = _PLACE.search(text), _HINT.search(text)
    if place is None or place[1] not in sources:
        return None
    span = _find_span(sources[place[1]], place)
    if span is None:
        return None  # the text was edited
    said = (why_refused(text) or "").partition(": ")[2]
    return UserError(said, span, hint[1] if hint else None)


def _find_span(source: Source, place: re.Match[str]) -> Span | None:
    """Return where a place is in a file as it is now; None for nowhere."""
    start, end = (None if each is None else int(each) for each in place.groups()[3:])
    if place[2] is None:
        if start is None or end is None or not start <= end <= len(source.text):
            return None
        return Span(source=source, start=start, end=end)
    try:
        path: YamlPath = tuple(json.loads(place[3]))
    except ValueError:
        return None
    document = read_document(source)
    found = (document.keys if place[2] == "key" else document.values).get(path)
    if found is None or start is None or end is None:
        return found
    return _span_of_characters(document, path, start, end)


def _span_of_characters(document: Document, path: YamlPath, start: int, end: int) -> Span | None:
    offsets = document.offsets.get(path, ())
    if not start <= end < len(offsets):
        return None
    last = offsets[end - 1] + 1 if end > start else offsets[start]
    return Span(source=document.values[path].source, start=offsets[start], end=last)
