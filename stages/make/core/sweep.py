"""Sweeps: keys with several values, and the folders of their combinations."""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors, source_of
from lairmake.stages.make.core.faults import errors_in
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.outputs import check_place
from lairmake.stages.make.store.files import read_file, write_whole
from lairmake.stages.make.store.folders import (
    GRAPHS,
    KERNEL,
    LAYER,
    MLIR,
    NETWORK,
    NOT_LAYERS,
    OF_DOIT,
    SWEEP,
    LayerFolder,
    files_in,
    mark_of,
    shown_path,
    user_folder,
)
from lairmake.stages.make.store.user_files import content_of
from lairmake.stages.mapping import layer_yaml
from lairmake.stages.mapping.candidates import MACHINE, set_values
from lairmake.stages.mapping.yaml_text import Document, YamlPath, YamlPath as Keys, read_document

# --- Keys that a sweep sets, and their values -----------------------------------------------------
#
# Commas outside of brackets and quotes separate values.

OPTION = "--set"
KEY = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+)*")
BRACKETS = {"(": ")", "[": "]", "{": "}"}
FILE = ".isl"
"""Ending of the name of a file whose text is the value of a key that holds isl."""
TRUTHS = ("true", "false")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepChoice:
    """One value of a key: its text as typed, its value in YAML, and the place of the text."""

    text: str
    value: Any
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAxis:
    """A key, `sizes.M`, its path, where it was first typed, and its values."""

    key: str
    path: YamlPath
    span: Span
    choices: tuple[SweepChoice, ...]


def read_axes(
    words: Sequence[str], holds_isl: Callable[[YamlPath], bool], read: Callable[[str, Span], str]
) -> list[SweepAxis]:
    """Return the keys that words `KEY=VALUE,VALUE` set, in the order given.

    A key that is given twice has all the values. A value at a path that `holds_isl` is taken as it
    stands, or as the text of a file, which is `read`. Raises UserErrors with all that is wrong.
    """
    found: dict[str, SweepAxis] = {}
    errors: list[UserError] = []
    for word in words:
        try:
            axis = _read_axis(Source(path=OPTION, text=word), holds_isl, read)
        except UserError as error:
            errors.append(error)
            continue
        known = found.get(axis.key, axis)
        choices = {each.text: each for each in (*known.choices, *axis.choices)}
        found[axis.key] = SweepAxis(
            key=axis.key, path=axis.path, span=known.span, choices=tuple(choices.values())
        )
    if errors:
        raise UserErrors(errors)
    return list(found.values())


def _read_axis(
    source: Source, holds_isl: Callable[[YamlPath], bool], read: Callable[[str, Span], str]
) -> SweepAxis:
    """Return a key with the values of one word. Raises UserError."""
    key, equals, _ = source.text.partition("=")
    span = Span(source=source, start=0, end=len(key))
    if not equals or not KEY.fullmatch(key):
        hint = "write a key of the folder's YAML file, and its values: `sizes.M=32,64`"
        said = "this is no key" if equals else "this sets nothing"
        raise UserError(said, span, hint)
    path = tuple(key.split("."))
    places = _split(source, len(key) + 1)
    choices = tuple(_read_choice(place, holds_isl(path), read) for place in places)
    return SweepAxis(key=key, path=path, span=span, choices=choices)


def _split(source: Source, start: int) -> Iterator[Span]:
    """Yield where values stand, without the blanks around them. Raises UserError."""
    text, closing, quote = source.text, list[str](), ""
    for at in range(start, len(text)):
        sign = text[at]
        if quote or (sign in "\"'" and not closing and not text[start:at].strip()):
            quote = "" if sign == quote else quote or sign
        elif sign in BRACKETS:
            closing.append(BRACKETS[sign])
        elif closing and sign == closing[-1]:
            closing.pop()
        elif sign == "," and not closing:
            yield _trimmed(source, start, at)
            start = at + 1
    if closing or quote:
        missing = quote or closing[-1]
        raise UserError(f"{missing} is missing", _trimmed(source, start, len(text)))
    yield _trimmed(source, start, len(text))


def _trimmed(source: Source, start: int, end: int) -> Span:
    text = source.text[start:end]
    first = start + len(text) - len(text.lstrip())
    return Span(source=source, start=first, end=max(first, start + len(text.rstrip())))


def _read_choice(
    place: Span, is_isl: bool, read: Callable[[str, Span], str]
) -> SweepChoice:
    """Return the value at a place. Raises UserError."""
    text = place.source.text[place.start : place.end]
    if not text:
        raise UserError("a value is missing", place, 'an empty text is `""`')
    if is_isl and text not in TRUTHS and text[0] not in "\"'":
        value = read(text, place) if text.endswith(FILE) else text
        return SweepChoice(text=text, value=value, span=place)
    try:
        value = read_document(Source(path=OPTION, text=text)).value
    except UserErrors as error:
        raise UserError(error.errors[0].message, place, "quote a text") from None
    return SweepChoice(text=text, value=value, span=place)

# --- Combinations of the values of a sweep --------------------------------------------------------
#
# A combination is a folder in the `build/` of the swept folder. It has all that a user wrote for
# the swept folder, and a YAML file in which keys have other values. Where the values are the same,
# the file is the same to the byte, and all that was built of it comes from the store.

MOST = 1000
"""Number of combinations of a sweep, at most."""
LONGEST = 160
"""Number of characters in the name of a folder, at most."""
PLAIN = re.compile(r"[A-Za-z0-9.]{1,40}")
YAML_FILE = ".yaml"
FROM = "a path starts from the swept folder, or from where you are"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """One value for each key of a sweep, and the text of the YAML file with these values.

    `name` is that of its folder. It follows from the values, whatever the order of keys.
    """

    name: str
    chosen: Mapping[str, SweepChoice]
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


def combine(folder: LayerFolder, axes: Sequence[SweepAxis]) -> list[Combination]:
    """Return all combinations of values, the last key being the fastest.

    Raises UserErrors where a value cannot stand where it would in the YAML file, or something is
    wrong in a file that it names, and UserError for more than `MOST`.
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
    folder: LayerFolder, source: Source, given: Document, axes: Sequence[SweepAxis],
    choices: Sequence[SweepChoice],
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


def _name_of(chosen: Mapping[str, SweepChoice]) -> str:
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
    folder: LayerFolder, name: str, given: Source, axes: Sequence[SweepAxis],
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
    error: UserError, source: Source, axes: Sequence[SweepAxis], combination: Combination
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

# --- Folders of combinations ----------------------------------------------------------------------
#
# A folder holds what a user wrote for the swept folder, with other values in its YAML file.

UP = "../"
BUILT = NOT_LAYERS - {"inputs", "outputs"}
LARGE = 2**20
"""Size in bytes from which a file is linked instead of copied: arrays, and graphs."""


def place_of(folder: LayerFolder, name: str) -> Path:
    """Return the folder of a combination of a swept folder, or a file about all of them."""
    return folder.build / SWEEP / name


def write_folder(folder: LayerFolder, combination: Combination) -> LayerFolder:
    """Write the folder of a combination, and return it; what is there already is left alone.

    Raises UserError where it cannot be written, or files lead elsewhere.
    """
    place, name = place_of(folder, combination.name), yaml_of(folder)
    check_place(folder, place / name)
    given = dict(_files_given(folder, name))
    content = _content(combination, folder.path / name, place)
    try:
        _remove_others(place, {*given, name})
        for each, path in given.items():
            if each != name:
                _copy(path, place / each)
        if not _holds(place / name, content):
            write_whole(place / name, content)
    except OSError as error:
        raise UserError(f"cannot write {shown_path(place)}: {error.strerror or error}") from error
    return open_folder(place)


def _content(combination: Combination, given: Path, place: Path) -> bytes:
    """Return the YAML file of a combination: that which is given, if it says the same."""
    text = _led(combination.text, given.parent, place)
    if given.is_file():
        content = given.read_bytes()
        if source_of(given.name, content).text == text:
            return content
    return text.encode()


def _led(text: str, start: Path, place: Path) -> str:
    """Return a YAML text whose paths out of its folder start from another one."""
    document = read_document(Source(path="", text=text))
    paths = {
        keys: os.path.relpath(start / path, place) for keys, path in _paths_out(document.value)
    }
    return set_values(text, document, paths) if paths else text


def paths_out(source: Source) -> set[str]:
    """Return the paths out of its folder that a YAML text has. Raises UserError where it is none.
    """
    return {path for _, path in _paths_out(read_document(source).value)}


def _paths_out(value: Any) -> Iterator[tuple[Keys, str]]:
    return ((keys, path) for keys, path in _paths_in(value, ()) if path.startswith(UP))


def _paths_in(value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Yield where a YAML file has paths: of the files of machines, and of folders of parts."""
    said = value if isinstance(value, dict) else {}
    machine = said.get(MACHINE)
    profile = machine.get("profile") if isinstance(machine, dict) else None
    parts = said.get("parts")
    yield from _if_text((*keys, MACHINE), machine, YAML_FILE)
    yield from _if_text((*keys, MACHINE, "profile"), profile, YAML_FILE)
    yield from _if_text((*keys, "folder"), said.get("folder") if keys else None)
    for name, part in parts.items() if isinstance(parts, dict) else ():
        yield from _if_text(("parts", name), part)
        yield from _paths_in(part, ("parts", name))


def _if_text(keys: Keys, value: Any, end: str = "") -> Iterator[tuple[Keys, str]]:
    if isinstance(value, str) and value.endswith(end):
        yield keys, value


def _files_given(folder: LayerFolder, name: str) -> Iterator[tuple[str, Path]]:
    """Yield what a user wrote in a folder, by its path there, but for other layers and dodo.py.

    The layers in a network may be its parts. Raises UserError for a link out of the folder.
    """
    top = folder.path.resolve()
    for place, folders, files in os.walk(folder.path):
        others = [] if name == NETWORK else [
            each for each in folders if mark_of(files_in(Path(place, each)))
        ]
        folders[:] = [f for f in folders if f not in (*BUILT, *others) and not _is_hidden(f)]
        for each in (*folders, *files):
            if each != OF_DOIT and not _is_hidden(each):
                path = Path(place, each)
                check_link(path, top)
                if each in files:
                    yield path.relative_to(folder.path).as_posix(), path


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__"))


def check_link(path: Path, folder: Path) -> None:
    """Raise UserError for a symbolic link to anything but a file of the folder that is copied."""
    target = path.resolve()
    if path.is_symlink() and not (target.is_file() and target.is_relative_to(folder)):
        hint = "put what it leads to in its place, or remove it"
        said = f"{shown_path(path)} is a link out of its folder, or to a folder"
        raise UserError(said, hint=hint)


def _copy(given: Path, path: Path) -> None:
    """Let a file hold what another one does."""
    if path.is_file() and not path.is_symlink():
        if os.path.samefile(given, path) or filecmp.cmp(given, path, shallow=False):
            return
        path.unlink()
    if given.stat().st_size >= LARGE:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            os.link(given.resolve(), path)
            return
    write_whole(path, read_file(given))


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and not path.is_symlink() and read_file(path) == content


def _remove_others(place: Path, wanted: set[str]) -> None:
    """Remove what was given once and no more; not what was built."""
    for inside, folders, files in os.walk(place):
        folders[:] = [each for each in folders if each not in BUILT and not _is_hidden(each)]
        for path in (Path(inside, each) for each in (*folders, *files)):
            is_wanted = path.relative_to(place).as_posix() in wanted
            if path.is_symlink() or (path.name in files and not is_wanted):
                path.unlink()
