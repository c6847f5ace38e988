"""Programs of PEs in words: what `doit show NAME program` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.store.folders import LayerFolder, file_of, shown_path

PROGRAM, WRITTEN = "program", "build/program.yaml"
SHOWN = {"render": "simd", "lower": "vm"}
"""The stages that write programs, and which are shown unless others are asked for."""


def program_in_words(folder: LayerFolder, stage: str) -> dict[str, str]:
    """Return what programs keep in memory, and each of their functions: `simd.compute.on_x`.

    Raises UserError where the file is not as the stage wrote it.
    """
    from lairmake.stages.limits import load
    from lairmake.stages.pe.c import WORDS, spell
    from lairmake.stages.pe.yaml import read_programs

    path, found = file_of(folder, WRITTEN), {}
    try:
        data = cast(Mapping[str, Any], load(path.read_text(encoding="utf-8")))
        programs = read_programs(data)
        for variant, roles in programs.items():
            for role, program in roles.items():
                name = f"{variant}.{role}"
                found[f"{name}.memory"] = spell(replace(program, functions=()), WORDS)
                found |= {f"{name}.{f.name}": spell(f, WORDS) for f in program.functions}
    except Exception as error:  # an edited text can be wrong in any way
        message = f"{shown_path(path)} is not as {stage} wrote it"
        raise UserError(message, hint=f"doit {folder.name}:{stage}") from error
    return found
