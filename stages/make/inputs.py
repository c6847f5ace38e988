"""The files that a stage reads, in the forms in which it wants them."""

from __future__ import annotations

import copy
import fnmatch
import hashlib
import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages import ANALYSES, PIPELINE
from stages.diagnose import Source, Span, UserError, headline, source_of
from stages.make.declare import declaration, texts_of
from stages.make.folders import (
    KERNEL,
    LAYER,
    LayerFolder,
    file_of,
    further_file,
    is_pattern,
    names_of,
    shown_path,
)
from stages.make.given import read_given
from stages.make.store.memo import Mark, mark_of

if TYPE_CHECKING:
    import numpy as np

    from stages.lair.specialise import Layer
    from stages.mapping.layer_yaml import Mapping as LayerMapping
    from stages.poly.text import Objects


Tell = Callable[[float], None]


def digest(content: bytes) -> str:
    """Return the digest by which two contents of a file are told apart."""
    return hashlib.sha256(content).hexdigest()


class Inputs:
    """The files that one run of a stage reads: only those that the stage declares.

    Every file is read once; `reads` holds the digest of what was read, by the name that the stage
    uses, and `further` those that it read beyond the declared ones. What is `known` of them is not
    looked for in the folder. `tell` is called with how much of the stage is done, from 0 to 1.
    """

    def __init__(
        self, folder: LayerFolder, declared: Sequence[str],
        known: Mapping[str, bytes] | None = None, tell: Tell = lambda share: None,
    ) -> None:
        self._folder = folder
        self._declared = tuple(declared)
        self._below = ""
        self._contents: dict[str, bytes] = dict(known or {})
        self._mapping: LayerMapping | None = None
        self._lair: Layer | None = None
        self.tell = tell
        self.reads: dict[str, str] = {}
        self.further: dict[str, str] = {}
        self._marks: dict[Path, Mark] = {}

    def content(self, name: str) -> bytes:
        """Return the bytes of a file. Raises UserError where it cannot be read."""
        self._check_declared(self._below + name)
        return self._read(self._below + name, self._file(name), self.reads)

    def path(self, name: str) -> Path:
        """Return where a file lies, for those who must hand it on; it counts as read."""
        self.content(name)
        return self._file(name)

    def _file(self, name: str) -> Path:
        return file_of(self._folder, self._below + name)

    def names(self, pattern: str) -> list[str]:
        """Return the names of the files that a declared pattern stands for, sorted."""
        full = self._below + pattern
        declared = any(fnmatch.fnmatchcase(full, each) for each in self._declared)
        assert declared, f"{full} is not declared"
        return [name.removeprefix(self._below) for name in names_of(self._folder, full)]

    def source(self, name: str) -> Source:
        """Return a text, and its path as the user would write it. Raises UserError."""
        return source_of(shown_path(self._file(name)), self.content(name))

    def text(self, name: str) -> str:
        """Return a text; lines end in a newline. Raises UserError where it is not UTF-8."""
        return self.source(name).text

    def yaml(self, name: str) -> Any:
        """Return the data of a YAML text that a stage wrote.

        Raises UserErrors where that is no YAML any more.
        """
        import yaml

        from stages.mapping.yaml_limits import load

        source = self.source(name)
        try:
            return load(source.text)
        except (yaml.YAMLError, ValueError) as error:
            from stages.mapping.yaml_text import read_document

            read_document(source)
            raise UserError(f"{source.path}: {headline(error)}") from error

    def objects(self, name: str) -> Objects:
        """Return the isl sets and maps, by name, of a `.isl` text that a stage wrote."""
        from stages.poly import text

        return text.Objects(self.text(name))

    def mapping(self) -> LayerMapping:
        """Return layer.yaml. Raises UserErrors."""
        from stages.mapping.layer_yaml import read_mapping

        if self._mapping is None:
            mapping = read_mapping(self.source(LAYER))
            _check_pins(mapping)
            self._mapping = mapping
        return self._mapping

    def lair(self) -> Layer:
        """Return the node to build, with its sizes and types filled in. Raises UserErrors."""
        from stages.lair.grammar import parse_lair
        from stages.lair.specialise import specialise

        if self._lair is None:
            file = parse_lair(self.source(self._lair_name()))
            mapping = self.mapping()
            self._lair = specialise(
                file, mapping.top, dict(mapping.sizes), dict(mapping.types), mapping.span,
                delays=mapping.delays, following=mapping.following,
            )
        return self._lair

    def part(self, name: str) -> Inputs:
        """Return the files of a part of the network, by the names they have in the part."""
        part = copy.copy(self)
        part._below, part._mapping, part._lair = f"{name}/", None, None
        return part

    def further_path(self, given: str, span: Span) -> tuple[Path, str]:
        """Return the file that a user names at `span`, and its path as they would write it.

        It counts as read. Raises UserError where there is none.
        """
        path = further_file(self._folder, self._below + given)
        if not os.path.isfile(path):  # a Path raises OSError for a name that is too long
            kind = "kernel" if KERNEL in self._declared else "layer"
            hint = f"a path starts from the {kind} folder"
            raise UserError(f"{given} does not exist", span, hint)
        shown = shown_path(path)
        source_of(shown, self._read(self._below + given, path, self.further))
        return path, shown

    def array(self, name: str) -> np.ndarray:
        """Return the array of a `.npy` file. Raises UserError where it is none."""
        import numpy as np

        content = self.content(name)
        try:
            array = np.load(io.BytesIO(content), allow_pickle=False)
        except Exception as error:  # damaged bytes can make numpy raise nearly anything
            raise _not_an_array(self._file(name)) from error
        if not isinstance(array, np.ndarray):
            raise _not_an_array(self._file(name))
        return array

    def arrays(self) -> dict[str, np.ndarray]:
        """Return every array in `inputs/`, by the name of its tensor.

        Raises UserError for a file that is none, which nobody would read.
        """
        names = self.names("inputs/*")
        for name in (name for name in names if not name.endswith(".npy")):
            raise UserError(
                f"{shown_path(self._file(name))} is nothing that is read",
                hint="inputs/ holds x.npy for an input x, as numpy.save writes it; without it the "
                "values are generated",
            )
        return {Path(name).stem: self.array(name) for name in names}

    def are_unchanged(self) -> bool:
        """Return whether no file that was read was written since."""
        try:
            return all(mark_of(os.stat(path)) == mark for path, mark in self._marks.items())
        except OSError:
            return False

    def _check_declared(self, name: str) -> None:
        declared = any(fnmatch.fnmatchcase(name, d) for d in self._declared)
        assert declared, f"{name} is read but not declared"
        assert not is_pattern(name), f"{name} is a pattern, not a file"

    def _read(self, name: str, path: Path, noted: dict[str, str]) -> bytes:
        if name not in self._contents:
            self._contents[name], self._marks[path] = read_given(path)
            noted[name] = digest(self._contents[name])
        return self._contents[name]

    def _lair_name(self) -> str:
        """Return the name of the `.lair` file: the one layer.yaml names, else the only one."""
        given = self.mapping().lair
        names = self.names("*.lair")
        if given is not None:
            self._check_lair(given, names)
            return given
        if len(names) == 1:
            return names[0]
        found = f"{len(names)} .lair files ({', '.join(names)})" if names else "no .lair file"
        place = shown_path(self._file(LAYER).parent)
        raise UserError(
            f"{'this folder' if place == '.' else place} holds {found}",
            hint=f"name the one to build in {LAYER}: `lair: NAME.lair`" if names else None,
        )

    def _check_lair(self, given: str, names: list[str]) -> None:
        span = self.mapping().span("lair")
        here = f"the .lair files here: {', '.join(names) or 'none'}"
        if not given.endswith(".lair") or "/" in given:
            raise UserError(f"{given} is not the name of a .lair file", span, here)
        if given not in names:
            raise UserError(f"{given} does not exist", span, here)


def _not_an_array(path: Path) -> UserError:
    return UserError(
        f"{shown_path(path)} is not a NumPy array",
        hint="numpy.save writes such a file; arrays of objects are refused",
    )


def _check_pins(mapping: LayerMapping) -> None:
    """Raise UserError for a file that is to stay as it was edited, but that no stage writes."""
    from stages.lair.names import did_you_mean

    stages = PIPELINE + ANALYSES if mapping.pin else ()
    texts = texts_of(name for stage in stages for name in declaration(stage).writes)
    for at, name in enumerate(mapping.pin):
        if name not in texts:
            hint = did_you_mean(name, texts, "texts of stages")
            raise UserError(f"{name} cannot be pinned", mapping.span("pin", at), hint)
