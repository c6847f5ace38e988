"""Texts that stand in the place of others where a candidate of a search is refused.

Source   design, Placement by search
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stages.diagnose import Source, Span, UserError

REFUSED = "# refused: "
"""How a text begins that says why what would stand there is not."""
_PLACE = re.compile(r"^# in (\S+), characters (\d+) to (\d+)$", re.MULTILINE)
_HINT = re.compile(r"^# hint: (.*)$", re.MULTILINE)


def refusal(why: str) -> str:
    """Return the text that stands in the place of others where a candidate is refused."""
    return f"{REFUSED}{_line(why)}\n"


def refusal_in(stage: str, error: UserError, file: str) -> str:
    """Return the same for an error in a file that a user wrote, which it keeps."""
    assert error.span is not None
    place = f"# in {file}, characters {error.span.start} to {error.span.end}\n"
    hint = f"# hint: {_line(error.hint)}\n" if error.hint else ""
    return refusal(f"{stage}: {error.message}") + place + hint


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
    source, (start, end) = sources[place[1]], (int(place[2]), int(place[3]))
    if not start <= end <= len(source.text):
        return None  # the text was edited
    said = (why_refused(text) or "").partition(": ")[2]
    return UserError(said, Span(source=source, start=start, end=end), hint[1] if hint else None)
