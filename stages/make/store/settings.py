"""Reader of lairmake.yaml: the shared store and the folder of state of a workspace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

from lairmake.stages.diagnose import Source, UserError, UserErrors, source_of
from lairmake.stages.make.store.folders import shown_path, user_folder
from lairmake.stages.make.store.user_files import content_of
from lairmake.stages.mapping.models import File, Strict, read_file
from lairmake.stages.mapping.yaml_text import read_document

FILE = "lairmake.yaml"
VARIABLE = "LAIRMAKE_STORE"
WANTED = "a URL, a path, or {url: ..., read_only: true}"


class SharedStore(Strict):
    """Where the store is that workspaces share: a URL of fsspec, or a path."""

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


class Settings(File):
    """A lairmake.yaml."""

    NAME = FILE

    store: Store | None = None
    state: str | None = None


def shared_store(home: Path) -> SharedStore | None:
    """Return the second store of the workspace `home`; a relative path is made absolute.

    The variable LAIRMAKE_STORE has the form of `store:` in lairmake.yaml, and wins. Paths start
    from the folder of that file; in the variable, from where the user stands.

    Raises UserErrors.
    """
    given = os.environ.get(VARIABLE)
    if given:
        value = read_document(Source(path=VARIABLE, text=given)).value
        try:
            return _placed(Settings.model_validate({"store": value}), user_folder())
        except ValidationError:
            raise UserErrors([UserError(f"{VARIABLE} must be {WANTED}")]) from None
    return _placed(read_settings(home / FILE), home)


def read_settings(path: Path) -> Settings:
    """Return a lairmake.yaml. Raises UserErrors."""
    document = read_document(source_of(shown_path(path), content_of(path)))
    return read_file(Settings, document, document.value)


def _placed(settings: Settings, folder: Path) -> SharedStore | None:
    store = settings.store
    if store is None or "://" in store.url:
        return store
    place = (folder / os.path.expanduser(store.url)).resolve()
    return SharedStore(url=str(place), read_only=store.read_only)
