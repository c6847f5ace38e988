"""The combinations of a sweep: folders in the `build/` of the folder that is swept.

Each has what a user wrote for that one, and a YAML file in which keys have other values; where they
are the same it is the same to the byte, and all that was built of it comes from the store.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors, source_of
from lairmake.stages.make.core.axes import Axis, Choice
from lairmake.stages.make.core.refused_keys import errors_in
from lairmake.stages.make.store.folders import (
    GRAPHS,
    KERNEL,
    LAYER,
    MLIR,
    NETWORK,
    LayerFolder,
    files_in,
    mark_of,
    shown_path,
    user_folder,
)
from lairmake.stages.make.store.user_files import content_of
from lairmake.stages.mapping import layer_yaml
from lairmake.stages.mapping.candidates import MACHINE, set_values
from lairmake.stages.mapping.yaml_text import Document, YamlPath as Keys, read_document

MOST = 1000
"""How many combinations a sweep has at most."""
LONGEST = 160
"""How many characters the name of a folder has at most."""
PLAIN = re.compile(r"[A-Za-z0-9.]{1,40}")
YAML_FILE = ".yaml"
FROM = "a path starts from the swept folder, or from where you are"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Values of all keys of a sweep: how each was typed, and what the YAML file says then.

    `name` is that of its folder, by the values: the same ones have the same, in any order.
    """

    name: str
    chosen: Mapping[str, Choice]
    text: str


def yaml_of(folder: LayerFolder) -> str:
    """Return the name of the YAML file in which a user says how a folder is built."""
    mark = mark_of(files_in(folder.path)) or LAYER
    if mark.endswith(GRAPHS):
        return NETWORK
    return KERNEL if mark.endswith(MLIR) else mark


def holds_isl(folder: LayerFolder, keys: Keys) -> bool:
    """Return whether the value at a path of keys is isl, in the YAML file of a folder."""
    return yaml_of(folder) in (LAYER, NETWORK) and layer_yaml.holds_isl(keys)


def combine(folder: LayerFolder, axes: Sequence[Axis]) -> list[Combination]:
    """Return all combinations of values, the last key being the fastest.

    Raises UserErrors where a value cannot be what the YAML file has there, or in what it names,
    UserError for too many.
    """
    count = math.prod(len(axis.choices) for axis in axes)
    if count > MOST:
        raise UserError(f"{count} combinations, at most {MOST} are built", hint="set fewer values")
    name = yaml_of(folder)
    file = folder.path / name
    content = content_of(file) if file.is_file() else b""
    source = source_of(shown_path(file), content)
    given = read_document(source)
    found = [
        _combination(folder, source, given, axes, choices)
        for choices in itertools.product(*(axis.choices for axis in axes))
    ]
    _check(folder, name, source, axes, found)
    return found


def _combination(
    folder: LayerFolder, source: Source, given: Document, axes: Sequence[Axis],
    choices: Sequence[Choice],
) -> Combination:
    changes = {
        axis.path: _from_folder(folder, axis.path, each.value)
        for axis, each in zip(axes, choices, strict=True)
    }
    chosen = {axis.key: each for axis, each in zip(axes, choices, strict=True)}
    return Combination(
        name=_name_of(chosen), chosen=chosen, text=set_values(source.text, given, changes)
    )


def _from_folder(folder: LayerFolder, keys: Keys, value: Any) -> Any:
    """Return the value of a key: the file of a machine, found from where the user stands, leads
    from the folder there."""
    if MACHINE not in keys or not isinstance(value, str) or not value.endswith(YAML_FILE):
        return value
    path = user_folder() / value
    is_found = not (folder.path / value).is_file() and path.is_file()
    return os.path.relpath(path, folder.path) if is_found else value


def read_text(folder: LayerFolder, name: str, place: Span) -> str:
    """Return the text of a file that was named at a place. Raises UserError where there is none."""
    paths = [folder.path / name, user_folder() / name]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise UserError(f"{name} does not exist", place, FROM)
    return source_of(shown_path(path), content_of(path)).text.strip()


def _name_of(chosen: Mapping[str, Choice]) -> str:
    """Return the name of a folder: keys and values, with a digest of a value that is no word."""
    said = [f"{key}-{_word(chosen[key].text)}" for key in sorted(chosen)]
    name = "_".join(said)
    return name if len(name) <= LONGEST else f"{name[:LONGEST].rstrip('_')}+{_digest(name)}"


def _word(text: str) -> str:
    if PLAIN.fullmatch(text):
        return text
    return f"{re.sub('[^A-Za-z0-9.]+', '', text)[:16]}+{_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _check(
    folder: LayerFolder, name: str, given: Source, axes: Sequence[Axis],
    found: Sequence[Combination],
) -> None:
    """Raise UserErrors for values that no stage need look at to refuse them, once each."""
    before = {error.message for error in errors_in(folder, name, given)}
    errors: dict[tuple[str, int], UserError] = {}
    for each in found:
        source = Source(path=given.path, text=each.text)
        for error in errors_in(folder, name, source):
            place = _place_typed(error, source, axes, each)
            if place is not None and error.message not in before:
                known = UserError(error.message, place, error.hint)
                errors.setdefault((place.source.text, place.start), known)
    if errors:
        raise UserErrors(errors.values())


def _place_typed(
    error: UserError, source: Source, axes: Sequence[Axis], combination: Combination
) -> Span | None:
    """Return where what is wrong was typed; None where it is in nothing that was set."""
    span = error.span
    if span is None or span.source != source:
        return None
    document = read_document(source)
    for axis in sorted(axes, key=lambda axis: -len(axis.path)):
        around = [axis.path[:k] for k in range(1, len(axis.path) + 1)]
        key, value = document.keys[axis.path], document.values[axis.path]
        choice = combination.chosen[axis.key]
        is_above = any(document.values[path] == span for path in around[:-1])
        if is_above or any(document.keys[path] == span for path in around):
            return choice.span if choice.text in error.message else axis.span
        if key.start <= span.start and span.end <= max(key.end, value.end):
            return choice.span
    return None
