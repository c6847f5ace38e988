"""Files that a stage reads."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path

from lairmake.stages import RECEIVES
from lairmake.stages.diagnose import Span, UndeclaredReadError, UserError, source_of
from lairmake.stages.make.core.declaration import Read, checked, text_of, values_of
from lairmake.stages.make.core.key import further_digest, may_be_opened
from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.folders import (
    FIGURES,
    KERNEL,
    PROGRAM,
    LayerFolder,
    PartCrossing,
    file_of,
    further_file,
    is_name,
    is_profile,
    matches,
    names_of,
    shown_path,
)
from lairmake.stages.make.store.state import Mark, mark_of, memo_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.user_files import WEIGHTS, read_given
from lairmake.stages.mapping.inputs import LayerInputs, Model
from lairmake.stages.mapping.yaml_paths import WHOLE, split_reads

# --- Declared files of a layer folder, read once each ---------------------------------------------

Tell = Callable[[float], None]
ANY = ("*", "*/*")
Noted = MutableMapping[str, str | None]


class FolderInputs(LayerInputs):
    """The files of a layer folder that one run of a stage reads: only those that it declares.

    They are declared as in READS: a YAML file that a user wrote as a whole, or with the values that
    are read of it. Every file is read once. `reads` holds the digest of what was read, by the name
    that the stage uses, and `further` the digests of files beyond the declared ones. `profiles` are
    the files of the machines that the stage asked for. A file whose content is `known` is not
    looked for in the folder. `tell` is called with how much of the stage is done, from 0 to 1.
    """

    def __init__(
        self, folder: LayerFolder, declared: Sequence[str],
        known: Mapping[str, bytes] | None = None, tell: Tell = lambda share: None,
    ) -> None:
        super().__init__()
        self._folder = folder
        self._declared, self._values = split_reads(declared)
        self._below = ""
        self._contents: dict[str, bytes] = dict(known or {})
        self._texts: dict[str, bytes] = {}
        self._tell = tell
        self.reads: dict[str, str | None] = {}
        self.profiles: set[str] = set()
        self.further: dict[str, str | None] = {}
        self._marks: dict[Path, Mark | None] = {}

    def content(self, name: str) -> bytes:
        """Return the bytes of a file.

        Raises UserError where it cannot be read, UndeclaredReadError where it is not declared.
        """
        full = self._below + name
        self._check_declared(full)
        if values_of(full, self._values) is not None:
            raise UndeclaredReadError(f"{full} is read whole, and only values of it are declared")
        return self._read(full, self._file(name), self.reads)

    def path(self, name: str) -> Path:
        """Return the path of a file, for those who must hand it on; the file counts as read."""
        self.content(name)
        return self._file(name)

    def shown(self, name: str) -> str:
        """Return the path of a file as the user would write it."""
        return shown_path(self._file(name))

    def names(self, pattern: str) -> list[str]:
        """Return the names of the files that a declared pattern stands for, sorted.

        Raises UndeclaredReadError for another one.
        """
        full = self._below + pattern
        self._check_declared(full)
        return [name.removeprefix(self._below) for name in names_of(self._folder, full)]

    def further_path(self, given: str, span: Span) -> tuple[Path, str]:
        """Return the file that a user names at `span`, and its path as they would write it.

        Raises UserError where there is none.
        """
        path = further_file(self._folder, self._below + given)
        if not os.path.isfile(path):  # a Path raises OSError for a name that is too long
            kinds = {KERNEL: "kernel", PROGRAM: "program"}
            kind = next((kinds[name] for name in kinds if name in self._declared), "layer")
            hint = f"a path starts from the {kind} folder"
            raise UserError(f"{given} does not exist", span, hint)
        shown = shown_path(path)
        source_of(shown, self._read(self._below + given, path, {}))
        return path, shown

    def note_figures(
        self, given: str, files: Iterable[Path], write: Callable[[], str]
    ) -> None:
        """Note that a stage reads the figures of a profile, which a user calls `given`.

        The figures are in `files`: each file is noted before the next one is looked for. `write`
        gives the figures as one text. Where that raises, all bytes of the file count as read.
        """
        noted = f"{FIGURES}{given if is_profile(given) else self._below + given}"
        memo = memo_of(state_folder(self._folder.home))
        self.further[noted] = further_digest(self._folder, noted, memo)
        for file in files:
            self.profiles.add(os.path.realpath(file))
        self._texts[noted] = write().encode()
        self.further[noted] = digest_of(self._texts[noted])

    def beside(self, name: str) -> bytes:
        """Return the bytes of a file that another one names, by its path from the folder.

        It counts as read. Raises UserError for a file that is not there, lies elsewhere, or is
        written by stages.
        """
        if not may_be_opened(self._folder, name):
            raise UserError(f"{name} is no file in the folder, or leads elsewhere")
        noted = f"./{name}" if "/" in name else name  # no part is called so
        path = further_file(self._folder, noted)
        return self._read(noted, path, self.further, longest=WEIGHTS)

    def note_opened(self, opened: Mapping[str, Sequence[int] | None]) -> None:
        """Note what a program opened below its folder while it ran, by names that start there.

        Raises UserError for what stages write, and for what lies elsewhere.
        """
        memo = memo_of(state_folder(self._folder.home))
        for name, mark in opened.items():
            if not is_name(name):  # there is none: the program will have been told
                continue
            path = further_file(self._folder, name)
            if not may_be_opened(self._folder, name):
                raise UserError(
                    f"the program opens {shown_path(path)}, and no edit of it would be seen",
                    hint="what it reads lies in its folder: not in build/ or cache/, and not "
                    "behind a link",
                )
            self.further[name] = further_digest(self._folder, name, memo)
            self._marks[path] = None if mark is None else _mark_as(mark)

    def part(self, name: str) -> FolderInputs:
        """Return the files of a part of a network or kernel, by the names they have in it."""
        part = copy.copy(self)
        part._below, part._mapping, part._lair = f"{name}/", None, None
        return part

    def unnoted(self) -> FolderInputs:
        """Return the files of the folder as they are now, to say where in them an error is."""
        every = FolderInputs(self._folder, ANY)
        every.profiles = self.profiles
        return every

    def tell(self, share: float) -> None:
        """Say how much of the stage is done, from 0 to 1."""
        self._tell(share)

    def whole(self, name: str, read: Read[Model]) -> Model:
        """Return all of a YAML file that a user wrote, as `read` does.

        Only the declared values count as read, or all bytes where none are. Raises UserErrors.
        """
        full = self._below + name
        self._check_declared(full)
        content = self._read(full, self._file(name), self.reads)
        file = checked(read, source_of(self.shown(name), content))
        paths = values_of(full, self._values)
        if paths is not None:
            self._texts[full] = text_of(file, paths, content)
            self.reads[full] = digest_of(self._texts[full])
        return file

    def declared(self, name: str, file: Model) -> Model:
        """Return a YAML file with the values that are declared."""
        return file.only(values_of(self._below + name, self._values) or (WHOLE,))

    def noted(self, name: str) -> bytes:
        """Return what was read of a file, of which the digest is noted."""
        return self._texts.get(name) or self._contents[name]

    def _file(self, name: str) -> Path:
        return file_of(self._folder, self._below + name)

    def are_unchanged(self) -> bool:
        """Return whether no file that was read was written since."""
        return all(_mark_at(path) == mark for path, mark in self._marks.items())

    def declares(self, name: str) -> bool:
        """Return whether a file of this name is among those that the stage declares to read."""
        return any(matches(self._below + name, each) for each in self._declared)

    def _check_declared(self, name: str) -> None:
        if not any(matches(name, each) for each in self._declared):
            raise UndeclaredReadError(f"{name} is read but not declared")

    def _read(self, name: str, path: Path, noted: Noted, longest: int | None = None) -> bytes:
        if name not in self._contents:
            self._contents[name], self._marks[path] = read_given(path, longest)
            noted[name] = digest_of(self._contents[name])
        return self._contents[name]


def _mark_at(path: Path) -> Mark | None:
    """Return what tells whether a file was written since; None where there is none."""
    try:
        return mark_of(os.stat(path))
    except OSError:
        return None


def _mark_as(given: Sequence[int]) -> Mark:
    changed, touched, size, inode = given
    return changed, touched, size, inode

# --- Parts whose inputs a stage makes -------------------------------------------------------------

MOVES = "crossed.isl"
"""Text that says which elements the inputs take."""


def with_receiving(
    part: LayerFolder, moved_by: str, given: Mapping[str, Sequence[PartCrossing]]
) -> LayerFolder:
    """Return a part with the stage that makes its inputs, if any input is `given` by other parts.

    By input, `given` has the crossings of these outputs, in the order of the maps that the task
    `moved_by` writes. The names of these crossings count for nothing.
    """
    if not given:
        return part
    crossings = [PartCrossing(name=MOVES, file=file_of(part, MOVES), after=(moved_by,))]
    for tensor, sources in given.items():
        crossings += [
            replace(source, name=f"given/{tensor}_{n}.npy") for n, source in enumerate(sources)
        ]
        file = part.build / "inputs" / f"{tensor}.npy"
        after = tuple(f"{part.name}:{stage}" for stage in RECEIVES)
        crossings.append(PartCrossing(name=f"inputs/{tensor}.npy", file=file, after=after))
    at = part.stages.index("simulate")
    stages = (*part.stages[:at], *RECEIVES, *part.stages[at:])
    return replace(part, stages=stages, crossings=(*part.crossings, *crossings))
