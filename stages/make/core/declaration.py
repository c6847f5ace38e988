"""Declarations of stages: files that they read and write, and values of YAML files."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lairmake.stages import ANALYSES, SEARCHED, module_of
from lairmake.stages.diagnose import Source, UserError, UserErrors, source_of
from lairmake.stages.make.store.files import digest_of, read_file
from lairmake.stages.make.store.folders import (
    FIGURES,
    KERNEL,
    LAYER,
    NETWORK,
    PROFILES,
    PROGRAM,
    SPLIT,
    LayerFolder,
    every_stage,
    file_of,
    further_file,
    is_profile,
    matches,
)
from lairmake.stages.make.store.state import Mark, Memo, mark_of
from lairmake.stages.make.store.user_files import MOST_BY_HAND
from lairmake.stages.mapping.inputs import Model
from lairmake.stages.mapping.yaml_paths import ValuePath, unite
from lairmake.stages.shipped import STAGES

if TYPE_CHECKING:
    from lairmake.stages.mapping.layer_yaml import LayerMapping
    from lairmake.stages.mapping.models import File

# --- Declaration of a stage, read without importing it --------------------------------------------

# A tuple ends at its first `)`, so none may be in a name or a comment within it, and READS or
# WRITES begins a line. Where a stage has it otherwise, `declaration` fails: at literal_eval, or
# below it.
DECLARATION = re.compile(r"^(READS|WRITES)\b[^=\n]*=\s*(\([^)]*\))", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The first line of a stage's docstring, and the names of the files it reads and writes.

    `inputs` is its READS. `values` has, by the name of a YAML file, the paths of the values that
    are read of it. Of all other files every byte is read.
    """

    title: str
    inputs: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    values: Mapping[str, tuple[ValuePath, ...]]

    def values_of(self, name: str) -> tuple[ValuePath, ...] | None:
        """Return which values are read of a file; None for all of its bytes."""
        return values_of(name, self.values)


def values_of(
    name: str, values: Mapping[str, tuple[ValuePath, ...]]
) -> tuple[ValuePath, ...] | None:
    """Return the values that are read of a file, by names and patterns; None for all of it."""
    return next((values[each] for each in values if matches(name, each)), None)


def path_of(stage: str) -> pathlib.Path:
    """Return the file of a stage."""
    parts = module_of(stage).split(".")[2:]
    return STAGES.joinpath(*parts).with_suffix(".py")


def docstring_of(stage: str) -> str:
    """Return the docstring of a stage; "" where it has none."""
    return ast.get_docstring(ast.parse(path_of(stage).read_text(encoding="utf-8"))) or ""


@functools.cache
def declaration(stage: str) -> Declaration:
    """Return what the file of a stage declares.

    READS and WRITES are tuples of literals at the top level of the module: found by their text,
    since importing the module, or parsing it whole, would cost every null build.
    """
    text = path_of(stage).read_text(encoding="utf-8")
    found = {name: ast.literal_eval(value) for name, value in DECLARATION.findall(text)}
    assert found.keys() == {"READS", "WRITES"}, f"{path_of(stage)} declares {sorted(found)}"
    title = text.split("\n", 1)[0].strip('"').rstrip(".")
    from lairmake.stages.mapping.yaml_paths import split_reads

    reads, values = split_reads(found["READS"])
    return Declaration(
        title=title, inputs=found["READS"], reads=reads, writes=found["WRITES"], values=values
    )


def texts_of(names: Iterable[str]) -> list[str]:
    """Return those of some names of a stage's files that may be pinned: texts in the cache."""
    return [name for name in names if is_text(name)]


def is_text(name: str) -> bool:
    """Return whether a stage's file of this name is a text in the cache, which may be edited."""
    return name.endswith((".isl", ".yaml", ".il")) and not name.startswith("build/")

# --- Values that stages read of users' YAML files -------------------------------------------------
#
# The key of a stage has the digest of these values as text, so that an edit of a comment changes no
# key. A file that is not valid counts with all of its bytes: any stage that reads it says what is
# wrong with it.

Read = Callable[[Source], Model]


def checked(read: Read[Model], source: Source) -> Model:
    """Return a YAML file as `read` does. Raises UserErrors, and UserError for a pin of no text."""
    file = read(source)
    if file.NAME == LAYER:
        _check_pins(file)  # type: ignore[arg-type]
    return file


def text_of(file: File, paths: Collection[ValuePath], content: bytes) -> bytes:
    """Return what counts as read of a file: the values at some paths, as text.

    Where one of the values has no text, all of `content` counts.
    """
    try:
        return file.only(paths).says.encode()
    except (TypeError, ValueError):
        return content


def _check_pins(mapping: LayerMapping) -> None:
    """Raise UserError for a file that is to stay as it was edited, but that no stage writes."""
    from lairmake.stages.lair.tree import did_you_mean

    stages = SEARCHED + ANALYSES if mapping.pin else ()
    texts = texts_of(name for stage in stages for name in declaration(stage).writes)
    for at, name in enumerate(mapping.pin):
        if name not in texts:
            hint = did_you_mean(name, texts, "texts of stages")
            raise UserError(f"{name} cannot be pinned", mapping.span("pin", at), hint)

# --- Digests of values read of YAML files ---------------------------------------------------------

CHECKED_BY = {LAYER: "parse", KERNEL: "shape", PROGRAM: "translate", NETWORK: "connect"}
"""A stage whose code says what is valid in a file, by the name of the file."""
CHECKED_BESIDE_GRAPHS = "extract"


def digest_read(
    folder: LayerFolder, name: str, stage: Declaration, memo: Memo, code: Callable[[str], str]
) -> str | None:
    """Return the digest of what a stage reads of a file; None where there is no file to read.

    `code` gives the digest of a stage's code: what is valid is remembered for one code only.
    """
    path, paths = file_of(folder, name), stage.values_of(name)
    if paths is None:
        return memo.digest(path)
    base, is_graph = _kind(folder, name)
    checked_by = CHECKED_BESIDE_GRAPHS if is_graph else CHECKED_BY[base]

    def read(content: bytes) -> str | None:
        found = read_values(content, base, paths, is_graph=is_graph)
        return None if found is None else digest_of(found)

    what = ", ".join(".".join(each) for each in paths)
    return memo.derived(path, what, read, code(checked_by))


def values_read(folder: LayerFolder, name: str, content: bytes) -> Iterator[bytes]:
    """Yield the values that stages of a folder read of a file with some content, as texts.

    Stages that read the same values give one text. Content that is not valid gives none.
    """
    base, is_graph = _kind(folder, name)
    every = (declaration(stage).values_of(name) for stage in every_stage(folder))
    for paths in dict.fromkeys(each for each in every if each is not None):
        found = read_values(content, base, paths, is_graph=is_graph)
        if found is not None:
            yield found


def values_of_texts(texts: Iterable[bytes]) -> bytes:
    """Return as one text what counts as read of a file by some stages."""
    return unite(texts)


def is_read_by_values(folder: LayerFolder, name: str) -> bool:
    """Return whether a file is there, and a stage of its folder reads values of it."""
    every = every_stage(folder)
    is_read = any(declaration(stage).values_of(name) is not None for stage in every)
    return is_read and file_of(folder, name).is_file()


def _kind(folder: LayerFolder, name: str) -> tuple[str, bool]:
    """Return what a file is called, in whichever part it lies, and whether it is beside a graph."""
    base = name.rpartition("/")[2]
    return base, base == NETWORK and SPLIT in folder.stages


def read_values(
    content: bytes, name: str, paths: Collection[ValuePath], *, is_graph: bool
) -> bytes | None:
    """Return what counts as read of a file with some content; None where it is not valid."""
    if len(content) > MOST_BY_HAND:
        return None
    try:
        return text_of(checked(_reader(name, is_graph), source_of(name, content)), paths, content)
    except (UserError, UserErrors):
        return None


def _reader(name: str, is_graph: bool) -> Read[File]:
    if name == LAYER:
        from lairmake.stages.mapping.layer_yaml import read_mapping

        return read_mapping
    if name == KERNEL:
        from lairmake.stages.mapping.kernel_yaml import read_kernel

        return read_kernel
    if name == PROGRAM:
        from lairmake.stages.mapping.program_yaml import read_program

        return read_program
    if is_graph:
        from lairmake.stages.mapping.network_yaml import read_graph

        return read_graph
    from lairmake.stages.mapping.network_yaml import read_network_file

    return read_network_file

# --- Figures of machine profiles, as inputs of stages ---------------------------------------------
#
# A file that a stage reads beyond what it declares has a name. The name of a profile is
# `figures//wse2`, or `figures//mine.yaml` with a path as a user wrote it: no file that a program
# opens has such a name.

MOST = 8
CHECKED_BY_STAGE = "simd"
"""A stage whose code says what is valid in a profile."""


def is_figures(name: str) -> bool:
    """Return whether a name is that of the figures of a profile."""
    return name.startswith(FIGURES)


def read_figures_text(folder: LayerFolder, name: str) -> bytes | None:
    """Return the text of the figures with some name; None where there are no such figures."""
    from lairmake.stages.machine.profile import ProfileError, write_figures

    given = name.removeprefix(FIGURES)
    try:
        place = given if is_profile(given) else str(further_file(folder, name))
        return write_figures(place).encode()
    except (ProfileError, OSError):
        return None


def digest_figures(
    folder: LayerFolder, name: str, memo: Memo, code: Callable[[str], str]
) -> str | None:
    """Return the digest of the figures with some name; None where there is no such profile.

    A file that is no profile counts with all of its bytes: who reads it says what is wrong.
    """

    path = further_file(folder, name)

    def derive(content: bytes) -> str | None:
        text = read_figures_text(folder, name)
        is_as_it_was = memo.content(path, digest_of(content)) is not None
        return digest_of(text) if text is not None and is_as_it_was else None

    known = f"{code(CHECKED_BY_STAGE)} {digest_of_ours()}"
    return memo.derived(path, FIGURES, derive, known)


def digest_of_ours() -> str:
    """Return the digest of our own profiles, which other profiles may be like."""
    files = sorted(PROFILES.glob("*.yaml"))
    return _digest_of(tuple((str(file), mark_of(file.stat())) for file in files))


@functools.lru_cache(MOST)
def _digest_of(files: tuple[tuple[str, Mark], ...]) -> str:
    contents = (Path(name).name.encode() + b"\0" + read_file(name) for name, _ in files)
    return digest_of(b"\0".join(contents))
