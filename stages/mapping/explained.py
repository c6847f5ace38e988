"""The comment at the head of a YAML text: what the keys in it are, of those that occur.

    tensors: what lies in the memory of a PE. type: of its elements; shape: its sizes; kept:
      resident (in memory from the start), ...

Each key at the top has a paragraph with what its records have inside; a record that lies deeper has
one of its own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from lairmake.stages.mapping.records import Field, find_kind, list_keys, list_written_fields

WIDTH = 98


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """What is said of one key, of the kinds of records that it holds, and of their keys."""

    key: str
    doc: str
    kinds: dict[str, str] = field(default_factory=dict)
    inner: dict[str, str] = field(default_factory=dict)


def explain(title: str, record: Any) -> str:
    """Return the comment at the head of the text of a record: its title, and what occurs in it."""
    return "\n".join([title, *map(_text, paragraphs(record))])


def paragraphs(record: Any) -> list[Paragraph]:
    """Return what is said of the keys of a record, or of records by name, and of those in them."""
    found: dict[str, Paragraph] = {}
    for each, deeper in _keys(list(_records(record))):
        paragraph = found.setdefault(each.key, Paragraph(key=each.key, doc=each.doc))
        _describe(deeper, paragraph, found)
    return list(found.values())


def _describe(
    records: Sequence[Any], paragraph: Paragraph, found: dict[str, Paragraph]
) -> None:
    """Add the keys of records to a paragraph, and paragraphs of what lies deeper."""
    for type_ in dict.fromkeys(map(type, records)):
        kind = find_kind(type_)
        if kind is not None:
            paragraph.kinds[kind] = _said_of(type_)
    for each, deeper in _keys(records):
        if deeper:
            below = found.setdefault(each.key, Paragraph(key=each.key, doc=each.doc))
            _describe(deeper, below, found)
        else:
            paragraph.inner.setdefault(each.key, each.doc)


def _keys(records: Sequence[Any]) -> Iterator[tuple[Field, list[Any]]]:
    """Yield the keys that some of the records have, in their order, with the records in them."""
    values: dict[tuple[type, str], list[Any]] = {}
    for record in records:
        for each, value in list_written_fields(record):
            values.setdefault((type(record), each.key), []).extend(_records(value))
    for type_ in dict.fromkeys(map(type, records)):
        for key, each in list_keys(type_).items():
            if (type_, key) in values:
                yield each, values[type_, key]


def _records(value: Any) -> Iterator[Any]:
    """Yield the records in a value, in its lists and mappings too, but not those inside others."""
    if is_dataclass(value):
        yield value
    elif isinstance(value, Mapping | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _records(part)


def _said_of(type_: type) -> str:
    """Return the first line of what a class says of itself, as part of a sentence."""
    said = (type_.__doc__ or "").partition("\n")[0].rstrip(".")
    return said[:1].lower() + said[1:]


def _text(paragraph: Paragraph) -> str:
    """Return the lines of a paragraph."""
    kinds = ", ".join(f"{kind} ({doc})" for kind, doc in paragraph.kinds.items())
    inner = {"kind": kinds, **paragraph.inner} if kinds else paragraph.inner
    said = [f"{paragraph.key}: {paragraph.doc}", "; ".join(f"{k}: {d}" for k, d in inner.items())]
    text = f"{'. '.join(filter(None, said))}."
    return textwrap.fill(
        text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
