"""Translate the source of a program to the intermediate language.

Paper    E Sec. 5.3
Reads    program.yaml, *.py
Writes   program.il, build/source.yaml
Assumes  nothing: whatever the source holds, it is only parsed.
Ensures  program.il is Python whose run gives the graph; comments and blank lines change neither
         text.
"""

from __future__ import annotations

import typing

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.program.front.source_on_x86 import digest_code, strip_source
from lairmake.stages.program.source.checks import find_unknown
from lairmake.stages.program.source.plain_numpy import explain_plain, may_make_objects
from lairmake.stages.program.source.translation import translate_source
from lairmake.stages.program.source.tree import give_room

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs

READS = ("program.yaml: program, machine, parameters", "*.py")
WRITES = ("program.il", "build/source.yaml")
HEADER = "# What the source does where NumPy runs it, whatever its comments say."


def run(inputs: Inputs) -> dict[str, str]:
    """Return program.il, and build/source.yaml for rehearse.

    Raises UserErrors with all faults that no program may have, and for an unknown machine or
    parameter in program.yaml: these change nothing here, but later stages take long.
    """
    source = inputs.program_source()
    translation = translate_source(source)
    if not may_make_objects(translation.tree):
        raise explain_plain(source)
    program = inputs.program()
    read_machine(program, inputs.unnoted())
    errors = [UserError(said, program.key_span("parameters", name), hint)
              for name, said, hint in find_unknown(translation.tree, program.parameters)]
    if errors:
        raise UserErrors(errors)
    with give_room():
        code = digest_code(strip_source(source.text, source.path))
    return {"program.il": translation.text, "build/source.yaml": f"{HEADER}\nsha256: {code}\n"}
