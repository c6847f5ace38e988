"""Frozen dataclasses as the data of a YAML text: their fields, and how they are written.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Tensor:
        type: Annotated[str, "the type of its elements"]
        stored_in: Annotated[str | None, Key("in"), "the tensor whose memory holds it"] = None

A field is a key of a mapping, in the order of the fields; one with the value that it has by default
is left out. Types are those of YAML: texts, numbers, `Literal`s, tuples (lists), mappings by name,
and dataclasses. Of a union of dataclasses each has a `kind: ClassVar[str]`, which is the first key.
The texts of an annotation are its explanation (stages/mapping/explained.py), and
stages/mapping/record_reader.py reads them.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Absent(enum.Enum):
    """The value of a field that is left out, where null says something else."""

    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a field whose name Python has taken."""

    name: str


@dataclass(frozen=True, slots=True)
class Inline:
    """Says of a field that the keys of its dataclass stand among those of the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a dataclass: its key, its type without annotations, and its explanation.

    `inline` is the dataclass whose keys stand in its place, None for a field with a key.
    """

    name: str
    key: str
    type: Any
    doc: str
    default: Any
    inline: type | None

    @property
    def is_optional(self) -> bool:
        """Whether the key may be left out."""
        return self.default is not dataclasses.MISSING


@functools.cache
def list_fields(record: Any) -> tuple[Field, ...]:
    """Return the fields of a dataclass, in their order."""
    hints = typing.get_type_hints(record, include_extras=True)
    return tuple(_field(each, hints[each.name]) for each in dataclasses.fields(record))


def _field(each: dataclasses.Field[Any], hint: Any) -> Field:
    notes = getattr(hint, "__metadata__", ())
    key = next((note.name for note in notes if isinstance(note, Key)), each.name)
    doc = next((note for note in notes if isinstance(note, str)), "")
    plain = hint.__origin__ if notes else hint
    default = each.default
    if each.default_factory is not dataclasses.MISSING:
        default = each.default_factory()
    is_inline = any(isinstance(note, Inline) for note in notes)
    members = [m for m in typing.get_args(plain) if m is not type(None)]
    inline = (members[0] if members else plain) if is_inline else None
    return Field(name=each.name, key=key, type=plain, doc=doc, default=default, inline=inline)


@functools.cache
def list_keys(record: type) -> dict[str, Field]:
    """Return the fields of a dataclass that are keys, those of inline ones in their place."""
    found: dict[str, Field] = {}
    for each in list_fields(record):
        found |= {each.key: each} if each.inline is None else list_keys(each.inline)
    return found


def find_kind(record: type) -> str | None:
    """Return the kind of a dataclass that is one of a union; None if it is none."""
    kind = getattr(record, "kind", None)
    return kind if isinstance(kind, str) else None


def as_data(value: Any) -> Any:
    """Return a value, and all that is in it, as mappings, lists, texts and numbers."""
    if dataclasses.is_dataclass(value):
        kind = find_kind(type(value))
        found = {} if kind is None else {"kind": kind}
        return found | {each.key: as_data(part) for each, part in list_written_fields(value)}
    if isinstance(value, Mapping):
        return {name: as_data(part) for name, part in value.items()}
    return list(map(as_data, value)) if isinstance(value, tuple | list) else value


def list_written_fields(record: Any) -> list[tuple[Field, Any]]:
    """Return the fields of a dataclass that are written, with their values."""
    found: list[tuple[Field, Any]] = []
    type_: Any = type(record)
    for each in list_fields(type_):
        value = getattr(record, each.name)
        if not _is_default(each, value):
            found += [(each, value)] if each.inline is None else list_written_fields(value)
    return found


def _is_default(field: Field, value: Any) -> bool:
    return field.is_optional and type(value) is type(field.default) and value == field.default
