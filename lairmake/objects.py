"""Objects of a program: `from lairmake.objects import LocalArray`."""

from lairmake.stages.program.front.value import (
    GlobalArray,
    GlobalScalar,
    LocalArray,
    LocalScalar,
    MACH_Compiler_Ignore,
    MACHScalar,
    Run_On_Host,
    UniformLocalScalar,
    field,
    global_range,
)
from lairmake.stages.program.values.api import parameter
from lairmake.stages.program.values.operators import holds_objects, strict, typed

__all__ = [
    "GlobalArray", "GlobalScalar", "LocalArray", "LocalScalar", "MACHScalar",
    "MACH_Compiler_Ignore", "Run_On_Host", "UniformLocalScalar", "field", "global_range",
    "holds_objects", "parameter", "strict", "typed",
]
