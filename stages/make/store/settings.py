"""lairmake.yaml: what a workspace says about building it, beyond its layers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from stages.diagnose import Source, UserError, UserErrors, source_of
from stages.lair.names import did_you_mean
from stages.make.store.folders import shown_path, user_folder
from stages.make.store.given import content_of
from stages.mapping.yaml_file import find_value_span, wrong_value
from stages.mapping.yaml_text import Document, read_document

FILE = "lairmake.yaml"
VARIABLE = "LAIRMAKE_STORE"
WANTED = "a URL, a path, or {url: ..., read_only: true}"


class SharedStore(BaseModel):
    """Where the store is that workspaces share: a URL of fsspec, or a path."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    url: str
    read_only: bool = False


def _store(value: Any) -> SharedStore:
    fields = {"url": value} if isinstance(value, str) else value
    try:
        return SharedStore.model_validate(fields)
    except ValidationError:
        raise PydanticCustomError("store_type", WANTED) from None


Store = Annotated[
    SharedStore,
    PlainValidator(_store),
    WithJsonSchema({"anyOf": [{"type": "string"}, SharedStore.model_json_schema()]}),
]


class Settings(BaseModel):
    """A lairmake.yaml."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    store: Store | None = None


def shared_store(home: Path) -> SharedStore | None:
    """Return the second store of the workspace `home`; a relative path is made absolute.

    The variable LAIRMAKE_STORE holds what `store:` does in lairmake.yaml, and wins. Paths start
    from the folder of that file; in the variable, from where the user stands.

    Raises UserErrors.
    """
    given = os.environ.get(VARIABLE)
    if given:
        source = Source(path=VARIABLE, text=given)
        return _placed(_settings({"store": read_document(source).value}, None), user_folder())
    path = home / FILE
    document = read_document(source_of(shown_path(path), content_of(path)))
    return _placed(_settings(document.value, document), home)


def _settings(value: Any, document: Document | None) -> Settings:
    try:
        return Settings.model_validate(value)
    except ValidationError as error:
        raise UserErrors([_explained(each, document) for each in error.errors()]) from None


def _explained(details: ErrorDetails, document: Document | None) -> UserError:
    if document is None:
        return UserError(f"{VARIABLE} must be {WANTED}")
    path = details["loc"]
    if details["type"] == "extra_forbidden":
        hint = did_you_mean(str(path[-1]), Settings.model_fields, "keys")
        return UserError(f"unknown key {path[-1]}", document.keys[path], hint)
    return wrong_value(details, ".".join(map(str, path)) or FILE, find_value_span(document, path))


def _placed(settings: Settings, folder: Path) -> SharedStore | None:
    store = settings.store
    if store is None or "://" in store.url:
        return store
    place = (folder / Path(store.url).expanduser()).resolve()
    return SharedStore(url=str(place), read_only=store.read_only)
