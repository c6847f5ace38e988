"""What `np` of a program has: element by element, reductions, types; and no more.

Paper    ours
"""

from __future__ import annotations

import difflib

from stages.machine.types import TYPES
from stages.program.values.errors import ProgramError
from stages.program.values.forms import FUNCTIONS, REDUCTIONS

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
    near = difflib.get_close_matches(name, NAMES, 1, 0.6)
    hint = f"did you mean np.{near[0]}?" if near else (
        "what prepares data is NumPy's own: `import numpy` in Run_On_Host")
    return ProgramError(f"np.{name} is none of the functions for objects", hint)
