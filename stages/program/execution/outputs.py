"""What the fabric gives for the outputs of a program, compared with what NumPy and the graph gave.

Paper    ours
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lairmake.stages.diagnose import UserError
from lairmake.stages.program.interpreter.differences import find_difference, spell_value
from lairmake.stages.program.irg.graph import Entry
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.values.forms import UNIFORM

OURS = "the compiler is at fault, not the program, unless what it wrote was edited: please " \
       "report it with the program folder"

FABRIC = "on the fabric"
Runs = Mapping[str, Mapping[str, Array]]
"""Outputs by name, by what gave them: `in the graph`."""


def take_output(entry: Entry, found: Array) -> Array:
    """Return the value of an output. Raises UserError where workers have several of a scalar."""
    if entry.kind != UNIFORM:
        return found.astype(entry.type, copy=False)
    first = found[0, 0]
    at = find_difference(found, np.broadcast_to(first, found.shape))
    if at is not None:
        said = f"{entry.name} is {spell_value(found[at])} on the worker in column {at[0]}, row " \
               f"{at[1]}, and {spell_value(first)} in column 0, row 0, on the fabric"
        raise UserError(said, hint=OURS)
    return np.array(first, entry.type)


def check_outputs(outputs: Mapping[str, Array], others: Runs) -> None:
    """Raise UserError for the first element that another run gave otherwise."""
    for name, found in outputs.items():
        for run, values in others.items():
            at = find_difference(found, values[name])
            if at is not None:
                which = f"{name}[{', '.join(map(str, at))}]" if at else name
                said = f"{which} is {spell_value(found[at])} {FABRIC}, " \
                       f"{spell_value(values[name][at])} {run}"
                raise UserError(said, hint=OURS)
