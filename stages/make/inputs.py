"""The files that a stage reads, in the forms in which it wants them."""

from __future__ import annotations

import fnmatch
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.diagnose import Source, UserError
from stages.make.folders import LAYER, STATE, LayerFolder, file_of, is_pattern, names_of, shown_path

if TYPE_CHECKING:
    import numpy as np

    from stages.fabric.profile import Profile
    from stages.lair.mapping import Mapping
    from stages.lair.specialise import Layer


def digest(content: bytes) -> str:
    """Return the digest by which two contents of a file are told apart."""
    return hashlib.sha256(content).hexdigest()


class Inputs:
    """The files that one run of a stage reads: only those that the stage declares.

    Every file is read once; `reads` holds the digest of what was read, by path, and `listed` the
    names that each pattern stood for.
    """

    def __init__(self, folder: LayerFolder, declared: Sequence[str]) -> None:
        self._folder = folder
        self._declared = tuple(declared)
        self._contents: dict[Path, bytes] = {}
        self._mapping: Mapping | None = None
        self._lair: Layer | None = None
        self.reads: dict[str, str] = {}
        self.listed: dict[str, list[str]] = {}

    @property
    def scratch(self) -> Path:
        """The folder for what may be kept between builds and lost at any time."""
        return self._folder.home / STATE

    def content(self, name: str) -> bytes:
        """Return the bytes of a file. Raises UserError where it cannot be read."""
        self._check_declared(name)
        return self._read(file_of(self._folder, name))

    def path(self, name: str) -> Path:
        """Return where a file lies, for those who must hand it on; it counts as read."""
        self.content(name)
        return file_of(self._folder, name)

    def names(self, pattern: str) -> list[str]:
        """Return the names of the files that a declared pattern stands for, sorted."""
        assert pattern in self._declared, f"{pattern} is not declared"
        self.listed[pattern] = names_of(self._folder, pattern)
        return self.listed[pattern]

    def source(self, name: str) -> Source:
        """Return a text, and its path as the user would write it. Raises UserError."""
        return self._source(file_of(self._folder, name), self.content(name))

    def text(self, name: str) -> str:
        """Return a text; lines end in a newline. Raises UserError where it is not UTF-8."""
        return self.source(name).text

    def yaml(self, name: str) -> Any:
        """Return the data of a YAML text that a stage wrote."""
        import yaml

        return yaml.load(self.text(name), getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    def objects(self, name: str) -> dict[str, Any]:
        """Return the isl sets and maps, by name, of a `.isl` text that a stage wrote."""
        from stages.poly.text import read_objects

        return dict(read_objects(self.text(name)))

    def mapping(self) -> Mapping:
        """Return layer.yaml. Raises UserErrors."""
        from stages.lair.mapping import read_mapping

        if self._mapping is None:
            self._mapping = read_mapping(self.source(LAYER))
        return self._mapping

    def lair(self) -> Layer:
        """Return the node to build, with its sizes and types filled in. Raises UserErrors."""
        from stages.lair.grammar import parse_lair
        from stages.lair.specialise import specialise

        if self._lair is None:
            file = parse_lair(self.source(self._lair_name()))
            mapping = self.mapping()
            self._lair = specialise(
                file, mapping.top, dict(mapping.sizes), dict(mapping.types), mapping.span
            )
        return self._lair

    def profile(self) -> Profile:
        """Return the figures of the layer's machine: a profile by name, or a file of the folder.

        Raises UserError where layer.yaml names none that is known, or figures that are none.
        """
        from stages.fabric.profile import ProfileError, load_profile

        given = self.mapping().machine
        figures = {"profile": given} if isinstance(given, str) else dict(given)
        name = self._profile_name(str(figures.pop("profile")))
        try:
            return load_profile(name, figures)
        except ProfileError as error:
            said = error.message.replace(name, shown_path(Path(name)) if "/" in name else name)
            span = self.mapping().key_span("machine", error.figure or "")
            raise UserError(said, span, error.hint) from error

    def array(self, name: str) -> np.ndarray:
        """Return the array of a `.npy` file. Raises UserError where it is none."""
        import numpy as np

        content = self.content(name)
        try:
            array = np.load(io.BytesIO(content), allow_pickle=False)
        except Exception as error:  # damaged bytes can make numpy raise nearly anything
            raise _not_an_array(file_of(self._folder, name)) from error
        if not isinstance(array, np.ndarray):
            raise _not_an_array(file_of(self._folder, name))
        return array

    def arrays(self) -> dict[str, np.ndarray]:
        """Return every array of `inputs/*.npy`, by the name of its tensor."""
        return {Path(name).stem: self.array(name) for name in self.names("inputs/*.npy")}

    def _check_declared(self, name: str) -> None:
        declared = any(fnmatch.fnmatchcase(name, d) for d in self._declared)
        assert declared, f"{name} is read but not declared"
        assert not is_pattern(name), f"{name} is a pattern, not a file"

    def _read(self, path: Path) -> bytes:
        if path not in self._contents:
            try:
                self._contents[path] = path.read_bytes()
            except OSError as error:
                raise UserError(f"{shown_path(path)}: {error.strerror}") from error
            self.reads[str(path)] = digest(self._contents[path])
        return self._contents[path]

    def _source(self, path: Path, content: bytes) -> Source:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"{shown_path(path)} is not UTF-8 text: byte {error.start} is damaged"
            raise UserError(message) from error
        return Source(path=shown_path(path), text=text.replace("\r\n", "\n"))

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
        place = shown_path(self._folder.path)
        raise UserError(
            f"{'this folder' if place == '.' else place} holds {found}",
            hint=f"name the one to build in {LAYER}: `lair: NAME.lair`" if names else None,
        )

    def _profile_name(self, given: str) -> str:
        """Return a profile's name, or the path of the file it names, which counts as read."""
        path = self._folder.path / given
        if not given.endswith(".yaml"):
            return given
        if not path.is_file():
            span, hint = self.mapping().span("machine"), "a path starts from the layer folder"
            raise UserError(f"{given} does not exist", span, hint)
        self._source(path, self._read(path))
        return str(path)

    def _check_lair(self, given: str, names: list[str]) -> None:
        span = self.mapping().span("lair")
        here = f"the .lair files here: {', '.join(names) or 'none'}"
        if not given.endswith(".lair"):
            raise UserError(f"{given} is not the name of a .lair file", span, here)
        if not file_of(self._folder, given).is_file():
            raise UserError(f"{given} does not exist", span, here)


def _not_an_array(path: Path) -> UserError:
    return UserError(
        f"{shown_path(path)} is not a NumPy array",
        hint="numpy.save writes such a file; arrays of objects are refused",
    )
