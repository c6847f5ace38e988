"""Translate the source of a program to the intermediate language.

Paper    seed 004, Sec. 5.3
Reads    program.yaml, *.py
Writes   program.il
Assumes  nothing: whatever the source holds, it is only parsed.
Ensures  program.il is Python whose run gives the graph; comments and blank lines do not change it.
"""

from __future__ import annotations

import typing

from stages.program.source.translation import translate_source

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("program.yaml", "*.py")
WRITES = ("program.il",)


def run(inputs: Inputs) -> dict[str, str]:
    """Return program.il. Raises UserErrors with all that no program may have."""
    return {"program.il": translate_source(inputs.program_source()).text}
