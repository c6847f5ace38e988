"""Frozen dataclasses as YAML and back."""

from __future__ import annotations

import dataclasses
import enum
import functools
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from lairmake.stages.diagnose import Source, UserError, UserErrors, nearest
from lairmake.stages.mapping.yaml_text import read_data, read_document

# --- Dataclasses as data of a YAML text -----------------------------------------------------------
#
#     @dataclass(frozen=True, slots=True, kw_only=True)
#     class Tensor:
#         type: Annotated[str, "the type of its elements"]
#         stored_in: Annotated[str | None, Key("in"), "the tensor whose memory holds it"] = None
#
# A field is a key of a mapping, in the order of the fields; one with the value that it has by
# default is left out. Types are those of YAML: texts, numbers, `Literal`s, tuples (lists), mappings
# by name, and dataclasses. Of a union of dataclasses each has a `kind: ClassVar[str]`, which is the
# first key. The texts of an annotation are its explanation, which `explain` writes.

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
class RecordField:
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
def list_fields(record: Any) -> tuple[RecordField, ...]:
    """Return the fields of a dataclass, in their order."""
    hints = typing.get_type_hints(record, include_extras=True)
    return tuple(_field(each, hints[each.name]) for each in dataclasses.fields(record))


def _field(each: dataclasses.Field[Any], hint: Any) -> RecordField:
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
    return RecordField(name=each.name, key=key, type=plain, doc=doc, default=default, inline=inline)


@functools.cache
def list_keys(record: type) -> dict[str, RecordField]:
    """Return the fields of a dataclass that are keys, those of inline ones in their place."""
    found: dict[str, RecordField] = {}
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


def list_written_fields(record: Any) -> list[tuple[RecordField, Any]]:
    """Return the fields of a dataclass that are written, with their values."""
    found: list[tuple[RecordField, Any]] = []
    type_: Any = type(record)
    for each in list_fields(type_):
        value = getattr(record, each.name)
        if not _is_default(each, value):
            found += [(each, value)] if each.inline is None else list_written_fields(value)
    return found


def _is_default(field: RecordField, value: Any) -> bool:
    return field.is_optional and type(value) is type(field.default) and value == field.default

# --- Reader of dataclasses ------------------------------------------------------------------------
#
# It reads the data of a YAML text. Errors have places in the text.

T = typing.TypeVar("T")
Path = tuple[str | int, ...]
Reader = Callable[[Any, Path], Any]
SCALARS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


class WrongDataError(Exception):
    """A value at a path of a YAML text that is not what the field is for."""

    def __init__(self, path: Path, said: str, hint: str | None = None) -> None:
        super().__init__(f"{'.'.join(map(str, path)) or 'the text'} {said}")
        self.path, self.hint = path, hint


def read_record(source: Source, type_: type[T]) -> T:
    """Return a YAML text of a stage as a dataclass.

    Raises UserErrors where somebody edited it so that it is none any more.
    """
    return typing.cast(T, _read(source, reader_of(typing.cast(Any, type_))))


def read_records(source: Source, type_: type[T]) -> Mapping[str, T]:
    """Return a YAML text of a stage as dataclasses by name, as `read_record` does one."""
    found = _read(source, reader_of(Mapping[str, type_]))  # type: ignore[valid-type]
    return typing.cast(Mapping[str, T], found)


def _read(source: Source, reader: Reader) -> Any:
    try:
        return reader(read_data(source), ())
    except WrongDataError as error:
        raise _misfit(source, error) from None


def _misfit(source: Source, error: WrongDataError) -> UserErrors:
    """Return the error at the place of a value, or of the mapping in which it is missing."""
    document, path = read_document(source), error.path
    while path not in document.values:
        path = path[:-1]
    hint = error.hint or "undo the edit"
    return UserErrors([UserError(str(error), document.values[path], hint)])


@functools.cache
def reader_of(type_: Any) -> Reader:
    """Return the function that makes a value of a type of data at a path."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin is typing.Annotated:
        return reader_of(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return _reader_of_union([m for m in arguments if m not in (type(None), Absent)])
    if origin is typing.Literal:
        return functools.partial(_read_literal, arguments)
    if origin is tuple:
        return _reader_of_tuple(arguments)
    if origin is Mapping:
        return functools.partial(_read_mapping, reader_of(arguments[1]))
    if dataclasses.is_dataclass(type_) and isinstance(type_, type):
        return functools.partial(_read_dataclass, type_)
    return functools.partial(_read_scalar, type_)


def _read_scalar(type_: type, data: Any, path: Path) -> Any:
    if type_ is float and type(data) is int:
        return float(data)
    if type(data) is not type_:
        raise WrongDataError(path, f"must be {SCALARS[type_]}")
    return data


def _read_literal(allowed: tuple[Any, ...], data: Any, path: Path) -> Any:
    if not any(data == each and type(data) is type(each) for each in allowed):
        raise WrongDataError(path, f"must be one of {', '.join(map(str, allowed))}")
    return data


def _reader_of_tuple(arguments: tuple[Any, ...]) -> Reader:
    readers = [reader_of(each) for each in arguments if each is not ...]
    length = None if ... in arguments else len(arguments)

    def read(data: Any, path: Path) -> Any:
        if not isinstance(data, list | tuple):
            raise WrongDataError(path, "must be a list")
        if length is not None and len(data) != length:
            raise WrongDataError(path, f"must be a list of {length}")
        each = readers if length is not None else readers * len(data)
        parts = enumerate(zip(each, data, strict=True))
        return tuple(one(part, (*path, k)) for k, (one, part) in parts)

    return read


def _read_mapping(reader: Reader, data: Any, path: Path) -> Any:
    if not isinstance(data, dict):
        raise WrongDataError(path, "must be a mapping")
    return {_name(name, path): reader(part, (*path, name)) for name, part in data.items()}


def _name(name: Any, path: Path) -> str:
    if not isinstance(name, str):
        raise WrongDataError(path, f"has the key {name}, which is no name", "quote it")
    return name


def _reader_of_union(members: list[Any]) -> Reader:
    """Return the reader of the member that data is of: by its kind, or by what it is in YAML."""
    if len(members) == 1:
        return reader_of(members[0])
    kinds = {kind: reader_of(each) for each in members if (kind := find_kind(each)) is not None}
    if kinds:
        return functools.partial(_read_kind, kinds)
    if all(map(dataclasses.is_dataclass, members)):
        first = {list_fields(each)[0].key: reader_of(each) for each in members}
        return functools.partial(_read_by_key, first)
    readers = [reader_of(each) for each in members]

    def read(data: Any, path: Path) -> Any:
        for each in readers[:-1]:
            try:
                return each(data, path)
            except WrongDataError:
                continue
        return readers[-1](data, path)

    return read


def _read_kind(kinds: Mapping[str, Reader], data: Any, path: Path) -> Any:
    if not isinstance(data, dict):
        raise WrongDataError(path, "must be a mapping")
    kind = str(data.get("kind"))
    if kind not in kinds:
        raise WrongDataError((*path, "kind"), f"must be one of {', '.join(kinds)}")
    return kinds[kind]({k: v for k, v in data.items() if k != "kind"}, path)


def _read_by_key(readers: Mapping[str, Reader], data: Any, path: Path) -> Any:
    """Return the record whose first key is there."""
    if not isinstance(data, dict):
        raise WrongDataError(path, "must be a mapping")
    found = next((key for key in readers if key in data), None)
    if found is None:
        raise WrongDataError(path, f"must have one of the keys {', '.join(readers)}")
    return readers[found](data, path)


def _read_dataclass(type_: type, data: Any, path: Path) -> Any:
    if not isinstance(data, dict):
        raise WrongDataError(path, "must be a mapping")
    known = list_keys(type_)
    for name in data:
        if name not in known:
            near = nearest(str(name), known, cutoff=0.5)
            hint = f"did you mean {near}?" if near else f"keys here: {', '.join(known)}"
            raise WrongDataError((*path, name), "is no key here", hint)
    return _read_fields(type_, data, path)


def _read_fields(type_: type, data: dict[str, Any], path: Path) -> Any:
    """Return a dataclass of those of the data that are its keys."""
    values: dict[str, Any] = {}
    for each in list_fields(type_):
        if each.inline is not None:
            if any(key in data for key in list_keys(each.inline)):
                values[each.name] = _read_fields(each.inline, data, path)
        elif each.key in data:
            values[each.name] = _read_part(each, data[each.key], (*path, each.key))
        elif not each.is_optional:
            raise WrongDataError((*path, each.key), "is missing")
    return type_(**values)


def _read_part(field: RecordField, data: Any, path: Path) -> Any:
    """Return the value of a field, which may be null if its type says so."""
    if data is None and type(None) in typing.get_args(field.type):
        return None
    return reader_of(field.type)(data, path)

# --- Comment at the head of a YAML text -----------------------------------------------------------
#
# It says what the keys in the text are, of those that occur:
#
#     tensors: what lies in the memory of a PE. type: of its elements; shape: its sizes; kept:
#       resident (in memory from the start), ...
#
# Each key at the top has a paragraph with what its records have inside; a record that lies deeper
# has one of its own.

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


def _keys(records: Sequence[Any]) -> Iterator[tuple[RecordField, list[Any]]]:
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
