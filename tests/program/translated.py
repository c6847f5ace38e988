"""Sources in tests, and what they become."""

import ast
import textwrap

from stages.diagnose import Source
from stages.program.source.translation import HEADER, translate_source

IMPORTS = """\
from lairmake import numpy as np
from lairmake.objects import *
"""


def translate(text, path="p.py"):
    return translate_source(Source(path=path, text=textwrap.dedent(text)))


def il_of(text):
    """Return the text of the intermediate language without its header."""
    return translate(text).text.removeprefix(HEADER)


def equals_tree(one, other):
    return ast.dump(one) == ast.dump(other)
