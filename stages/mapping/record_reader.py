"""Read frozen dataclasses from the data of a YAML text, whose errors have places.

What a record may be is said in stages/mapping/records.py.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from lairmake.stages.diagnose import Source, UserError, UserErrors, nearest
from lairmake.stages.mapping.records import Absent, Field, find_kind, list_fields, list_keys
from lairmake.stages.mapping.yaml_text import read_data, read_document

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


def _read_part(field: Field, data: Any, path: Path) -> Any:
    """Return the value of a field, which may be null if its type says so."""
    if data is None and type(None) in typing.get_args(field.type):
        return None
    return reader_of(field.type)(data, path)
