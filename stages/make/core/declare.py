"""What a stage reads and writes, taken from its file without importing it."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stages import module_of
from stages.shipped import STAGES

DECLARATION = re.compile(r"^(READS|WRITES)\b[^=\n]*=\s*(\([^)]*\))", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The first line of a stage's docstring, and the names of the files it reads and writes."""

    title: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def path_of(stage: str) -> Path:
    """Return the file of a stage."""
    return STAGES.parent.joinpath(*module_of(stage).split(".")).with_suffix(".py")


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
    return Declaration(title=title, reads=found["READS"], writes=found["WRITES"])


def texts_of(names: Iterable[str]) -> list[str]:
    """Return those of the names that a stage writes which may be pinned: texts in the cache."""
    return [name for name in names if is_text(name)]


def is_text(name: str) -> bool:
    """Return whether what a stage calls so is a text in the cache, which a person may edit."""
    return name.endswith((".isl", ".yaml", ".il")) and not name.startswith("build/")
