"""YAML files of users as models: what pydantic finds wrong in them is said in our words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails

from lairmake.stages.diagnose import Span, UndeclaredReadError, UserError, UserErrors
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping import yaml_paths
from lairmake.stages.mapping.yaml_text import Document, YamlPath


class Strict(BaseModel):
    """A mapping in a file, which has the keys of the model only."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def only(self, paths: Collection[yaml_paths.ValuePath]) -> Self:
        """Return the mapping with the values at some paths; to ask for others raises
        UndeclaredReadError."""
        if yaml_paths.WHOLE in paths:
            return self
        kept = self.model_copy()
        for name, field in type(self).model_fields.items():
            found = yaml_paths.below(paths, field.alias or name)
            if found and name in kept.__dict__:
                kept.__dict__[name] = _only(kept.__dict__[name], found)
            else:
                kept.__dict__.pop(name, None)
        return kept

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Refuse what `only` left out: the model says that there is such a field."""
            if name in type(self).model_fields:
                said = f"{type(self).__name__.lower()}.{name}"
                raise UndeclaredReadError(f"{said} is read but not declared")
            return super().__getattr__(name)


def _only(value: Any, paths: Collection[yaml_paths.ValuePath]) -> Any:
    """Return a value of a field with the values at some paths."""
    if isinstance(value, Strict):
        return value.only(paths)
    if isinstance(value, dict) and yaml_paths.WHOLE not in paths:
        kept = {key: yaml_paths.below(paths, key) for key in value}
        return {key: _only(value[key], found) for key, found in kept.items() if found}
    return value


class File(Strict):
    """A file, which knows where its keys and values stand.

    `NAME` is what it is called; `MISSING` has a hint for each key without which it is none;
    `ORDERED` names the keys in whose values the order of further keys counts: in others it does
    not. Where a value has one of several forms, each has a `Tag` that begins with `<`.
    """

    NAME: ClassVar[str]
    MISSING: ClassVar[Mapping[str, str]] = {}
    ORDERED: ClassVar[Collection[str]] = ()

    _document: Document = PrivateAttr()

    def span(self, *path: str | int) -> Span:
        """Return the place of the value at a path, or of what encloses it: `"tensors", "x"`."""
        return find_value_span(self._document, path)

    def key_span(self, *path: str | int) -> Span:
        """Return the place of the key at a path, or of the value that encloses it."""
        return self._document.keys.get(path) or find_value_span(self._document, path)

    def only(self, paths: Collection[yaml_paths.ValuePath]) -> Self:
        """Return the file with the values at some paths; places are those of all."""
        if yaml_paths.WHOLE in paths:
            return self
        kept = super().only(paths)
        value = yaml_paths.select(self._document.value, paths)
        kept._document = replace(self._document, value=value)
        return kept

    @property
    def says(self) -> str:
        """What the file says as one text, without comments and places.

        Raises TypeError for a value that no file may have, as a date.
        """
        return yaml_paths.text_of(yaml_paths.sort_keys(self._document.value, self.ORDERED))


Model = TypeVar("Model", bound=File)


def read_file(model: type[Model], document: Document, value: Any) -> Model:
    """Return the value of a document as a file. Raises UserErrors with all that is wrong in it.

    A validator says more with a PydanticCustomError that has a `hint`: its text follows the key.
    """
    try:
        file = model.model_validate(yaml_paths.sort_keys(value, model.ORDERED))
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


def _without_tags(path: YamlPath, document: Document) -> YamlPath:
    """Return a path without what pydantic adds where a value may have one of several forms.

    A key of the file may begin as that does.
    """
    kept: YamlPath = ()
    for each in path:
        if not str(each).startswith("<") or (*kept, each) in document.values:
            kept = (*kept, each)
    return kept


def _keys(model: type[BaseModel], path: YamlPath) -> list[str]:
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


def find_value_span(document: Document, path: YamlPath) -> Span:
    """Return the place of the value at a path, or of the nearest value that encloses it."""
    return document.values[_written(path, document)]


def _written(path: YamlPath, document: Document) -> YamlPath:
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
