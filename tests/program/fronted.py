"""A source that is run on x86 in the process of the tests."""

import ast

import numpy as np

from lairmake.stages.program.front.value import WORLD, HostValue, take_array
from lairmake.stages.program.values.api import execute, set_parameters

HEAD = """\
import numpy
from lairmake import numpy as np
from lairmake.objects import *
"""
OBJECTS = HEAD + """\
g = GlobalScalar("g", 2.0)
i = GlobalScalar("i", 3)
ga = GlobalArray("ga", numpy.arange(4, dtype="float32"))
u = UniformLocalScalar("u", 0.5)
ls = LocalScalar("ls", 1.5, shape=(3, 2))
la = LocalArray("la", numpy.arange(24, dtype="float32").reshape(3, 2, 4))
lb = LocalArray("lb", 1.0, shape=(3, 2, 4))
li = LocalArray("li", 7, shape=(3, 2, 4))
"""


def run(source, head=OBJECTS, expected=None, **parameters):
    """Return the names of a program, with arrays for its objects."""
    WORLD.begin(expected)
    set_parameters(parameters)
    names = execute(ast.parse(head + source), "program.py")
    return {name: read(value) for name, value in names.items()}


def read(value):
    return np.array(take_array(value)) if isinstance(value, HostValue) else value
