"""Say in a few lines what a person changed in a text: which line, which key, from what to what."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import yaml

from lairmake.stages.limits import compose
from lairmake.stages.make.store.folders import FIGURES

MOST_LINES = 10
MOST_CHARACTERS = 60
MOST_OF_PAIR = 80
MOST_BEFORE = 15
MOST_NAMES = 4

Values = dict[str, tuple[int, str]]
"""The line and the text of every value of a YAML text, by its path: `sizes.N`."""


def details(
    name: str, old: bytes | None, new: bytes | None, file: bytes | None = None
) -> list[str]:
    """Return lines that say what changed from one content of a file to another, not too many.

    None are returned where one of the contents is not known, or is no text. Of contents that are
    values of a YAML `file` lines are counted in that.
    """
    try:
        texts = [content.decode() for content in (old, new) if content is not None]
    except UnicodeDecodeError:
        return []
    if len(texts) < 2:
        return []
    found = []
    if name.endswith(".yaml") or name.startswith(FIGURES):
        text = texts[1] if file is None else file.decode("utf-8", "replace")
        found = [line for _, line in _changed_values(texts[0], texts[1], text)]
    found = found or list(_changed_lines(*texts))
    more = len(found) - MOST_LINES
    return [*found[:MOST_LINES], f"and {more} more"] if more > 0 else found


def changed_keys(old: bytes, new: bytes) -> set[str]:
    """Return the first keys, `sizes`, of all values of a YAML text that changed."""
    texts = [content.decode("utf-8", "replace") for content in (old, new)]
    found = _changed_values(texts[0], texts[1], texts[1])
    return {path.partition(".")[0].partition("[")[0] for path, _ in found}


def _changed_values(old: str, new: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield path and line of each value, in a text; nothing where one of the texts is no YAML."""
    try:
        before, after, places = _values(old), _values(new), _values(text)
    except (yaml.YAMLError, RecursionError):
        return
    lines = {key: f"line {line}, " for key, (line, _) in places.items()}
    for key, (_, value) in sorted(after.items(), key=lambda each: places.get(each[0], (0, ""))[0]):
        if key not in before:
            yield key, f"{lines.get(key, '')}{key}: {_short(value)} is new"
        elif before[key][1] != value:
            yield key, f"{lines.get(key, '')}{key}: {_pair(before[key][1], value)}"
    for key, (_, value) in before.items():
        if key not in after:
            yield key, f"{key}: {_short(value)} is gone"


def _values(text: str) -> Values:
    node = compose(yaml.SafeLoader(text))
    return dict(_flat(node, "")) if node is not None else {}


def _flat(node: yaml.Node, path: str) -> Iterator[tuple[str, tuple[int, str]]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _flat(value, f"{path}.{key.value}" if path else str(key.value))
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            yield from _flat(value, f"{path}[{at}]")
    else:
        yield path, (node.start_mark.line + 1, str(node.value))


def _changed_lines(old: str, new: str) -> Iterator[str]:
    """Yield a line for each line of text that changed, by its number in the new text."""
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, from_, to, start, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        pairs = zip_longest(before[from_:to], after[start:end])
        for number, (was, is_) in enumerate(pairs, start + 1):
            if is_ is None:
                yield f"after line {end}: {_short(was)} is gone"
            elif was is None:
                yield f"line {number}: {_short(is_)} is new"
            else:
                yield f"line {number}: {_pair(was, is_)}"


def _pair(old: str, new: str) -> str:
    """Return two values that differ, on one line; of long ones most that they begin with is cut."""
    was, is_ = (" ".join(value.split()) for value in (old, new))
    pairs = enumerate(zip(was, is_, strict=False))
    same = next((n for n, (a, b) in pairs if a != b), min(len(was), len(is_)))
    if len(was) + len(is_) > MOST_OF_PAIR and same > MOST_BEFORE:
        was, is_ = (f"...{text[same - MOST_BEFORE :]}" for text in (was, is_))
    return f"{_short(was)} -> {_short(is_)}"


def _short(value: str) -> str:
    """Return a value on one line, cut where it is long."""
    text = " ".join(value.split())
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3] + "..."


def list_some(names: Sequence[str]) -> str:
    """Return some names, not too many."""
    more = len(names) - MOST_NAMES
    shown = [
        name.removeprefix("build/").replace(FIGURES, "figures of ") for name in names[:MOST_NAMES]
    ]
    return ", ".join([*shown, f"{more} more"] if more > 0 else shown)
