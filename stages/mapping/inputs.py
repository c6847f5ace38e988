"""The files that a stage reads, in the forms in which it wants them.

Only stages see them, and pass on what they read.
"""

from __future__ import annotations

import abc
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lairmake.stages.diagnose import Source, Span, UserError, source_of

if TYPE_CHECKING:
    import numpy as np

    from lairmake.stages.lair.specialise import Layer
    from lairmake.stages.mapping.layer_yaml import LayerMapping
    from lairmake.stages.mapping.models import File
    from lairmake.stages.mapping.program_yaml import Program
    from lairmake.stages.poly.text import Objects

LAYER = "layer.yaml"
CHOSEN = "chosen.yaml"
PROGRAM = "program.yaml"

Model = TypeVar("Model", bound="File")


class Inputs(abc.ABC):
    """The files that one run of a stage reads, by the names that it declares.

    Whoever lets stages run says where the files lie, and what is noted of them.
    """

    @abc.abstractmethod
    def content(self, name: str) -> bytes:
        """Return the bytes of a file. Raises UserError where it cannot be read."""

    @abc.abstractmethod
    def path(self, name: str) -> Path:
        """Return where a file lies, for those who must hand it on; it counts as read."""

    @abc.abstractmethod
    def shown(self, name: str) -> str:
        """Return the path of a file as the user would write it."""

    @abc.abstractmethod
    def names(self, pattern: str) -> list[str]:
        """Return the names of the files that a declared pattern stands for, sorted."""

    @abc.abstractmethod
    def further_path(self, given: str, span: Span) -> tuple[Path, str]:
        """Return the file that a user names at `span`, and its path as they would write it.

        Raises UserError where there is none.
        """

    @abc.abstractmethod
    def note_figures(
        self, given: str, files: Iterable[Path], write: Callable[[], str]
    ) -> None:
        """Note that the figures of a profile are read, which a user calls as `given`.

        They are in `files`, of which each is noted before the next one is looked for, and `write`
        gives them as one text.
        """

    @abc.abstractmethod
    def beside(self, name: str) -> bytes:
        """Return the bytes of a file that another one names, by its path from the folder.

        It counts as read. Raises UserError for one that is not there, and for what lies elsewhere,
        or that stages write.
        """

    @abc.abstractmethod
    def note_opened(self, opened: Mapping[str, Sequence[int] | None]) -> None:
        """Note what a program opened below its folder while it ran: it counts as read.

        Names start from the folder; `data/` is what lies in a folder, `./` in that of the program.
        Each has what the system said of it then, in nanoseconds and bytes: time of content, time of
        change, size and inode; None where it was not there. Raises UserError for what stages write,
        and for what lies elsewhere.
        """

    @abc.abstractmethod
    def part(self, name: str) -> LayerInputs:
        """Return the files of a part of a network or kernel, by the names they have in it."""

    @abc.abstractmethod
    def unnoted(self) -> Inputs:
        """Return all files of the folder as they are now, to say where in them an error is.

        None counts as read, so nothing that a stage writes may depend on them: an edit that changes
        nothing but places makes no stage run again.
        """

    @abc.abstractmethod
    def tell(self, share: float) -> None:
        """Say how much of the stage is done, from 0 to 1."""

    def whole(self, name: str, read: Callable[[Source], Model]) -> Model:
        """Return all of a YAML file that a user wrote, as `read` does, for `declared` to cut.

        What counts as read is the declared part of it. Raises UserErrors as `read` does.
        """
        return read(self.source(name))

    def declared(self, name: str, file: Model) -> Model:
        """Return a YAML file with the values that the stage declares to read of it."""
        return file

    def file(self, name: str, read: Callable[[Source], Model]) -> Model:
        """Return what the stage declares to read of a YAML file that a user wrote.

        Raises UserErrors as `read` does.
        """
        return self.declared(name, self.whole(name, read))

    def file_or_empty(self, name: str, read: Callable[[Source], Model]) -> Model:
        """Return what `file` does, but of an empty file where there is none."""
        if self.names(name):
            return self.file(name, read)
        return self.declared(name, read(Source(path=name, text="")))

    def source(self, name: str) -> Source:
        """Return a text, and its path as the user would write it. Raises UserError."""
        return source_of(self.shown(name), self.content(name))

    def text(self, name: str) -> str:
        """Return a text; lines end in a newline. Raises UserError where it is not UTF-8."""
        return self.source(name).text

    def yaml(self, name: str) -> Any:
        """Return the data of a YAML text that a stage wrote.

        Raises UserErrors where that is no YAML any more.
        """
        from lairmake.stages.mapping.yaml_text import read_data

        return read_data(self.source(name))

    def objects(self, name: str) -> Objects:
        """Return the isl sets and maps, by name, of a `.isl` text that a stage wrote."""
        from lairmake.stages.poly import text

        return text.Objects(self.text(name))

    def array(self, name: str) -> np.ndarray:
        """Return the array of a `.npy` file. Raises UserError where it is none."""
        import numpy as np

        content = self.content(name)
        try:
            array = np.load(io.BytesIO(content), allow_pickle=False)
        except Exception as error:  # damaged bytes can make numpy raise nearly anything
            raise _not_an_array(self.shown(name)) from error
        if not isinstance(array, np.ndarray):
            raise _not_an_array(self.shown(name))
        return array

    def arrays(self) -> dict[str, np.ndarray]:
        """Return every array in `inputs/`, by the name of its tensor.

        Raises UserError for a file that is none, which nobody would read.
        """
        names = self.names("inputs/*")
        for name in (name for name in names if not name.endswith(".npy")):
            raise UserError(
                f"{self.shown(name)} is nothing that is read",
                hint="inputs/ holds x.npy for an input x, as numpy.save writes it; without it the "
                "values are generated",
            )
        return {Path(name).stem: self.array(name) for name in names}

    def program(self) -> Program:
        """Return program.yaml. Raises UserErrors."""
        from lairmake.stages.mapping.program_yaml import read_program

        return self.file(PROGRAM, read_program)

    def program_source(self) -> Source:
        """Return the source of a program: the .py file that program.yaml names, else the only one.

        Raises UserErrors.
        """
        from lairmake.stages.mapping.program_yaml import choose_program

        return self.source(choose_program(self.program(), self.names("*.py"), self.folder))

    def refuse_beside(self, name: str, *patterns: str) -> None:
        """Raise UserError where a file of `patterns` lies beside `name`: both say what is built."""
        for other in (other for pattern in patterns for other in self.names(pattern)):
            raise UserError(
                f"{self.folder} holds {name} and {other}, which both say what is built",
                hint="move one of them to a folder of its own",
            )

    @property
    def folder(self) -> str:
        """The folder that the files are of, as the user would write it."""
        place = str(Path(self.shown(LAYER)).parent)
        return "this folder" if place == "." else place


class LayerInputs(Inputs):
    """The files of a layer: what its user says, and what stages wrote."""

    def __init__(self) -> None:
        self._mapping: LayerMapping | None = None
        self._lair: Layer | None = None

    def mapping(self) -> LayerMapping:
        """Return layer.yaml; for who declares to read chosen.yaml, with what that has for what is
        open. Raises UserErrors."""
        if self._mapping is None:
            mapping = self._whole()
            if mapping.is_open and self.declares(CHOSEN):
                from lairmake.stages.mapping.candidates import overlay

                mapping = overlay(mapping, self.source(CHOSEN))
            self._mapping = self.declared(LAYER, mapping)
        return self._mapping

    @abc.abstractmethod
    def declares(self, name: str) -> bool:
        """Return whether a file of this name is among those that the stage declares to read."""

    def _whole(self) -> LayerMapping:
        from lairmake.stages.mapping.layer_yaml import read_mapping

        return self.whole(LAYER, read_mapping)

    def _given(self) -> LayerMapping:
        """Return layer.yaml as the user wrote it."""
        return self.declared(LAYER, self._whole())

    def lair(self) -> Layer:
        """Return the node to build, with its sizes and types filled in. Raises UserErrors."""
        from lairmake.stages.lair.grammar import parse_lair
        from lairmake.stages.lair.specialise import specialise

        if self._lair is None:
            file = parse_lair(self.source(self._lair_name()))
            mapping = self._given()
            self._lair = specialise(
                file, mapping.top, dict(mapping.sizes), dict(mapping.types), mapping.span,
                delays=mapping.delays, following=mapping.following,
            )
        return self._lair

    def _lair_name(self) -> str:
        """Return the name of the `.lair` file: the one layer.yaml names, else the only one."""
        given = self._given().lair
        names = self.names("*.lair")
        if given is not None:
            self._check_lair(given, names)
            return given
        if len(names) == 1:
            return names[0]
        if names:
            found = f"{self.folder} holds {len(names)} .lair files ({', '.join(names)})"
            raise UserError(found, hint=f"name the one to build in {LAYER}: `lair: NAME.lair`")
        hint = f"what is computed is said in NAME.lair beside {LAYER}, or in NAME.mlir alone"
        raise UserError(f"{self.folder} holds no .lair file", hint=hint)

    def _check_lair(self, given: str, names: list[str]) -> None:
        span = self._given().span("lair")
        here = f"the .lair files here: {', '.join(names) or 'none'}"
        if not given.endswith(".lair") or "/" in given:
            raise UserError(f"{given} is not the name of a .lair file", span, here)
        if given not in names:
            raise UserError(f"{given} does not exist", span, here)


def _not_an_array(path: str) -> UserError:
    return UserError(
        f"{path} is not a NumPy array",
        hint="numpy.save writes such a file; arrays of objects are refused",
    )
