"""Checks of texts of stages that somebody edited by hand, against what the stage wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import get_args

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.isl_texts import IslText, parse_as
from lairmake.stages.mapping.layer_yaml import Way
from lairmake.stages.mapping.yaml_text import Document, YamlPath, read_document
from lairmake.stages.poly.iscc import IsccStatement, TextError, Union, statements
from lairmake.stages.poly.text import read_objects
from lairmake.stages.program.source.tree import SourcePlaces, parse_source

Single = isl.Set | isl.Map
KINDS = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false",
    list: "a list", dict: "a mapping",
}


def check_edit(edited: Source, original: str) -> None:
    """Raise UserErrors unless an edited text has the objects of the original, in their spaces.

    A YAML text must have the keys of the original, and values of the same kinds; a `.il` is Python.
    """
    kinds = {".isl": _wrong_isl, ".il": _wrong_python}
    find = kinds.get(PurePath(edited.path).suffix, _wrong_yaml)
    errors = list(find(edited, original))
    if errors:
        raise UserErrors(errors)


def _wrong_python(edited: Source, original: str) -> Iterator[UserError]:
    """Yield what keeps Python from reading a text: who runs it says what else is wrong."""
    try:
        parse_source(SourcePlaces(edited))
    except UserError as error:
        yield error


def _wrong_isl(edited: Source, original: str) -> Iterator[UserError]:
    objects = read_objects(original)
    try:
        found = {statement.name: statement for statement in statements(edited.text)}
    except TextError as error:
        line = edited.text[error.position :].partition("\n")[0]
        span = Span(source=edited, start=error.position, end=error.position + len(line))
        yield UserError(error.message, span)
        return
    constants = {name for object_ in objects.values() for name in _constants(object_)}
    for name, statement in found.items():
        if name not in objects:
            span = Span(source=edited, start=statement.start, end=statement.start + len(name))
            hint = did_you_mean(name, objects, "objects of this file")
            yield UserError(f"unknown object {name}", span, hint)
        else:
            yield from _wrong_object(edited, statement, objects[name], constants)
    yield from _missing(edited, [name for name in objects if name not in found])


def _missing(edited: Source, names: list[str]) -> Iterator[UserError]:
    end = len(edited.text.rstrip())
    for name in names:
        yield UserError(f"{name} is missing", Span(source=edited, start=end, end=end))


def _wrong_object(
    edited: Source, statement: IsccStatement, original: Union, constants: set[str]
) -> Iterator[UserError]:
    """Yield what is wrong: another kind, a space or a symbolic constant that was not there."""
    expression = statement.expression.strip()
    start = statement.expression_start + statement.expression.index(expression)
    offsets = tuple(range(start, start + len(expression) + 1))
    text = IslText(text=expression, source=edited, offsets=offsets)
    try:
        is_set = isinstance(original, isl.UnionSet)
        object_ = parse_as(isl.UnionSet, text) if is_set else parse_as(isl.UnionMap, text)
    except UserError as error:
        yield error
        return
    for name in sorted(_constants(object_) - constants):
        hint = f"there are {', '.join(sorted(constants)) or 'none'}"
        yield UserError(f"{name} is no symbolic constant of this file", text.place, hint)
    allowed = _spaces(original)
    for space in _spaces(object_):
        if allowed and not any(space.has_equal_tuples(other) for other in allowed):
            hint = f"{statement.name} is in {' or '.join(map(_shown, allowed))}"
            yield UserError(f"{_shown(space)} is another space", text.place, hint)


def _constants(object_: Union) -> set[str]:
    space = object_.get_space()
    count = space.dim(isl.dim_type.param)
    return {str(space.get_dim_name(isl.dim_type.param, at)) for at in range(count)}


def _spaces(object_: Union) -> list[isl.Space]:
    """Return the space of each of the sets or relations of a union that are not empty."""
    singles: list[Single] = []
    if isinstance(object_, isl.UnionSet):
        object_.foreach_set(singles.append)
    else:
        object_.foreach_map(singles.append)
    return [single.get_space().drop_all_params() for single in singles if not single.is_empty()]


def _shown(space: isl.Space) -> str:
    return str(space).removeprefix("[] -> ")


def _wrong_yaml(edited: Source, original: str) -> Iterator[UserError]:
    document = read_document(edited)
    before = read_document(Source(path=edited.path, text=original)).value
    yield from _wrong_keys(edited, document, before)


def first_change(edited: Source, original: str) -> Span:
    """Return the first line of an edited text that is not as it was."""
    lines, before = edited.text.split("\n"), original.split("\n")
    pairs = zip(lines, before, strict=False)
    at = next((n for n, (now, was) in enumerate(pairs) if now != was), min(len(lines), len(before)))
    at = min(at, len(lines) - 1)
    start = sum(len(line) + 1 for line in lines[:at])
    indent = len(lines[at]) - len(lines[at].lstrip())
    return Span(source=edited, start=start + indent, end=start + len(lines[at]))


def _wrong_keys(edited: Source, document: Document, original: object) -> Iterator[UserError]:
    value = document.value
    if not isinstance(value, dict) or not isinstance(original, dict):
        if type(value) is not type(original):
            yield UserError("the text is no mapping", Span(source=edited, start=0, end=0))
        return
    for name in value.keys() - original.keys():
        hint = did_you_mean(name, original, "keys of this file")
        yield UserError(f"unknown key {name}", document.keys[(name,)], hint)
    yield from _missing(edited, [name for name in original if name not in value])
    for name in [name for name in original if name in value]:
        yield from _wrong_values(value[name], original[name], (name,), document)


def _wrong_values(
    value: object, original: object, path: YamlPath, document: Document
) -> Iterator[UserError]:
    """Yield the values, at any depth, that are of another kind than those that were there."""
    shown = ".".join(map(str, path))
    if isinstance(value, dict) and isinstance(original, dict):
        for name in [name for name in original if name in value]:
            yield from _wrong_values(value[name], original[name], (*path, name), document)
    elif None not in (value, original) and type(value) is not type(original):
        yield UserError(f"{shown} must be {KINDS[type(original)]}", document.values[path])
    elif len(path) == 2 and path[1] == "by" and value not in get_args(Way):
        yield UserError(f"{shown} must be one of {', '.join(get_args(Way))}", document.values[path])
