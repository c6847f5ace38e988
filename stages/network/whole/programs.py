"""The programs of several parts in one library: each text is compiled once, as it is.

All programs of a role have one name, whatever the part; before a text a line gives it another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

Program = tuple[str, str]
"""The role that a program says it has, and its text."""


def write_programs(
    programs: Mapping[str, Program], folder: Path
) -> tuple[list[Path], dict[str, str]]:
    """Write distinct programs into a folder; return their files, and the symbol of each role."""
    numbers = {program: n for n, program in enumerate(dict.fromkeys(programs.values()))}
    files = []
    for (role, text), number in numbers.items():
        file = folder / f"pe_{number}.c"
        line = f"#define program_{role} program_{number}\n#line 1\n"
        file.write_text(line + text, encoding="utf-8")
        files.append(file)
    return files, {name: f"program_{numbers[each]}" for name, each in programs.items()}
