"""Sources in tests, and what they become."""

import ast
import textwrap

from lairmake.stages.diagnose import Source
from lairmake.stages.program.source.translation import HEADER, translate_source

HEAD = """\
from lairmake import numpy as np
from lairmake.objects import GlobalArray, GlobalScalar, LocalArray, LocalScalar, MACHScalar
from lairmake.objects import MACH_Compiler_Ignore, Run_On_Host, UniformLocalScalar, global_range
a, g = GlobalArray("a", shape=(3,)), GlobalScalar("g", 0.0)
s, u = LocalScalar("s", shape=(4, 4)), UniformLocalScalar("u", 1.0)
x, y = LocalArray("x", shape=(4, 4, 4)), LocalArray("y", shape=(4, 4, 4))
"""
"""An object of each kind, in six lines."""


def translate(text, path="p.py"):
    return translate_source(Source(path=path, text=textwrap.dedent(text)))


def il_of(text):
    """Return the text of the intermediate language without its header."""
    return translate(text).text.removeprefix(HEADER)


def equals_tree(one, other):
    return ast.dump(one) == ast.dump(other)
