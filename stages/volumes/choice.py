"""Choose the volumes between which a program map goes.

Source   F Def. 4.14: live-outs and live-ins are chosen
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.volumes.operation import Program


def choose(
    program: Program, outputs: Sequence[str], inputs: Sequence[str], span: Callable[..., Span]
) -> Program:
    """Return the program with outputs and inputs that a file names; where it names none, as it is.

    `span` gives the place of one in the file, by "outputs" or "inputs" and its number.
    Raises UserError for those that are no volumes.
    """
    for key, names in (("outputs", outputs), ("inputs", inputs)):
        for at, name in enumerate(names):
            if name not in program.types:
                hint = did_you_mean(name, program.types, "volumes")
                raise UserError(f"unknown volume {name}", span(key, at), hint)
    return replace(
        program, outputs=tuple(outputs) or program.outputs, inputs=tuple(inputs) or program.inputs
    )
