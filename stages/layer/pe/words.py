"""What the texts of stages bring into programs: names, numbers, and what isl or LAIR reads.

A text may be edited and kept, or come with a folder of somebody else. Nothing of it is spelled in C
but names and numbers; isl and LAIR read the rest, and refuse what is neither.
"""

from __future__ import annotations

import re

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.mapping.yaml_text import read_data

WORD = re.compile(r"-?[\w.]*", re.ASCII)
PLAIN = re.compile(r"[\w ,.:+*=<>-]*", re.ASCII)
"""What calls nothing and ends nothing, wherever it is spelled."""
PROSE = {"why", "whole", "otherwise", "not possible"}
"""Keys of what is written for people."""
READ = {"expression"}
"""Keys of what LAIR reads."""
SPELLED = {"operation", "local", "element", "type", "number"}
"""Keys of what is spelled in C as it stands."""


def check_words(source: Source) -> None:
    """Raise UserError where a text of a stage in YAML has what is no name or number."""
    wrong = _wrong(read_data(source), "")
    if wrong is not None:
        start = max(source.text.find(wrong.splitlines()[0] if wrong else wrong), 0)
        span = Span(source=source, start=start, end=start + 1)
        raise UserError("this is no name, number, or text of isl", span, "undo the edit")


def _wrong(data: object, key: str) -> str | None:
    """Return the first text that may not stand in a program, None if there is none."""
    if key in PROSE | READ:
        return None
    if isinstance(data, dict):
        names = (n for n in map(str, data) if n not in PROSE and not WORD.fullmatch(n))
        values = (_wrong(value, str(name)) for name, value in data.items())
        return next(names, None) or next((each for each in values if each is not None), None)
    if isinstance(data, list):
        return next((each for each in (_wrong(v, key) for v in data) if each is not None), None)
    if not isinstance(data, str) or WORD.fullmatch(data):
        return None
    is_harmless = PLAIN.fullmatch(data) or data.startswith(("{", "["))
    return None if is_harmless and key not in SPELLED else data
