"""What a stage reads and writes, taken from its file without importing it."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lairmake.stages import module_of
from lairmake.stages.make.store.folders import matches
from lairmake.stages.shipped import STAGES

if TYPE_CHECKING:
    from lairmake.stages.mapping.yaml_paths import ValuePath

DECLARATION = re.compile(r"^(READS|WRITES)\b[^=\n]*=\s*(\([^)]*\))", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The first line of a stage's docstring, and the names of the files it reads and writes.

    `inputs` is its READS: `values` has, by the name of a YAML file, which values it names of it; of
    others all bytes are read.
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
    """Return which values are read of a file, by those that are read of names and patterns."""
    return next((values[each] for each in values if matches(name, each)), None)


def path_of(stage: str) -> pathlib.Path:
    """Return the file of a stage."""
    parts = module_of(stage).split(".")[2:]
    return STAGES.joinpath(*parts).with_suffix(".py")


def docstring_of(stage: str) -> str:
    """Return what the docstring of a stage says, "" where it has none."""
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
    """Return those of the names that a stage writes which may be pinned: texts in the cache."""
    return [name for name in names if is_text(name)]


def is_text(name: str) -> bool:
    """Return whether what a stage calls so is a text in the cache, which a person may edit."""
    return name.endswith((".isl", ".yaml", ".il")) and not name.startswith("build/")
