"""What a stage reads and writes, taken from its file without importing it."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

STAGES = Path(__file__).resolve().parent.parent
DECLARATION = re.compile(r"^(READS|WRITES)\b[^=\n]*=\s*(\([^)]*\))", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The first line of a stage's docstring, and the names of the files it reads and writes."""

    title: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


@functools.cache
def declaration(stage: str) -> Declaration:
    """Return what `stages/<stage>.py` declares.

    READS and WRITES are tuples of literals at the top level of the module: found by their text,
    since importing the module, or parsing it whole, would cost every null build.
    """
    text = (STAGES / f"{stage}.py").read_text(encoding="utf-8")
    found = {name: ast.literal_eval(value) for name, value in DECLARATION.findall(text)}
    assert found.keys() == {"READS", "WRITES"}, f"stages/{stage}.py declares {sorted(found)}"
    title = text.split("\n", 1)[0].strip('"').rstrip(".")
    return Declaration(title=title, reads=found["READS"], writes=found["WRITES"])
