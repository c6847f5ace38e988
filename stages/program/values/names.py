"""What `np` of a program has: element by element, reductions, types; and no more.

Paper    ours
"""

from __future__ import annotations

from lairmake.stages.machine.types import TYPES
from lairmake.stages.program.values.errors import ProgramError
from lairmake.stages.program.values.forms import FUNCTIONS, REDUCTIONS
from lairmake.stages.program.values.instead import suggest_instead

UNARY = ("sqrt", "exp", "log", "abs", "copy")
BINARY = ("maximum", "minimum", "right_shift_logical")
NAMES = (*UNARY, *BINARY, *REDUCTIONS, "where", *TYPES)
"""All that a program may say behind `np.`."""


def make_alone(op: str) -> ProgramError:
    """Return the error for a function that is given no object."""
    name = {"shr_logical": "right_shift_logical"}.get(op, op)
    of_python = f"`math.{op}`" if op in FUNCTIONS else "Python's own"
    return ProgramError(f"np.{name} of numbers alone",
                        f"{of_python}, or NumPy's own, imported in Run_On_Host")


def make_unknown(name: str) -> ProgramError:
    """Return the error for a name behind `np.` that a program does not have."""
    said = f"np.{name} is none of the functions for objects"
    return ProgramError(said, suggest_instead(name, NAMES))
