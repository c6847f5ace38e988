"""The names that mean something in a program: of lairmake.objects, lairmake.numpy and Python."""

from __future__ import annotations

from lairmake.stages.program.values.api import BINARY, UNARY
from lairmake.stages.program.values.forms import KINDS

OBJECTS, NUMPY = "lairmake.objects", "lairmake.numpy"
IL = {OBJECTS: "lairmake.stages.program.il.objects", NUMPY: "lairmake.stages.program.il.numpy"}
"""What the intermediate language imports in their places."""

SCALAR = "MACHScalar"
HINTS = (*KINDS, SCALAR)

IGNORED, ON_HOST = "MACH_Compiler_Ignore", "Run_On_Host"
DECORATORS = ("holds_objects", "strict", "typed")
OF_OBJECTS = (*HINTS, IGNORED, ON_HOST, *DECORATORS, "global_range", "parameter", "field")

ELEMENTWISE = (*UNARY, *BINARY, "where")

LATER = (
    "roll", "take_along_axis", "put_along_axis", "Fuse", "kernel", "tanh",
)
"""What programs are to have, and have not yet."""

FILES = ("load", "save", "savez", "loadtxt", "savetxt", "fromfile")
"""What NumPy reads and writes files by."""

OF_IL = ("for_loop", "while_loop", "if_")
"""What only the intermediate language has; a source has no such names."""

PROPERTIES = ("shape", "dtype", "ndim", "size", "name", "kind", "type")
"""What the host knows of an object."""

PURE = (
    *("abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "frozenset", "getattr"),
    *("hasattr", "int", "isinstance", "len", "list", "max", "min", "pow", "range", "repr"),
    *("reversed", "round", "set", "slice", "sorted", "str", "sum", "super", "tuple", "type", "zip"),
)
"""Functions of Python that give the same every time."""

PURE_METHODS = (
    *("items", "keys", "values", "get", "copy", "index", "count", "format", "join", "split"),
    *("upper", "lower", "strip", "startswith", "endswith", "tolist", "item", "astype", "reshape"),
    *("sum", "min", "max", "mean", "transpose", "flatten", "ravel", "is_integer", "bit_length"),
)
"""Methods of Python's and NumPy's values that give the same every time."""

ABOUT = ("len", "isinstance", "type", "hasattr", "id", "repr", "str", "callable", "range")
"""Functions of Python whose results are of the host, whatever they are given."""

OF_THE_HOST = ("numpy", "scipy", "matplotlib", "pandas")
"""Packages beside Python's own that know nothing of objects."""

PURE_MODULES = ("math", "cmath", "operator", "fractions", "decimal", "numpy", "scipy", "string")
"""Modules whose functions give the same every time; `numpy.random` does not."""
