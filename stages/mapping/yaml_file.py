"""YAML files of users as models: what pydantic finds wrong in them is said in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails

from stages.diagnose import Span, UserError, UserErrors
from stages.lair.names import did_you_mean
from stages.mapping.yaml_text import Document, Path


class Strict(BaseModel):
    """A mapping in a file, which has the keys of the model only."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class File(Strict):
    """A file, which knows where its keys and values stand.

    `NAME` is what it is called; `MISSING` has a hint for each key without which it is none. Where a
    value has one of several forms, each has a `Tag` that begins with `<`.
    """

    NAME: ClassVar[str]
    MISSING: ClassVar[Mapping[str, str]] = {}

    _document: Document = PrivateAttr()

    def span(self, *path: str | int) -> Span:
        """Return the place of the value at a path, or of what encloses it: `"tensors", "x"`."""
        return find_value_span(self._document, path)

    def key_span(self, *path: str | int) -> Span:
        """Return the place of the key at a path, or of the value that encloses it."""
        return self._document.keys.get(path) or find_value_span(self._document, path)


Model = TypeVar("Model", bound=File)


def read_file(model: type[Model], document: Document, value: Any) -> Model:
    """Return the value of a document as a file. Raises UserErrors with all that is wrong in it.

    A validator says more with a PydanticCustomError that has a `hint`: its text follows the key.
    """
    try:
        file = model.model_validate(value)
    except ValidationError as error:
        errors = [_explain(model, each, document) for each in error.errors()]
        raise UserErrors(sorted(errors, key=_start)) from None
    file._document = document
    return file


def _start(error: UserError) -> int:
    return error.span.start if error.span is not None else 0


def _explain(model: type[File], details: ErrorDetails, document: Document) -> UserError:
    """Return what is wrong at a place of the file in our words."""
    kind, more = details["type"], details.get("ctx", {})
    path = _without_tags(details["loc"], document)
    span = find_value_span(document, path)
    if kind == "extra_forbidden":
        hint = did_you_mean(str(path[-1]), _keys(model, path[:-1]), "keys")
        return UserError(f"unknown key {path[-1]}", document.keys[path], hint)
    if kind == "missing":
        name = ".".join(map(str, path))
        hint = model.MISSING.get(name) or model.MISSING[str(path[-1])]
        return UserError(f"{name} is missing", span, hint)
    if "hint" in more:
        return UserError(f"{path[-1]}{details['msg']}", span, more["hint"])
    name = ".".join(map(str, _written(path, document))) or model.NAME
    return wrong_value(details, name, span)


def _without_tags(path: Path, document: Document) -> Path:
    """Return a path without what pydantic adds where a value may have one of several forms.

    A key of the file may begin as that does.
    """
    kept: Path = ()
    for each in path:
        if not str(each).startswith("<") or (*kept, each) in document.values:
            kept = (*kept, each)
    return kept


def _keys(model: type[BaseModel], path: Path) -> list[str]:
    """Return the keys of the mapping at a path of a file."""
    for key in path:
        if key in model.model_fields:
            model = _model_in(model.model_fields[str(key)].annotation) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model of which a type is made, as `dict[str, Model]`; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def find_value_span(document: Document, path: Path) -> Span:
    """Return the place of the value at a path, or of the nearest value that encloses it."""
    return document.values[_written(path, document)]


def _written(path: Path, document: Document) -> Path:
    """Return a path as far as the text spells it."""
    while path not in document.values:
        path = path[:-1]
    return path


_WANTED = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "finite_number": "a number",
    "float_type": "a number",
    "greater_than_equal": "at least {ge}",
    "int_type": "an integer",
    "invalid_key": "a mapping whose keys are names",
    "isl_type": "a text in isl syntax",
    "less_than_equal": "at most {le}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "machine_type": "a profile's name, a path, or a mapping with `profile`",
    "model_type": "a mapping",
    "parameter_type": "a number, a text, true or false",
    "ports_type": "a text in isl syntax, or true: anywhere",
    "skew_type": "true, false, x or y",
    "string_type": "a text",
    "too_long": "at most {max_length} values",
    "too_short": "at least {min_length} values",
}


def wrong_value(details: ErrorDetails, name: str, span: Span) -> UserError:
    """Return the error for a value that is not of the kind that its key takes."""
    kind, context = details["type"], details.get("ctx", {})
    wanted = _WANTED[kind].format_map(context) if kind in _WANTED else details["msg"]
    return UserError(f"{name} must be {wanted}", span)
